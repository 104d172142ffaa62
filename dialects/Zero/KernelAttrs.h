//===- KernelAttrs.h - what passes know of a kernel's code ------*- C++ -*-===//

#ifndef DIALECTS_ZERO_KERNELATTRS_H
#define DIALECTS_ZERO_KERNELATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a kernel, a unit attribute: the indices that it loads are constants of the program, which are
/// inside of its buffers, and no data of users.
inline constexpr llvm::StringLiteral kConstantIndicesAttr = "zero.constant_indices";

} // namespace zero

#endif // DIALECTS_ZERO_KERNELATTRS_H
