//===- UpdateAttrs.h - what phases know of an update ------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_UPDATEATTRS_H
#define DIALECTS_ZERO_UPDATEATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a launch before partition: it advances the states of one parameter element by element and
/// computes the direction of its update, its last result. `partition` launches its kernel on the
/// slice of a bucket: (states..., gradient, scalars...) -> (states..., direction). The attribute
/// has the kernels that collect the steps of several matrices: one that sets a list in place to -0,
/// to which sums add nothing, and one that sets its first operand in place to its second one. If
/// updates have a condition and matrices have states, the third one does this only if its last
/// operand is true.
inline constexpr llvm::StringLiteral kDirectionAttr = "zero.direction";

/// On a launch before partition: it computes the step of a whole tensor, its last result, from the
/// gradient, its first operand. The attribute has the kernels of kDirectionAttr.
inline constexpr llvm::StringLiteral kTensorStepAttr = "zero.tensor_step";

/// On a launch before partition of a list with itself: its kernel combines two lists element by
/// element into the first one, in any order. `partition` combines those of all data-parallel ranks.
inline constexpr llvm::StringLiteral kOverRanksAttr = "zero.over_ranks";

/// On a parameter that an optimizer of matrices or of whole tensors updates: the data-parallel
/// rank, by the number of its slice, that computes the step. Without it every rank does.
inline constexpr llvm::StringLiteral kOwnerAttr = "zero.owner";

/// On such a parameter: the floating-point operations of a step, of an optimizer of matrices those
/// of products.
inline constexpr llvm::StringLiteral kStepOperationsAttr = "zero.step_operations";

/// On a state of such a parameter that has a shape of its own, which the owner has all of.
inline constexpr llvm::StringLiteral kWholeAttr = "zero.whole";

/// On such a state: the elements of the slice of each rank in its home. The state begins where the
/// slice of its owner does.
inline constexpr llvm::StringLiteral kSliceAttr = "zero.slice";

/// On an op of an update that zero-delay-updates moved to the begin of the next step: it finishes
/// the step before, so other ops read state as it leaves it.
inline constexpr llvm::StringLiteral kDelayedAttr = "zero.delayed";

} // namespace zero

#endif // DIALECTS_ZERO_UPDATEATTRS_H
