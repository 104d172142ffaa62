//===- AttentionChain.cpp - the nodes around one Softmax ------------------===//

#include "AttentionChain.h"
#include "Patterns.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/OpTable.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace zero::patterns;

namespace zero {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> AttentionChain::scalarOf(Value value) {
  if (std::optional<double> number = numberOf(value))
    return number;
  // Exporters compute the root of the scale in the graph.
  if (tensorType(value).getNumElements() != 1 || !values.isKnown(value))
    return std::nullopt;
  double number = 0;
  values.readRow(value, 0, number);
  return number;
}

/// `value` without multiplications by numbers, which go to `scale`.
Value AttentionChain::unscaled(Value value, double &scale) {
  while (true) {
    onnx::NodeOp product = nodeOf(value, op::Mul), quotient = nodeOf(value, op::Div);
    onnx::NodeOp node = product ? product : quotient;
    if (!node)
      return value;
    auto left = scalarOf(node.getInputs()[0]), right = scalarOf(node.getInputs()[1]);
    Value inner = node.getInputs()[left && product ? 1 : 0];
    bool isScaled = (right || (left && product)) && inner.getType() == value.getType();
    if (!isScaled || (quotient && *right == 0))
      return value;
    scale = product ? scale * (left ? *left : *right) : scale / *right;
    value = inner;
  }
}

/// Whether `permutation` is a transpose of the last two dimensions.
static bool swapsLast(SmallVector<int64_t> permutation) {
  if (permutation.size() < 2)
    return false;
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return isIdentityPermutation(permutation);
}

/// The operands of a plain or flagged product, the right one as its transpose is
/// wanted or not; null when `node` is none.
static bool isProduct(onnx::NodeOp node) {
  if (!node)
    return false;
  return node.is(op::MatMul) || (node.is(own::Contract) && !node.getInt("transA", 0));
}

/// Whether reshaping between the two keeps the rows: queries and keys as they are.
static bool keepsRows(RankedTensorType from, RankedTensorType to) {
  return from.getRank() >= 2 && to.getRank() >= 2 &&
         from.getShape().take_back(2) == to.getShape().take_back(2);
}

bool AttentionChain::start() {
  RankedTensorType own = softmax.outputType(0);
  int64_t rank = own.getRank(), axis = softmax.getInt("axis", -1);
  if (rank < 2 || rank > 4 || (axis != -1 && axis != rank - 1) ||
      !isa<FloatType>(own.getElementType()))
    return false;
  scores = softmax.getInputs()[0];
  // Products over merged batch and heads, masks over both: the latter count.
  if (onnx::NodeOp merge = nodeOf(scores, op::Reshape);
      merge && merge.inputType(0).getRank() == 4 && keepsRows(merge.inputType(0), own) &&
      scores.hasOneUse()) {
    scores = merge.getInputs()[0];
    own = merge.inputType(0);
  }
  SmallVector<int64_t> shape(4 - own.getRank(), 1);
  llvm::append_range(shape, own.getShape());
  type = own.clone(shape);
  masks.emplace(values, type);
  root = softmax;
  return true;
}

/// Whether `value` comes from a product, through ops that may be between it and the softmax.
static bool comesFromProduct(Value value) {
  constexpr int limit = 8;
  for (int steps = 0; steps < limit && value.hasOneUse(); ++steps) {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || isProduct(node))
      return node != nullptr;
    if (!node.isAnyOf({op::Mul, op::Div, op::Add, op::Reshape, op::Where}))
      return false;
    unsigned next = node.is(op::Where) ? 1 : 0;
    value = node.getInputs()[numberOf(node.getInputs()[next]) ? next + 1 : next];
  }
  return false;
}

