//===- Patterns.cpp - common functions of recognisers ---------------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/OpTable.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace zero::patterns {

onnx::NodeOp nodeOf(Value value, onnx::Operator type) {
  Operation *op = value.getDefiningOp();
  return isNode(op, type) ? cast<onnx::NodeOp>(op) : onnx::NodeOp();
}

bool isNode(Operation *op, onnx::Operator type) {
  auto node = dyn_cast_or_null<onnx::NodeOp>(op);
  return node && node.is(type);
}

std::optional<double> numberOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  if (isa<IntegerType>(elements.getElementType()))
    return double(elements.getSplatValue<APInt>().getSExtValue());
  APFloat number = elements.getSplatValue<APFloat>();
  bool lossy;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToDouble();
}

bool isNumber(double got, double exact) {
  return std::abs(got - exact) <= 0.5 * FLT_EPSILON * std::abs(exact);
}

onnx::NodeOp soleUser(Value value, ArrayRef<onnx::Operator> types) {
  if (!value.hasOneUse())
    return nullptr;
  auto node = dyn_cast<onnx::NodeOp>(*value.user_begin());
  return node && node.isAnyOf(types) ? node : onnx::NodeOp();
}

bool swapsLastTwo(onnx::NodeOp node) {
  if (!node || !node.is(op::Transpose) || node.inputType(0).getRank() < 2)
    return false;
  SmallVector<int64_t> permutation = permutationOf(node);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return isIdentityPermutation(permutation);
}

std::optional<int64_t> soleAxis(onnx::NodeOp node) {
  auto axes = node && node.getInt("keepdims", 1) ? listedAxes(node) : std::nullopt;
  return axes && axes->size() == 1 ? std::optional(axes->front()) : std::nullopt;
}

/// Whether `node` is a Dropout that keeps everything: not in training mode, or with
/// ratio 0.
static bool keepsAll(onnx::NodeOp node) {
  bool trains = node.hasInput(2) && numberOf(node.getInputs()[2]) != 0.0;
  bool drops = !node.hasInput(1) || numberOf(node.getInputs()[1]) != 0.0;
  return !(trains && drops) &&
         llvm::all_of(node.getOutputs().drop_front(), [](Value mask) { return mask.use_empty(); });
}

Value passedOn(onnx::NodeOp node) {
  if (node.getNumResults() == 0 || node.getInputs().empty())
    return nullptr;
  Value first = node.getInputs().front(), result = node.getResult(0);
  if (node.is(op::Mul))
    for (Value factor : node.getInputs())
      if (Value other = otherInput(node, factor);
          numberOf(factor) == 1.0 && other != factor && other.getType() == result.getType())
        return other;
  if (first.getType() != result.getType())
    return nullptr;
  bool keeps = node.isAnyOf({op::Identity, op::Reshape, op::Squeeze, op::Unsqueeze, op::Flatten,
                             op::Expand, op::Tile, op::Cast, op::CastLike}) ||
               (node.is(op::Transpose) && isIdentityPermutation(permutationOf(node))) ||
               (node.is(op::Concat) && node.getInputs().size() == 1) ||
               (node.is(op::Dropout) && keepsAll(node));
  return keeps ? first : Value();
}

Value otherInput(onnx::NodeOp node, Value value) {
  return node.getInputs()[node.getInputs()[0] == value ? 1 : 0];
}

bool broadcastsTo(Type type, RankedTensorType to) {
  auto from = dyn_cast<RankedTensorType>(type);
  if (!from || from.getRank() > to.getRank())
    return false;
  return llvm::all_of_zip(from.getShape(), to.getShape().take_back(from.getRank()),
                          [](int64_t a, int64_t b) { return a == 1 || a == b; });
}

onnx::NodeOp replaceRoot(onnx::NodeOp root, onnx::Operator type, ValueRange inputs,
                         ArrayRef<NamedAttribute> attrs, int64_t opset) {
  OpBuilder builder(root);
  auto node =
      onnx::NodeOp::create(builder, root.getLoc(), root.getResultTypes(), type.type, inputs,
                           builder.getDictionaryAttr(attrs), type.domain, opset, root.getNode());
  root.replaceAllUsesWith(node.getOutputs());
  return node;
}

void forEachNode(func::FuncOp function, ArrayRef<onnx::Operator> types,
                 llvm::function_ref<void(onnx::NodeOp)> visit) {
  for (auto node : llvm::to_vector(function.getOps<onnx::NodeOp>()))
    if (node.isAnyOf(types))
      visit(node);
  eraseUnused(function);
}

void eraseUnused(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<onnx::NodeOp, onnx::NoneOp>(op) && isOpTriviallyDead(&op))
      op.erase();
}

void remarkFound(onnx::NodeOp node, const Twine &what) {
  remark::passed(node.getLoc(), remark::RemarkOpts::name("found").category("recognise"))
      << (what + " at node '" + node.getNode() + "'").str();
}

} // namespace zero::patterns
