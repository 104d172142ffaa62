//===- Concat.cpp ---------------------------------------------------------===//
//
// ONNX: Concat, Split. Each is the other's gradient: slices
// for Concat, and for Split the concatenation of the results' gradients.
//
// ONNX Runtime: ConcatTraining(parts..) -> (y, the lengths of the parts), SplitTraining(y,
// lengths).
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "zero/Ops/Concat.h"

using namespace mlir;

namespace zero {

/// Parts that one kernel joins or cuts: more go in groups, and groups of groups.
static constexpr size_t kMostParts = 32;

Value concatNode(NodeBuilder &builder, SmallVector<Value> parts, int64_t axis) {
  do {
    SmallVector<Value> joined;
    for (ArrayRef<Value> rest = parts; !rest.empty();) {
      ArrayRef<Value> group = rest.take_front(kMostParts);
      rest = rest.drop_front(group.size());
      SmallVector<int64_t> shape(tensorType(group.front()).getShape());
      for (Value part : group.drop_front())
        shape[axis] += tensorType(part).getDimSize(axis);
      joined.push_back(builder
                           .create(op::Concat, tensorType(group.front()).clone(shape), group,
                                   builder.attr("axis", axis))
                           .getResult(0));
    }
    parts = std::move(joined);
  } while (parts.size() > 1);
  return parts.front();
}

static void splitInto(NodeBuilder &builder, Value value, ArrayRef<int64_t> sizes, int64_t axis,
                      SmallVectorImpl<Value> &results) {
  size_t each = 1;
  while (each * kMostParts < sizes.size())
    each *= kMostParts;
  SmallVector<Type> types;
  for (ArrayRef<int64_t> rest = sizes; !rest.empty();
       rest = rest.drop_front(std::min(each, rest.size()))) {
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape[axis] = llvm::sum_of(rest.take_front(each));
    types.push_back(tensorType(value).clone(shape));
  }
  onnx::NodeOp split = builder.create(op::Split, types, value, builder.attr("axis", axis));
  for (Value part : split.getOutputs()) {
    if (each == 1)
      results.push_back(part);
    else
      splitInto(builder, part, sizes.take_front(each), axis, results);
    sizes = sizes.drop_front(std::min(each, sizes.size()));
  }
}

SmallVector<Value> splitNode(NodeBuilder &builder, Value value, ArrayRef<int64_t> sizes,
                             int64_t axis) {
  SmallVector<Value> results;
  splitInto(builder, value, sizes, axis, results);
  return results;
}

namespace ops {

static int64_t axisOf(onnx::NodeOp node, int64_t rank) {
  return normalAxis(node.getInt("axis", 0), rank);
}

static LogicalResult expandConcat(onnx::NodeOp node, NodeBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  if (node.getInputs().size() > kMostParts)
    results.push_back(concatNode(builder, SmallVector<Value>(node.getInputs()),
                                 axisOf(node, node.outputType(0).getRank())));
  return success();
}

static LogicalResult expandSplit(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  if (node.getNumResults() <= kMostParts)
    return success();
  int64_t axis = axisOf(node, node.inputType(0).getRank());
  SmallVector<int64_t> sizes;
  for (Value output : node.getOutputs())
    sizes.push_back(tensorType(output).getDimSize(axis));
  llvm::append_range(results, splitNode(builder, node.getInputs().front(), sizes, axis));
  return success();
}

static LogicalResult expandConcatTraining(onnx::NodeOp node, NodeBuilder &builder,
                                          SmallVectorImpl<Value> &results) {
  int64_t axis = axisOf(node, node.outputType(0).getRank());
  SmallVector<int64_t> lengths;
  for (unsigned index = 0; index < node.getInputs().size(); ++index)
    lengths.push_back(node.inputType(index).getDimSize(axis));
  addResults(
      node,
      {concatNode(builder, SmallVector<Value>(node.getInputs()), axis), builder.indices(lengths)},
      builder, results);
  return success();
}

/// The lengths are those of the results.
static LogicalResult expandSplitTraining(onnx::NodeOp node, NodeBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  auto lengths = requireInts(node, 1, "split");
  if (failed(lengths))
    return failure();
  int64_t axis = axisOf(node, node.inputType(0).getRank());
  llvm::append_range(results, splitNode(builder, node.getInputs().front(), *lengths, axis));
  return success();
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
  inputGrads.front() = concatNode(builder, parts, axis);
  return success();
}

/// A Split whose results say their sizes.
static LogicalResult splitPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                  SmallVectorImpl<Value> &results) {
  if (node.hasInput(1) && node.getInputs().size() == 2)
    return success();
  const int64_t axis = normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
  SmallVector<int64_t> sizes;
  for (Value output : node.getOutputs())
    sizes.push_back(tensorType(output).getDimSize(axis));
  auto made = nodes.create(op::Split, node.getResultTypes(),
                           {node.getInputs()[0], nodes.indices(sizes)}, nodes.attr("axis", axis));
  llvm::append_range(results, made.getResults());
  return success();
}

static LogicalResult concatNonEmpty(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  SmallVector<Value> kept = llvm::filter_to_vector(
      node.getInputs(), [](Value part) { return tensorType(part).getNumElements() > 0; });
  results.push_back(
      kept.size() == 1
          ? kept.front()
          : builder.create(op::Concat, node.outputType(0), kept, node.getAttrs().getValue())
                .getResult(0));
  return success();
}

static bool evaluateConcat(evaluate::Node &node) {
  const ArrayRef<int64_t> dims = node.results[0].dims;
  auto axis = evaluate::fromFront(node.getInt("axis", 0), dims.size());
  if (!axis || llvm::is_contained(node.inputs, nullptr))
    return false;
  for (int64_t row = 0, rows = product(dims.take_front(*axis)); row < rows; ++row)
    for (const evaluate::Values *part : node.inputs) {
      const int64_t size = part->elements.size() / rows;
      llvm::append_range(node.results[0].elements,
                         ArrayRef(part->elements).slice(row * size, size));
    }
  return true;
}

static bool evaluateSplit(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0];
  auto axis = evaluate::fromFront(node.getInt("axis", 0), x.dims.size());
  evaluate::Dims starts(x.dims.size(), 0);
  return axis && llvm::all_of(node.results, [&](evaluate::Values &result) {
           const bool fits = evaluate::slice(x, starts, evaluate::Dims(starts.size(), 1), result);
           starts[*axis] += fits ? result.dims[*axis] : 0;
           return fits;
         });
}

void registerConcat() {
  registerAnySign(
      OpDef{op::Concat, 7, kNewestOpset, Kind::Other, lowerConcat, concatGradient, expandConcat}
          .linearly(Linear::Together)
          .moves()
          .dividedBy(factorsAcrossAxis<0>)
          .computing(Function::Concatenate)
          .omittingEmpty(concatNonEmpty)
          .evaluatedBy({.whole = evaluateConcat}));
  registerAnySign(
      OpDef{op::Split, 7, kNewestOpset, Kind::Other, lowerSplit, splitGradient, expandSplit}
          .linearly(Linear::InFirst)
          .moves()
          .dividedBy(factorsAcrossAxis<0>)
          .writtenBy(splitPlainly)
          .computing(Function::Split)
          .evaluatedBy({.whole = evaluateSplit, .moves = true}));
  registerRuntimeOp("ConcatTraining", expandConcatTraining);
  registerRuntimeOp("SplitTraining", expandSplitTraining);
}

} // namespace ops
} // namespace zero
