//===- ReturnState.cpp - a step as a function of its state ----------------===//

#include "dialects/Onnx/Operators.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/FunctionalStep.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Programs/Linalg/LinalgNodes.h"
#include "zero/Transforms/EmitOnnx/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RETURNSTATE
#include "include/zero/Transforms/EmitOnnx/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
/// Rewrites one step.
class StateReturner {
public:
  StateReturner(ModuleOp module, func::FuncOp step)
      : module(module), step(step), symbols(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check();
  LogicalResult rewrite(Operation &op);
  void replace(Operation *op, ValueRange values);
  /// Erases `op` at the end.
  LogicalResult finish(Operation &op) { return finished.push_back(&op), success(); }
  void bindRuntimeInputs();
  void countSteps();
  void addArguments();
  void setResults();
  LogicalResult checkNames();

  /// Writes the kernel `name` for `operands` as nodes; fails after an error.
  FailureOr<SmallVector<Value>> inlineKernel(Operation *op, SymbolRefAttr name,
                                             ArrayRef<Value> operands);
  LogicalResult inlineUpdate(UpdateOp update);
  LogicalResult inlineLayerwise(UpdateOp update, ArrayRef<Value> operands);
  /// The value of the state `symbol` at the start of the step.
  Value readState(StringRef symbol);
  void writeState(StringRef symbol, Value value) { written[symbol] = value; }
  std::string nameOf(StringRef symbol);
  /// Nodes before `op`, named for messages and for readers of the graph.
  NodeBuilder nodesAt(Operation *op) {
    builder.setInsertionPoint(op);
    if (auto update = dyn_cast<UpdateOp>(op))
      return NodeBuilder(builder, op->getLoc(), (update.getParameter() + ".update").str());
    auto name = op->getAttrOfType<StringAttr>(kNameAttr);
    return NodeBuilder(builder, op->getLoc(),
                       name ? name.getValue() : op->getName().stripDialect());
  }

  ModuleOp module;
  func::FuncOp step;
  SymbolTable symbols;
  OpBuilder builder;
  /// By symbol: the next value of each state that the step writes, in order.
  llvm::MapVector<StringRef, Value> written;
  /// Reads of states by symbol.
  llvm::StringMap<Value> reads;
  SmallVector<Operation *> finished;
};
} // namespace

LogicalResult StateReturner::check() {
  if (microBatchesOf(module) != 1)
    return module.emitError() << "expected one micro-batch, got " << microBatchesOf(module)
                              << ": a functional step takes its whole batch at once";
  for (Operation &op : step.getBody().front()) {
    auto update = dyn_cast<UpdateOp>(op);
    auto write = dyn_cast<WriteOp>(op);
    if ((update && update.getCondition()) || (write && write.getCondition()))
      return op.emitError() << "expected a step that always counts, got one with a loss scale";
  }
  return success();
}

Value StateReturner::readState(StringRef symbol) {
  Value &read = reads[symbol];
  if (read)
    return read;
  OpBuilder atTop = OpBuilder::atBlockBegin(&step.getBody().front());
  Operation *op = symbols.lookup(symbol);
  auto parameter = dyn_cast<ParameterOp>(op);
  RankedTensorType type = parameter ? parameter.getTensorType() : cast<StateOp>(op).getTensorType();
  read = ReadOp::create(atTop, step.getLoc(), type,
                        FlatSymbolRefAttr::get(module.getContext(), symbol));
  return read;
}

FailureOr<SmallVector<Value>> StateReturner::inlineKernel(Operation *op, SymbolRefAttr name,
                                                          ArrayRef<Value> operands) {
  auto kernel = symbols.lookup<func::FuncOp>(name.getLeafReference());
  if (!kernel || kernel.isExternal())
    return op->emitError() << "expected a kernel named " << name;
  NodeBuilder nodes = nodesAt(op);
  LinalgNodes body(nodes);
  for (auto [argument, operand] : llvm::zip_equal(kernel.getArguments(), operands))
    body.bind(argument, operand);
  SmallVector<Value> results;
  for (Value returned : kernel.getBody().front().getTerminator()->getOperands()) {
    results.push_back(body.translate(returned));
    if (!results.back()) {
      InFlightDiagnostic error = op->emitError()
                                 << "kernel " << name << " has no form in plain ONNX operators";
      if (Operation *needed = body.culprit())
        error << ": it needs '" << needed->getName() << "'";
      return error;
    }
  }
  return results;
}

