//===- ConvForms.cpp - gradients of convolutions in plain ONNX ------------===//

#include "ConvForms.h"

#include "dialects/Onnx/Operators.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The windows of a gradient of a convolution.
struct ConvWindows {
  explicit ConvWindows(onnx::NodeOp node)
      : strides(*node.getInts("strides")), dilations(*node.getInts("dilations")),
        pads(*node.getInts("pads")), group(node.getInt("group", 1)) {}

  bool hasNegativePads() const {
    return llvm::any_of(pads, [](int64_t pad) { return pad < 0; });
  }
  int64_t padding(int64_t dim) const { return pads[dim] + pads[strides.size() + dim]; }

  SmallVector<int64_t> strides, dilations, pads;
  int64_t group;
};
} // namespace

/// ConvGradX(dy, w) is a ConvTranspose.
LogicalResult convGradXPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                               SmallVectorImpl<Value> &results) {
  ConvWindows windows(node);
  if (windows.hasNegativePads())
    return success();
  SmallVector<int64_t> more;
  ArrayRef<int64_t> input = node.outputType(0).getShape().drop_front(2);
  ArrayRef<int64_t> kernel = node.inputType(1).getShape().drop_front(2);
  ArrayRef<int64_t> output = node.inputType(0).getShape().drop_front(2);
  for (auto [dim, extent] : llvm::enumerate(input)) {
    int64_t reach = (kernel[dim] - 1) * windows.dilations[dim] + 1;
    more.push_back(extent + windows.padding(dim) - reach -
                   (output[dim] - 1) * windows.strides[dim]);
    if (more.back() < 0)
      return success();
  }
  results.push_back(
      nodes
          .create(op::ConvTranspose, node.getResult(0).getType(), node.getInputs(),
                  {nodes.attr("dilations", ArrayRef<int64_t>(windows.dilations)),
                   nodes.attr("group", windows.group), nodes.attr("kernel_shape", kernel),
                   nodes.attr("output_padding", ArrayRef<int64_t>(more)),
                   nodes.attr("pads", ArrayRef<int64_t>(windows.pads)),
                   nodes.attr("strides", ArrayRef<int64_t>(windows.strides))})
          .getResult(0));
  return success();
}

/// `value` with its first two dimensions swapped, [batch, channels, ...]; with groups its channels
/// become [channels / groups, groups batch, ...].
static Value channelsFirst(NodeBuilder &nodes, Value value, int64_t groups) {
  SmallVector<int64_t> shape(tensorType(value).getShape()), split(shape), order{1, 0};
  split[1] /= groups;
  split.insert(split.begin() + 1, groups);
  if (groups > 1) {
    value = nodes.reshape(value, split);
    order = {2, 1, 0};
  }
  for (int64_t dim = order.size(); dim < tensorType(value).getRank(); ++dim)
    order.push_back(dim);
  value = nodes.transpose(value, order);
  SmallVector<int64_t> joined(shape);
  joined[0] = shape[1] / groups;
  joined[1] = groups * shape[0];
  return nodes.reshape(value, joined);
}

/// ConvGradW(dy, x) is the convolution of x with dy, whose strides and dilations are swapped: the
/// channels of x are its batch and the batch is its channels.
LogicalResult convGradWPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                               SmallVectorImpl<Value> &results) {
  ConvWindows windows(node);
  if (windows.hasNegativePads())
    return success();
  Value dy = node.getInputs()[0], x = node.getInputs()[1];
  RankedTensorType type = node.outputType(0);
  Value images = channelsFirst(nodes, x, windows.group), kernels = channelsFirst(nodes, dy, 1);
  // The convolution also has results beyond the window, for elements that no window sees.
  SmallVector<int64_t> shape{tensorType(images).getDimSize(0), type.getDimSize(0)};
  SmallVector<int64_t> starts, ends, axes;
  for (int64_t dim = 2; dim < type.getRank(); ++dim) {
    int64_t reach = (tensorType(dy).getDimSize(dim) - 1) * windows.strides[dim - 2] + 1;
    int64_t room = tensorType(x).getDimSize(dim) + windows.padding(dim - 2) - reach;
    shape.push_back(room / windows.dilations[dim - 2] + 1);
    starts.push_back(0);
    ends.push_back(type.getDimSize(dim));
    axes.push_back(dim);
  }
  Value made = nodes
                   .create(op::Conv, type.clone(shape), {images, kernels},
                           {nodes.attr("dilations", ArrayRef<int64_t>(windows.strides)),
                            nodes.attr("group", windows.group),
                            nodes.attr("pads", ArrayRef<int64_t>(windows.pads)),
                            nodes.attr("strides", ArrayRef<int64_t>(windows.dilations))})
                   .getResult(0);
  SmallVector<int64_t> seen(shape);
  llvm::copy(type.getShape().drop_front(2), seen.begin() + 2);
  if (seen != shape)
    made = nodes
               .create(op::Slice, type.clone(seen),
                       {made, nodes.indices(starts), nodes.indices(ends), nodes.indices(axes)})
               .getResult(0);
  results.push_back(channelsFirst(nodes, made, 1));
  return success();
}

} // namespace zero::ops
