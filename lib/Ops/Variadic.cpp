//===- Variadic.cpp - elementwise operators of any number of operands -----===//
//
// ONNX Max, Min, Sum, Mean (opset 13): NumPy broadcasting, one operand or more.
//
// Gradients: Sum dy for each, Mean dy / n. Max and Min: dy goes to the operands
// that equal the result, in equal parts (torch.maximum's choice for ties).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
    chosen.push_back(builder.binary("Equal", input, node.getOutputs()[0]));
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
  registerAnySign({"", "Max", 8, kNewestOpset, Kind::Elementwise, max, extremeGradient});
  registerAnySign({"", "Min", 8, kNewestOpset, Kind::Elementwise, min, extremeGradient});
  registerAnySign({"", "Sum", 8, kNewestOpset, Kind::Elementwise, sum, sumGradient});
  registerOp({"", "Mean", 8, kNewestOpset, Kind::Elementwise, lowerVariadic<meanOf>, meanGradient});
}

} // namespace zero::ops
