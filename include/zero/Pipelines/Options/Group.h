//===- Group.h - the options of one phase -----------------------*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_GROUP_H
#define ZERO_PIPELINES_OPTIONS_GROUP_H

#include "zero/Options/Choices.h"
#include "zero/Pipelines/Options/About.h"

#include "llvm/ADT/StringExtras.h"

namespace zero::phase {

/// An option that validates a text before LLVM's parser reports an error of its own.
struct CheckedOption {
  virtual ~CheckedOption() = default;
  /// Returns "expected a or b, got 'c'", or an empty string.
  virtual std::string check(llvm::StringRef text) const = 0;
};

/// A part of the options of all phases. `parent` owns the registrations and must outlive it.
class Group {
public:
  explicit Group(mlir::detail::PassOptions &parent) : parent(parent) {}

  template <typename T>
  using Option = Applicable<mlir::detail::PassOptions::Option<T>>;
  template <typename T>
  using ListOption = Applicable<mlir::detail::PassOptions::ListOption<T>>;

  /// An option whose value is a word; help lists the words.
  template <Worded T>
  struct WordOption : Option<T>, CheckedOption {
    using Base = Option<T>;

    template <typename... Args>
    WordOption(mlir::detail::PassOptions &parent, llvm::StringRef name, Args &&...args)
        : Base(parent, name, std::forward<Args>(args)..., llvm::cl::value_desc(wordsText())) {}
    using Base::operator=;

    std::string check(llvm::StringRef text) const override { return checkWord<T>(text); }

  private:
    static llvm::StringRef wordsText() {
      static const std::string text = llvm::join(WordsOf<T>::words(), "|");
      return text;
    }
  };

protected:
  mlir::detail::PassOptions &parent;
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_GROUP_H
