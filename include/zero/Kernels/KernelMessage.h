//===- KernelMessage.h - kernels as messages of the executable --*- C++ -*-===//

#ifndef ZERO_KERNELS_KERNELMESSAGE_H
#define ZERO_KERNELS_KERNELMESSAGE_H

#include "dialects/Zero/Zero.h"
#include "runtime/format/executable.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// The element type's number in the executable's format.
rt::proto::DType dtypeOf(mlir::Type elementType);

/// Writes `call` into `kernel`: its body, and the element types of its operands.
void describeCall(LibraryAttr call, rt::proto::Kernel &kernel);

/// Writes the attributes of `function`, a kernel, into `kernel`: its library call, bytes of
/// workspace, and the FLOPs and bytes of one launch, or of each element of its dynamic dimension.
void describeKernel(mlir::func::FuncOp function, rt::proto::Kernel &kernel);

} // namespace zero

#endif // ZERO_KERNELS_KERNELMESSAGE_H
