//===- UpdateAnalysis.cpp - gradients and updates of a whole step ---------===//
//
// A value is *local* if it depends on the batch, and so differs between ranks; other values are
// equal on all ranks. Data-parallel training averages gradients over ranks. The gradient of a
// parameter is therefore a local value of the parameter's shape from which all new values of the
// parameter and its states follow, element by element, without any other local value.
//
// The search begins at the new values and goes back through elementwise nodes. Wherever a single
// local value remains, it is a candidate; the last one is taken, which is nearest to the batch. The
// search does not enter values that the loss depends on, so nonlinear functions of the forward pass
// are never taken for a part of the update. What is behind the gradient must be linear, since only
// then the mean of the ranks' gradients is the gradient of the mean. Where it is not, a matrix may
// be in between: see UpdateMatrices.cpp.
//
//===----------------------------------------------------------------------===//

#include "UpdateSearch.h"

#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;

namespace zero {

void UpdateSearch::collectState() {
  SymbolTable symbols(module);
  for (auto [index, op] : llvm::enumerate(step.getBody().front()))
    positions[&op] = int64_t(index);
  for (auto write : step.getOps<WriteOp>()) {
    CarriedState &entry = carried[write.getSymbolAttr().getAttr()];
    entry.state = symbols.lookup<StateOp>(write.getSymbol());
    entry.write = write;
  }
  for (auto read : step.getOps<ReadOp>())
    if (auto it = carried.find(read.getSymbolAttr().getAttr()); it != carried.end())
      it->second.read = read;
}

void UpdateSearch::markForward(Value loss) {
  SmallVector<Value> open{loss};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!forward.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(open, readForResult(op));
  }
}

/// The batch is what the inputs hold, except a float of one element that the loss does not depend
/// on: that is the learning rate.
LogicalResult UpdateSearch::markLocal() {
  for (BlockArgument argument : step.getArguments()) {
    if (!isScalar(argument) || isForward(argument) || argument.use_empty()) {
      local.insert(argument);
      continue;
    }
    if (!getElementTypeOrSelf(argument.getType()).isF32())
      return step.emitError() << "input '" << argumentBinding(step, argument.getArgNumber())
                              << "' of " << argument.getType()
                              << ": expected a scalar that only the update reads to be a learning "
                                 "rate of f32, carried state, or a constant of the model";
    if (learningRate)
      return step.emitError() << "inputs '" << argumentBinding(step, learningRate.getArgNumber())
                              << "' and '" << argumentBinding(step, argument.getArgNumber())
                              << "': expected at most one scalar that only the update reads, the "
                                 "learning rate; make the others constants of the model";
    learningRate = argument;
  }
  for (Operation &op : step.getBody().front()) {
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return isLocal(operand); }))
      local.insert_range(op.getResults());
    auto read = dyn_cast<ReadOp>(op);
    if (read ? !isForward(read) && !isScalar(read) &&
                   carried.contains(read.getSymbolAttr().getAttr())
             : llvm::any_of(op.getOperands(), [&](Value v) { return ofState.contains(v); }))
      ofState.insert_range(op.getResults());
  }
  return success();
}

void UpdateSearch::visitLeaves(Value value, llvm::function_ref<void(Value)> visit) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = skipViews(open.pop_back_val());
    if (!sameShape(next, value) || !seen.insert(next).second)
      continue;
    if (onnx::NodeOp node = elementwiseNode(next))
      llvm::append_range(open, node.getInputs());
    else
      visit(next);
  }
}

/// The state that `read` reads. A tensor of floats that never changes, such as a mask, is carried
/// as it is, so that it is divided as the parameter whose update reads it.
CarriedState *UpdateSearch::carriedBy(ReadOp read) {
  StringAttr symbol = read.getSymbolAttr().getAttr();
  if (auto it = carried.find(symbol); it != carried.end())
    return &it->second;
  auto state = SymbolTable(module).lookup<StateOp>(symbol);
  if (!state || !isa<FloatType>(state.getTensorType().getElementType()) || isScalar(read))
    return nullptr;
  OpBuilder end(step.getBody().front().getTerminator());
  auto write = WriteOp::create(end, read.getLoc(), read.getSymbolAttr(), read.getResult());
  positions[write] = positions.size();
  return &(carried[symbol] = {state, read, write});
}

