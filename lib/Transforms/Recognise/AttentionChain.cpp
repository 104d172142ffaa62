//===- AttentionChain.cpp - the nodes around one Softmax ------------------===//

#include "AttentionChain.h"
#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Attention.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace zero::patterns;

namespace zero {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool AttentionChain::start() {
  RankedTensorType own = softmax.outputType(0);
  int64_t rank = own.getRank(), axis = softmax.getInt("axis", -1);
  if (rank < 2 || rank > 4 || (axis != -1 && axis != rank - 1) ||
      !isa<FloatType>(own.getElementType()))
    return false;
  scores = softmax.getInputs()[0];
  // Products over merged batch and heads, masks over both: the latter count.
  if (onnx::NodeOp merge = nodeOf(scores, op::Reshape);
      reshapesBatch(merge) && merge.inputType(0).getRank() == 4 && scores.hasOneUse()) {
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
    if (!node || node.isAnyOf({op::MatMul, own::Contract}))
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
  choices.push_back({choice.getInputs()[0], a.has_value()});
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
  Value inner = unscaled(scores, scale, values);
  if (inner != scores && isOnlyRead(scores))
    scores = inner;
  else
    scale = 1;
}

/// The comparison of `x` with minus infinity, where `condition` is whether it holds for all
/// elements of a row: all of them, or not any that is not, computed with numbers.
static onnx::NodeOp testOfRows(Value condition, Value x) {
  bool negatedOutside = false, negatedInside = false;
  onnx::NodeOp reduction;
  auto node = condition.getDefiningOp<onnx::NodeOp>();
  for (; node && !node.is(op::Equal); node = node.getInputs()[0].getDefiningOp<onnx::NodeOp>()) {
    if (node.is(op::Not))
      (reduction ? negatedInside : negatedOutside) ^= true;
    else if (node.isAnyOf({op::ReduceMax, op::ReduceMin}) && !reduction)
      reduction = node;
    else if (!node.is(op::Cast))
      return nullptr;
  }
  if (!node || soleAxis(reduction) != tensorType(x).getRank() - 1)
    return nullptr;
  bool holdsForAll =
      negatedOutside == negatedInside && negatedOutside == reduction.is(op::ReduceMax);
  bool isTest = node.getInputs()[0] == x && numberOf(node.getInputs()[1]) == -kInfinity;
  return holdsForAll && isTest ? node : onnx::NodeOp();
}

/// The guard that PyTorch writes in words: zeros in rows of which all scores are minus infinity.
void AttentionChain::findGuardOfRows() {
  Value weights = softmax.getResult(0);
  onnx::NodeOp choice = soleUser(weights, {op::Where});
  if (!choice || choice.getInputs()[2] != weights ||
      choice.outputType(0) != softmax.outputType(0) ||
      !values.isEverywhere(choice.getInputs()[1], 0))
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

/// Whether the weights are tested for NaN in another way than a guard does, as nan_to_num() of
/// PyTorch does it. That cuts the gradient of rows of which all scores are minus infinity, where a
/// fused softmax has the gradient NaN, and the choice of the mask has zeros.
bool AttentionChain::isTestedForNaN() {
  return !guarded && llvm::any_of(softmax.getResult(0).getUsers(),
                                  [](Operation *user) { return isNode(user, op::IsNaN); });
}

/// Sorts what reads the weights into the product with the values and the gradient.
bool AttentionChain::readUses() {
  SmallVector<OpOperand *> others;
  for (OpOperand *use : usesOfWeights(root.getResult(0))) {
    std::optional<MixingProduct> product = readMixing(*use);
    if (!product || !product->overKeys || second) {
      others.push_back(use);
      continue;
    }
    second = product->node;
    transposed = product->transposed;
    operands.value = product->rows;
  }
  if (others.empty())
    return second != nullptr;
  gradient.emplace(values);
  if (!gradient->read(others))
    return false;
  if (!second)
    operands.value = gradient->getValues();
  // The forward pass reads the masks, too, which are known at the softmax.
  return (second ? second : root)->isBeforeInBlock(gradient->getFirst());
}

bool AttentionChain::findProducts() {
  std::optional<ScoresProduct> first = readScores(scores, &values);
  if (!first || !readUses())
    return false;
  operands.query = first->left;
  operands.key = first->right;
  operands.scale = scale * first->left.scale * first->right.scale;
  operands.choices = choices;
  return !gradient || gradient->matches(operands);
}

/// [batch, heads, sequence, width] of a product's operand.
Value AttentionChain::asHeads(NodeBuilder &builder, const HeadRows &rows) {
  Value value = rows.build(builder);
  ArrayRef<int64_t> own = tensorType(value).getShape();
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

/// Repeated keys and values are read where they come from, if their gradients are summed.
void AttentionChain::foldRepeats(NodeBuilder &builder, Value &key, Value &value) {
  int64_t keyTimes, valueTimes;
  Value fewerKeys = withoutRepeats(builder, key, keyTimes);
  Value fewerValues = withoutRepeats(builder, value, valueTimes);
  if (keyTimes != valueTimes || (gradient && !gradient->takeSums(keyTimes)))
    return;
  key = fewerKeys;
  value = fewerValues;
}

void AttentionChain::replaceAll() {
  onnx::NodeOp before = second ? second : gradient->getFirst();
  OpBuilder at(before);
  NodeBuilder builder(at, before.getLoc(), before.getNode());
  Value query = asHeads(builder, operands.query), key = asHeads(builder, operands.key);
  Value value = asHeads(builder, operands.value);
  foldRepeats(builder, key, value);
  SmallVector<Value> inputs{query, key, value};
  llvm::append_range(inputs, masks->operands(builder));
  onnx::NodeOp made = createAttention(builder, inputs, attributes(builder, operands.scale));
  if (second) {
    Value mixed = made.getResult(0);
    if (transposed)
      mixed = builder.transposeLast(mixed);
    second.replaceAllUsesWith(ValueRange(builder.reshape(mixed, second.outputType(0).getShape())));
  }
  if (gradient)
    gradient->replace(made);
  remark(made, gradient ? "attention and its gradient" : "attention");
}

void AttentionChain::replaceSoftmax() {
  if (masks->isEmpty() && scale == 1 && !guarded)
    return;
  OpBuilder at(root);
  NodeBuilder builder(at, root.getLoc(), root.getNode());
  SmallVector<Value> inputs{builder.reshape(scores, type.getShape())};
  llvm::append_range(inputs, masks->operands(builder));
  onnx::NodeOp made = builder.create(own::MaskedSoftmax, type, inputs, attributes(builder, scale));
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
  if (isTestedForNaN() || !masks->isExpressible())
    return;
  if (findProducts())
    replaceAll();
  else
    replaceSoftmax();
}

} // namespace zero
