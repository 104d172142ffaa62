//===- ConstantRoles.cpp - tell parameters from other constants -----------===//
// The rules depend on the uses of a constant, never on its values: they may be in another file, and
// the initial values of a parameter carry no information.
//===----------------------------------------------------------------------===//

#include "zero/Analysis/ConstantRoles.h"

#include "dialects/Onnx/Operators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace zero {

bool isMadeUpName(StringRef name) {
  // val_12, _to_copy_1, onnx::MatMul_7, /layer/Mul_output_0.
  static const llvm::Regex madeUp("^(val|_to_copy|Constant|lifted_tensor|c_lifted_tensor)_?[0-9]*"
                                  "([._]|$)|[/:[:space:]]");
  return madeUp.match(name);
}

bool isModulePath(StringRef name) {
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  return parts.size() > 1 && llvm::none_of(parts, [](StringRef part) { return part.empty(); }) &&
         !isMadeUpName(name);
}

/// The operator of a node, else none.
static onnx::Operator operatorOf(Operation *op) {
  auto node = dyn_cast<onnx::NodeOp>(op);
  return node ? node.getOperator() : onnx::Operator{};
}

ConstantRoles::ConstantRoles(func::FuncOp step) {
  Operation *end = step.getBody().front().getTerminator();
  SmallVector<Operation *> open = {end};
  live.insert(end);
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && live.insert(op).second)
        open.push_back(op);
  for (Operation &op : step.getBody().front())
    walkForward(op);
  for (Operation &op : llvm::reverse(step.getBody().front()))
    walkBackward(op);
}

/// Whether only batch normalizations read `value`, as their statistics. PyTorch's exporter writes
/// those of a second call as an Identity of those before the first.
static bool isStatistic(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    const onnx::Operator type = operatorOf(user);
    return (type == op::BatchNormalization && use.getOperandNumber() >= 3) ||
           (type == op::Identity && isStatistic(user->getResult(0)));
  });
}

bool ConstantRoles::isRunningStatistic(ReadOp read) const { return isStatistic(read.getResult()); }

bool ConstantRoles::isClassWeights(ReadOp read) const {
  return llvm::all_of(read->getUses(), [](OpOperand &use) {
    onnx::Operator type = operatorOf(use.getOwner());
    return (type == op::SoftmaxCrossEntropyLoss || type == op::NegativeLogLikelihoodLoss) &&
           use.getOperandNumber() == 2;
  });
}

/// A float input, or a constant that may be a parameter.
static bool isSource(Value value) {
  auto read = value.getDefiningOp<ReadOp>();
  return read ? isModulePath(read.getSymbol())
              : !value.getDefiningOp() && isa<FloatType>(getElementTypeOrSelf(value));
}

void ConstantRoles::walkForward(Operation &op) {
  Flow flow;
  auto add = [&](Value source) {
    flow.isMixed |= flow.source && source && flow.source != source;
    flow.source = source ? source : flow.source;
  };
  for (Value operand : op.getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (isSource(operand))
      add(operand);
    else if (definition) {
      const Flow &from = flows[definition];
      add(from.source);
      flow.isMixed |= from.isMixed;
    }
  }
  flows[&op] = flow;
}

/// Whether `use` hands its operand on to a Softmax without mixing it: moved,
/// added, selected, or scaled by one number.
static bool passesMask(OpOperand &use) {
  onnx::Operator type = operatorOf(use.getOwner());
  if (type == op::Where)
    return use.getOperandNumber() != 0;
  if (type == op::Mul || type == op::Div) {
    Value other = use.getOwner()->getOperand(1 - use.getOperandNumber());
    auto shape = dyn_cast<RankedTensorType>(other.getType());
    return shape && shape.hasStaticShape() && shape.getNumElements() == 1;
  }
  return llvm::is_contained({op::Add, op::Sub, op::Cast, op::Expand, op::Slice, op::Reshape,
                             op::Squeeze, op::Unsqueeze, op::Transpose, op::Identity, op::Concat,
                             op::Min, op::Max},
                            type);
}

static bool isProduct(onnx::Operator type) {
  return llvm::is_contained({op::MatMul, op::Gemm, op::Conv, op::ConvTranspose, op::Einsum}, type);
}

/// Dimensions of more than one element.
static int64_t wideDims(Value value) {
  return llvm::count_if(cast<RankedTensorType>(value.getType()).getShape(),
                        [](int64_t dim) { return dim > 1; });
}

