//===- AdapterAttrs.h - marks of products that get an adapter ---*- C++ -*-===//
// Discardable attributes that zero-plan-adapters writes; absent otherwise.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_ADAPTERATTRS_H
#define DIALECTS_ZERO_ADAPTERATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a product, until zero-add-adapters: the name of the module that it computes.
inline constexpr llvm::StringLiteral kAdaptedModuleAttr = "zero.adapted_module";
/// On the same: the number of the operand that is the module's matrix.
inline constexpr llvm::StringLiteral kAdaptedOperandAttr = "zero.adapted_operand";
/// PEFT calls a model that it adapts base_model.model.
inline constexpr llvm::StringLiteral kAdapterPrefix = "base_model.model.";

} // namespace zero

#endif // DIALECTS_ZERO_ADAPTERATTRS_H
