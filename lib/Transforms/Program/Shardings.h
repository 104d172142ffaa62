//===- Shardings.h - how a program shards its arguments ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_SHARDINGS_H
#define LIB_TRANSFORMS_PROGRAM_SHARDINGS_H

#include "Roles.h"

namespace zero {

/// Reads the shardings that JAX wrote on the arguments of `program` (`sdy.sharding`). Marks data
/// that is sharded along its first dimension (`zero.split`). State may be sharded along axes of the
/// data, which ZeRO's stages do; a remark says so. Fails after an error for anything else.
llvm::LogicalResult readShardings(mlir::func::FuncOp program, const ProgramRoles &roles);

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_SHARDINGS_H
