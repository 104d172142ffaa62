//===- UpdateAttrs.h - what phases know of an update ------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_UPDATEATTRS_H
#define DIALECTS_ZERO_UPDATEATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a launch before partition, a unit attribute: it advances the states of one parameter element
/// by element and computes the direction of its update, its last result. `partition` launches its
/// kernel on the slice of a bucket: (states..., gradient, scalars...) -> (states..., direction).
inline constexpr llvm::StringLiteral kDirectionAttr = "zero.direction";

} // namespace zero

#endif // DIALECTS_ZERO_UPDATEATTRS_H
