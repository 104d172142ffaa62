//===- ConstantRoles.cpp - tell parameters from other constants -----------===//
// The rules depend on the uses of a constant, never on its values: they may be in another file, and
// the initial values of a parameter carry no information.
//===----------------------------------------------------------------------===//

#include "ConstantRoles.h"

#include "zero/Analysis/ConstantNames.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using zero::ops::Function;
using zero::ops::OperandRole;

namespace zero {

/// The function of a node, else None.
static Function functionOf(Operation *op) {
  auto node = dyn_cast<onnx::NodeOp>(op);
  return node ? ops::functionOf(node) : Function::None;
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

/// Whether `value` is only read as running statistics. PyTorch's exporter writes those of a second
/// call as an Identity of those before the first.
static bool isStatistic(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto user = dyn_cast<onnx::NodeOp>(use.getOwner());
    return ops::roleOf(use) == OperandRole::Statistics ||
           (user && ops::isIdentity(user) && isStatistic(user.getResult(0)));
  });
}

bool ConstantRoles::isRunningStatistic(ReadOp read) const { return isStatistic(read.getResult()); }

bool ConstantRoles::isClassWeights(ReadOp read) const {
  return llvm::all_of(read->getUses(),
                      [](OpOperand &use) { return ops::roleOf(use) == OperandRole::ClassWeights; });
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

/// Whether `op` gives elements of its operand another shape.
static bool isView(Operation *op) { return ops::isView(dyn_cast<onnx::NodeOp>(op)); }

/// Whether `use` hands its operand on to a Softmax without mixing it: moved,
/// added, selected, or scaled by one number.
static bool passesMask(OpOperand &use) {
  switch (functionOf(use.getOwner())) {
  case Function::Select:
    return use.getOperandNumber() != 0;
  case Function::Mul:
  case Function::Div: {
    Value other = use.getOwner()->getOperand(1 - use.getOperandNumber());
    auto shape = dyn_cast<RankedTensorType>(other.getType());
    return shape && shape.hasStaticShape() && shape.getNumElements() == 1;
  }
  case Function::Add:
  case Function::Sub:
  case Function::Min:
  case Function::Max:
  case Function::Convert:
  case Function::Broadcast:
  case Function::Permute:
  case Function::Slice:
  case Function::Concatenate:
    return true;
  default:
    return isView(use.getOwner());
  }
}

/// Dimensions of more than one element.
static int64_t wideDims(Value value) {
  return llvm::count_if(cast<RankedTensorType>(value.getType()).getShape(),
                        [](int64_t dim) { return dim > 1; });
}

/// Whether `use` is one that weights are put to.
static bool isWeightUse(OpOperand &use) {
  const OperandRole role = ops::roleOf(use);
  if (role == OperandRole::Scale || role == OperandRole::Offset)
    return true;
  const Function function = functionOf(use.getOwner());
  const unsigned index = use.getOperandNumber();
  if (function == Function::Add) {
    // A table of positions, or a bias behind the product of a layer without one.
    Operation *from = use.getOwner()->getOperand(1 - index).getDefiningOp();
    return wideDims(use.get()) > 1 || (from && functionOf(from) == Function::Product);
  }
  const bool isFactor = function == Function::Product;
  const bool isTable = function == Function::Lookup && index == 0;
  return (isFactor || isTable) && wideDims(use.get()) > 1;
}

/// Whether an operation copies the elements it reads to its result unchanged.
static bool onlyMoves(Operation *op) {
  const Function function = functionOf(op);
  return function == Function::Permute || function == Function::Convert || isView(op);
}

void ConstantRoles::walkBackward(Operation &op) {
  bool isAngle = true, isAngleAlone = true, isMask = true;
  onnx::NodeOp reader;
  for (OpOperand &use : op.getUses()) {
    Operation *user = use.getOwner();
    if (!live.contains(user))
      continue;
    const OperandRole role = ops::roleOf(use);
    const Flow &next = flows[user];
    if (role != OperandRole::Angle) {
      const bool goesOn = isa<onnx::NodeOp>(user) && !next.isMixed;
      isAngle &= goesOn && next.isAngle;
      isAngleAlone &= goesOn && !next.source && next.isAngleAlone;
    }
    if (role != OperandRole::Scores)
      isMask &= passesMask(use) && next.isMask;
    if (!reader && isWeightUse(use))
      reader = cast<onnx::NodeOp>(user);
    else if (!reader && onlyMoves(user))
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
    const Function function = functionOf(next.getOwner());
    return llvm::is_contained({Function::Sqrt, Function::Reciprocal, Function::Log}, function) ||
           (function == Function::Div && next.getOperandNumber() == 1);
  });
}

bool ConstantRoles::isFormulaNumber(ReadOp read) const {
  return llvm::all_of(read->getUses(), [](OpOperand &use) {
    const Function function = functionOf(use.getOwner());
    return function == Function::Max || function == Function::Min ||
           (function == Function::Pow && use.getOperandNumber() == 1) ||
           (function == Function::Add && isEpsilon(use));
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
