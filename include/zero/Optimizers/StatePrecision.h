//===- StatePrecision.h - how states of the optimizer are stored -*- C++ -*-===//

#ifndef ZERO_OPTIMIZERS_STATEPRECISION_H
#define ZERO_OPTIMIZERS_STATEPRECISION_H

#include "zero/Optimizers/Schedule.h"
#include "zero/Stored/CodeTable.h"

namespace zero {

/// Elements of the largest blocks.
inline constexpr int64_t kLargestBlock = 256;

/// The requested precision of states, of all or by name.
class StatePrecision {
public:
  /// Each of `texts` is f32, bf16, 8bit or 4bit, or the name of a state, '=' and one of these.
  /// Returns an error message, or an empty string.
  std::string parse(llvm::ArrayRef<std::string> texts);
  /// An error message for a name that none of `optimizers` has a state of, or if one of them cannot
  /// store its states otherwise; or an empty string.
  std::string check(llvm::ArrayRef<GroupOptimizer> optimizers) const;
  bool isDefault() const { return given.empty(); }

  /// How the states of a tensor of `elements` are stored. If it `mayHaveCodes` it has them if it
  /// consists of whole blocks: of 256 elements with codes of 8 bits, of 128 where a state has codes
  /// of 4 bits. A state that does not begin with zeros has none.
  llvm::SmallVector<StateForm, 2> formsOf(const Optimizer &optimizer, int64_t elements,
                                          bool mayHaveCodes) const;

private:
  unsigned bitsOf(llvm::StringRef state) const;

  /// Names and bits, in the given order; an empty name means all states.
  std::vector<std::pair<std::string, unsigned>> given;
};

} // namespace zero

#endif // ZERO_OPTIMIZERS_STATEPRECISION_H
