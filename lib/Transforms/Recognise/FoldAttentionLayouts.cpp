//===- FoldAttentionLayouts.cpp - attention reads and writes rows ---------===//
//
// Products of rows leave queries, keys and values as [batch, rows, heads, width], or
// all three in one row, and the next product reads rows. Attention can work on these,
// so what moves elements around it becomes its attributes.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/OpTable.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_FOLDATTENTIONLAYOUTS
#include "include/zero/Transforms/Recognise/Passes.h.inc"

/// The Transpose between [batch, heads, rows, width] and [batch, rows, heads, width]
/// that makes `value`, or null.
static onnx::NodeOp headSwapOf(Value value) {
  onnx::NodeOp node = nodeOf(value, op::Transpose);
  bool swaps = node && permutationOf(node) == SmallVector<int64_t>{0, 2, 1, 3};
  return swaps ? node : onnx::NodeOp();
}

/// The first value that `accepts` accepts among `value` and the sources of its views, which have
/// the same elements in the same order; null if there is none.
static Value behindViews(Value value, llvm::function_ref<bool(Value)> accepts) {
  while (!accepts(value)) {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    const ops::OpDef *def = node ? ops::lookup(node) : nullptr;
    if (!def || def->kind != ops::Kind::View)
      return nullptr;
    value = node.getInputs()[0];
  }
  return value;
}

/// A table of a rotary embedding, [batch or 1, 1, rows, width] or less, for rows first;
/// null where heads have different ones.
static Value rowsFirstTable(NodeBuilder &builder, Value table) {
  SmallVector<int64_t> shape(4 - tensorType(table).getRank(), 1);
  llvm::append_range(shape, tensorType(table).getShape());
  return shape[1] == 1 ? builder.reshape(table, {shape[0], shape[2], 1, shape[3]}) : Value();
}

/// `value`, [batch, heads, rows, width], as [batch, rows, heads, width] where that costs
/// nothing; else null.
static Value rowsFirst(NodeBuilder &builder, Value value) {
  Value transposed = behindViews(
      value, [&](Value seen) { return seen.getType() == value.getType() && headSwapOf(seen); });
  if (transposed)
    return headSwapOf(transposed).getInputs()[0];
  // A rotary embedding rotates each head in the same way, in any layout.
  Value turned = behindViews(value, [&](Value seen) {
    return seen.getType() == value.getType() && isNode(seen.getDefiningOp(), own::Rotary);
  });
  auto rotary = turned && turned.hasOneUse() ? turned.getDefiningOp<onnx::NodeOp>() : nullptr;
  Value rows = rotary ? rowsFirst(builder, rotary.getInputs()[0]) : Value();
  Value cosine = rows ? rowsFirstTable(builder, rotary.getInputs()[1]) : Value();
  Value sine = cosine ? rowsFirstTable(builder, rotary.getInputs()[2]) : Value();
  if (!sine)
    return nullptr;
  return builder
      .create(own::Rotary, rows.getType(), {rows, cosine, sine}, rotary.getAttrs().getValue())
      .getResult(0);
}

namespace {
/// One attention.
class Folding {
public:
  explicit Folding(onnx::NodeOp node)
      : node(node), at(node), builder(at, node.getLoc(), node.getNode()) {}

  void run() {
    foldOperands();
    foldResult();
    if (llvm::is_contained(flags, 1))
      setInts(kRowsFirst, flags);
    pack();
  }

private:
  void foldOperands();
  void foldResult();
  onnx::NodeOp splitOf(unsigned index, const HeadTensor &tensor);
  Value stackOf(unsigned index);
  Value packedRows(const AttentionForm &form);
  void pack();
  void setInts(StringRef name, ArrayRef<int64_t> values);

  onnx::NodeOp node;
  OpBuilder at;
  NodeBuilder builder;
  SmallVector<int64_t> flags{0, 0, 0, 0};
};
} // namespace

void Folding::setInts(StringRef name, ArrayRef<int64_t> values) {
  NamedAttrList attrs(node.getAttrs());
  attrs.set(name, at.getDenseI64ArrayAttr(values));
  node.setAttrsAttr(attrs.getDictionary(node.getContext()));
}

