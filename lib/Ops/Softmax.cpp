//===- Softmax.cpp - softmax and its logarithm ----------------------------===//
//
// ONNX Softmax, LogSoftmax (opset 13): along one axis, shifted by its maximum.
//
// Gradients from the result y (Bridle 1990; PyTorch's softmax backward):
//   zero::SoftmaxGrad(dy, y) {axis}: y (dy - sum(dy y))
//   zero::LogSoftmaxGrad(dy, y) {axis}: dy - exp(y) sum(dy)
//
// ONNX Runtime: SoftmaxGrad_13 and LogSoftmaxGrad_13(dy, y) are the same; without _13, of opset 12.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The rows along one axis of a tensor type.
struct Rows {
  Rows(onnx::NodeOp node, OpBuilder &builder)
      : b(node.getLoc(), builder), type(node.outputType(0)),
        axis(normalAxis(node.getInt("axis", -1), type.getRank())),
        perRow(withoutAxes(b.getContext(), type.getRank(), axis)) {}

  /// Combines along each row the results of `body` for full tensors and row values.
  Value reduceRow(ValueRange operands, ArrayRef<AffineMap> maps, Combine combine, Body body) {
    return reduce(b, operands, maps, type, axis, combine, body);
  }
  /// One pass over full tensors and row values.
  Value pass(ValueRange operands, ArrayRef<AffineMap> maps, Body body) {
    return elementwise(b, operands, maps, type, body);
  }

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  int64_t axis;
  /// How a value per row is read; null reads a full tensor.
  AffineMap perRow;
};
} // namespace

static Value first(ImplicitLocOpBuilder &, ValueRange x) { return x[0]; }
static Value difference(ImplicitLocOpBuilder &b, ValueRange x) {
  return arith::SubFOp::create(b, x[0], x[1]);
}
static Value expDifference(ImplicitLocOpBuilder &b, ValueRange x) {
  return math::ExpOp::create(b, difference(b, x));
}
static Value quotient(ImplicitLocOpBuilder &b, ValueRange x) {
  return arith::DivFOp::create(b, x[0], x[1]);
}

static LogicalResult lowerSoftmax(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  Rows rows(node, builder);
  Value top = rows.reduceRow(inputs[0], {}, Combine::Max, first);
  Value powers = rows.pass({inputs[0], top}, {{}, rows.perRow}, expDifference);
  Value sum = rows.reduceRow(powers, {}, Combine::Sum, first);
  lowered.results.push_back(rows.pass({powers, sum}, {{}, rows.perRow}, quotient));
  return success();
}

static LogicalResult lowerLogSoftmax(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  Rows rows(node, builder);
  AffineMap perRow = rows.perRow;
  Value top = rows.reduceRow(inputs[0], {}, Combine::Max, first);
  Value sum = rows.reduceRow({inputs[0], top}, {{}, perRow}, Combine::Sum, expDifference);
  lowered.results.push_back(rows.pass({inputs[0], top, sum}, {{}, perRow, perRow},
                                      [](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                                        Value shifted = arith::SubFOp::create(b, x[0], x[1]);
                                        return arith::SubFOp::create(b, shifted,
                                                                     math::LogOp::create(b, x[2]));
                                      }));
  return success();
}

static LogicalResult lowerSoftmaxGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  Rows rows(node, builder);
  Value dot =
      rows.reduceRow(inputs, {}, Combine::Sum, [](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
        return arith::MulFOp::create(b, x[0], x[1]);
      });
  lowered.results.push_back(rows.pass({inputs[0], inputs[1], dot}, {{}, {}, rows.perRow},
                                      [](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                                        Value centred = arith::SubFOp::create(b, x[0], x[2]);
                                        return arith::MulFOp::create(b, x[1], centred);
                                      }));
  return success();
}

