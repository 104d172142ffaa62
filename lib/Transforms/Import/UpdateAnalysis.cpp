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
// then the mean of the ranks' gradients is the gradient of the mean.
//
//===----------------------------------------------------------------------===//

#include "UpdateAnalysis.h"
#include "UpdateNodes.h"

#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;

namespace zero {

/// "'mul_2' (Mul)", or what else `value` is.
static std::string describe(Value value) {
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

namespace {

class Analysis {
public:
  Analysis(ModuleOp module, func::FuncOp step) : module(module), step(step) {}

  FailureOr<LiftedStep> run();

private:
  void collectState();
  void markForward(Value loss);
  LogicalResult markLocal();
  LogicalResult findUpdate(CarriedState &parameter, LiftedUpdate &update);
  void addStates(LiftedUpdate &update);
  void collectRoots(const LiftedUpdate &update, SmallVectorImpl<Value> &roots) const;
  /// A value that could be the gradient.
  struct Candidate {
    Value value;
    unsigned scalars; ///< local scalars met before it
    bool isLinear;    ///< whether it is linear in what was met behind it
  };
  bool isCoefficient(Value value) const;
  bool isLinear(onnx::NodeOp node) const;
  bool dependsOn(Value value, Value source) const;
  SmallVector<Value> searchGradient(const LiftedUpdate &update,
                                    SmallVectorImpl<Candidate> &candidates,
                                    SmallVectorImpl<Value> &scalars) const;
  LogicalResult findGradient(LiftedUpdate &update);
  Value normOf(onnx::NodeOp node) const;
  LogicalResult findLayerRatio(LiftedUpdate &update);
  LogicalResult findNorms(LiftedStep &result);
  /// Nodes of an update, which begin at the values `own`.
  struct NodeSearch {
    llvm::DenseSet<Value> own;
    SmallVector<Value> roots;
    SmallVector<onnx::NodeOp> nodes;
  };
  LogicalResult collect(const LiftedUpdate &update, NodeSearch &search,
                        llvm::SetVector<Value> &scalars) const;
  LogicalResult collectNodes(LiftedUpdate &update);
  void adoptFollowers(MutableArrayRef<LiftedUpdate> updates);

  bool isForward(Value value) const { return forward.contains(value); }
  bool isLocal(Value value) const { return local.contains(value); }
  int64_t position(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? positions.lookup(op) : -1;
  }
  /// As zero::elementwiseNode(), but null if the loss depends on a local `value`.
  onnx::NodeOp elementwiseNode(Value value) const {
    return isForward(value) && isLocal(value) ? onnx::NodeOp() : zero::elementwiseNode(value);
  }
  /// The leaves of the elementwise nodes above `value` that have its shape.
  void visitLeaves(Value value, llvm::function_ref<void(Value)> visit) const;

  ModuleOp module;
  func::FuncOp step;
  llvm::MapVector<StringAttr, CarriedState> carried;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseSet<Value> forward, local;
  llvm::DenseSet<StringAttr> owned; ///< parameters, and states of one
  BlockArgument learningRate;
  llvm::DenseSet<Value> gradients;
  llvm::DenseSet<Value> ofRatios; ///< scalars that follow from the ratio of one parameter
};

} // namespace

void Analysis::collectState() {
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

void Analysis::markForward(Value loss) {
  SmallVector<Value> open{loss};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!forward.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(open, op->getOperands());
  }
}

/// The batch is what the inputs hold, except a float of one element that the loss does not depend
/// on: that is the learning rate.
LogicalResult Analysis::markLocal() {
  for (BlockArgument argument : step.getArguments()) {
    bool isRate = isScalar(argument) && getElementTypeOrSelf(argument.getType()).isF32() &&
                  !isForward(argument) && !argument.use_empty();
    if (!isRate) {
      local.insert(argument);
      continue;
    }
    if (learningRate)
      return step.emitError() << "inputs '" << argumentBinding(step, learningRate.getArgNumber())
                              << "' and '" << argumentBinding(step, argument.getArgNumber())
                              << "': expected at most one scalar that only the update reads, the "
                                 "learning rate; make the others constants of the model";
    learningRate = argument;
  }
  for (Operation &op : step.getBody().front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return isLocal(operand); }))
      local.insert_range(op.getResults());
  return success();
}