void Folding::foldOperands() {
  for (unsigned index = 0; index < 3; ++index)
    if (Value rows = rowsFirst(builder, node.getInputs()[index])) {
      node.setOperand(index, rows);
      flags[index] = 1;
    }
}

void Folding::foldResult() {
  Value result = node.getResult(0);
  SmallVector<Operation *> users(result.getUsers());
  auto swaps = [](Operation *user) {
    return user->getNumResults() == 1 && headSwapOf(user->getResult(0));
  };
  if (users.empty() || !llvm::all_of(users, swaps))
    return;
  result.setType(users.front()->getResult(0).getType());
  for (Operation *transpose : users)
    transpose->getResult(0).replaceAllUsesWith(result);
  flags[3] = 1;
}

/// The Split of whose result `index` operand `index` is a view: rows of one tensor, cut.
onnx::NodeOp Folding::splitOf(unsigned index, const HeadTensor &tensor) {
  Value part = behindViews(node.getInputs()[index], [&](Value seen) {
    ArrayRef<int64_t> shape = tensorType(seen).getShape();
    return nodeOf(seen, op::Split) && shape.back() == tensor.heads * tensor.width;
  });
  onnx::NodeOp split = part ? nodeOf(part, op::Split) : onnx::NodeOp();
  if (!split || split.getNumResults() != 3 || split.getResult(index) != part)
    return nullptr;
  int64_t axis = split.getInt("axis", 0), rank = tensorType(part).getRank();
  return axis == -1 || axis == rank - 1 ? split : onnx::NodeOp();
}

/// [batch, rows, 3, heads, width], if operand `index` is a view of part `index` of it, cut
/// out after a transpose that brought the parts and the heads to the front.
Value Folding::stackOf(unsigned index) {
  Value part = behindViews(node.getInputs()[index], [](Value seen) {
    return nodeOf(seen, op::Split) || nodeOf(seen, op::Gather);
  });
  auto cut = part ? part.getDefiningOp<onnx::NodeOp>() : nullptr;
  if (!cut || cut.getInt("axis", 0) != 0)
    return nullptr;
  bool isPart = cut.is(op::Split) ? cut.getNumResults() == 3 && cut.getResult(index) == part
                                  : numberOf(cut.getInputs()[1]) == double(index);
  onnx::NodeOp transpose = nodeOf(cut.getInputs()[0], op::Transpose);
  if (!isPart || !transpose || permutationOf(transpose) != SmallVector<int64_t>{2, 0, 3, 1, 4})
    return nullptr;
  ArrayRef<int64_t> parts = transpose.outputType(0).getShape();
  if (parts.front() != 3 || parts.drop_front() != node.inputType(index).getShape())
    return nullptr;
  return transpose.getInputs()[0];
}

/// The tensor of whose rows queries, keys and values are the parts, or null.
Value Folding::packedRows(const AttentionForm &form) {
  if (Value stack = stackOf(0); stack && stackOf(1) == stack && stackOf(2) == stack)
    return stack;
  if (!form.query.rowsFirst || !form.key.rowsFirst || !form.value.rowsFirst)
    return nullptr;
  onnx::NodeOp split = splitOf(0, form.query);
  bool isShared = split && splitOf(1, form.key) == split && splitOf(2, form.value) == split;
  return isShared ? split.getInputs()[0] : Value();
}

void Folding::pack() {
  AttentionForm form(node);
  Value rows = packedRows(form);
  if (!rows)
    return;
  node.setOperand(0, builder.reshape(rows, {form.batch, form.query.rows, form.packedWidth()}));
  node.setOperand(1, builder.none());
  node.setOperand(2, builder.none());
  flags = {1, 1, 1, flags[3]};
  setInts(kRowsFirst, flags);
  setInts(kPackedHeads, {form.query.heads, form.key.heads});
}

namespace {
struct FoldAttentionLayouts : impl::FoldAttentionLayoutsBase<FoldAttentionLayouts> {
  void runOnOperation() override {
    for (auto node : llvm::to_vector(getOperation().getOps<onnx::NodeOp>()))
      if (isNode(node, own::Attention))
        Folding(node).run();
    eraseUnused(getOperation());
  }
};
} // namespace

} // namespace zero