/// `value` as one block of all its elements, the operand of kernels over blocks.
static Value asBlock(NodeBuilder &nodes, Value value) {
  return nodes.reshape(value, {1, tensorType(value).getNumElements()});
}

LogicalResult StateReturner::inlineLayerwise(UpdateOp update, ArrayRef<Value> operands) {
  NodeBuilder nodes = nodesAt(update);
  auto kernels = llvm::to_vector(update.getLayerwise()->getAsRange<FlatSymbolRefAttr>());
  const unsigned states = update.getStates().size();
  SmallVector<Value> blocks(operands);
  for (Value &operand : MutableArrayRef(blocks).take_front(2 + states))
    operand = asBlock(nodes, operand);
  auto measured = inlineKernel(update, kernels[0], blocks);
  if (failed(measured))
    return failure();
  SmallVector<Value> sums;
  for (Value sum : ArrayRef(*measured).take_back(2)) {
    auto total = inlineKernel(update, kernels[1], sum);
    if (failed(total))
      return failure();
    sums.push_back(total->front());
  }
  sums.push_back(measured->back());
  auto ratio = inlineKernel(update, kernels[2], sums);
  if (failed(ratio))
    return failure();
  llvm::copy(ArrayRef(*measured).take_front(states), blocks.begin() + 1);
  blocks[1 + states] = ratio->front();
  auto next = inlineKernel(update, update.getKernelAttr(), blocks);
  if (failed(next))
    return failure();
  auto shape = tensorType(operands.front()).getShape();
  writeState(update.getParameter(), nodes.reshape(next->front(), shape));
  for (auto [state, value] :
       llvm::zip(update.getStates().getAsRange<FlatSymbolRefAttr>(), *measured))
    writeState(state.getValue(), nodes.reshape(value, shape));
  return success();
}

LogicalResult StateReturner::inlineUpdate(UpdateOp update) {
  SmallVector<Value> operands{readState(update.getParameter())};
  for (auto state : update.getStates().getAsRange<FlatSymbolRefAttr>())
    operands.push_back(readState(state.getValue()));
  operands.push_back(update.getGradient());
  llvm::append_range(operands, update.getScalars());
  if (update.getLayerwise())
    return inlineLayerwise(update, operands);
  auto next = inlineKernel(update, update.getKernelAttr(), operands);
  if (failed(next))
    return failure();
  writeState(update.getParameter(), next->front());
  for (auto [state, value] : llvm::zip_equal(update.getStates().getAsRange<FlatSymbolRefAttr>(),
                                             ArrayRef(*next).drop_front()))
    writeState(state.getValue(), value);
  return success();
}

void StateReturner::replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

/// The tensor at `start` of a bucket, which nothing but views and means over ranks reads.
static Value memberOf(MemberOp member) {
  auto bucket = member.getBucket().getDefiningOp<BucketOp>();
  if (!bucket)
    return {};
  for (auto [value, start] : llvm::zip_equal(bucket.getMembers(), bucket.getStarts()))
    if (start == int64_t(member.getStart()) && value.getType() == member.getResult().getType())
      return value;
  return {};
}

/// A list of scalars, which a launch reads.
static Value listOf(NodeBuilder &nodes, BucketOp bucket) {
  auto type = cast<RankedTensorType>(bucket.getResult().getType());
  SmallVector<Value> members;
  for (Value member : bucket.getMembers())
    members.push_back(nodes.reshape(member, {1}));
  if (int64_t(members.size()) != type.getNumElements())
    return {};
  if (members.size() == 1)
    return members.front();
  return nodes.create(op::Concat, type, members, nodes.attr("axis", int64_t(0))).getResult(0);
}

