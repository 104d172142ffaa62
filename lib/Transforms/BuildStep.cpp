//===- BuildStep.cpp - the optimizer as part of the program ---------------===//

#include "ParameterGroups.h"
#include "StepGradients.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BUILDSTEP
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

static constexpr StringLiteral kUpdateKernel = "update";
static constexpr StringLiteral kScalarKernel = "update_scalars";

/// Returns the mean loss over ranks as "loss" and the rank's own as "local_loss".
static LogicalResult returnMeanLoss(func::FuncOp step) {
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();
  OpBuilder builder(step.getBody().front().getTerminator());
  Value own = *loss;
  // Over one micro-batch there is nothing to average: the type may be any.
  if (getElementTypeOrSelf(own.getType()).isF32())
    own = MicroMeanOp::create(builder, step.getLoc(), own);
  Value mean = RankMeanOp::create(builder, step.getLoc(), own.getType(), own);
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultBinding(step, i) == "loss")
      setResult(step, i, mean);
  addResult(step, own, "local_loss");
  return success();
}

namespace {

/// Adds what one update of all parameters needs.
class UpdateBuilder {
public:
  UpdateBuilder(ModuleOp module, func::FuncOp step, ParameterGroups &groups,
                const ScheduleOptions &schedule)
      : module(module), step(step), groups(groups), schedule(schedule), symbols(module),
        builder(step.getBody().front().getTerminator()) {}

  /// Optimizer states are saved under names that follow from the parameters'.
  LogicalResult checkNames(ArrayRef<GradientOp> gradients);
  void addScalars(TypedValue<RankedTensorType> counts);
  void addUpdate(GradientOp gradient, const GradientFactor &factor);

private:
  StateOp addState(OpBuilder &after, ParameterOp parameter, StringRef suffix, bool isMaster);
  const SmallVector<func::FuncOp> &kernelsFor(unsigned group, const UpdateForm &form);
  SmallVector<std::pair<std::string, double>> scalarStates() const;

  struct Kernels {
    unsigned group;
    UpdateForm form;
    SmallVector<func::FuncOp> symbols;
  };
  ModuleOp module;
  func::FuncOp step;
  ParameterGroups &groups;
  const ScheduleOptions &schedule;
  SymbolTable symbols;
  OpBuilder builder;
  std::vector<Kernels> kernels;
  SmallVector<Value> scalars; ///< of all groups
};

} // namespace

SmallVector<std::pair<std::string, double>> UpdateBuilder::scalarStates() const {
  SmallVector<std::pair<std::string, double>> states;
  if (!schedule.isConstant())
    states.emplace_back(kUpdateCount.str(), 0.0);
  for (const ScalarState &state : groups.optimizer(0).scalarStates())
    states.emplace_back(state.name, state.init);
  return states;
}

LogicalResult UpdateBuilder::checkNames(ArrayRef<GradientOp> gradients) {
  SmallVector<std::string> names;
  for (auto &[name, init] : scalarStates())
    names.push_back(name);
  for (GradientOp gradient : gradients) {
    names.push_back((gradient.getParameter() + "." + kMasterSuffix).str());
    for (const std::string &suffix : groups.optimizer(0).states())
      names.push_back((gradient.getParameter() + "." + suffix).str());
  }
  for (const std::string &name : names)
    if (Operation *taken = symbols.lookup(name))
      return emitError(taken->getLoc())
             << "initializer '" << name
             << "': expected another name, that of an optimizer state is reserved";
  return success();
}

/// Adds the learning rate, the scalar states and the launch that computes the
/// scalars of this step.
void UpdateBuilder::addScalars(TypedValue<RankedTensorType> counts) {
  SmallVector<GroupOptimizer> optimizers = groups.optimizers();
  func::FuncOp kernel =
      buildScalarKernel(module, optimizers, schedule, freeName(symbols, kScalarKernel));
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  Location loc = step.getLoc();
  auto f64 = RankedTensorType::get({}, builder.getF64Type());

  SmallVector<Value> inputs{
      addArgument(step, RankedTensorType::get({}, builder.getF32Type()), kLearningRate)};
  SmallVector<FlatSymbolRefAttr> states;
  for (auto &[name, init] : scalarStates()) {
    auto state = StateOp::create(atTop, module.getLoc(), Role::Optimizer, name, FlatSymbolRefAttr(),
                                 f64, DataAttr(), builder.getF64FloatAttr(init), PlacementAttr(),
                                 FlatSymbolRefAttr(), IntegerAttr());
    states.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
    inputs.push_back(inEpilogue(ReadOp::create(builder, loc, f64, states.back())));
  }
  auto launch =
      inEpilogue(LaunchOp::create(builder, loc, kernel.getFunctionType().getResults(),
                                  FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs));
  launch->setAttr(kNameAttr, kernel.getSymNameAttr());
  for (auto [symbol, value] : llvm::zip(states, launch.getResults()))
    inEpilogue(WriteOp::create(builder, loc, symbol, value, counts));
  addResult(step, launch.getResult(states.size()), "learning_rate");
  llvm::append_range(scalars, launch.getResults().drop_front(states.size() + 1));
}

/// A state of the shape of `parameter`, at `after`; its master has the parameter's own
/// value.
StateOp UpdateBuilder::addState(OpBuilder &after, ParameterOp parameter, StringRef suffix,
                                bool isMaster) {
  std::string name = (parameter.getSymName() + "." + suffix).str();
  DataAttr data = isMaster ? parameter.getDataAttr() : DataAttr();
  FloatAttr splat = isMaster ? parameter.getSplatAttr() : after.getF64FloatAttr(0.0);
  return StateOp::create(after, parameter.getLoc(), Role::Optimizer, name,
                         FlatSymbolRefAttr::get(parameter.getSymNameAttr()),
                         parameter.getTensorType().clone(after.getF32Type()), data, splat,
                         PlacementAttr(), FlatSymbolRefAttr(), IntegerAttr());
}

