//===- NormalizationForms.cpp - normalizations that expand into others ----===//
//
// ONNX InstanceNormalization: LayerNormalization of each channel's row, then the
// channel's scale and bias. LpNormalization: x / |x|_p along one axis, p = 1 or 2,
// and x where the norm is 0. Both expand to operators of the table.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult expandInstanceNorm(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.inputType(0);
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 3)
    return nodeError(node) << "expected [N, C, D1, ..], got " << type;
  int64_t row = product(shape.drop_front(2));
  Value rows = builder.reshape(node.getInputs()[0], {shape[0], shape[1], row});
  Value ones = builder.splat(1, type.clone({row}));
  Value normal = builder
                     .create(op::LayerNormalization, rows.getType(), {rows, ones},
                             {builder.attr("axis", int64_t(-1)),
                              builder.attr("epsilon", node.getFloat("epsilon", 1e-5))})
                     .getResult(0);
  auto perChannel = [&](unsigned index) {
    return builder.reshape(node.getInputs()[index], {shape[1], 1});
  };
  Value result = builder.add(builder.mul(normal, perChannel(1)), perChannel(2));
  results.push_back(builder.reshape(result, shape));
  return success();
}

static LogicalResult expandLpNorm(onnx::NodeOp node, NodeBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  int64_t power = node.getInt("p", 2);
  if (power != 1 && power != 2)
    return nodeError(node) << "expected p = 1 or 2, got " << power;
  RankedTensorType type = node.inputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), type.getRank());
  SmallVector<int64_t> kept(type.getShape());
  kept[axis] = 1;
  Value x = node.getInputs()[0];
  Value norm = builder
                   .create(power == 1 ? op::ReduceL1 : op::ReduceL2, type.clone(kept),
                           {x, builder.indices(axis)}, builder.attr("keepdims", int64_t(1)))
                   .getResult(0);
  Value isZero = builder.binary(op::Equal, norm, builder.scalar(0, type));
  Value divisor = builder.where(isZero, builder.scalar(1, type), norm);
  results.push_back(builder.div(x, divisor));
  return success();
}

void registerNormalizationForms() {
  registerOp(OpDef{{"", "InstanceNormalization"},
                   7,
                   kNewestOpset,
                   Kind::Rows,
                   nullptr,
                   nullptr,
                   expandInstanceNorm}
                 .operand(1, OperandRole::Scale)
                 .operand(2, OperandRole::Offset));
  registerOp(
      {{"", "LpNormalization"}, 7, kNewestOpset, Kind::Rows, nullptr, nullptr, expandLpNorm});
}

} // namespace zero::ops
