//===- RecurrentPacking.cpp - weights of recurrent layers in blocks -------===//

#include "Recurrent.h"
#include "RecurrentLoops.h"
#include "zero/Ops/Recurrent.h"

using namespace mlir;

namespace zero {

using namespace ops;

static bool isGradient(onnx::NodeOp node) { return node.getOpType().ends_with("Grad"); }

bool isRecurrent(onnx::NodeOp node) {
  return node.getDomain() == kZeroDomain &&
         llvm::is_contained({"LSTM", "GRU", "RNN", "LSTMGrad", "GRUGrad", "RNNGrad"},
                            node.getOpType());
}

/// `weights`, [groups * columns, terms], as [groups * blocks, terms, kBlockColumns].
static Value packed(NodeBuilder &builder, Value weights, int64_t groups) {
  RankedTensorType type = tensorType(weights);
  const int64_t columns = type.getDimSize(0) / groups, terms = type.getDimSize(1);
  const int64_t width = llvm::alignTo(columns, kBlockColumns);
  if (type.getElementTypeBitWidth() < 32) // vectors of the kernel have no shorter elements
    weights = builder.cast(weights, builder.getBuilder().getF32Type());
  if (width != columns) {
    weights = builder.reshape(weights, {groups, columns, terms});
    auto padded = tensorType(weights).clone({groups, width, terms});
    Value pads = builder.indices({0, 0, 0, 0, width - columns, 0});
    weights = builder.create(op::Pad, padded, {weights, pads}).getResult(0);
  }
  const int64_t blocks = groups * width / kBlockColumns;
  return builder.transpose(builder.reshape(weights, {blocks, kBlockColumns, terms}), {0, 2, 1});
}

void packRecurrentWeights(onnx::NodeOp node) {
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  const int64_t gates = RecurrentForm(node).gates();
  auto pack = [&](unsigned index, int64_t groups) {
    if (node.hasInput(index))
      node->setOperand(index, packed(builder, node.getInputs()[index], groups));
  };
  if (!isGradient(node))
    return pack(StepsOperand::Weights, gates);
  pack(GradOperand::Transposed, 1);
  pack(GradOperand::Weights, gates);
}

} // namespace zero
