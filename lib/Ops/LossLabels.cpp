//===- LossLabels.cpp - weights of the labels of a loss -------------------===//

#include "LossLabels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

Value LossLabels::isValid(ImplicitLocOpBuilder &in, Value label) {
  if (!node.getAttrs().contains("ignore_index"))
    return nullptr;
  Value ignored = arith::ConstantOp::create(
      in, in.getIntegerAttr(label.getType(), node.getInt("ignore_index", 0)));
  return arith::CmpIOp::create(in, arith::CmpIPredicate::ne, label, ignored);
}

Value LossLabels::inside(ImplicitLocOpBuilder &in, Value label) {
  Value low = arith::MaxSIOp::create(in, label, constant(in, label.getType(), 0));
  return arith::MinSIOp::create(in, low, constant(in, label.getType(), double(classes - 1)));
}

Value LossLabels::weightOf(ImplicitLocOpBuilder &in, Value label) {
  Value weight = constant(in, element, 1);
  if (weights) {
    Value index = arith::IndexCastOp::create(in, in.getIndexType(), inside(in, label));
    weight = tensor::ExtractOp::create(in, weights, index);
  }
  if (Value valid = isValid(in, label))
    weight = arith::SelectOp::create(in, valid, weight, constant(in, element, 0));
  return weight;
}

Value LossLabels::lossOf(ImplicitLocOpBuilder &in, Value label, Value lse, Value score) {
  Value margin = arith::SubFOp::create(in, lse, score);
  Value weighted = arith::MulFOp::create(in, weightOf(in, label), margin);
  // Ignored rows may hold infinities, which 0 would turn into NaN.
  Value valid = isValid(in, label);
  if (!valid)
    return weighted;
  return arith::SelectOp::create(in, valid, weighted, constant(in, weighted.getType(), 0));
}

Value LossLabels::sumWeights(ImplicitLocOpBuilder &b, Value labels) {
  return sumRows(b, labels, tensorType(labels).clone(element),
                 [&](ImplicitLocOpBuilder &in, ValueRange x) { return weightOf(in, x[0]); });
}

/// The smallest and the largest label, ignored ones counted as 0.
RangeCheck LossLabels::check(ImplicitLocOpBuilder &b, Value labels) {
  RankedTensorType wide = tensorType(labels).clone(b.getI64Type());
  auto axes = llvm::to_vector(llvm::seq<int64_t>(wide.getRank()));
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) {
    Value label = x[0];
    if (Value valid = isValid(in, label))
      label = arith::SelectOp::create(in, valid, label, constant(in, label.getType(), 0));
    if (label.getType() == in.getI64Type())
      return label;
    return arith::ExtSIOp::create(in, in.getI64Type(), label).getResult();
  };
  Value least = reduce(b, labels, {}, wide, axes, Combine::Min, body);
  Value most = reduce(b, labels, {}, wide, axes, Combine::Max, body);
  Value pair = tensor::FromElementsOp::create(
      b, ValueRange{tensor::ExtractOp::create(b, least), tensor::ExtractOp::create(b, most)});
  std::string message = ("labels of " + node.getString("operator", node.getOpType()) + " node '" +
                         node.getNode() + "' must lie in [0, " + Twine(classes) + ")")
                            .str();
  return {pair, 0, classes - 1, message};
}

Value sumRows(ImplicitLocOpBuilder &b, ValueRange operands, RankedTensorType rowType, Body body) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(rowType.getRank()));
  return reduce(b, operands, {}, rowType, axes, Combine::Sum, body);
}

} // namespace zero::ops