/// Adds the states that `next` and their own new values are computed from, element by element.
void UpdateSearch::addStates(Value next, SmallVectorImpl<CarriedState> &states) {
  SmallVector<Value> open{next};
  while (!open.empty()) {
    llvm::SetVector<Operation *> reads;
    visitLeaves(open.pop_back_val(), [&](Value leaf) {
      if (auto read = leaf.getDefiningOp<ReadOp>())
        reads.insert(read);
    });
    for (Operation *read : reads) {
      StringAttr symbol = cast<ReadOp>(read).getSymbolAttr().getAttr();
      CarriedState *entry = isForward(read->getResult(0)) ? nullptr : carriedBy(cast<ReadOp>(read));
      if (!entry || !owned.insert(symbol).second)
        continue;
      states.push_back(*entry);
      open.push_back(entry->write.getValue());
    }
  }
}

/// The new values of the elementwise update.
void UpdateSearch::collectRoots(const LiftedUpdate &update, SmallVectorImpl<Value> &roots) const {
  auto add = [&](CarriedState state) { roots.push_back(skipViews(state.write.getValue())); };
  add(update.parameter);
  llvm::for_each(update.states, add);
}

/// What is elementwise in the gradient: these values, or the direction of a matrix and its states.
void UpdateSearch::collectGradientRoots(const LiftedUpdate &update,
                                        SmallVectorImpl<Value> &roots) const {
  if (!update.matrix)
    return collectRoots(update, roots);
  roots.push_back(update.matrix->direction);
  for (CarriedState state : update.matrix->states)
    roots.push_back(skipViews(state.write.getValue()));
}

/// Whether `value` is equal on all ranks, or consists of elements of values that the loss depends
/// on.
bool UpdateSearch::isCoefficient(Value value) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!isLocal(next) || isForward(next) || !seen.insert(next).second)
      continue;
    auto node = next.getDefiningOp<onnx::NodeOp>();
    const ops::OpDef *def = node ? ops::lookup(node) : nullptr;
    if (!def || (def->kind != ops::Kind::View && def->narrow != ops::Narrow::Move))
      return false;
    llvm::append_range(open, node.getInputs());
  }
  return true;
}

/// Whether the result of elementwise `node` is linear in what this rank's backward pass computed.
bool UpdateSearch::isLinear(onnx::NodeOp node) const {
  auto varies =
      llvm::map_to_vector(node.getInputs(), [&](Value operand) { return !isCoefficient(operand); });
  return zero::isLinear(node, varies) &&
         !(ops::computes(node, ops::Function::Select) && varies.front());
}

/// Whether `value` depends on `source`, which is not later.
bool UpdateSearch::dependsOn(Value value, Value source) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == source)
      return true;
    if (position(next) > position(source) && seen.insert(next).second)
      llvm::append_range(open, next.getDefiningOp()->getOperands());
  }
  return false;
}

/// Goes back from the new values of `update`. Appends candidates for its gradient, and the local
/// scalars that were met, each before the candidates behind it. Returns the local values at which
/// the search ended.
SmallVector<Value> UpdateSearch::searchGradient(const LiftedUpdate &update,
                                                SmallVectorImpl<Candidate> &candidates,
                                                SmallVectorImpl<Value> &scalars) const {
  auto earlier = [&](Value a, Value b) {
    return std::pair(position(a), a.getAsOpaquePointer()) <
           std::pair(position(b), b.getAsOpaquePointer());
  };
  std::set<Value, decltype(earlier)> open(earlier); // the last one is the latest
  SmallVector<Value> roots;
  collectGradientRoots(update, roots);
  llvm::copy_if(roots, std::inserter(open, open.end()), [&](Value root) { return isLocal(root); });
  Value shape = roots.front();
  while (!open.empty()) {
    Value latest = *open.rbegin();
    if (open.size() == 1 && sameShape(latest, shape) && !isForward(latest) &&
        !llvm::is_contained(roots, latest))
      candidates.push_back({latest, unsigned(scalars.size()), /*isLinear=*/true});
    onnx::NodeOp node = elementwiseNode(latest);
    if (!node)
      break;
    if (!isLinear(node))
      for (Candidate &candidate : candidates)
        candidate.isLinear = false;
    open.erase(latest);
    for (Value operand : node.getInputs()) {
      Value source = skipViews(operand);
      if (isLocal(source) && isScalar(source) && !isScalar(shape))
        scalars.push_back(source);
      else if (isLocal(source))
        open.insert(source);
    }
  }
  return SmallVector<Value>(open.begin(), open.end());
}

