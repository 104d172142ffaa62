//===- Carry.h - pairs of inputs and outputs that are state -----*- C++ -*-===//

#ifndef ZERO_OPTIONS_CARRY_H
#define ZERO_OPTIONS_CARRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace zero {

/// An input that is state and the output that is its next value. Both may be patterns with one `*`,
/// which stands for the same text.
struct CarriedPair {
  std::string input, output;

  bool isPattern() const { return llvm::StringRef(input).contains('*'); }
};

/// Parses "w=w.new,*.m=*.m.new", or the lines of @FILE, into `pairs`. Returns an error message, or
/// an empty string.
std::string parseCarry(llvm::StringRef text, std::vector<CarriedPair> &pairs);

/// The outputs that belong to inputs.
struct CarriedNames {
  llvm::MapVector<llvm::StringRef, llvm::StringRef> outputOf; ///< in the order of the pairs
  std::vector<std::string> problems;                          ///< one message each
};

/// Finds for each pair of `carry` the names that it matches. The problems are pairs that match
/// nothing, and inputs or outputs with several partners. A pattern takes the inputs that have such
/// an output and leaves the others alone. The result refers to `inputs` and `outputs`.
CarriedNames matchCarried(llvm::ArrayRef<CarriedPair> carry, llvm::ArrayRef<llvm::StringRef> inputs,
                          llvm::ArrayRef<llvm::StringRef> outputs);

/// Patterns such as "*.exp_avg" of state that begins as zero.
class ZeroPatterns {
public:
  explicit ZeroPatterns(llvm::ArrayRef<std::string> patterns)
      : patterns(patterns), used(patterns.size()) {}

  /// Whether a pattern matches `name`. Sets `error` to a message if a pattern is malformed.
  bool match(llvm::StringRef name, std::string &error);
  /// A message about a pattern that matched nothing, or an empty string.
  std::string checkUsed() const;

private:
  llvm::ArrayRef<std::string> patterns;
  std::vector<char> used;
};

} // namespace zero

#endif // ZERO_OPTIONS_CARRY_H
