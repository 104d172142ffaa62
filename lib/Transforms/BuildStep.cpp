//===- BuildStep.cpp - the optimizer as part of the program ---------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Optimizers/Optimizer.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BUILDSTEP
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Everything from here on runs once a step, after all micro-batches.
static void markEpilogue(Operation *op) {
  op->setAttr(kEpilogueAttr, UnitAttr::get(op->getContext()));
}

static constexpr StringLiteral kUpdateKernel = "update";
static constexpr StringLiteral kScalarKernel = "update_scalars";

/// Returns the mean loss over ranks as "loss" and the rank's own as "local_loss".
static LogicalResult returnMeanLoss(func::FuncOp step) {
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();
  OpBuilder builder(step.getBody().front().getTerminator());
  Value mean = RankMeanOp::create(builder, step.getLoc(), loss->getType(), *loss);
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultBinding(step, i) == "loss")
      setResult(step, i, mean);
  addResult(step, *loss, "local_loss");
  return success();
}

/// Adds the learning rate, the scalar states and the launch that computes the
/// scalars of this step.
static SmallVector<Value> addScalars(ModuleOp module, func::FuncOp step, const Optimizer &optimizer,
                                     StringRef kernelName) {
  func::FuncOp kernel = buildScalarKernel(module, optimizer, kernelName);
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  OpBuilder builder(step.getBody().front().getTerminator());
  auto f64 = RankedTensorType::get({}, builder.getF64Type());

  SmallVector<Value> inputs{
      addArgument(step, RankedTensorType::get({}, builder.getF32Type()), kLearningRate)};
  SmallVector<FlatSymbolRefAttr> symbols;
  for (const ScalarState &state : optimizer.scalarStates()) {
    auto op = StateOp::create(
        atTop, module.getLoc(), Role::Optimizer, state.name, FlatSymbolRefAttr(), f64, DataAttr(),
        builder.getF64FloatAttr(state.init), PlacementAttr(), FlatSymbolRefAttr(), IntegerAttr());
    symbols.push_back(FlatSymbolRefAttr::get(op.getSymNameAttr()));
    inputs.push_back(ReadOp::create(builder, step.getLoc(), f64, symbols.back()));
  }
  auto launch = LaunchOp::create(builder, step.getLoc(), kernel.getFunctionType().getResults(),
                                 FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs);
  markEpilogue(launch);
  for (auto [symbol, value] : llvm::zip(symbols, launch.getResults()))
    markEpilogue(WriteOp::create(builder, step.getLoc(), symbol, value));
  return SmallVector<Value>(launch.getResults().drop_front(symbols.size()));
}

/// Adds the states of `gradient`'s parameter and its update.
static void addUpdate(GradientOp gradient, ParameterOp parameter, const Optimizer &optimizer,
                      FlatSymbolRefAttr kernel, ValueRange scalars, Operation *terminator) {
  OpBuilder atParameter(parameter->getContext());
  atParameter.setInsertionPointAfter(parameter);
  SmallVector<Attribute> states;
  for (const std::string &suffix : optimizer.states()) {
    std::string name = (parameter.getSymName() + "." + suffix).str();
    auto state = StateOp::create(atParameter, parameter.getLoc(), Role::Optimizer, name,
                                 gradient.getParameterAttr(), parameter.getTensorType(), DataAttr(),
                                 atParameter.getF64FloatAttr(0.0), PlacementAttr(),
                                 FlatSymbolRefAttr(), IntegerAttr());
    states.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
  }
  OpBuilder builder(terminator);
  markEpilogue(UpdateOp::create(builder, gradient.getLoc(), gradient.getParameterAttr(),
                                builder.getArrayAttr(states), gradient.getResult(), kernel,
                                scalars));
}

/// `name`, or one like it that the model has not taken.
static std::string freeName(const SymbolTable &symbols, StringRef name) {
  std::string free = name.str();
  while (symbols.lookup(free))
    free += '_';
  return free;
}

/// Optimizer states are saved under names that follow from the parameters'.
static LogicalResult checkNames(const SymbolTable &symbols, ArrayRef<GradientOp> gradients,
                                const Optimizer &optimizer) {
  SmallVector<std::string> names;
  for (const ScalarState &state : optimizer.scalarStates())
    names.push_back(state.name);
  for (GradientOp gradient : gradients)
    for (const std::string &suffix : optimizer.states())
      names.push_back((gradient.getParameter() + "." + suffix).str());
  for (const std::string &name : names)
    if (Operation *taken = symbols.lookup(name))
      return emitError(taken->getLoc())
             << "initializer '" << name
             << "': expected another name, that of an optimizer state is reserved";
  return success();
}

/// The rules compute in f32, and so do the states beside each parameter.
static LogicalResult checkElementType(ParameterOp parameter) {
  Type type = parameter.getTensorType().getElementType();
  if (type.isF32())
    return success();
  return emitError(parameter.getLoc())
         << "parameter '" << parameter.getSymName() << "' is " << type
         << ": expected f32; export the model as float32, or leave it out with --freeze";
}

namespace {
struct BuildStep : zero::impl::BuildStepBase<BuildStep> {
  using BuildStepBase::BuildStepBase;

  OptimizerOptions optimizerOptions() const {
    OptimizerOptions options;
    options.name = optimizer;
    options.beta1 = beta1;
    options.beta2 = beta2;
    options.epsilon = epsilon;
    options.weightDecay = weightDecay;
    options.momentum = momentum;
    options.dampening = dampening;
    options.nesterov = nesterov;
    return options;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string error;
    std::unique_ptr<Optimizer> rule = createOptimizer(optimizerOptions(), error);
    FailureOr<func::FuncOp> step = findStep(module);
    if (!rule)
      module.emitError(error);
    if (!rule || failed(step))
      return signalPassFailure();
    SmallVector<GradientOp> gradients(step->getBody().getOps<GradientOp>());
    if (gradients.empty())
      return;
    SymbolTable symbols(module);
    for (GradientOp gradient : gradients)
      if (failed(checkElementType(symbols.lookup<ParameterOp>(gradient.getParameter()))))
        return signalPassFailure();
    if (failed(checkNames(symbols, gradients, *rule)) || failed(returnMeanLoss(*step)))
      return signalPassFailure();

    func::FuncOp kernel = buildUpdateKernel(module, *rule, freeName(symbols, kUpdateKernel));
    SmallVector<Value> scalars = addScalars(module, *step, *rule, freeName(symbols, kScalarKernel));
    Operation *terminator = step->getBody().front().getTerminator();
    for (GradientOp gradient : gradients)
      addUpdate(gradient, symbols.lookup<ParameterOp>(gradient.getParameter()), *rule,
                FlatSymbolRefAttr::get(kernel.getSymNameAttr()), scalars, terminator);
    module->setAttr(kOptimizerAttr, StringAttr::get(module.getContext(), rule->describe()));
  }
};
} // namespace