const SmallVector<func::FuncOp> &UpdateBuilder::kernelsFor(unsigned group, const UpdateForm &form) {
  for (const Kernels &made : kernels)
    if (made.group == group && made.form == form)
      return made.symbols;
  std::string name = kUpdateKernel.str();
  if (!kernels.empty())
    name += "_" + std::to_string(kernels.size());
  name = freeName(symbols, name);
  kernels.push_back({group, form, buildUpdateKernels(module, groups.optimizer(group), form, name)});
  SmallVector<func::FuncOp> &made = kernels.back().symbols;
  if (groups.optimizer(group).isLayerwise())
    made.push_back(buildTotal(module, name + "_total", builder.getF32Type()));
  return made;
}

void UpdateBuilder::addUpdate(GradientOp gradient, const GradientFactor &factor) {
  auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
  unsigned group = groups.find(parameter.getSymName());
  const Optimizer &optimizer = groups.optimizer(group);
  UpdateForm form{parameter.getTensorType().getElementType(),
                  getElementTypeOrSelf(gradient.getResult().getType()), bool(factor.factor)};
  SmallVector<Attribute> states;
  OpBuilder after(parameter->getContext());
  after.setInsertionPointAfter(parameter);
  auto add = [&](StringRef suffix, bool isMaster) {
    StateOp state = addState(after, parameter, suffix, isMaster);
    states.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
  };
  if (form.hasMaster())
    add(kMasterSuffix, /*isMaster=*/true);
  for (const std::string &suffix : optimizer.states())
    add(suffix, /*isMaster=*/false);

  const SmallVector<func::FuncOp> &made = kernelsFor(group, form);
  SmallVector<Attribute> names = llvm::map_to_vector(made, [](func::FuncOp kernel) -> Attribute {
    return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
  });
  ArrayAttr layerwise;
  if (optimizer.isLayerwise()) // measures, adds up, rates
    layerwise = builder.getArrayAttr({names[1], names[3], names[2]});
  SmallVector<Value> operands;
  if (factor.factor)
    operands.push_back(factor.factor);
  unsigned own = optimizer.numScalars();
  llvm::append_range(operands, ArrayRef<Value>(scalars).slice(group * own, own));
  inEpilogue(UpdateOp::create(builder, gradient.getLoc(), gradient.getParameterAttr(),
                              builder.getArrayAttr(states), gradient.getResult(),
                              cast<FlatSymbolRefAttr>(names.front()), layerwise, operands,
                              factor.counts));
}

/// The rules compute in f32: a parameter is f32, or 16-bit with an f32 master.
static LogicalResult checkElementType(ModuleOp module, ParameterOp parameter) {
  Type type = parameter.getTensorType().getElementType();
  auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr);
  if (type.isF32() || (precision && type == precision.getValue()))
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

  /// The groups as given, then those without weight decay.
  FailureOr<SmallVector<ParameterGroup>> parseGroups() {
    SmallVector<ParameterGroup> groups;
    for (const std::string &text : paramGroups) {
      std::string error;
      std::optional<ParameterGroup> group = parseParameterGroup(text, error);
      if (!group)
        return getOperation().emitError(error);
      groups.push_back(*group);
    }
    for (const std::string &pattern : noDecay)
      groups.push_back({pattern, 0.0, 1.0});
    return groups;
  }

  LogicalResult run(ModuleOp module, func::FuncOp step, ArrayRef<GradientOp> gradients) {
    ScheduleOptions schedule{scheduleKind, warmupSteps, totalSteps, minLearningRate};
    if (std::string error = checkSchedule(schedule); !error.empty())
      return module.emitError(error);
    FailureOr<SmallVector<ParameterGroup>> given = parseGroups();
    if (failed(given))
      return failure();
    FailureOr<ParameterGroups> groups = ParameterGroups::create(module, optimizerOptions(), *given);
    if (failed(groups))
      return failure();
    SymbolTable symbols(module);
    for (GradientOp gradient : gradients)
      if (failed(checkElementType(module, symbols.lookup<ParameterOp>(gradient.getParameter()))))
        return failure();
    if (failed(UpdateBuilder(module, step, *groups, schedule).checkNames(gradients)) ||
        failed(returnMeanLoss(step)))
      return failure();

    accumulateMicroBatches(module, step, microBatches);
    GradientFactorOptions options{
        clipNorm, lossScale > 0, {minLossScale, double(lossScaleWindow), double(patience)}};
    GradientFactor factor = buildGradientFactor(module, step, gradients, options);
    UpdateBuilder builder(module, step, *groups, schedule);
    builder.addScalars(factor.counts);
    for (GradientOp gradient : gradients)
      builder.addUpdate(gradient, factor);
    module->setAttr(
        kOptimizerAttr,
        StringAttr::get(&getContext(), groups->optimizers().back().optimizer->describe()));
    return groups->checkUsed(module);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    module->setAttr(kMicroBatchesAttr,
                    IntegerAttr::get(IntegerType::get(&getContext(), 64), int64_t(microBatches)));
    SmallVector<GradientOp> gradients(step->getBody().getOps<GradientOp>());
    if (!gradients.empty() && failed(run(module, *step, gradients)))
      signalPassFailure();
  }
};
} // namespace