bool AttentionChain::takeSum(onnx::NodeOp sum) {
  for (unsigned side : {0, 1}) {
    Value inner = sum.getInputs()[side], bias = sum.getInputs()[1 - side];
    if (inner.getType() != sum.outputType(0) || !broadcastsTo(bias.getType(), type) ||
        !comesFromProduct(inner))
      continue;
    masks->add(bias);
    scores = inner;
    return true;
  }
  return false;
}

bool AttentionChain::takeChoice(onnx::NodeOp choice) {
  auto a = numberOf(choice.getInputs()[1]), b = numberOf(choice.getInputs()[2]);
  if (bool(a) == bool(b) || !broadcastsTo(choice.getInputs()[0].getType(), type))
    return false;
  Value inner = choice.getInputs()[a ? 2 : 1];
  double hidden = a ? *a : *b;
  if (inner.getType() != choice.outputType(0) || hidden > -1e4)
    return false;
  AttentionMasks taken = *masks;
  if (!taken.show(choice.getInputs()[0], /*negated=*/a.has_value(), hidden))
    return false;
  // Selecting a number and adding it differ in rows that are hidden entirely.
  if (hidden != -kInfinity && !taken.showsAKeyPerRow())
    return false;
  masks.emplace(taken);
  scores = inner;
  return true;
}

/// Whether only the chain reads `value`: the test of a guard goes with it.
bool AttentionChain::isOnlyRead(Value value) const {
  return llvm::count_if(value.getUses(),
                        [&](OpOperand &use) { return use.getOwner() != guardTest; }) == 1;
}

bool AttentionChain::climbOnce() {
  if (!isOnlyRead(scores))
    return false;
  if (onnx::NodeOp sum = nodeOf(scores, op::Add))
    return takeSum(sum);
  if (onnx::NodeOp choice = nodeOf(scores, op::Where))
    return takeChoice(choice);
  return false;
}

void AttentionChain::climb() {
  while (climbOnce())
    ;
  // Only below the masks: a scale above them would scale them, too.
  Value inner = unscaled(scores, scale);
  if (inner != scores && isOnlyRead(scores))
    scores = inner;
  else
    scale = 1;
}

/// The comparison of `x` with minus infinity, where `condition` is whether it holds for all
/// elements of a row: not any that is not, computed with numbers.
static onnx::NodeOp testOfRows(Value condition, Value x) {
  auto operandOf = [](Value value, onnx::Operator type) {
    onnx::NodeOp node = value ? nodeOf(value, type) : onnx::NodeOp();
    return node ? node.getInputs()[0] : Value();
  };
  Value any = operandOf(operandOf(condition, op::Not), op::Cast);
  onnx::NodeOp most = any ? nodeOf(any, op::ReduceMax) : onnx::NodeOp();
  if (!most || !most.getInt("keepdims", 1) || most.getInputs().size() != 2 ||
      (numberOf(most.getInputs()[1]) != -1.0 &&
       numberOf(most.getInputs()[1]) != double(tensorType(x).getRank() - 1)) ||
      tensorType(most.getInputs()[1]).getNumElements() != 1)
    return nullptr;
  Value shown = operandOf(operandOf(most.getInputs()[0], op::Cast), op::Not);
  onnx::NodeOp test = shown ? nodeOf(shown, op::Equal) : onnx::NodeOp();
  bool isTest = test && test.getInputs()[0] == x && numberOf(test.getInputs()[1]) == -kInfinity;
  return isTest ? test : onnx::NodeOp();
}

/// The guard that PyTorch writes in words: zeros in rows of which all scores are minus infinity.
void AttentionChain::findGuardOfRows() {
  Value weights = softmax.getResult(0);
  onnx::NodeOp choice = soleUser(weights, {op::Where});
  if (!choice || choice.getInputs()[2] != weights || numberOf(choice.getInputs()[1]) != 0.0 ||
      choice.outputType(0) != softmax.outputType(0))
    return;
  onnx::NodeOp test = testOfRows(choice.getInputs()[0], softmax.getInputs()[0]);
  if (!test)
    return;
  guardTest = test;
  root = choice;
  guarded = true;
}