/// The sum of squares of all elements, in f64.
static Value squareSum(NodeBuilder &nodes, Value value) {
  RankedTensorType type = tensorType(value);
  Value sum = nodes
                  .create(op::ReduceSumSquare, type.clone(ArrayRef<int64_t>()), value,
                          nodes.attr("keepdims", int64_t(0)))
                  .getResult(0);
  return nodes.cast(sum, nodes.getBuilder().getF64Type());
}

LogicalResult StateReturner::rewrite(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](GradientOp gradient) { return replace(&op, gradient.getLocal()), success(); })
      .Case([&](RankMeanOp mean) { return replace(&op, mean.getInput()), success(); })
      .Case([&](MicroMeanOp mean) { return replace(&op, mean.getInput()), success(); })
      .Case([&](RankShareOp share) {
        Value one = nodesAt(&op).splat(1, cast<RankedTensorType>(share.getResult().getType()));
        return replace(&op, one), success();
      })
      .Case([&](SquareSumOp sum) {
        NodeBuilder nodes = nodesAt(&op);
        return replace(&op, squareSum(nodes, sum.getGradient())), success();
      })
      .Case([&](MemberOp member) -> LogicalResult {
        Value value = memberOf(member);
        if (!value)
          return op.emitError() << "expected a member of a bucket of tensors";
        return replace(&op, value), success();
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto view) {
        NodeBuilder nodes = nodesAt(&op);
        auto shape = cast<RankedTensorType>(view.getResultType()).getShape();
        return replace(&op, nodes.reshape(view.getSrc(), shape)), success();
      })
      .Case([&](ReadOp read) {
        Value first = reads.lookup(read.getSymbol());
        if (first && first != read.getResult())
          replace(&op, first);
        else
          reads[read.getSymbol()] = read.getResult();
        return success();
      })
      .Case([&](WriteOp write) {
        writeState(write.getSymbol(), write.getValue());
        return finish(op);
      })
      .Case([&](UpdateOp update) { return failed(inlineUpdate(update)) ? failure() : finish(op); })
      .Case([&](CheckOp) { return finish(op); })
      .Case([&](BucketOp) { return finish(op); })
      .Case([&](LaunchOp launch) -> LogicalResult {
        SmallVector<Value> inputs;
        for (Value input : launch.getInputs()) {
          auto bucket = input.getDefiningOp<BucketOp>();
          NodeBuilder nodes = nodesAt(&op);
          inputs.push_back(bucket ? listOf(nodes, bucket) : input);
          if (!inputs.back())
            return op.emitError() << "expected a bucket of scalars";
        }
        auto results = inlineKernel(&op, launch.getKernelAttr(), inputs);
        if (failed(results))
          return failure();
        return replace(&op, *results), success();
      })
      .Default([](Operation *) { return success(); });
}

/// The batch is not divided into parts, and the step trains.
void StateReturner::bindRuntimeInputs() {
  llvm::BitVector erased(step.getNumArguments());
  for (BlockArgument argument : step.getArguments()) {
    StringRef binding = argumentBinding(step, argument.getArgNumber());
    if (binding != kBatchPart && binding != kTraining)
      continue;
    builder.setInsertionPointToStart(&step.getBody().front());
    Attribute value = binding == kTraining ? Attribute(builder.getBoolAttr(true))
                                           : Attribute(builder.getI64IntegerAttr(0));
    auto type = cast<RankedTensorType>(argument.getType());
    Value known =
        arith::ConstantOp::create(builder, step.getLoc(), DenseElementsAttr::get(type, value));
    // What evaluation would read is no part of a training step.
    if (binding == kTraining)
      for (Operation *user : llvm::to_vector(argument.getUsers())) {
        auto node = dyn_cast<onnx::NodeOp>(user);
        if (node && node.is(op::Where) && node.getInputs()[0] == argument &&
            node.getInputs()[1].getType() == node.getResult(0).getType())
          replace(node, node.getInputs()[1]);
      }
    argument.replaceAllUsesWith(known);
    erased.set(argument.getArgNumber());
  }
  (void)step.eraseArguments(erased);
}

