//===- Concat.cpp ---------------------------------------------------------===//
//
// ONNX: Concat, Split. Each is the other's gradient: slices
// for Concat, and for Split the concatenation of the results' gradients.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

using namespace mlir;

namespace zero::ops {

static int64_t axisOf(onnx::NodeOp node, int64_t rank) {
  return normalAxis(node.getInt("axis", 0), rank);
}

static LogicalResult lowerConcat(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  int64_t axis = axisOf(node, node.outputType(0).getRank());
  Value result = empty(b, node.outputType(0));
  int64_t start = 0;
  for (Value input : inputs) {
    Window window = Window::all(tensorType(input).getShape());
    window.offsets[axis] = start;
    start += window.sizes[axis];
    result = put(b, input, result, window);
  }
  lowered.results.push_back(result);
  return success();
}

static LogicalResult concatGradient(onnx::NodeOp node, ValueRange outputGrads,
                                    ArrayRef<bool> wanted, NodeBuilder &builder,
                                    MutableArrayRef<Value> inputGrads) {
  if (!outputGrads.front())
    return success();
  int64_t axis = axisOf(node, node.outputType(0).getRank());
  int64_t start = 0;
  for (auto [index, input] : llvm::enumerate(node.getInputs())) {
    int64_t end = start + tensorType(input).getDimSize(axis);
    if (wanted[index])
      inputGrads[index] = sliceNode(builder, outputGrads.front(), axis, start, end);
    start = end;
  }
  return success();
}

static LogicalResult lowerSplit(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  int64_t axis = axisOf(node, node.inputType(0).getRank());
  int64_t start = 0;
  for (Value output : node.getOutputs()) {
    Window window = Window::all(tensorType(output).getShape());
    window.offsets[axis] = start;
    start += window.sizes[axis];
    lowered.results.push_back(cut(b, inputs.front(), window));
  }
  return success();
}

static LogicalResult splitGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (!wanted.front())
    return success();
  SmallVector<Value> parts;
  for (auto [output, grad] : llvm::zip(node.getOutputs(), outputGrads))
    parts.push_back(grad ? grad : builder.splat(0, tensorType(output)));
  int64_t axis = axisOf(node, node.inputType(0).getRank());
  inputGrads.front() =
      builder.create("", "Concat", node.inputType(0), parts, builder.attr("axis", axis))
          .getResult(0);
  return success();
}

void registerConcat() {
  registerAnySign({"", "Concat", 7, kNewestOpset, Kind::Other, lowerConcat, concatGradient});
  registerAnySign({"", "Split", 7, kNewestOpset, Kind::Other, lowerSplit, splitGradient});
}

} // namespace zero::ops
