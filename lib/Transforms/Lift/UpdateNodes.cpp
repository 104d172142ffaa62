//===- UpdateNodes.cpp - nodes of elementwise updates ---------------------===//

#include "UpdateNodes.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/BatchNorm.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using zero::ops::Function;

namespace zero {

static bool isKind(onnx::NodeOp node, ops::Kind kind) {
  const ops::OpDef *def = node ? ops::lookup(node) : nullptr;
  return def && def->kind == kind;
}

std::string describe(Value value) {
  if (auto node = value.getDefiningOp<onnx::NodeOp>())
    return node.describe();
  if (auto read = value.getDefiningOp<ReadOp>())
    return "the state '" + read.getSymbol().str() + "'";
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "the input '" +
           argumentBinding(cast<func::FuncOp>(argument.getOwner()->getParentOp()),
                           argument.getArgNumber())
               .str() +
           "'";
  return "a constant";
}

bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

bool sameShape(Value a, Value b) {
  auto left = dyn_cast<RankedTensorType>(a.getType()),
       right = dyn_cast<RankedTensorType>(b.getType());
  return left && right && left.getShape() == right.getShape();
}

Value skipViews(Value value) {
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    if (!isKind(node, ops::Kind::View) || node.getInputs().empty())
      break;
    Value source = node.getInputs().front();
    if (!sameShape(source, value) && !(isScalar(source) && isScalar(value)))
      break;
    value = source;
  }
  return value;
}

static bool isTrainedNorm(Operation *op) {
  auto node = dyn_cast<onnx::NodeOp>(op);
  return node && trainsBatchNorm(node);
}

ValueRange readForResult(Operation *op) {
  ValueRange operands = op->getOperands();
  return isTrainedNorm(op) ? operands.take_front(3) : operands;
}

WriteOp findOtherWrite(ReadOp read) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> open(read->getUsers());
  while (!open.empty()) {
    Operation *user = open.pop_back_val();
    if (!seen.insert(user).second)
      continue;
    auto write = dyn_cast<WriteOp>(user);
    if (write && write.getSymbol() != read.getSymbol())
      return write;
    // Only the next statistics follow from running statistics.
    if (!isTrainedNorm(user))
      llvm::append_range(open, user->getUsers());
  }
  return {};
}

onnx::NodeOp elementwiseNode(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!isKind(node, ops::Kind::Elementwise) || node.getNumResults() != 1)
    return {};
  bool fits = llvm::all_of(node.getInputs(), [&](Value input) {
    return isa<NoneType>(input.getType()) || sameShape(input, value) || isScalar(input);
  });
  return fits ? node : onnx::NodeOp();
}

ScalarNodes collectScalarNodes(func::FuncOp step, ArrayRef<Value> roots) {
  llvm::SetVector<Value> leaves;
  llvm::DenseSet<Value> seen;
  llvm::DenseSet<Operation *> nodes;
  SmallVector<Value> open(llvm::reverse(roots));
  while (!open.empty()) {
    Value value = skipViews(open.pop_back_val());
    SplatElementsAttr splat;
    if (isa<NoneType>(value.getType()) || !seen.insert(value).second ||
        matchPattern(value, m_Constant(&splat)))
      continue;
    onnx::NodeOp node = elementwiseNode(value);
    if (!node) {
      leaves.insert(value);
      continue;
    }
    nodes.insert(node);
    llvm::append_range(open, llvm::reverse(node.getInputs()));
  }
  ScalarNodes result;
  for (auto node : step.getOps<onnx::NodeOp>())
    if (nodes.contains(node))
      result.nodes.push_back(node);
  result.leaves = leaves.takeVector();
  return result;
}

bool isLinear(onnx::NodeOp node, ArrayRef<bool> varies) {
  if (ops::computes(node, Function::Convert))
    return true;
  switch (ops::linearityOf(node)) {
  case ops::Linear::No:
    return false;
  case ops::Linear::InFirst:
    return llvm::none_of(varies.drop_front(), [](bool other) { return other; });
  case ops::Linear::Together:
    return true;
  case ops::Linear::InEach:
    return llvm::count(varies, true) < 2;
  case ops::Linear::Quotient:
    return !varies[1];
  }
}

Value normedBy(onnx::NodeOp node) {
  if (!node || !isScalar(node.getResult(0)))
    return {};
  Value operand = skipViews(node.getInputs().front());
  if (ops::computes(node, {Function::ReduceSumSquare, Function::ReduceL2}))
    return operand;
  auto square = operand.getDefiningOp<onnx::NodeOp>();
  if (!ops::computes(node, Function::ReduceSum) || !square || square.getInputs().size() != 2)
    return {};
  Value base = skipViews(square.getInputs()[0]), other = skipViews(square.getInputs()[1]);
  SplatElementsAttr exponent;
  const bool isSquare =
      (ops::computes(square, Function::Mul) && base == other) ||
      (ops::computes(square, Function::Pow) && matchPattern(other, m_Constant(&exponent)) &&
       isa<FloatType>(exponent.getElementType()) &&
       exponent.getSplatValue<APFloat>().convertToDouble() == 2);
  return isSquare ? base : Value();
}

LayerScalars sortScalars(const ScalarNodes &scalars, ArrayRef<Value> roots,
                         const llvm::SetVector<Value> &norms) {
  LayerScalars sorted{norms, llvm::DenseSet<Value>(norms.begin(), norms.end()), {}};
  auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
  for (onnx::NodeOp node : scalars.nodes) {
    auto operands = llvm::map_to_vector(node.getInputs(), skipViews);
    llvm::erase_if(operands, [&](Value operand) {
      return isa<NoneType>(operand.getType()) || isConstant(operand);
    });
    const bool isPure = !operands.empty() && llvm::all_of(operands, [&](Value operand) {
      return sorted.pure.contains(operand);
    });
    if (isPure)
      sorted.pure.insert(node.getResult(0));
    else
      for (Value operand : operands)
        if (sorted.pure.contains(operand))
          sorted.ends.insert(operand);
  }
  for (Value root : roots)
    if (Value value = skipViews(root); sorted.pure.contains(value))
      sorted.ends.insert(value);
  return sorted;
}

} // namespace zero
