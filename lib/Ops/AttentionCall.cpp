//===- AttentionCall.cpp - attention as a library call --------------------===//
//
// The fields of `Attention` in runtime/format/executable.proto.
//
//===----------------------------------------------------------------------===//

#include "AttentionCore.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero::ops {

/// Elements from one batch, head and row to the next.
static SmallVector<int64_t> stridesOf(const AttentionForm &form, const HeadTensor &tensor,
                                      bool inPacked) {
  if (inPacked)
    return {tensor.rows * form.packedWidth(), tensor.width, form.packedWidth()};
  int64_t all = tensor.heads * tensor.rows * tensor.width;
  if (tensor.rowsFirst)
    return {all, tensor.width, tensor.heads * tensor.width};
  return {all, tensor.rows * tensor.width, tensor.width};
}

/// Elements from one index to the next of each of `rank` dimensions to which a dense
/// tensor of `shape` broadcasts.
static SmallVector<int64_t> broadcastStrides(ArrayRef<int64_t> shape, size_t rank) {
  SmallVector<int64_t> strides(rank, 0);
  int64_t stride = 1;
  for (size_t back = 1; back <= shape.size(); ++back) {
    int64_t extent = shape[shape.size() - back];
    strides[rank - back] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

namespace {
/// The effect of an operand on the scores, and the strides by which it broadcasts to them.
struct Mask {
  MaskKind kind = MaskKind::None;
  SmallVector<int64_t> strides;
};
} // namespace

/// Operand `index` of `node`, if there is one, as a mask of scores of `rank` dimensions.
static Mask maskOf(onnx::NodeOp node, unsigned index, size_t rank) {
  if (!node.hasInput(index))
    return {};
  const bool shows = node.inputType(index).getElementType().isInteger(1);
  return {shows ? MaskKind::Shown : MaskKind::Bias,
          broadcastStrides(node.inputType(index).getShape(), rank)};
}

/// Elements from one batch element's segments to the next in operand `index`.
static int64_t segmentStride(onnx::NodeOp node, unsigned index) {
  ArrayRef<int64_t> shape = node.inputType(index).getShape();
  return shape[0] == 1 ? 0 : shape[1];
}

/// Whether the library reads operand `index` of `node` as a mask.
static bool isReadable(onnx::NodeOp node, unsigned index) {
  if (!node.hasInput(index))
    return true;
  Type type = node.inputType(index).getElementType();
  return type.isInteger(1) || type.isF32();
}

AttentionAttr attentionCall(onnx::NodeOp node, const AttentionForm &form, Builder builder) {
  bool knowsTypes = node.inputType(form.first).getElementType().isF32() &&
                    isReadable(node, form.padding) && isReadable(node, form.padding + 1);
  if (!knowsTypes || form.isEmpty()) {
    remark::missed(node.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
        << node.describe() + " is compiled: " +
               (knowsTypes ? "it is empty" : "it computes in other types than f32");
    return {};
  }
  auto list = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
  auto strides = [&](const HeadTensor &tensor, bool packed) {
    return list(stridesOf(form, tensor, packed));
  };
  auto number = [&](StringRef name, double other) {
    return builder.getF32FloatAttr(float(node.getFloat(name, other)));
  };
  const int64_t keysAt = form.query.heads * form.query.width;
  SmallVector<int64_t> offsets;
  if (form.packed)
    offsets = {0, keysAt, keysAt + form.key.heads * form.key.width};
  const Mask padding = maskOf(node, form.padding, 2), mask = maskOf(node, form.padding + 1, 4);
  const unsigned segments = form.padding + 2;
  const bool hasSegments = node.hasInput(segments);
  return AttentionAttr::get(
      builder.getContext(),
      form.isGradient ? AttentionDirection::Backward : AttentionDirection::Forward, form.batch,
      form.query.heads, form.key.heads, form.query.rows, form.key.rows, form.query.width,
      form.value.width, strides(form.query, form.packed), strides(form.key, form.packed),
      strides(form.value, form.packed), strides(form.result, false), form.packed, list(offsets),
      number("scale", 1), node.getInt("causal", 0) != 0, node.getInt("offset", 0),
      number("fill", 0), node.getInt("guard", 0) != 0, padding.kind, list(padding.strides),
      mask.kind, list(mask.strides), node.getInt(kWindow, 0), node.getInt(kPrefix, 0), hasSegments,
      hasSegments ? segmentStride(node, segments) : 0,
      hasSegments ? segmentStride(node, segments + 1) : 0);
}

} // namespace zero::ops
