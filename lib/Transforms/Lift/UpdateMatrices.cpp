//===- UpdateMatrices.cpp - steps of whole matrices in a whole step -------===//
//
// An update of a matrix, such as Muon's, has nodes of any kind between its gradient and the value
// that changes the parameter element by element, its step. The search goes back from the step.
// Wherever a single value of the parameter's shape remains of what depends on the batch, everything
// behind it depends on the batch through it. The last such value before state is read is the
// direction. From there on the search is that of elementwise updates, with the direction in place
// of the new parameter: ranks advance shards of its states.
//
//===----------------------------------------------------------------------===//

#include "UpdateSearch.h"

#include <set>
#include <utility>

using namespace mlir;

namespace zero {

/// The last value before state is read through which alone `step` depends on the batch, and which
/// has its shape; null if there is none.
Value UpdateSearch::findDirection(Value step) const {
  auto earlier = [](onnx::NodeOp a, onnx::NodeOp b) { return a->isBeforeInBlock(b); };
  std::set<onnx::NodeOp, decltype(earlier)> open(earlier); // the last one is the latest
  Value direction;
  auto node = step.getDefiningOp<onnx::NodeOp>();
  while (node) {
    Value value = node.getResult(0);
    if (open.empty() && value != step && sameShape(value, step))
      direction = value;
    for (Value operand : node.getInputs()) {
      auto source = operand.getDefiningOp<onnx::NodeOp>();
      // A number of state is equal on all ranks.
      if (isLocal(operand) ? !source || isForward(operand)
                           : ofState.contains(operand) && !isScalar(operand))
        return direction;
      if (isLocal(operand))
        open.insert(source);
    }
    if (open.empty())
      break;
    node = *open.rbegin();
    open.erase(std::prev(open.end()));
  }
  return direction;
}

/// Finds what makes `update.gradient`, which is the step of a matrix, of the gradient. Returns
/// false if that is no direction, or not elementwise in one value that is linear in the gradient.
bool UpdateSearch::findMatrixStep(LiftedUpdate &update) {
  MatrixStep matrix;
  matrix.step = update.gradient;
  auto type = cast<RankedTensorType>(matrix.step.getType());
  if (type.getRank() < 2 || !type.getElementType().isF32() || !update.localScalars.empty())
    return false;
  matrix.direction = findDirection(matrix.step);
  if (!matrix.direction || !collectMatrixNodes(matrix))
    return false;
  addStates(matrix.direction, matrix.states);
  update.matrix = std::move(matrix);
  SmallVector<Value> ends;
  if (!chooseGradient(update, ends))
    update.gradient = update.matrix->direction;
  if (!findCut(update.gradient))
    return true;
  for (CarriedState &state : update.matrix->states)
    owned.erase(state.state.getSymNameAttr());
  update.gradient = update.matrix->step;
  update.matrix.reset();
  return false;
}

/// The same where the states of the direction were taken for those of the elementwise update:
/// beside products, a sum of a matrix and its products leads to them.
bool UpdateSearch::findMatrixWithStates(LiftedUpdate &update) {
  SmallVector<CarriedState, 2> states = std::exchange(update.states, {});
  auto symbolOf = [](CarriedState state) { return state.state.getSymNameAttr(); };
  for (CarriedState &state : states)
    owned.erase(symbolOf(state));
  SmallVector<Value> ends;
  if (!states.empty() && chooseGradient(update, ends) && findMatrixStep(update))
    return true;
  for (CarriedState &state : states)
    owned.insert(symbolOf(state));
  update.states = std::move(states);
  return false;
}

/// Collects the nodes from the direction to the step. Returns false if they read anything else but
/// constants and numbers that are equal on all ranks.
bool UpdateSearch::collectMatrixNodes(MatrixStep &matrix) const {
  llvm::SetVector<Operation *> nodes;
  SmallVector<Value> work{matrix.step};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (value == matrix.direction || isa<NoneType>(value.getType()) ||
        (op && op->hasTrait<OpTrait::ConstantLike>()) || (!isLocal(value) && isScalar(value)))
      continue;
    if (!isLocal(value))
      return false;
    if (nodes.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  for (Operation *op : nodes)
    matrix.nodes.push_back(cast<onnx::NodeOp>(op));
  llvm::sort(matrix.nodes, [&](onnx::NodeOp a, onnx::NodeOp b) {
    return positions.lookup(a) < positions.lookup(b);
  });
  return true;
}

/// Collects the nodes of the direction and of its states.
LogicalResult UpdateSearch::collectDirection(LiftedUpdate &update) {
  MatrixStep &matrix = *update.matrix;
  NodeSearch search;
  search.own.insert(update.gradient);
  for (CarriedState &state : matrix.states)
    search.own.insert(state.read.getResult());
  collectGradientRoots(update, search.roots);
  llvm::SetVector<Value> scalars;
  if (failed(collect(update, search, scalars)))
    return failure();
  matrix.directionNodes = std::move(search.nodes);
  matrix.scalars = scalars.takeVector();
  return success();
}

} // namespace zero
