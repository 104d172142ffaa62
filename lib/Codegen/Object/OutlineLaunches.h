//===- OutlineLaunches.h - outline launches into functions ------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_OUTLINELAUNCHES_H
#define LIB_CODEGEN_OBJECT_OUTLINELAUNCHES_H

#include "runtime/format/executable.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Describes the launches of `kernel`, which have the symbols `base`_0, `base`_1, ...
rt::proto::GpuKernel describeLaunches(mlir::func::FuncOp kernel, llvm::StringRef base);

/// Replaces `kernel` by one function for each of its launches, with the same symbols. Each takes
/// the kernel's arguments and the length of the launch, an index. It repeats the computations that
/// the kernel performs around its launches.
void outlineLaunches(mlir::func::FuncOp kernel, llvm::StringRef base);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_OUTLINELAUNCHES_H