/// Makes the number of the step, if something reads it, a state.
void StateReturner::countSteps() {
  for (BlockArgument argument : step.getArguments()) {
    if (argumentBinding(step, argument.getArgNumber()) != kStepNumber)
      continue;
    OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
    auto type = cast<RankedTensorType>(argument.getType());
    auto state = StateOp::create(atTop, module.getLoc(), Role::Optimizer, kStepNumber,
                                 FlatSymbolRefAttr(), type, DataAttr(), atTop.getF64FloatAttr(0));
    symbols.insert(state);
    NodeBuilder nodes = nodesAt(step.getBody().front().getTerminator());
    Value now = readState(kStepNumber);
    writeState(kStepNumber, nodes.add(now, nodes.scalar(1, type)));
    argument.replaceAllUsesWith(now);
    (void)step.eraseArgument(argument.getArgNumber());
    return;
  }
}

/// The name of a state for users.
std::string StateReturner::nameOf(StringRef symbol) {
  Operation *op = symbols.lookup(symbol);
  if (auto parameter = dyn_cast<ParameterOp>(op))
    return modelName(parameter).str();
  if (symbol == kStepNumber)
    return "step";
  // A whole step may have a counter with the name of the step function.
  return llvm::is_contained(aliasesOf(op), kStepName) ? kStepName.str() : symbol.str();
}

void StateReturner::addArguments() {
  llvm::DenseMap<Value, Value> arguments;
  for (auto &[symbol, value] : written) {
    Value read = readState(symbol);
    unsigned index = step.getNumArguments();
    auto attrs = builder.getDictionaryAttr(
        {builder.getNamedAttr(kBindingAttr, builder.getStringAttr(nameOf(symbol))),
         builder.getNamedAttr(kStateAttr, FlatSymbolRefAttr::get(builder.getContext(), symbol))});
    (void)step.insertArgument(index, read.getType(), attrs, symbols.lookup(symbol)->getLoc());
    read.replaceAllUsesWith(step.getArgument(index));
    arguments[read] = step.getArgument(index);
  }
  for (auto &[symbol, value] : written)
    if (Value argument = arguments.lookup(value))
      value = argument;
  for (auto [read, argument] : arguments)
    read.getDefiningOp()->erase();
}

/// Returns the loss and the next states.
void StateReturner::setResults() {
  Operation *terminator = step.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attrs;
  auto add = [&](Value value, StringRef name) {
    values.push_back(value);
    attrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, builder.getStringAttr(name))));
  };
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    if (resultBinding(step, index) == "loss")
      add(value, "loss");
  for (auto &[symbol, value] : written)
    add(value, nameOf(symbol) + ".new");
  builder.setInsertionPoint(terminator);
  auto returned = func::ReturnOp::create(builder, step.getLoc(), values);
  terminator->erase();
  step.setType(builder.getFunctionType(step.getArgumentTypes(), returned.getOperandTypes()));
  step.setResAttrsAttr(builder.getArrayAttr(attrs));
}

LogicalResult StateReturner::checkNames() {
  llvm::StringSet<> names;
  auto add = [&](StringRef name) -> LogicalResult {
    if (names.insert(name).second)
      return success();
    return step.emitError() << "two tensors of the emitted graph have the name '" << name
                            << "': expected another name in the model";
  };
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (failed(add(argumentBinding(step, i))))
      return failure();
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (failed(add(resultBinding(step, i))))
      return failure();
  return success();
}

LogicalResult StateReturner::run() {
  if (failed(check()) || failed(findLoss(step)))
    return failure();
  bindRuntimeInputs();
  countSteps();
  Block &block = step.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(rewrite(op)))
      return failure();
  // Buckets after what reads them.
  for (Operation *op : llvm::reverse(finished))
    op->erase();
  addArguments();
  setResults();
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (kernel->hasAttr(kKernelAttr))
      kernel.erase();
  return checkNames();
}

namespace {
struct ReturnState : zero::impl::ReturnStateBase<ReturnState> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step) || failed(StateReturner(getOperation(), *step).run()))
      signalPassFailure();
  }
};
} // namespace