void AttentionChain::findGuard() {
  Value weights = softmax.getResult(0);
  if (std::distance(weights.use_begin(), weights.use_end()) != 2)
    return;
  for (Operation *user : weights.getUsers()) {
    auto choice = dyn_cast<onnx::NodeOp>(user);
    if (!choice || !choice.is(op::Where))
      continue;
    onnx::NodeOp test = nodeOf(choice.getInputs()[0], op::IsNaN);
    if (!test || test.getInputs()[0] != weights || !test.getResult(0).hasOneUse() ||
        numberOf(choice.getInputs()[1]) != 0.0 || choice.getInputs()[2] != weights ||
        choice.outputType(0) != softmax.outputType(0))
      continue;
    root = choice;
    guarded = true;
    return;
  }
}

bool AttentionChain::findProducts() {
  Value product = scores;
  if (onnx::NodeOp split = nodeOf(product, op::Reshape);
      split && product.hasOneUse() && keepsRows(split.inputType(0), split.outputType(0)))
    product = split.getInputs()[0];
  first = product.getDefiningOp<onnx::NodeOp>();
  Value weights = root.getResult(0);
  if (!isProduct(first) || !product.hasOneUse() || !weights.hasOneUse())
    return false;
  // Batch and heads may be merged for the second product.
  if (onnx::NodeOp merge = soleUser(weights, {op::Reshape});
      merge && keepsRows(merge.inputType(0), merge.outputType(0)) && merge.getResult(0).hasOneUse())
    weights = merge.getResult(0);
  second = dyn_cast<onnx::NodeOp>(*weights.user_begin());
  if (!isProduct(second) || second.getInputs()[0] != weights || second.getInt("transB", 0))
    return false;
  // Each product is one of equal batches.
  auto batchOf = [](onnx::NodeOp node, unsigned operand) {
    return node.inputType(operand).getShape().drop_back(2);
  };
  for (onnx::NodeOp node : {first, second})
    if (node.inputType(0).getRank() < 2 ||
        node.inputType(1).getRank() != node.inputType(0).getRank() ||
        batchOf(node, 0) != batchOf(node, 1))
      return false;
  return true;
}

/// An operand of the first product, [..., sequence, width], before it was scaled, transposed and
/// merged; `swapped`: the product reads [..., width, sequence].
Value AttentionChain::rowsOf(NodeBuilder &builder, Value value, bool swapped) {
  while (true) {
    double factor = 1;
    Value inner = unscaled(value, factor);
    scale *= factor;
    onnx::NodeOp merge = nodeOf(inner, op::Reshape), transpose = nodeOf(inner, op::Transpose);
    if (merge && keepsRows(merge.inputType(0), merge.outputType(0)))
      inner = merge.getInputs()[0];
    else if (transpose && swapsLast(permutationOf(transpose))) {
      inner = transpose.getInputs()[0];
      swapped = !swapped;
    }
    if (inner == value)
      break;
    value = inner;
  }
  if (!swapped)
    return value;
  onnx::NodeOp transpose = nodeOf(value, op::Transpose);
  if (!transpose)
    return builder.transposeLast(value);
  // One transpose instead of two.
  SmallVector<int64_t> permutation = permutationOf(transpose);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  double factor = 1;
  Value inner = unscaled(transpose.getInputs()[0], factor);
  scale *= factor;
  return builder.transpose(inner, permutation);
}

/// [batch, heads, sequence, width] of a product's operand.
Value AttentionChain::asHeads(NodeBuilder &builder, Value value) {
  ArrayRef<int64_t> own = tensorType(value).getShape();
  if (onnx::NodeOp merge = nodeOf(value, op::Reshape))
    value = merge.getInputs()[0];
  return builder.reshape(value,
                         {type.getDimSize(0), type.getDimSize(1), own[own.size() - 2], own.back()});
}

