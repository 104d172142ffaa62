//===- AdapterAttrs.h - marks of products that get an adapter ---*- C++ -*-===//
// Discardable attributes that zero-plan-adapters and zero-add-adapters write; absent otherwise.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_ADAPTERATTRS_H
#define DIALECTS_ZERO_ADAPTERATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a product, until zero-add-adapters: the name of the module that it computes.
inline constexpr llvm::StringLiteral kAdaptedModuleAttr = "zero.adapted_module";
/// On the same: the number of the operand that is the module's matrix.
inline constexpr llvm::StringLiteral kAdaptedOperandAttr = "zero.adapted_operand";
/// On the module, from zero-add-adapters on: for each parameter that has an adapter, the module
/// that it is of (`module`), the factor of the adapter (`scale`), whether its elements are those of
/// a matrix of [inputs, outputs] (`inputs_first`), and whether the adapter has magnitudes
/// (`magnitude`). Not for one that is permuted otherwise before its product.
inline constexpr llvm::StringLiteral kAdaptersAttr = "zero.adapters";

} // namespace zero

#endif // DIALECTS_ZERO_ADAPTERATTRS_H