void Analysis::visitLeaves(Value value, llvm::function_ref<void(Value)> visit) const {
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

/// Adds the states that the new values of `update` are computed from, and their new values.
void Analysis::addStates(LiftedUpdate &update) {
  SmallVector<Value> open{update.parameter.write.getValue()};
  while (!open.empty()) {
    llvm::SetVector<Operation *> reads;
    visitLeaves(open.pop_back_val(), [&](Value leaf) {
      if (auto read = leaf.getDefiningOp<ReadOp>())
        reads.insert(read);
    });
    for (Operation *read : reads) {
      StringAttr symbol = cast<ReadOp>(read).getSymbolAttr().getAttr();
      auto it = carried.find(symbol);
      if (it == carried.end() || isForward(read->getResult(0)) || !owned.insert(symbol).second)
        continue;
      update.states.push_back(it->second);
      open.push_back(it->second.write.getValue());
    }
  }
}

void Analysis::collectRoots(const LiftedUpdate &update, SmallVectorImpl<Value> &roots) const {
  auto add = [&](CarriedState state) { roots.push_back(skipViews(state.write.getValue())); };
  add(update.parameter);
  llvm::for_each(update.states, add);
}

/// Whether `value` is equal on all ranks, or consists of elements of values that the loss depends
/// on.
bool Analysis::isCoefficient(Value value) const {
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
bool Analysis::isLinear(onnx::NodeOp node) const {
  auto varies = [&](unsigned index) { return !isCoefficient(node.getInputs()[index]); };
  if (node.isAnyOf({op::Add, op::Sub, op::Neg, op::Cast, op::Sum}))
    return true;
  if (node.is(op::Mul))
    return !varies(0) || !varies(1);
  if (node.is(op::Div))
    return !varies(1);
  return node.is(op::Where) && !varies(0);
}

/// Whether `value` depends on `source`, which is not later.
bool Analysis::dependsOn(Value value, Value source) const {
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
SmallVector<Value> Analysis::searchGradient(const LiftedUpdate &update,
                                            SmallVectorImpl<Candidate> &candidates,
                                            SmallVectorImpl<Value> &scalars) const {
  auto earlier = [&](Value a, Value b) {
    return std::pair(position(a), a.getAsOpaquePointer()) <
           std::pair(position(b), b.getAsOpaquePointer());
  };
  std::set<Value, decltype(earlier)> open(earlier); // the last one is the latest
  SmallVector<Value> roots;
  collectRoots(update, roots);
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

/// The last candidate whose value the backward pass is linear in, and with which all scalars that
/// the update reads besides follow from gradients, as the factor of a clipped norm does. A factor
/// that does not follow from gradients, such as one over a number of labels, belongs to the
/// gradient.
LogicalResult Analysis::findGradient(LiftedUpdate &update) {
  SmallVector<Candidate> candidates;
  SmallVector<Value> scalars;
  SmallVector<Value> ends = searchGradient(update, candidates, scalars);
  for (Candidate &candidate : llvm::reverse(candidates)) {
    auto before = ArrayRef<Value>(scalars).take_front(candidate.scalars);
    if (!candidate.isLinear ||
        !llvm::all_of(before, [&](Value scalar) { return dependsOn(scalar, candidate.value); }))
      continue;
    update.gradient = candidate.value;
    llvm::SetVector<Value> distinct(before.begin(), before.end());
    update.localScalars = distinct.takeVector();
    return success();
  }
  InFlightDiagnostic error =
      emitError(update.parameter.write.getLoc())
      << "parameter '" << update.parameter.state.getSymName()
      << "': its new value depends on the batch otherwise than through one value that is linear in "
         "the gradient, so no mean over ranks gives the update of the whole batch";
  ends.append(scalars);
  for (Value value : ends)
    error.attachNote(value.getLoc()) << "each rank computes its own " << describe(value);
  return error;
}

/// The gradient of which `node` computes a norm; else null.
Value Analysis::normOf(onnx::NodeOp node) const {
  Value value = normedBy(node);
  return gradients.contains(value) ? value : Value();
}

/// Finds the ratio of norms that scales the step of `update`, if there is one: a function of the
/// norm of the parameter and of that of one other value of its shape, the direction.
LogicalResult Analysis::findLayerRatio(LiftedUpdate &update) {
  ScalarNodes scalars = collectScalarNodes(step, update.localScalars);
  Value weight = update.parameter.read.getResult();
  LayerRatio layer;
  llvm::SetVector<Value> norms;
  for (Value leaf : scalars.leaves) {
    auto node = leaf.getDefiningOp<onnx::NodeOp>();
    Value normed = normedBy(node);
    if (!normed || gradients.contains(normed) || !sameShape(normed, weight))
      continue;
    norms.insert(leaf);
    (normed == weight ? layer.ofWeight : layer.ofDirection) = node;
    if (normed != weight && layer.direction && layer.direction != normed)
      return emitError(node.getLoc())
             << "parameter '" << update.parameter.state.getSymName()
             << "': expected its update to depend on the norms of the parameter and of one "
                "direction; the second direction is "
             << describe(normed);
    if (normed != weight)
      layer.direction = normed;
  }
  if (!layer.direction)
    return success();
  LayerScalars sorted = sortScalars(scalars, update.localScalars, norms);
  if (sorted.ends.size() != 1 || !getElementTypeOrSelf(sorted.ends.front()).isF32())
    return emitError(layer.ofDirection.getLoc())
           << "parameter '" << update.parameter.state.getSymName()
           << "': expected its update to read one f32 function of the norms of the parameter and "
              "its direction, their ratio; it reads "
           << sorted.ends.size();
  layer.ratio = sorted.ends.front();
  for (onnx::NodeOp node : scalars.nodes)
    if (Value value = node.getResult(0); sorted.pure.contains(value))
      layer.nodes.push_back(node);
    else if (llvm::any_of(node.getInputs(), [&](Value operand) {
               operand = skipViews(operand);
               return operand == layer.ratio || ofRatios.contains(operand);
             }))
      ofRatios.insert(value);
  // Ranks compute the norms together. What follows from them is equal on all.
  for (Value value : sorted.pure)
    local.erase(value);
  update.layer = std::move(layer);
  return success();
}

/// Finds the norms that the local scalars of updates are computed from, and the nodes between.
LogicalResult Analysis::findNorms(LiftedStep &result) {
  llvm::DenseSet<Operation *> between;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open;
  for (LiftedUpdate &update : result.updates)
    llvm::append_range(open, update.localScalars);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    // Kernels of updates compute what follows from ratios.
    if (!isLocal(value) || !seen.insert(value).second)
      continue;
    if (ofRatios.contains(value)) {
      llvm::append_range(open, value.getDefiningOp()->getOperands());
      continue;
    }
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (Value gradient = normOf(node)) {
      result.norms.push_back({node, gradient});
    } else if (!node || isForward(value) || gradients.contains(value)) {
      InFlightDiagnostic error =
          emitError(value.getLoc())
          << "updates read a scalar that ranks compute differently: expected a function of the "
             "norms of gradients (ReduceL2, ReduceSumSquare, or "
             "ReduceSum of squares over all elements), which ranks compute together";
      error.attachNote(value.getLoc()) << "each rank computes its own " << describe(value);
      return error;
    } else {
      between.insert(node);
      llvm::append_range(open, node.getInputs());
    }
  }
  for (auto node : step.getOps<onnx::NodeOp>())
    if (between.contains(node))
      result.normNodes.push_back(node);
  // What follows from norms over all ranks is equal on them.
  for (onnx::NodeOp node : result.normNodes)
    for (Value made : node->getResults())
      local.erase(made);
  for (GradientNorm &norm : result.norms)
    local.erase(norm.node.getResult(0));
  llvm::sort(result.norms, [&](GradientNorm &a, GradientNorm &b) {
    return positions.lookup(a.node) < positions.lookup(b.node);
  });
  return success();
}

/// Collects the nodes between `search.own` and `search.roots`, and the scalars that they read.
LogicalResult Analysis::collect(const LiftedUpdate &update, NodeSearch &search,
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

LogicalResult Analysis::collectNodes(LiftedUpdate &update) {
  NodeSearch first;
  first.own.insert(update.gradient);
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
  return success();
}

/// Gives states that no parameter's new value depends on, such as an average of weights, to the
/// parameter that they follow.
void Analysis::adoptFollowers(MutableArrayRef<LiftedUpdate> updates) {
  llvm::DenseMap<Value, LiftedUpdate *> ownerOf;
  for (LiftedUpdate &update : updates) {
    if (update.parameter.read)
      ownerOf[update.parameter.read.getResult()] = &update;
    for (CarriedState &state : update.states)
      ownerOf[state.read.getResult()] = &update;
    ownerOf[update.gradient] = &update;
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

FailureOr<LiftedStep> Analysis::run() {
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
    addStates(update);
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
  for (auto &[symbol, entry] : carried)
    if (!owned.contains(symbol) && isScalar(entry.write.getValue()) &&
        !isLocal(entry.write.getValue()))
      result.counters.push_back(entry);
  return result;
}

FailureOr<LiftedStep> analyseUpdates(ModuleOp module, func::FuncOp step) {
  return Analysis(module, step).run();
}

} // namespace zero
