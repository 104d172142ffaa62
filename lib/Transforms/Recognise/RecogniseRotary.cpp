//===- RecogniseRotary.cpp - rotary embeddings to one node ----------------===//
//
// From each Concat(-x2, x1) of the two halves of x's last dimension: the sum of it
// times a table and of x times another.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISEROTARY
#include "include/zero/Transforms/Recognise/Passes.h.inc"

namespace {
/// Half of the last dimension of a value: the first, or the second.
struct Half {
  Value of;
  bool isSecond = false;
};
} // namespace

static bool isLast(int64_t axis, RankedTensorType type) {
  return axis == -1 || axis == type.getRank() - 1;
}

/// The one number of constant operand `index`.
static std::optional<int64_t> oneInteger(onnx::NodeOp node, unsigned index) {
  DenseIntElementsAttr elements;
  if (!node.hasInput(index) || !matchPattern(node.getInputs()[index], m_Constant(&elements)) ||
      elements.getNumElements() != 1)
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

static std::optional<Half> sliceHalf(onnx::NodeOp slice) {
  RankedTensorType type = slice.inputType(0);
  int64_t width = type.getShape().back();
  auto start = oneInteger(slice, 1), end = oneInteger(slice, 2), axis = oneInteger(slice, 3);
  bool steps = slice.hasInput(4) && oneInteger(slice, 4) != 1;
  if (!start || !end || !axis || steps || !isLast(*axis, type) || width % 2)
    return std::nullopt;
  int64_t from = *start < 0 ? *start + width : *start;
  int64_t to = std::min(*end < 0 ? *end + width : *end, width);
  bool isSecond = from == width / 2;
  if ((from != 0 && !isSecond) || to != from + width / 2)
    return std::nullopt;
  return Half{slice.getInputs()[0], isSecond};
}

static std::optional<Half> halfOf(Value value) {
  if (onnx::NodeOp slice = nodeOf(value, op::Slice))
    return sliceHalf(slice);
  onnx::NodeOp split = nodeOf(value, op::Split);
  if (!split || split->getNumResults() != 2 ||
      !isLast(split.getInt("axis", 0), split.inputType(0)) ||
      split.outputType(0) != split.outputType(1))
    return std::nullopt;
  return Half{split.getInputs()[0], value == split.getResult(1)};
}

/// x, where `concat` is (-x2, x1).
static Value turnedFrom(onnx::NodeOp concat) {
  if (concat.getInputs().size() != 2 || !isLast(concat.getInt("axis", 0), concat.outputType(0)))
    return nullptr;
  onnx::NodeOp negative = nodeOf(concat.getInputs()[0], op::Neg);
  auto second = negative ? halfOf(negative.getInputs()[0]) : std::nullopt;
  auto first = halfOf(concat.getInputs()[1]);
  bool matches = first && second && first->of == second->of && !first->isSecond &&
                 second->isSecond && first->of.getType() == concat.getResult(0).getType();
  return matches ? first->of : Value();
}

/// The other factor of `product`, one of whose factors is `value`, if it is a table
/// that broadcasts to it.
static Value tableOf(onnx::NodeOp product, Value value) {
  if (!product || !llvm::is_contained(product.getInputs(), value) ||
      product.getResult(0).getType() != value.getType())
    return nullptr;
  Value table = otherInput(product, value);
  return broadcastsTo(table.getType(), tensorType(value)) && tensorType(table).getRank() > 0
             ? table
             : Value();
}

static void recognise(onnx::NodeOp concat) {
  Value x = turnedFrom(concat), turned = concat.getResult(0);
  onnx::NodeOp bySine = x ? soleUser(turned, {op::Mul}) : onnx::NodeOp();
  Value sine = tableOf(bySine, turned);
  onnx::NodeOp sum = sine ? soleUser(bySine.getResult(0), {op::Add}) : onnx::NodeOp();
  if (!sum || sum.getResult(0).getType() != x.getType())
    return;
  Value straight = otherInput(sum, bySine.getResult(0));
  Value cosine = tableOf(nodeOf(straight, op::Mul), x);
  if (!cosine || !straight.hasOneUse())
    return;
  remarkFound(replaceRoot(sum, own::Rotary, {x, cosine, sine}, {}, 1), "rotary embedding");
}

namespace {
struct RecogniseRotary : impl::RecogniseRotaryBase<RecogniseRotary> {
  void runOnOperation() override { forEachNode(getOperation(), op::Concat, recognise); }
};
} // namespace

} // namespace zero