/// Keys or values without the heads that are copies of their neighbours: Expand of
/// [batch, groups, 1, keys, width] to `times` in the middle, reshaped.
Value AttentionChain::withoutRepeats(NodeBuilder &builder, Value value, int64_t &times) {
  times = 1;
  onnx::NodeOp merge = nodeOf(value, op::Reshape);
  onnx::NodeOp expand = merge ? nodeOf(merge.getInputs()[0], op::Expand) : onnx::NodeOp();
  if (!expand || expand.inputType(0).getRank() != 5 || expand.outputType(0).getRank() != 5)
    return value;
  ArrayRef<int64_t> from = expand.inputType(0).getShape(), to = expand.outputType(0).getShape();
  ArrayRef<int64_t> merged = tensorType(value).getShape();
  SmallVector<int64_t> heads{to[0], to[1] * to[2], to[3], to[4]};
  SmallVector<int64_t> stretched{from[0], from[1], to[2], from[3], from[4]};
  if (from[2] != 1 || to != ArrayRef(stretched) || merged != ArrayRef(heads))
    return value;
  times = to[2];
  return builder.reshape(expand.getInputs()[0], {from[0], from[1], from[3], from[4]});
}

SmallVector<NamedAttribute> AttentionChain::attributes(NodeBuilder &builder, double factor) {
  SmallVector<NamedAttribute> attrs = masks->attributes(builder);
  attrs.push_back(builder.attr("scale", factor));
  attrs.push_back(builder.attr("guard", int64_t(guarded)));
  return attrs;
}

void AttentionChain::remark(onnx::NodeOp made, StringRef what) {
  remarkFound(made, what + " (" + masks->describe() + ")");
}

void AttentionChain::replaceAll() {
  OpBuilder at(second);
  NodeBuilder builder(at, second.getLoc(), second.getNode());
  Value query = asHeads(builder, rowsOf(builder, first.getInputs()[0], /*swapped=*/false));
  Value key = asHeads(builder, rowsOf(builder, first.getInputs()[1],
                                      /*swapped=*/!first.getInt("transB", 0)));
  Value value = asHeads(builder, second.getInputs()[1]);
  int64_t keyTimes, valueTimes;
  Value fewerKeys = withoutRepeats(builder, key, keyTimes);
  Value fewerValues = withoutRepeats(builder, value, valueTimes);
  if (keyTimes == valueTimes) {
    key = fewerKeys;
    value = fewerValues;
  }
  auto [padding, mask] = masks->operands(builder);
  onnx::NodeOp made = createAttention(
      builder,
      {query, key, value, padding ? padding : builder.none(), mask ? mask : builder.none()},
      attributes(builder, scale));
  second.replaceAllUsesWith(
      ValueRange(builder.reshape(made.getResult(0), second.outputType(0).getShape())));
  remark(made, "attention");
}

void AttentionChain::replaceSoftmax() {
  if (masks->isEmpty() && scale == 1 && !guarded)
    return;
  OpBuilder at(root);
  NodeBuilder builder(at, root.getLoc(), root.getNode());
  auto [padding, mask] = masks->operands(builder);
  onnx::NodeOp made =
      builder.create(own::MaskedSoftmax, type,
                     {builder.reshape(scores, type.getShape()), padding ? padding : builder.none(),
                      mask ? mask : builder.none()},
                     attributes(builder, scale));
  root.replaceAllUsesWith(
      ValueRange(builder.reshape(made.getResult(0), root.outputType(0).getShape())));
  remark(made, "softmax between products of another form than attention's");
}

void AttentionChain::recognise() {
  if (!start())
    return;
  findGuardOfRows();
  climb();
  if (!guarded)
    findGuard();
  if (!masks->isExpressible())
    return;
  if (findProducts())
    replaceAll();
  else
    replaceSoftmax();
}

} // namespace zero
