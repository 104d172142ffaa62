//===- Variadic.cpp - elementwise operators of any number of operands -----===//
//
// ONNX Max, Min, Sum, Mean (opset 13): NumPy broadcasting, one operand or more.
//
// Gradients: Sum dy for each, Mean dy / n. Max and Min: dy goes to the operands
// that equal the result, in equal parts (torch.maximum's choice for ties).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Traits.h"

using namespace mlir;

namespace zero::ops {

/// Folds the operands from the left.
template <Combine combine>
static Value folded(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange elements) {
  Value result = elements.front();
  for (Value element : elements.drop_front())
    result = combined(b, forSign(node, 0, combine), result, element);
  return result;
}

static Value meanOf(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange elements) {
  Value sum = folded<Combine::Sum>(b, node, elements);
  return arith::DivFOp::create(b, sum, constant(b, sum.getType(), double(elements.size())));
}

/// Operands that one kernel takes: more become a chain from the left, as ONNX's
/// order of operands has it.
static constexpr size_t kMostOperands = 32;

static LogicalResult expandVariadic(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  ValueRange inputs = node.getInputs();
  if (inputs.size() <= kMostOperands)
    return success();
  const bool isMean = node.is(op::Mean);
  Value result = inputs.front();
  for (ValueRange rest = inputs.drop_front(); !rest.empty();) {
    SmallVector<Value> part{result};
    llvm::append_range(part, rest.take_front(kMostOperands - 1));
    rest = rest.drop_front(part.size() - 1);
    SmallVector<int64_t> shape;
    for (Value value : part) {
      SmallVector<int64_t> joined;
      OpTrait::util::getBroadcastedShape(shape, tensorType(value).getShape(), joined);
      shape = joined;
    }
    result =
        builder.create(isMean ? op::Sum : node.getOperator(), node.outputType(0).clone(shape), part)
            .getResult(0);
  }
  Value count = isMean ? builder.scalar(double(inputs.size()), result.getType()) : Value();
  results.push_back(isMean ? builder.div(result, count) : result);
  return success();
}

template <Value (*scalar)(ImplicitLocOpBuilder &, onnx::NodeOp, ValueRange)>
static LogicalResult lowerVariadic(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(
      elementwise(b, inputs, node.outputType(0), [&](ImplicitLocOpBuilder &inner, ValueRange x) {
        return scalar(inner, node, x);
      }));
  return success();
}

static LogicalResult sumGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  for (auto [index, isWanted] : llvm::enumerate(wanted))
    if (isWanted)
      grads[index] = builder.reduceTo(dy[0], node.inputType(index));
  return success();
}

static LogicalResult meanGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value count = builder.scalar(double(wanted.size()), dy[0].getType());
  return sumGradient(node, builder.div(dy[0], count), wanted, builder, grads);
}

static LogicalResult extremeGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                     NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Type element = tensorType(dy[0]).getElementType();
  SmallVector<Value> chosen;
  Value count;
  for (Value input : node.getInputs()) {
    chosen.push_back(builder.binary(op::Equal, input, node.getOutputs()[0]));
    Value part = builder.cast(chosen.back(), element);
    count = count ? builder.add(count, part) : part;
  }
  Value share = builder.div(dy[0], count);
  for (auto [index, isWanted] : llvm::enumerate(wanted))
    if (isWanted)
      grads[index] = builder.reduceTo(
          builder.where(chosen[index], share, builder.scalar(0, element)), node.inputType(index));
  return success();
}

void registerVariadic() {
  constexpr auto max = lowerVariadic<folded<Combine::Max>>;
  constexpr auto min = lowerVariadic<folded<Combine::Min>>;
  constexpr auto sum = lowerVariadic<folded<Combine::Sum>>;
  registerAnySign(
      OpDef{op::Max, 8, kNewestOpset, Kind::Elementwise, max, extremeGradient, expandVariadic}
          .computing(Function::Max)
          .evaluatedBy(evaluate::ofIntegers<evaluate::kMost>()));
  registerAnySign(
      OpDef{op::Min, 8, kNewestOpset, Kind::Elementwise, min, extremeGradient, expandVariadic}
          .computing(Function::Min)
          .evaluatedBy(evaluate::ofIntegers<evaluate::kLeast>()));
  registerAnySign(
      OpDef{op::Sum, 8, kNewestOpset, Kind::Elementwise, sum, sumGradient, expandVariadic}.linearly(
          Linear::Together));
  registerOp(OpDef{op::Mean, 8, kNewestOpset, Kind::Elementwise, lowerVariadic<meanOf>,
                   meanGradient, expandVariadic}
                 .linearly(Linear::Together));
}

} // namespace zero::ops
