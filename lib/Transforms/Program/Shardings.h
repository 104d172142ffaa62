//===- Shardings.h - how a program shards its arguments ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_SHARDINGS_H
#define LIB_TRANSFORMS_PROGRAM_SHARDINGS_H

#include "Roles.h"

namespace zero {

/// Reads the shardings that JAX wrote on the arguments of `program` (`sdy.sharding`), and erases
/// the meshes of Shardy from its module.
///
/// - Axes of a mesh along which data is sharded are those of the batch. Data is marked with
///   `zero.split`; state that is sharded along them is what ZeRO's stages do, as a remark says.
/// - One other axis may shard parameters. It is the axis `tensor`: parameters are marked with
///   `zero.sharded_dim`, unless there is one rank along it.
///
/// `mesh` has the sizes of Zero's axes, "data=2,tensor=2". If it is empty, they are those of the
/// program, which are then written on the module (`zero.program_mesh`).
/// Fails after an error that names an argument, its sharding and what to do.
llvm::LogicalResult readShardings(mlir::func::FuncOp program, const ProgramRoles &roles,
                                  llvm::StringRef mesh);

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_SHARDINGS_H