/// Whether `use` is one that weights are put to.
static bool isWeightUse(OpOperand &use) {
  onnx::Operator type = operatorOf(use.getOwner());
  const unsigned index = use.getOperandNumber();
  if (isProduct(type))
    return index == 2 || wideDims(use.get()) > 1;
  if (type == op::Gather)
    return index == 0 && wideDims(use.get()) > 1;
  if (type == op::Add) {
    // A table of positions, or a bias behind the product of a layer without one.
    Operation *from = use.getOwner()->getOperand(1 - index).getDefiningOp();
    return wideDims(use.get()) > 1 || (from && isProduct(operatorOf(from)));
  }
  return index > 0 && index < 3 && type.domain.empty() && type.type.ends_with("Normalization");
}

/// Whether an operation of this type copies the elements it reads to its result unchanged.
static bool onlyMoves(onnx::Operator type) {
  return llvm::is_contained(
      {op::Transpose, op::Reshape, op::Squeeze, op::Unsqueeze, op::Cast, op::Identity}, type);
}

void ConstantRoles::walkBackward(Operation &op) {
  bool isAngle = true, isAngleAlone = true, isMask = true;
  onnx::NodeOp reader;
  for (OpOperand &use : op.getUses()) {
    Operation *user = use.getOwner();
    if (!live.contains(user))
      continue;
    onnx::Operator type = operatorOf(user);
    const Flow &next = flows[user];
    if (type != op::Cos && type != op::Sin) {
      const bool goesOn = isa<onnx::NodeOp>(user) && !next.isMixed;
      isAngle &= goesOn && next.isAngle;
      isAngleAlone &= goesOn && !next.source && next.isAngleAlone;
    }
    if (type != op::Softmax && (type != op::Attention || use.getOperandNumber() != 3))
      isMask &= passesMask(use) && next.isMask;
    if (!reader && isWeightUse(use))
      reader = cast<onnx::NodeOp>(user);
    else if (!reader && onlyMoves(type))
      reader = next.reader;
  }
  Flow &flow = flows[&op];
  flow.isAngle = isAngle;
  flow.isAngleAlone = isAngleAlone;
  flow.isMask = isMask;
  flow.reader = reader;
}

/// Angles are frequencies times positions: they go nowhere but into Cos and Sin,
/// and nothing that the model computes enters them. That tells a table from the
/// weights of a network whose activation is a sine.
bool ConstantRoles::isRotaryTable(ReadOp read) const {
  Flow flow = flows.lookup(read);
  return isModulePath(read.getSymbol()) ? flow.isAngle : flow.isAngleAlone;
}

bool ConstantRoles::isMask(ReadOp read) const {
  // Queries by keys: a bias of a classifier's logits is a vector.
  if (wideDims(read.getResult()) < 2 || !flows.lookup(read).isMask)
    return false;
  // One for each head, under a parameter's name, is a learned bias, as in T5 and Swin:
  // a mask is the same for all heads.
  ArrayRef<int64_t> shape = read.getType().getShape();
  bool perHead = shape.size() > 2 && shape[shape.size() - 3] > 1;
  return !perHead || !isModulePath(read.getSymbol());
}

/// Whether `use`, an operand of a sum, keeps a root, a logarithm or a quotient finite.
static bool isEpsilon(OpOperand &use) {
  return llvm::all_of(use.getOwner()->getUses(), [](OpOperand &next) {
    const onnx::Operator type = operatorOf(next.getOwner());
    return llvm::is_contained({op::Sqrt, op::Reciprocal, op::Log}, type) ||
           (type == op::Div && next.getOperandNumber() == 1);
  });
}

bool ConstantRoles::isFormulaNumber(ReadOp read) const {
  return llvm::all_of(read->getUses(), [](OpOperand &use) {
    const onnx::Operator type = operatorOf(use.getOwner());
    return type == op::Max || type == op::Min || (type == op::Pow && use.getOperandNumber() == 1) ||
           (type == op::Add && isEpsilon(use));
  });
}

StringRef ConstantRoles::bufferReason(ReadOp read) const {
  if (isRunningStatistic(read))
    return "running statistics of a BatchNormalization";
  if (isClassWeights(read))
    return "class weights: only a loss takes them";
  if (isRotaryTable(read))
    return "a rotary table: it reaches the loss only through Cos and Sin";
  if (isMask(read))
    return "a mask: it is only added to or selected into a Softmax's input";
  return {};
}

} // namespace zero
