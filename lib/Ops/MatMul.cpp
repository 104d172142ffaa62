//===- MatMul.cpp ---------------------------------------------------------===//
//
// ONNX: MatMul, with NumPy's rules for batches and vectors.
// Gradient: two products (Contraction.cpp).
//
// ONNX Runtime: FusedMatMul(a, b) {alpha, transA, transB, transBatchA, transBatchB} is alpha times
// the product of the transposed operands.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "dialects/Onnx/FusedMatMul.h"

using namespace mlir;

namespace zero::ops {

/// numpy.matmul's reading of a vector: a row on the left, a column on the right.
static SmallVector<int64_t> matrixShape(RankedTensorType type, bool left) {
  if (type.getRank() > 1)
    return SmallVector<int64_t>(type.getShape());
  int64_t extent = type.getDimSize(0);
  return left ? SmallVector<int64_t>{1, extent} : SmallVector<int64_t>{extent, 1};
}

static LogicalResult lowerMatMul(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  SmallVector<Value> matrices;
  for (unsigned side : {0, 1}) {
    RankedTensorType type = node.inputType(side);
    matrices.push_back(reshaped(b, inputs[side], type.clone(matrixShape(type, side == 0))));
  }
  Value product = contract(b, matrices[0], matrices[1], false, false);
  lowered.results.push_back(reshaped(b, product, node.outputType(0)));
  return success();
}

static LogicalResult matMulGradient(onnx::NodeOp node, ValueRange outputGrads,
                                    ArrayRef<bool> wanted, NodeBuilder &builder,
                                    MutableArrayRef<Value> inputGrads) {
  if (!outputGrads.front())
    return success();
  SmallVector<Value> matrices;
  for (unsigned side : {0, 1})
    matrices.push_back(
        builder.reshape(node.getInputs()[side], matrixShape(node.inputType(side), side == 0)));
  // The gradient gets the dimensions of one back that a vector operand lacks.
  SmallVector<int64_t> shape(node.outputType(0).getShape());
  if (node.inputType(1).getRank() == 1)
    shape.push_back(1);
  if (node.inputType(0).getRank() == 1)
    shape.insert(shape.end() - 1, 1);
  Value grad = builder.reshape(outputGrads.front(), shape);
  auto [gradA, gradB] = contractGradients(builder, matrices[0], matrices[1], grad, false, false,
                                          wanted[0], wanted[1]);
  for (auto [side, value] : llvm::enumerate(std::array<Value, 2>{gradA, gradB}))
    if (value)
      inputGrads[side] = builder.reshape(value, node.inputType(side).getShape());
  return success();
}

/// Operand `index`, permuted as its two attributes say.
static Value fusedOperand(onnx::NodeOp node, NodeBuilder &builder, unsigned index,
                          StringRef transBatch, StringRef trans) {
  int64_t rank = node.inputType(index).getRank();
  auto permutation =
      onnx::fusedPermutation(rank, node.getInt(transBatch, 0) != 0, node.getInt(trans, 0) != 0);
  Value value = node.getInputs()[index];
  return llvm::is_sorted(permutation) ? value : builder.transpose(value, permutation);
}

static LogicalResult expandFused(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  Value product = builder.matmul(fusedOperand(node, builder, 0, "transBatchA", "transA"),
                                 fusedOperand(node, builder, 1, "transBatchB", "transB"));
  if (double alpha = node.getFloat("alpha", 1); alpha != 1)
    product = builder.mul(product, builder.scalar(alpha, product.getType()));
  results.push_back(product);
  return success();
}

void registerMatMul() {
  registerOp(OpDef{op::MatMul, 7, kNewestOpset, Kind::Product, lowerMatMul, matMulGradient}
                 .linearly(Linear::InEach)
                 .computing(Function::Product)
                 .omittingEmpty(zeros));
  registerRuntimeOp("FusedMatMul", expandFused);
}

} // namespace zero::ops
