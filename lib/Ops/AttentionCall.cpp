//===- AttentionCall.cpp - attention as the library's call ----------------===//
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
/// Fields under construction.
struct Call {
  Builder builder;
  NamedAttrList fields;

  void set(StringRef name, int64_t value) { fields.set(name, builder.getI64IntegerAttr(value)); }
  void set(StringRef name, ArrayRef<int64_t> values) {
    fields.set(name, builder.getDenseI64ArrayAttr(values));
  }
  void set(StringRef name, StringRef value) { fields.set(name, builder.getStringAttr(value)); }
  void setFlag(StringRef name, bool value) { fields.set(name, builder.getBoolAttr(value)); }
  void setNumber(StringRef name, double value) {
    fields.set(name, builder.getF32FloatAttr(float(value)));
  }
  /// What operand `index` of `node`, if there is one, does to scores of `rank`
  /// dimensions.
  void setMask(StringRef name, onnx::NodeOp node, unsigned index, size_t rank) {
    bool given = node.hasInput(index);
    bool shows = given && node.inputType(index).getElementType().isInteger(1);
    set(name, !given ? "none" : shows ? "shown" : "bias");
    set((name + "_strides").str(),
        given ? broadcastStrides(node.inputType(index).getShape(), rank) : SmallVector<int64_t>());
  }
};
} // namespace

/// Whether the library reads operand `index` of `node` as a mask.
static bool isReadable(onnx::NodeOp node, unsigned index) {
  if (!node.hasInput(index))
    return true;
  Type type = node.inputType(index).getElementType();
  return type.isInteger(1) || type.isF32();
}

DictionaryAttr attentionCall(onnx::NodeOp node, const AttentionForm &form, Builder builder) {
  bool knowsTypes = node.inputType(form.first).getElementType().isF32() &&
                    isReadable(node, form.padding) && isReadable(node, form.padding + 1);
  if (!knowsTypes || form.isEmpty()) {
    remark::missed(node.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
        << node.describe() + " is compiled: " +
               (knowsTypes ? "it is empty" : "it computes in other types than f32");
    return {};
  }
  Call call{builder, {}};
  call.set("kind", "attention");
  call.set("direction", form.isGradient ? "backward" : "forward");
  call.set("batch", form.batch);
  call.set("heads", form.query.heads);
  call.set("groups", form.key.heads);
  call.set("queries", form.query.rows);
  call.set("keys", form.key.rows);
  call.set("width", form.query.width);
  call.set("value_width", form.value.width);
  call.set("q_strides", stridesOf(form, form.query, form.packed));
  call.set("k_strides", stridesOf(form, form.key, form.packed));
  call.set("v_strides", stridesOf(form, form.value, form.packed));
  call.set("o_strides", stridesOf(form, form.result, false));
  int64_t keysAt = form.query.heads * form.query.width;
  call.setFlag("packed", form.packed);
  call.set("offsets",
           form.packed ? SmallVector<int64_t>{0, keysAt, keysAt + form.key.heads * form.key.width}
                       : SmallVector<int64_t>());
  call.setNumber("scale", node.getFloat("scale", 1));
  call.setFlag("causal", node.getInt("causal", 0));
  call.set("causal_offset", node.getInt("offset", 0));
  call.setNumber("fill", node.getFloat("fill", 0));
  call.setFlag("guard", node.getInt("guard", 0));
  call.setMask("padding", node, form.padding, 2);
  call.setMask("mask", node, form.padding + 1, 4);
  return call.fields.getDictionary(builder.getContext());
}

} // namespace zero::ops
