//===- FoldAttentionLayouts.cpp - attention reads and writes rows ---------===//
//
// Products of rows leave queries, keys and values as [batch, rows, heads, width], or
// all three in one row, and the next product reads rows. Attention can work on these,
// so what moves elements around it becomes its attributes. The gradient of an
// attention, where the program brings it, has the layouts of its forward pass.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
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
/// nothing if only `readers` read it; else null.
static Value rowsFirst(NodeBuilder &builder, Value value, ArrayRef<onnx::NodeOp> readers) {
  Value transposed = behindViews(
      value, [&](Value seen) { return seen.getType() == value.getType() && headSwapOf(seen); });
  if (transposed)
    return headSwapOf(transposed).getInputs()[0];
  // A rotary embedding rotates each head in the same way, in any layout.
  Value turned = behindViews(value, [&](Value seen) {
    return seen.getType() == value.getType() && isNode(seen.getDefiningOp(), own::Rotary);
  });
  bool isOwn =
      turned && (turned.hasOneUse() || llvm::all_of(turned.getUsers(), [&](Operation *user) {
                   return llvm::is_contained(readers, user);
                 }));
  auto rotary = isOwn ? turned.getDefiningOp<onnx::NodeOp>() : nullptr;
  Value rows = rotary ? rowsFirst(builder, rotary.getInputs()[0], rotary) : Value();
  Value cosine = rows ? rowsFirstTable(builder, rotary.getInputs()[1]) : Value();
  Value sine = cosine ? rowsFirstTable(builder, rotary.getInputs()[2]) : Value();
  if (!sine)
    return nullptr;
  return builder
      .create(own::Rotary, rows.getType(), {rows, cosine, sine}, rotary.getAttrs().getValue())
      .getResult(0);
}

/// The columns of one tensor that a Split or Slice takes of its rows.
struct Columns {
  Value rows;
  int64_t first;
};

/// The columns that `part` is, if a Split or Slice makes it.
static std::optional<Columns> columnsOf(Value part) {
  if (onnx::NodeOp slice = nodeOf(part, op::Slice)) {
    auto taken = slicedColumns(slice);
    return taken ? std::optional(Columns{slice.getInputs()[0], taken->first}) : std::nullopt;
  }
  onnx::NodeOp split = nodeOf(part, op::Split);
  int64_t rank = tensorType(part).getRank();
  int64_t axis = split ? split.getInt("axis", 0) : 0;
  if (!split || (axis != -1 && axis != rank - 1))
    return std::nullopt;
  Columns columns{split.getInputs()[0], 0};
  for (Value before : split.getOutputs().take_front(cast<OpResult>(part).getResultNumber()))
    columns.first += tensorType(before).getShape().back();
  return columns;
}

namespace {
/// One attention, and its gradient if the program has it.
class Folding {
public:
  explicit Folding(onnx::NodeOp node)
      : node(node), at(node), builder(at, node.getLoc(), node.getNode()) {
    for (Operation *user : node.getResult(1).getUsers())
      if (isNode(user, own::AttentionGrad))
        gradients.push_back(cast<onnx::NodeOp>(user));
  }

  void run() {
    // Only one can share its layouts.
    if (gradients.size() > 1)
      return;
    foldOperands();
    foldResult();
    if (llvm::is_contained(flags, 1))
      setInts(kRowsFirst, flags);
    pack();
  }

private:
  /// The operand of queries of a gradient; keys and values follow.
  static constexpr unsigned kQueries = 1;

  void foldOperands();
  void foldResult();
  void foldGradient(unsigned index);
  std::optional<Columns> columnsOfOperand(unsigned index, const HeadTensor &tensor);
  Value stackOf(unsigned index);
  Value packedRows(const AttentionForm &form);
  onnx::NodeOp joinedGradients(const AttentionForm &form);
  void pack();
  void packGradient(onnx::NodeOp join);
  void setInts(StringRef name, ArrayRef<int64_t> values);

  onnx::NodeOp node;
  SmallVector<onnx::NodeOp> gradients;
  OpBuilder at;
  NodeBuilder builder;
  SmallVector<int64_t> flags{0, 0, 0, 0};
};
} // namespace

void Folding::setInts(StringRef name, ArrayRef<int64_t> values) {
  NamedAttrList attrs(node.getAttrs());
  attrs.set(name, at.getDenseI64ArrayAttr(values));
  node.setAttrsAttr(attrs.getDictionary(node.getContext()));
  for (onnx::NodeOp gradient : gradients)
    gradient.setAttrsAttr(node.getAttrs());
}

void Folding::foldOperands() {
  SmallVector<onnx::NodeOp> readers{node};
  llvm::append_range(readers, gradients);
  for (unsigned index = 0; index < 3; ++index)
    if (Value rows = rowsFirst(builder, node.getInputs()[index], readers)) {
      node.setOperand(index, rows);
      foldGradient(index);
      flags[index] = 1;
    }
}

/// Whether `user` is a Transpose of heads and rows.
static bool swapsHeads(Operation *user) {
  return user->getNumResults() == 1 && headSwapOf(user->getResult(0));
}

