//===- GatherElements.cpp -------------------------------------------------===//
//
// ONNX: GatherElements, ScatterElements with any reduction. Gradient of GatherElements:
// zero::GatherElementsGrad(dy, indices) {axis, shape}, a scatter-add in row-major order, whose
// gradient is the GatherElements; of ScatterElements: by gathers and scatters, for each reduction;
// see Scatter.cpp.
//
// ONNX Runtime: GatherElementsGrad(dy, shape, indices) {axis} is zero::GatherElementsGrad.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

static int64_t axisOf(onnx::NodeOp node, RankedTensorType data) {
  return normalAxis(node.getInt("axis", 0), data.getRank());
}

static LogicalResult lowerGatherElements(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                         Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType data = node.inputType(0);
  int64_t axis = axisOf(node, data), extent = data.getDimSize(axis);
  if (failed(checkIndices(node, 1, inputs[1], extent, b, lowered)))
    return failure();
  lowered.results.push_back(elementwise(
      b, inputs[1], node.outputType(0), [&](ImplicitLocOpBuilder &s, ValueRange elements) {
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < data.getRank(); ++dim)
          at.push_back(dim == axis ? boundedIndex(s, elements[0], extent)
                                   : linalg::IndexOp::create(s, dim).getResult());
        return tensor::ExtractOp::create(s, inputs[0], at).getResult();
      }));
  return success();
}

static LogicalResult gatherElementsGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                            NodeBuilder &builder, MutableArrayRef<Value> grads) {
  return gatherGradient(node, dy, wanted, builder, grads, own::GatherElementsGrad,
                        builder.attr("axis", axisOf(node, node.inputType(0))));
}

static LogicalResult gradGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  return scatteredGradient(node, dy, wanted, builder, grads, op::GatherElements,
                           builder.attr("axis", node.getInt("axis", 0)));
}

/// Scatters the elements of `updates` into `into` along `axis`.
static Value scatterElements(ImplicitLocOpBuilder &b, Value into, Value indices, Value updates,
                             int64_t axis, std::optional<Combine> combine) {
  int64_t extent = tensorType(into).getDimSize(axis);
  return forEachIndex(
      b, tensorType(indices).getShape(), into,
      [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
        SmallVector<Value> at(point);
        at[axis] = boundedIndex(s, tensor::ExtractOp::create(s, indices, point), extent);
        Value element = tensor::ExtractOp::create(s, updates, point);
        if (combine)
          element = combined(s, *combine, tensor::ExtractOp::create(s, carried, at), element);
        return tensor::InsertOp::create(s, element, carried, at);
      });
}

static LogicalResult lowerGatherElementsGrad(onnx::NodeOp node, ValueRange inputs,
                                             OpBuilder &builder, Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(scatterElements(b, filled(b, node.outputType(0), 0), inputs[1],
                                            inputs[0], node.getInt("axis", 0), Combine::Sum));
  return success();
}

static LogicalResult lowerScatterElements(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                          Lowered &lowered) {
  auto combine = scatterReduction(node);
  if (failed(combine))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  int64_t axis = axisOf(node, node.inputType(0));
  if (failed(checkIndices(node, 1, inputs[1], node.inputType(0).getDimSize(axis), b, lowered)))
    return failure();
  lowered.results.push_back(scatterElements(b, inputs[0], inputs[1], inputs[2], axis, *combine));
  return success();
}

static LogicalResult scatterElementsGradient(onnx::NodeOp node, ValueRange dy,
                                             ArrayRef<bool> wanted, NodeBuilder &builder,
                                             MutableArrayRef<Value> grads) {
  return scatterGradient(node, dy, wanted, builder, grads, op::GatherElements,
                         builder.attr("axis", axisOf(node, node.inputType(0))));
}

static LogicalResult expandGrad(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.outputType(0);
  results.push_back(builder
                        .create(own::GatherElementsGrad, type,
                                {node.getInputs()[0], node.getInputs()[2]},
                                {builder.attr("axis", axisOf(node, type)),
                                 builder.attr("shape", type.getShape())})
                        .getResult(0));
  return success();
}

static LogicalResult gatherElementsGradPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                               SmallVectorImpl<Value> &results) {
  Value zeros = nodes.splat(0, node.outputType(0));
  results.push_back(addAtElements(nodes, zeros, node.getInputs()[1], node.getInputs()[0],
                                  node.getInt("axis", 0)));
  return success();
}

static bool evaluateGatherElements(evaluate::Node &node) {
  const evaluate::Values &data = *node.inputs[0], &indices = *node.inputs[1];
  auto axis = evaluate::fromFront(node.getInt("axis", 0), data.dims.size());
  bool known = axis && indices.dims.size() == data.dims.size();
  for (size_t dim = 0; known && dim < data.dims.size(); ++dim)
    known = int64_t(dim) == *axis || indices.dims[dim] <= data.dims[dim];
  if (!known)
    return false;
  const evaluate::Dims strides = evaluate::stridesOf(data.dims);
  const int64_t *next = indices.elements.data();
  evaluate::forEachIndex(indices.dims, [&](ArrayRef<int64_t> index) {
    auto row = evaluate::fromFront(*next++, data.dims[*axis]);
    known = known && row;
    if (row)
      node.results[0].elements.push_back(data.elements[evaluate::offsetOf(index, strides) +
                                                       (*row - index[*axis]) * strides[*axis]]);
  });
  return known;
}

void registerGatherElements() {
  registerAnySign(OpDef{op::GatherElements, 11, kNewestOpset, Kind::Other, lowerGatherElements,
                        gatherElementsGradient}
                      .moves()
                      .dividedBy(factorsAcrossAxis<0>)
                      .evaluatedBy({.whole = evaluateGatherElements}));
  registerAnySign(OpDef{op::ScatterElements, 11, kNewestOpset, Kind::Other, lowerScatterElements,
                        scatterElementsGradient}
                      .dividedBy(factorsAcrossAxis<0>)
                      .omittingEmpty(firstOperand));
  registerOp(
      OpDef{own::GatherElementsGrad, 1, 1, Kind::Other, lowerGatherElementsGrad, gradGradient}
          .dividedBy(factorsAcrossAxis<0>)
          .writtenBy(gatherElementsGradPlainly));
  registerRuntimeOp(own::GatherElementsGrad.type, expandGrad);
}

} // namespace zero::ops
