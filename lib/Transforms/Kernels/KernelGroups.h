//===- KernelGroups.h - choose the nodes of each kernel ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H
#define LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H

#include "zero/Ops/OpTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

/// Nodes that one kernel computes, in program order; the last is its root. Those of their
/// results that others read are read after it.
struct KernelGroup {
  llvm::SmallVector<onnx::NodeOp> nodes;
  /// The root's operand whose buffer its result reuses; no other op reads it.
  std::optional<unsigned> inPlace;

  /// The node after which the kernel is called: the first product or node over rows, if any.
  onnx::NodeOp main() const;
  /// The results that others read, in program order.
  llvm::SmallVector<mlir::Value> readOutside() const;
};

/// Groups the nodes of a step, by their roots. Views are in no group, unless they are between a
/// product and an addition to it. Linear in the step.
llvm::DenseMap<mlir::Operation *, KernelGroup> groupNodes(mlir::func::FuncOp step);

} // namespace zero

#endif // LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H
