//===- Gemm.cpp -----------------------------------------------------------===//
//
// ONNX: Gemm; beta = 0 leaves C out, whatever it holds. With alpha = beta = 1 and C a row of n
// elements it stays one product with a bias, as a library call takes it; anything else is expanded
// to Contract, Mul and Add. Gradient: two products, and for C the sum over the rows.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

static bool transA(onnx::NodeOp node) { return node.getInt("transA", 0) != 0; }
static bool transB(onnx::NodeOp node) { return node.getInt("transB", 0) != 0; }

/// Whether C is one row, added to each of the result's.
static bool isRow(RankedTensorType bias, RankedTensorType result) {
  return bias.getRank() > 0 && bias.getShape().back() == result.getDimSize(1) &&
         bias.getNumElements() == result.getDimSize(1);
}

static bool isPlain(onnx::NodeOp node) {
  if (node.getFloat("alpha", 1) != 1)
    return false;
  return !node.hasInput(2) ||
         (node.getFloat("beta", 1) == 1 && isRow(node.inputType(2), node.outputType(0)));
}

static LogicalResult expandGemm(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  if (isPlain(node))
    return success();
  auto scaled = [&](Value value, StringRef factor) {
    double by = node.getFloat(factor, 1);
    return by == 1 ? value : builder.mul(value, builder.scalar(by, value.getType()));
  };
  Value product =
      contractNode(builder, node.getInputs()[0], node.getInputs()[1], transA(node), transB(node));
  product = scaled(product, "alpha");
  if (node.hasInput(2) && node.getFloat("beta", 1) != 0) // else C is not read, as in BLAS
    product = builder.add(product, scaled(node.getInputs()[2], "beta"));
  results.push_back(product);
  return success();
}

static Value addBias(ImplicitLocOpBuilder &b, Value product, Value bias) {
  RankedTensorType type = tensorType(product);
  Value row = reshaped(b, bias, type.clone(type.getShape().take_back()));
  return elementwise(b, {product, row}, type, [](ImplicitLocOpBuilder &s, ValueRange elements) {
    if (isa<FloatType>(elements[0].getType()))
      return arith::AddFOp::create(s, elements[0], elements[1]).getResult();
    return arith::AddIOp::create(s, elements[0], elements[1]).getResult();
  });
}

static LogicalResult lowerGemm(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value product = contract(b, inputs[0], inputs[1], transA(node), transB(node));
  lowered.results.push_back(node.hasInput(2) ? addBias(b, product, inputs[2]) : product);
  return success();
}

static LogicalResult gemmGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  Value grad = outputGrads.front();
  if (!grad)
    return success();
  std::tie(inputGrads[0], inputGrads[1]) =
      contractGradients(builder, node.getInputs()[0], node.getInputs()[1], grad, transA(node),
                        transB(node), wanted[0], wanted[1]);
  if (node.hasInput(2) && wanted[2])
    inputGrads[2] = builder.reduceTo(grad, node.inputType(2));
  return success();
}

/// What is left of alpha A B + beta C if A and B have no elements.
static LogicalResult addendAlone(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  if (!node.hasInput(2))
    return zeros(node, builder, results);
  RankedTensorType type = node.outputType(0);
  Value added = builder.expand(node.getInputs()[2], type.getShape());
  results.push_back(builder.mul(added, builder.scalar(node.getFloat("beta", 1), type)));
  return success();
}

void registerGemm() {
  registerOp(OpDef{op::Gemm, 7, kNewestOpset, Kind::Product, lowerGemm, gemmGradient, expandGemm}
                 .computing(Function::Product)
                 .operand(2, OperandRole::Offset)
                 .omittingEmpty(addendAlone));
}

} // namespace zero::ops