/// Takes the last candidate whose value the backward pass is linear in, and with which all scalars
/// that the update reads besides follow from gradients, as the factor of a clipped norm does. A
/// factor that does not follow from gradients, such as one over a number of labels, belongs to the
/// gradient. Returns whether there is one; `ends` are the local values at which the search ended.
bool UpdateSearch::chooseGradient(LiftedUpdate &update, SmallVectorImpl<Value> &ends) const {
  SmallVector<Candidate> candidates;
  SmallVector<Value> scalars;
  ends = searchGradient(update, candidates, scalars);
  for (Candidate &candidate : llvm::reverse(candidates)) {
    auto before = ArrayRef<Value>(scalars).take_front(candidate.scalars);
    if (!candidate.isLinear ||
        !llvm::all_of(before, [&](Value scalar) { return dependsOn(scalar, candidate.value); }))
      continue;
    update.gradient = candidate.value;
    llvm::SetVector<Value> distinct(before.begin(), before.end());
    update.localScalars = distinct.takeVector();
    return true;
  }
  ends.append(scalars);
  return false;
}

LogicalResult UpdateSearch::findGradient(LiftedUpdate &update) {
  SmallVector<Value> ends;
  if (chooseGradient(update, ends))
    return verifyGradient(update);
  if (findMatrixWithStates(update))
    return success();
  InFlightDiagnostic error =
      emitError(update.parameter.write.getLoc())
      << "parameter '" << update.parameter.state.getSymName()
      << "': its new value depends on the batch otherwise than through one value that is linear in "
         "the gradient, so no mean over ranks gives the update of the whole batch";
  for (Value value : ends)
    error.attachNote(value.getLoc()) << "each rank computes its own " << describe(value);
  return error;
}

std::optional<NonlinearCut> UpdateSearch::findCut(Value gradient) const {
  return findNonlinearCut(
      gradient, [&](Value value) { return isLocal(value); },
      [&](Value value) { return isLocal(value) && isForward(value); },
      [&](Value value) { return ofState.contains(value); });
}

/// Fails if the update begins before what was found: with nodes that mix elements, other than those
/// of a step of a matrix.
LogicalResult UpdateSearch::verifyGradient(LiftedUpdate &update) {
  std::optional<NonlinearCut> cut = findCut(update.gradient);
  if (!cut || findMatrixStep(update))
    return success();
  return emitError(update.parameter.write.getLoc())
         << "parameter '" << update.parameter.state.getSymName()
         << "': expected an update that is elementwise, apart from norms of whole tensors and from "
            "what computes the step of a matrix of one value that is elementwise in the gradient; "
         << cut->node.describe() << " combines elements of " << describe(cut->value);
}

/// Collects the nodes between `search.own` and `search.roots`, and the scalars that they read.
LogicalResult UpdateSearch::collect(const LiftedUpdate &update, NodeSearch &search,
                                    llvm::SetVector<Value> &scalars) const {
  CarriedState parameter = update.parameter;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open(search.roots);
  Value shape = parameter.write.getValue();
  while (!open.empty()) {
    Value value = skipViews(open.pop_back_val());
    if (isa<NoneType>(value.getType()) || search.own.contains(value) || !seen.insert(value).second)
      continue;
    SplatElementsAttr splat;
    if (matchPattern(value, m_Constant(&splat)))
      continue;
    onnx::NodeOp node = elementwiseNode(value);
    if (node && (sameShape(value, shape) || isScalar(shape) || ofRatios.contains(value))) {
      search.nodes.push_back(node);
      llvm::append_range(open, llvm::reverse(node.getInputs()));
    } else if (isScalar(value)) {
      scalars.insert(value);
    } else {
      return emitError(parameter.write.getLoc())
             << "parameter '" << parameter.state.getSymName()
             << "': expected an update that is elementwise, so that ranks can update shards; it "
                "reads "
             << describe(value) << ", of type " << value.getType();
    }
  }
  llvm::sort(search.nodes, [&](onnx::NodeOp a, onnx::NodeOp b) {
    return positions.lookup(a) < positions.lookup(b);
  });
  return success();
}