/// Brings operand `index` of the attention, rows first, and its gradient into the gradient's node.
void Folding::foldGradient(unsigned index) {
  for (onnx::NodeOp gradient : gradients) {
    gradient.setOperand(kQueries + index, node.getInputs()[index]);
    Value result = gradient.getResult(index);
    result.setType(node.inputType(index));
    at.setInsertionPointAfter(gradient);
    Value heads;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (swapsHeads(use.getOwner())) {
        use.getOwner()->getResult(0).replaceAllUsesWith(result);
        use.getOwner()->erase();
        continue;
      }
      if (!heads)
        heads = builder.transpose(result, {0, 2, 1, 3});
      use.set(heads);
    }
    at.setInsertionPoint(node);
  }
}

void Folding::foldResult() {
  Value result = node.getResult(0);
  SmallVector<Operation *> users;
  for (Operation *user : result.getUsers())
    if (!llvm::is_contained(gradients, user))
      users.push_back(user);
  if (users.empty() || !llvm::all_of(users, swapsHeads))
    return;
  for (onnx::NodeOp gradient : gradients) {
    onnx::NodeOp swap = headSwapOf(gradient.getInputs()[0]);
    if (!swap)
      return;
    gradient.setOperand(0, swap.getInputs()[0]);
  }
  result.setType(users.front()->getResult(0).getType());
  for (Operation *transpose : users)
    transpose->getResult(0).replaceAllUsesWith(result);
  flags[3] = 1;
}

/// The columns that operand `index` is a view of: rows of one tensor, cut.
std::optional<Columns> Folding::columnsOfOperand(unsigned index, const HeadTensor &tensor) {
  Value part = behindViews(node.getInputs()[index], [&](Value seen) {
    return (nodeOf(seen, op::Split) || nodeOf(seen, op::Slice)) &&
           tensorType(seen).getShape().back() == tensor.heads * tensor.width;
  });
  return part ? columnsOf(part) : std::nullopt;
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
  Value rows;
  int64_t next = 0;
  for (auto [index, tensor] : llvm::enumerate(std::array{form.query, form.key, form.value})) {
    std::optional<Columns> columns = columnsOfOperand(index, tensor);
    if (!columns || (rows && columns->rows != rows) || columns->first != next)
      return nullptr;
    rows = columns->rows;
    next += tensor.heads * tensor.width;
  }
  return tensorType(rows).getShape().back() == next ? rows : Value();
}

/// The Concat of views of the gradients of queries, keys and values, which are rows first; null if
/// something else reads them.
onnx::NodeOp Folding::joinedGradients(const AttentionForm &form) {
  onnx::NodeOp join;
  for (auto [index, tensor] : llvm::enumerate(std::array{form.query, form.key, form.value})) {
    Value result = gradients.front().getResult(index);
    while (onnx::NodeOp view = soleUser(result, {op::Reshape}))
      result = view.getResult(0);
    onnx::NodeOp reader = soleUser(result, {op::Concat});
    if (!reader || reader.getInputs().size() != 3 || reader.getInputs()[index] != result ||
        (join && reader != join) ||
        tensorType(result).getShape().back() != tensor.heads * tensor.width)
      return nullptr;
    join = reader;
  }
  int64_t axis = join.getInt("axis", 0), rank = join.outputType(0).getRank();
  return axis == -1 || axis == rank - 1 ? join : onnx::NodeOp();
}

void Folding::pack() {
  AttentionForm form(node);
  Value rows = packedRows(form);
  onnx::NodeOp join = rows && !gradients.empty() ? joinedGradients(form) : onnx::NodeOp();
  if (!rows || (!gradients.empty() && !join))
    return;
  node.setOperand(0, builder.reshape(rows, {form.batch, form.query.rows, form.packedWidth()}));
  node.setOperand(1, builder.none());
  node.setOperand(2, builder.none());
  flags = {1, 1, 1, flags[3]};
  setInts(kRowsFirst, flags);
  setInts(kPackedHeads, {form.query.heads, form.key.heads});
  if (join)
    packGradient(join);
}

/// Replaces the gradient by one of the packed tensor, and `join`, the Concat of its parts.
void Folding::packGradient(onnx::NodeOp join) {
  onnx::NodeOp gradient = gradients.pop_back_val();
  SmallVector<Value> operands(gradient.getInputs());
  llvm::copy(node.getInputs().take_front(3), operands.begin() + kQueries);
  at.setInsertionPoint(gradient);
  onnx::NodeOp made = builder.create(own::AttentionGrad, node.getInputs()[0].getType(), operands,
                                     node.getAttrs().getValue());
  join.replaceAllUsesWith(
      ValueRange(builder.reshape(made.getResult(0), join.outputType(0).getShape())));
}

namespace {
struct FoldAttentionLayouts : impl::FoldAttentionLayoutsBase<FoldAttentionLayouts> {
  void runOnOperation() override {
    // Folding erases nodes, but no attention.
    SmallVector<onnx::NodeOp> attentions;
    for (auto node : getOperation().getOps<onnx::NodeOp>())
      if (isNode(node, own::Attention))
        attentions.push_back(node);
    for (onnx::NodeOp node : attentions)
      Folding(node).run();
    eraseUnused(getOperation());
  }
};
} // namespace

} // namespace zero
