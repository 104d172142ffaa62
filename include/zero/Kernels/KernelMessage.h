//===- KernelMessage.h - kernels as the executable has them -----*- C++ -*-===//

#ifndef ZERO_KERNELS_KERNELMESSAGE_H
#define ZERO_KERNELS_KERNELMESSAGE_H

#include "dialects/Zero/Zero.h"
#include "runtime/format/executable.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Writes `call` into `kernel`: its body, and in which types operands are stored.
void describeCall(LibraryAttr call, rt::proto::Kernel &kernel);

/// Writes what `function`, a kernel, says of itself into `kernel`: the call that it is, bytes of
/// workspace, and the operations and bytes of one launch, or of each element of its dynamic
/// dimension.
void describeKernel(mlir::func::FuncOp function, rt::proto::Kernel &kernel);

} // namespace zero

#endif // ZERO_KERNELS_KERNELMESSAGE_H
