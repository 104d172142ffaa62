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

#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;

namespace zero {

static bool isKind(onnx::NodeOp node, ops::Kind kind) {
  const ops::OpDef *def = node ? ops::lookup(node) : nullptr;
  return def && def->kind == kind;
}

static bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

static bool sameShape(Value a, Value b) {
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

/// The node that computes `value` element by element from operands of its shape or of one element;
/// null if there is none.
static onnx::NodeOp elementwiseNode(Value value) {
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
  LogicalResult findNorms(LiftedStep &result);
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
  llvm::SetVector<Value> localScalars; ///< that updates read
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
    localScalars.insert_range(before);
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

/// The gradient of which `node` computes a norm over all elements, or its square; else null.
Value Analysis::normOf(onnx::NodeOp node) const {
  if (!node || !isScalar(node.getResult(0)))
    return {};
  Value operand = skipViews(node.getInputs().front());
  if (node.isAnyOf({op::ReduceSumSquare, op::ReduceL2}))
    return gradients.contains(operand) ? operand : Value();
  auto square = operand.getDefiningOp<onnx::NodeOp>();
  if (!node.is(op::ReduceSum) || !square || square.getInputs().size() != 2)
    return {};
  Value base = skipViews(square.getInputs()[0]), other = skipViews(square.getInputs()[1]);
  SplatElementsAttr exponent;
  const bool isSquare = (square.is(op::Mul) && base == other) ||
                        (square.is(op::Pow) && matchPattern(other, m_Constant(&exponent)) &&
                         isa<FloatType>(exponent.getElementType()) &&
                         exponent.getSplatValue<APFloat>().convertToDouble() == 2);
  return isSquare && gradients.contains(base) ? base : Value();
}

/// Finds the norms that the local scalars of updates are computed from, and the nodes between.
LogicalResult Analysis::findNorms(LiftedStep &result) {
  llvm::DenseSet<Operation *> between;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open(localScalars.getArrayRef());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!isLocal(value) || !seen.insert(value).second)
      continue;
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (Value gradient = normOf(node)) {
      result.norms.push_back({node, gradient});
    } else if (!node || isForward(value) || gradients.contains(value)) {
      InFlightDiagnostic error =
          emitError(value.getLoc())
          << "updates read " << describe(localScalars.front())
          << ": expected a function of the norms of gradients (ReduceL2, ReduceSumSquare, or "
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

LogicalResult Analysis::collectNodes(LiftedUpdate &update) {
  llvm::DenseSet<Value> own{update.gradient};
  for (CarriedState &state : update.states)
    own.insert(state.read.getResult());
  if (update.parameter.read)
    own.insert(update.parameter.read.getResult());
  llvm::DenseSet<Value> seen;
  llvm::SetVector<Value> scalars;
  SmallVector<Value> open;
  collectRoots(update, open);
  Value shape = update.parameter.write.getValue();
  while (!open.empty()) {
    Value value = skipViews(open.pop_back_val());
    if (isa<NoneType>(value.getType()) || own.contains(value) || !seen.insert(value).second)
      continue;
    SplatElementsAttr splat;
    if (matchPattern(value, m_Constant(&splat)))
      continue;
    onnx::NodeOp node = elementwiseNode(value);
    if (node && (sameShape(value, shape) || isScalar(shape))) {
      update.nodes.push_back(node);
      llvm::append_range(open, llvm::reverse(node.getInputs()));
    } else if (isScalar(value)) {
      scalars.insert(value);
    } else {
      return emitError(update.parameter.write.getLoc())
             << "parameter '" << update.parameter.state.getSymName()
             << "': expected an update that is elementwise, so that ranks can update shards; it "
                "reads "
             << describe(value) << ", of type " << value.getType();
    }
  }
  update.scalars = scalars.takeVector();
  llvm::sort(update.nodes, [&](onnx::NodeOp a, onnx::NodeOp b) {
    return positions.lookup(a) < positions.lookup(b);
  });
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