LogicalResult UpdateSearch::collectNodes(LiftedUpdate &update) {
  NodeSearch first;
  first.own.insert(update.change());
  for (CarriedState &state : update.states)
    first.own.insert(state.read.getResult());
  if (update.parameter.read)
    first.own.insert(update.parameter.read.getResult());
  collectRoots(update, first.roots);
  llvm::SetVector<Value> scalars;
  if (update.layer) { // first the states, then the direction and the parameter from new states
    NodeSearch direction, last;
    first.roots.erase(first.roots.begin());
    for (Value state : first.roots)
      direction.own.insert(state);
    direction.own.insert(update.parameter.read.getResult());
    direction.roots = {update.layer->direction};
    last.own = direction.own;
    last.own.insert(update.layer->ratio);
    last.roots = {skipViews(update.parameter.write.getValue())};
    if (failed(collect(update, direction, scalars)) || failed(collect(update, last, scalars)))
      return failure();
    update.layer->directionNodes = std::move(direction.nodes);
    update.lastNodes = std::move(last.nodes);
  }
  if (failed(collect(update, first, scalars)))
    return failure();
  update.nodes = std::move(first.nodes);
  update.scalars = scalars.takeVector();
  return update.matrix ? collectDirection(update) : success();
}

/// Gives states that no parameter's new value depends on, such as an average of weights, to the
/// parameter that they follow.
void UpdateSearch::adoptFollowers(MutableArrayRef<LiftedUpdate> updates) {
  llvm::DenseMap<Value, LiftedUpdate *> ownerOf;
  for (LiftedUpdate &update : updates) {
    if (update.parameter.read)
      ownerOf[update.parameter.read.getResult()] = &update;
    for (CarriedState &state : update.states)
      ownerOf[state.read.getResult()] = &update;
    ownerOf[update.change()] = &update;
  }
  for (auto &[symbol, entry] : carried) {
    if (owned.contains(symbol) || !entry.read || isScalar(entry.read.getResult()))
      continue;
    LiftedUpdate *owner = nullptr;
    visitLeaves(entry.write.getValue(), [&](Value leaf) {
      if (LiftedUpdate *found = ownerOf.lookup(leaf))
        owner = found;
    });
    if (!owner)
      continue;
    owned.insert(symbol);
    owner->states.push_back(entry);
  }
}

/// Finds counters, and state that is no buffer because ranks compute the same new value.
LogicalResult UpdateSearch::sortOthers(LiftedStep &result) {
  for (auto &[symbol, entry] : carried) {
    Value next = entry.write.getValue();
    if (owned.contains(symbol))
      continue;
    if (!isLocal(next))
      (isScalar(next) ? result.counters : result.common).push_back(entry);
    else if (!isa<FloatType>(getElementTypeOrSelf(next.getType())))
      return emitError(entry.write.getLoc())
             << "state '" << symbol.getValue() << "' of " << next.getType()
             << ": expected floats, whose mean ranks carry on, or a new value that does not depend "
                "on the batch; each rank computes its own "
             << describe(next);
    else if (WriteOp other = entry.read ? findOtherWrite(entry.read) : WriteOp())
      return emitError(entry.write.getLoc())
             << "state '" << symbol.getValue() << "': expected a loss that depends on it, as '"
             << other.getSymbol() << "' does; choose another output with --loss";
  }
  return success();
}

FailureOr<LiftedStep> UpdateSearch::run() {
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();
  collectState();
  markForward(*loss);
  if (failed(markLocal()))
    return failure();
  LiftedStep result;
  result.learningRate = learningRate;
  for (auto &[symbol, entry] : carried) {
    if (!entry.read || !isForward(entry.read.getResult()) || !isLocal(entry.write.getValue()) ||
        !isa<FloatType>(entry.state.getTensorType().getElementType()))
      continue;
    owned.insert(symbol);
    result.updates.emplace_back().parameter = entry;
  }
  for (LiftedUpdate &update : result.updates) {
    addStates(update.parameter.write.getValue(), update.states);
    if (failed(findGradient(update)))
      return failure();
    gradients.insert(update.gradient);
  }
  for (LiftedUpdate &update : result.updates)
    if (failed(findLayerRatio(update)))
      return failure();
  if (failed(findNorms(result)))
    return failure();
  adoptFollowers(result.updates);
  for (LiftedUpdate &update : result.updates)
    if (failed(collectNodes(update)))
      return failure();
  if (result.updates.empty())
    return step.emitError("nothing to train: no carried float state reaches the loss");
  if (failed(sortOthers(result)))
    return failure();
  return result;
}

FailureOr<LiftedStep> analyseUpdates(ModuleOp module, func::FuncOp step) {
  return UpdateSearch(module, step).run();
}

} // namespace zero
