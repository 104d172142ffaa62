//===- ConvForms.h - gradients of convolutions in plain ONNX ----*- C++ -*-===//

#ifndef LIB_OPS_CONVFORMS_H
#define LIB_OPS_CONVFORMS_H

#include "zero/Ops/NodeBuilder.h"

namespace zero::ops {

/// OpDef::plain of zero::ConvGradX and zero::ConvGradW; none for windows with negative pads.
llvm::LogicalResult convGradXPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                     llvm::SmallVectorImpl<mlir::Value> &results);
llvm::LogicalResult convGradWPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                     llvm::SmallVectorImpl<mlir::Value> &results);

} // namespace zero::ops

#endif // LIB_OPS_CONVFORMS_H
