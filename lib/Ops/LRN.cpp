//===- LRN.cpp - local response normalization -----------------------------===//
//
// ONNX: LRN; opset 13. Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural
// Networks" (NeurIPS 2012, section 3.3): x / (bias + alpha m)^beta, where m is the sum of squares
// of `size` channels around that of x, divided by `size`; channels outside count as zeros.
//
// Expanded into an AveragePool over the channels.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult expandLRN(onnx::NodeOp node, NodeBuilder &builder,
                               SmallVectorImpl<Value> &results) {
  Value x = node.getInputs()[0];
  const ArrayRef<int64_t> shape = node.inputType(0).getShape();
  const int64_t size = node.getInt("size", 0);
  if (shape.size() < 2 || size < 1)
    return nodeError(node) << "expected [batch, channels, ...] and a positive size, got "
                           << node.inputType(0) << " and " << size;
  const int64_t below = (size - 1) / 2, above = size - 1 - below;
  const int64_t pixels = ShapedType::getNumElements(shape.drop_front(2));
  Value images = builder.reshape(builder.mul(x, x), {shape[0], 1, shape[1], pixels});
  Value means = builder
                    .create(op::AveragePool, images.getType(), images,
                            {builder.attr("kernel_shape", ArrayRef<int64_t>{size, 1}),
                             builder.attr("pads", ArrayRef<int64_t>{below, 0, above, 0}),
                             builder.attr("strides", ArrayRef<int64_t>{1, 1}),
                             builder.attr("count_include_pad", int64_t(1))})
                    .getResult(0);
  auto setting = [&](StringRef name, double byDefault) {
    return builder.scalar(node.getFloat(name, byDefault), x.getType());
  };
  Value base = builder.add(builder.mul(builder.reshape(means, shape), setting("alpha", 0.0001f)),
                           setting("bias", 1));
  results.push_back(builder.div(x, builder.binary(op::Pow, base, setting("beta", 0.75))));
  return success();
}

void registerLRN() {
  OpDef def{{"", "LRN"}, 13, kNewestOpset, Kind::Other};
  def.expand = expandLRN;
  registerOp(def);
}

} // namespace zero::ops
