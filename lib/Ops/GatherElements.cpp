//===- GatherElements.cpp -------------------------------------------------===//
//
// ONNX: GatherElements, ScatterElements with reduction none or add. Gradient of GatherElements: zero::GatherElementsGrad(dy, indices)
// {axis, shape}, a scatter-add in row-major order; of ScatterElements: a gather
// for the updates and dy, with zeros where it was overwritten, for the data.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

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

static LogicalResult gatherElementsGradient(onnx::NodeOp node, ValueRange outputGrads,
                                            ArrayRef<bool> wanted, NodeBuilder &builder,
                                            MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front())
    inputGrads.front() = builder
                             .create(kZeroDomain, "GatherElementsGrad", node.inputType(0),
                                     {outputGrads.front(), node.getInputs()[1]},
                                     {builder.attr("axis", axisOf(node, node.inputType(0))),
                                      builder.attr("shape", node.inputType(0).getShape())})
                             .getResult(0);
  return success();
}

/// Scatters the elements of `updates` into `into` along `axis`.
static Value scatterElements(ImplicitLocOpBuilder &b, Value into, Value indices, Value updates,
                             int64_t axis, bool add) {
  int64_t extent = tensorType(into).getDimSize(axis);
  return forEachIndex(b, tensorType(indices).getShape(), into,
                      [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
                        SmallVector<Value> at(point);
                        at[axis] =
                            boundedIndex(s, tensor::ExtractOp::create(s, indices, point), extent);
                        Value element = tensor::ExtractOp::create(s, updates, point);
                        if (add) {
                          Value old = tensor::ExtractOp::create(s, carried, at);
                          element = isFloat(into)
                                        ? arith::AddFOp::create(s, old, element).getResult()
                                        : arith::AddIOp::create(s, old, element).getResult();
                        }
                        return tensor::InsertOp::create(s, element, carried, at);
                      });
}

static LogicalResult lowerGatherElementsGrad(onnx::NodeOp node, ValueRange inputs,
                                             OpBuilder &builder, Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(scatterElements(b, filled(b, node.outputType(0), 0), inputs[1],
                                            inputs[0], node.getInt("axis", 0), /*add=*/true));
  return success();
}

static LogicalResult lowerScatterElements(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                          Lowered &lowered) {
  StringRef reduction = node.getString("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return nodeError(node) << "reduction '" << reduction << "' is not supported yet";
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  int64_t axis = axisOf(node, node.inputType(0));
  if (failed(checkIndices(node, 1, inputs[1], node.inputType(0).getDimSize(axis), b, lowered)))
    return failure();
  lowered.results.push_back(
      scatterElements(b, inputs[0], inputs[1], inputs[2], axis, reduction == "add"));
  return success();
}

static LogicalResult scatterElementsGradient(onnx::NodeOp node, ValueRange outputGrads,
                                             ArrayRef<bool> wanted, NodeBuilder &builder,
                                             MutableArrayRef<Value> inputGrads) {
  Value grad = outputGrads.front();
  if (!grad)
    return success();
  Value indices = node.getInputs()[1];
  NamedAttribute axis = builder.attr("axis", axisOf(node, node.inputType(0)));
  if (wanted[2])
    inputGrads[2] =
        builder.create("", "GatherElements", node.inputType(2), {grad, indices}, axis).getResult(0);
  if (wanted[0] && node.getString("reduction", "none") == "add")
    inputGrads[0] = grad;
  else if (wanted[0])
    inputGrads[0] = builder
                        .create("", "ScatterElements", node.inputType(0),
                                {grad, indices, builder.splat(0, node.inputType(2))}, axis)
                        .getResult(0);
  return success();
}

void registerGatherElements() {
  registerOp(
      {"", "GatherElements", 11, kNewestOpset, Kind::Other, lowerGatherElements, gatherElementsGradient});
  registerOp({kZeroDomain, "GatherElementsGrad", 1, 1, Kind::Other, lowerGatherElementsGrad});
  registerOp(
      {"", "ScatterElements", 11, kNewestOpset, Kind::Other, lowerScatterElements, scatterElementsGradient});
}

} // namespace zero::ops
