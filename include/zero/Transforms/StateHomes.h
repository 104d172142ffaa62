//===- StateHomes.h - where other programs have state -----------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STATEHOMES_H
#define ZERO_TRANSFORMS_STATEHOMES_H

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On the module of another shape of the inputs, a dictionary: where the first one has its
/// parameters and states. zero-assign-buckets takes it over, because the buckets that suit a
/// program depend on its kernels, and so on its shape.
inline constexpr llvm::StringLiteral kStateHomesAttr = "zero.state_homes";

/// The places in buckets, with owners and tiers, of the parameters and states of `module`, and the
/// sizes of buckets.
mlir::DictionaryAttr stateHomesOf(mlir::ModuleOp module);

/// Gives the parameters and states of `module` the places of `homes`, which stateHomesOf() returned
/// for another module. Fails after an error that names one that is not there.
llvm::LogicalResult takeStateHomes(mlir::ModuleOp module, mlir::DictionaryAttr homes);

} // namespace zero

#endif // ZERO_TRANSFORMS_STATEHOMES_H
