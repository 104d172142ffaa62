//===- Words.h - options whose values are words -----------------*- C++ -*-===//
// An enumeration lists its words once, in `wordsOf`. The parser for flags of tools and options of
// passes, the text, and the error that lists the allowed words are derived from it. A text that is
// not one of the words is an error, never a default.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIONS_WORDS_H
#define ZERO_OPTIONS_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/CommandLine.h"

#include <concepts>
#include <optional>
#include <string>

namespace zero {

template <typename E>
struct Word {
  E value;
  llvm::StringRef word;
};

/// An enumeration with a function `ArrayRef<Word<E>> wordsOf(E)` beside it.
template <typename E>
concept Choice = std::is_enum_v<E> && requires(E value) {
  { wordsOf(value) } -> std::convertible_to<llvm::ArrayRef<Word<E>>>;
};

/// The word of `value`; empty if it has none.
template <Choice E>
llvm::StringRef wordOf(E value) {
  for (const Word<E> &word : wordsOf(value))
    if (word.value == value)
      return word.word;
  return "";
}

template <Choice E>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, E value) {
  return os << wordOf(value);
}

/// "a, b or c", where `last` is "or", of a range of texts.
template <typename Range>
std::string listWords(const Range &words, llvm::StringRef last = "or") {
  const size_t count = llvm::range_size(words);
  std::string text;
  for (auto [index, word] : llvm::enumerate(words)) {
    if (index > 0)
      text += index + 1 == count ? (" " + last + " ").str() : ", ";
    text += word;
  }
  return text;
}

/// One of the words of E, or `auto`: a planner chooses.
template <Choice E>
struct OrAuto {
  std::optional<E> value = E{}; ///< none: auto

  OrAuto() = default;
  OrAuto(E value) : value(value) {}
  static OrAuto automatic() {
    OrAuto made;
    made.value = std::nullopt;
    return made;
  }

  bool isAuto() const { return !value; }
  bool is(E other) const { return value == other; }
  /// The value, or the default until a planner has chosen.
  E fixed(E instead = E{}) const { return value.value_or(instead); }
};

/// Parses a text into a value of type T: `parse`, and `words`, in the order of messages.
template <typename T>
struct WordsOf;

template <Choice E>
struct WordsOf<E> {
  static llvm::SmallVector<llvm::StringRef> words() {
    return llvm::map_to_vector(wordsOf(E{}), [](const Word<E> &word) { return word.word; });
  }
  static std::optional<E> parse(llvm::StringRef text) {
    for (const Word<E> &word : wordsOf(E{}))
      if (word.word == text)
        return word.value;
    return std::nullopt;
  }
};

template <Choice E>
struct WordsOf<OrAuto<E>> {
  static llvm::SmallVector<llvm::StringRef> words() {
    llvm::SmallVector<llvm::StringRef> words = WordsOf<E>::words();
    words.push_back("auto");
    return words;
  }
  static std::optional<OrAuto<E>> parse(llvm::StringRef text) {
    if (text == "auto")
      return OrAuto<E>::automatic();
    std::optional<E> value = WordsOf<E>::parse(text);
    return value ? std::optional<OrAuto<E>>(*value) : std::nullopt;
  }
};

template <Choice E>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const OrAuto<E> &value) {
  return value.isAuto() ? os << "auto" : os << wordOf(*value.value);
}

/// A type that is read from words.
template <typename T>
concept Worded = requires(llvm::StringRef text) {
  { WordsOf<T>::parse(text) } -> std::same_as<std::optional<T>>;
};

/// An error message for `text` as a value of type T: "expected a, b or c, got 'd'"; or an empty
/// string.
template <Worded T>
std::string checkWord(llvm::StringRef text) {
  if (WordsOf<T>::parse(text))
    return "";
  return "expected " + listWords(WordsOf<T>::words()) + ", got '" + text.str() + "'";
}

} // namespace zero

/// The parser of flags and of options of passes.
template <zero::Worded T>
class llvm::cl::parser<T> : public llvm::cl::basic_parser<T> {
public:
  using basic_parser<T>::basic_parser;

  bool parse(Option &option, StringRef, StringRef text, T &value) {
    std::optional<T> parsed = zero::WordsOf<T>::parse(text);
    if (!parsed)
      return option.error(zero::checkWord<T>(text));
    value = *parsed;
    return false;
  }
  StringRef getValueName() const override { return "word"; }
  void printOptionDiff(const Option &, const T &, const OptionValue<T> &, size_t) const {}
};

#endif // ZERO_OPTIONS_WORDS_H
