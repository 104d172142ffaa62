//===- ProgramMesh.h - the mesh that a model says ---------------*- C++ -*-===//

#ifndef LIB_DRIVER_PROGRAMMESH_H
#define LIB_DRIVER_PROGRAMMESH_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// Sets the mesh of `options` to that of the program in `module`, if it says one, and takes it off
/// the module. Then checks the flags again, if they depend on the ranks of a model. Fails after an
/// error.
llvm::LogicalResult takeProgramMesh(mlir::ModuleOp module, CompilerOptions &options);

} // namespace zero

#endif // LIB_DRIVER_PROGRAMMESH_H
