//===- MaskedSoftmax.cpp - attention's softmax with its masks -------------===//
//
// zero::MaskedSoftmax(scores, padding?, mask?, query_segments?, key_segments?) {scale,
// causal, offset, window, prefix, fill, guard}: along the last of the dimensions [batch, heads,
// queries, keys]
//   softmax(scale * scores + bias), where bias is the sum of
//   fill, unless a key is shown by all of
//     causal: key <= query + offset, or key < prefix;
//     window: key > query + offset - window;
//     the segments, of i64 per [batch or 1, queries] and [batch or 1, keys], which are
//       equal: documents in one row, for example;
//     padding, a boolean per [batch or 1, keys];
//     mask, a boolean that broadcasts to the scores;
//   padding and mask themselves, where they are numbers instead.
// With guard a row of which all is minus infinity gives zeros; without, NaN as in
// Softmax. Whatever the mask, the step reads no more of it than its operands hold:
// causal and window are comparisons of loop variables.
//
// Gradient: zero::MaskedSoftmaxGrad(dy, y) {scale}: scale y (dy - sum(dy y)); only
// y is kept for backward. A number in a mask gets the same, summed to its shape.
// Where a row is all hidden by a finite fill, y is what the numbers say, and
// scores have a gradient as in any other row.
//
//===----------------------------------------------------------------------===//

#include "Masking.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerMaskedSoftmax(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                        Lowered &lowered) {
  Masking masking(node, builder, node.outputType(0));
  Value scores = masking.scores(inputs[0], inputs.drop_front());
  Value powers = masking.powers(scores, masking.top(scores));
  int64_t last = node.outputType(0).getRank() - 1;
  Value sum = reduce(masking.b, powers, last, Combine::Sum);
  lowered.results.push_back(masking.normalized(powers, sum));
  return success();
}

static LogicalResult lowerGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  Masking masking(node, builder, node.outputType(0));
  Value dot = masking.rowDot(inputs[0], inputs[1]);
  lowered.results.push_back(masking.slope(inputs[0], inputs[1], dot));
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto slope = [&](double scale) {
    return builder
        .create(own::MaskedSoftmaxGrad, node.inputType(0), {dy[0], node.getOutputs()[0]},
                builder.attr("scale", scale))
        .getResult(0);
  };
  if (wanted[0])
    grads[0] = slope(node.getFloat("scale", 1));
  for (unsigned index = 1; index < wanted.size(); ++index)
    if (wanted[index])
      grads[index] = index == 1 ? sumToPadding(builder, slope(1), node.inputType(1))
                                : builder.reduceTo(slope(1), node.inputType(2));
  return success();
}

/// The mask broadcasts to the scores; padding and segments are [batch or 1, positions].
static Factors maskedFactors(onnx::NodeOp node) {
  Factors factors = FactorBuilder(node).addBroadcast(/*count=*/2).take();
  for (auto [dim, factor] : llvm::enumerate(factors))
    for (unsigned index : {1, 3, 4})
      if (node.hasInput(index))
        factor.operands[index] = dim == 0 && node.inputType(index).getDimSize(0) != 1 ? 0 : -1;
  return factors;
}

static Factors gradFactors(onnx::NodeOp node) { return FactorBuilder(node).addAllBut(3).take(); }

void registerMaskedSoftmax() {
  registerOp(OpDef{own::MaskedSoftmax, 1, 1, Kind::Rows, lowerMaskedSoftmax, gradient}.dividedBy(
      maskedFactors));
  registerOp(OpDef{own::MaskedSoftmaxGrad, 1, 1, Kind::Rows, lowerGrad}.dividedBy(gradFactors));
}

} // namespace zero::ops