static LogicalResult lowerLogSoftmaxGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                         Lowered &lowered) {
  Rows rows(node, builder);
  Value sum = rows.reduceRow(inputs[0], {}, Combine::Sum, first);
  lowered.results.push_back(rows.pass({inputs[0], inputs[1], sum}, {{}, {}, rows.perRow},
                                      [](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                                        Value power = math::ExpOp::create(b, x[1]);
                                        Value part = arith::MulFOp::create(b, power, x[2]);
                                        return arith::SubFOp::create(b, x[0], part);
                                      }));
  return success();
}

/// The gradient of `forward`, Softmax or LogSoftmax, from its result `y`.
static Value gradientAt(NodeBuilder &builder, StringRef forward, Value dy, Value y, int64_t axis) {
  std::string type = (forward + "Grad").str();
  return builder.create({kZeroDomain, type}, y.getType(), {dy, y}, builder.attr("axis", axis))
      .getResult(0);
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] =
        gradientAt(builder, node.getOpType(), dy[0], node.getOutputs()[0], node.getInt("axis", -1));
  return success();
}

/// Before opset 13: over all dimensions from `axis` on, as if they were one.
static Value flattened(onnx::NodeOp node, NodeBuilder &builder, Value value) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  int64_t axis = normalAxis(node.getInt("axis", 1), shape.size());
  int64_t row = 1, rows = 1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    (int64_t(dim) < axis ? rows : row) *= extent;
  return builder.reshape(value, {rows, row});
}

static LogicalResult expandFlattened(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  Value flat = flattened(node, builder, node.getInputs()[0]);
  Value result =
      builder.create(node.getOperator(), flat.getType(), flat, builder.attr("axis", int64_t(-1)))
          .getResult(0);
  results.push_back(builder.reshape(result, node.inputType(0).getShape()));
  return success();
}

/// "Softmax" for "SoftmaxGrad_13".
static StringRef forwardOf(onnx::NodeOp node) { return node.getOpType().split("Grad").first; }

static LogicalResult expandGrad(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  results.push_back(gradientAt(builder, forwardOf(node), node.getInputs()[0], node.getInputs()[1],
                               node.getInt("axis", -1)));
  return success();
}

static LogicalResult expandFlattenedGrad(onnx::NodeOp node, NodeBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  Value grad = gradientAt(builder, forwardOf(node), flattened(node, builder, node.getInputs()[0]),
                          flattened(node, builder, node.getInputs()[1]), -1);
  results.push_back(builder.reshape(grad, node.inputType(0).getShape()));
  return success();
}

void registerSoftmax() {
  registerOp(OpDef{op::Softmax, 7, 12, Kind::Rows, nullptr, nullptr, expandFlattened}.operand(
      0, OperandRole::Scores));
  registerOp({op::LogSoftmax, 7, 12, Kind::Rows, nullptr, nullptr, expandFlattened});
  auto add = [](OpDef def) { registerOp(def.dividedBy(factorsAcrossAxis<-1>)); };
  add(OpDef{op::Softmax, 13, kNewestOpset, Kind::Rows, lowerSoftmax, gradient}.operand(
      0, OperandRole::Scores));
  // Its result is a loss in the making: 8 bits of a logarithm are too few.
  add(OpDef{op::LogSoftmax, 13, kNewestOpset, Kind::Rows, lowerLogSoftmax, gradient}.keepsWide());
  add({own::SoftmaxGrad, 1, 1, Kind::Rows, lowerSoftmaxGrad});
  add({{kZeroDomain, "LogSoftmaxGrad"}, 1, 1, Kind::Rows, lowerLogSoftmaxGrad});
  for (StringRef name : {"SoftmaxGrad_13", "LogSoftmaxGrad_13"})
    registerRuntimeOp(name, expandGrad);
  for (StringRef name : {StringRef(own::SoftmaxGrad.type), StringRef("LogSoftmaxGrad")})
    registerRuntimeOp(name, expandFlattenedGrad);
}

} // namespace zero::ops
