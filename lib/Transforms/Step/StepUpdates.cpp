//===- StepUpdates.cpp - updates of the step ------------------------------===//

#include "StepUpdates.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kUpdateKernel = "update";
static constexpr StringLiteral kScalarKernel = "update_scalars";

SmallVector<ScalarState> StepUpdates::scalarStates() const {
  SmallVector<ScalarState> states;
  if (countsUpdates(groups.optimizers(), schedule))
    states.push_back({kUpdateCount.str(), 0.0, ScalarState::Late::Steps});
  llvm::append_range(states, scalarStatesOf(groups.optimizers()));
  return states;
}

unsigned StepUpdates::groupOf(ParameterOp parameter) {
  return groups.find(modelNames(parameter), groups.divides() && matrices.contains(parameter));
}

ArrayRef<Value> StepUpdates::scalarsOf(unsigned group) const {
  unsigned before = 0;
  for (unsigned other = 0; other < group; ++other)
    before += groups.optimizer(other).numScalars();
  return ArrayRef<Value>(scalars).slice(before, groups.optimizer(group).numScalars());
}

/// Says what `scalar` is in a run that resumes from one without it.
static void setLate(StateOp state, const ScalarState &scalar) {
  Builder builder(state.getContext());
  if (scalar.kind == ScalarState::Late::Steps)
    state->setAttr(kLateAttr, builder.getUnitAttr());
  else if (scalar.kind == ScalarState::Late::Constant)
    state->setAttr(kLateAttr, builder.getF64FloatAttr(scalar.late));
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

/// Reports an error for a parameter that must have a master, or that is not bf16 and is to be
/// rounded at random.
LogicalResult StepUpdates::checkRounding(ParameterOp parameter) {
  const Optimizer &optimizer = groups.optimizer(groupOf(parameter));
  Type type = parameter.getTensorType().getElementType();
  if (type.isF32() || masters == MasterWeights::F32)
    return success();
  if (!optimizer.isElementwise())
    return emitError(parameter.getLoc())
           << "--master-weights: expected an optimizer that updates each element by itself, got "
           << optimizer.getSettings().definition().name;
  if (masters == MasterWeights::None && !type.isBF16())
    return emitError(parameter.getLoc())
           << "--master-weights=none rounds bf16 at random: expected --precision=bf16, got "
           << type;
  return success();
}

/// Reports an error for a part if the update is scaled by norms of full tensors.
static LogicalResult checkWhole(ParameterOp parameter, const Optimizer &optimizer) {
  PartAttr part = partOf(parameter);
  if (!part || optimizer.isElementwise())
    return success();
  return emitError(parameter.getLoc())
         << "parameter '" << part.getOf() << "' is tiled, and this optimizer ("
         << optimizer.getSettings().definition().name << ") needs "
         << (optimizer.isLayerwise() ? "the norm of the whole parameter"
                                     : "its whole gradient at once")
         << ": expected another optimizer, or a larger --tile-params-over";
}

LogicalResult StepUpdates::check(ArrayRef<GradientOp> gradients) {
  for (GradientOp gradient : gradients) {
    auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
    if (failed(checkElementType(module, parameter)) ||
        failed(checkWhole(parameter, groups.optimizer(groupOf(parameter)))) ||
        failed(checkRounding(parameter)))
      return failure();
  }
  return checkNames(gradients);
}

LogicalResult StepUpdates::checkNames(ArrayRef<GradientOp> gradients) {
  SmallVector<std::string> names;
  for (const ScalarState &scalar : scalarStates())
    names.push_back(scalar.name);
  for (GradientOp gradient : gradients) {
    auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
    const Optimizer &optimizer = groups.optimizer(groupOf(parameter));
    SmallVector<std::string> suffixes{kMasterSuffix.str()};
    for (const ParameterState &state : optimizer.states())
      suffixes.append({state.suffix, state.suffix + kScaleSuffix.str()});
    auto type = cast<RankedTensorType>(gradient.getResult().getType());
    for (const TensorState &state : optimizer.tensorStates(type.getShape()))
      suffixes.push_back(state.suffix);
    // Those of a part are symbols of their own, and one tensor with those of the other parts.
    for (StringRef of : {modelName(parameter), parameter.getSymName()})
      for (const std::string &suffix : suffixes)
        names.push_back((of + "." + suffix).str());
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
void StepUpdates::addScalars(TypedValue<RankedTensorType> counts) {
  SmallVector<GroupOptimizer> optimizers = groups.optimizers();
  func::FuncOp kernel =
      buildScalarKernel(module, optimizers, schedule, freeName(symbols, kScalarKernel));
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  Location loc = step.getLoc();
  auto f64 = RankedTensorType::get({}, builder.getF64Type());

  SmallVector<Value> inputs{
      addArgument(step, RankedTensorType::get({}, builder.getF32Type()), kLearningRate)};
  SmallVector<FlatSymbolRefAttr> states;
  for (const ScalarState &scalar : scalarStates()) {
    auto state =
        StateOp::create(atTop, module.getLoc(), Role::Optimizer, scalar.name, FlatSymbolRefAttr(),
                        f64, DataAttr(), builder.getF64FloatAttr(scalar.init));
    setLate(state, scalar);
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

/// A state of `parameter`, at `after`, all `init`; without it a master or an average, which has the
/// parameter's own value.
StateOp StepUpdates::addState(OpBuilder &after, ParameterOp parameter, StringRef suffix,
                              RankedTensorType type, std::optional<double> init) {
  std::string name = (parameter.getSymName() + "." + suffix).str();
  DataAttr data = init ? DataAttr() : parameter.getDataAttr();
  FloatAttr splat = init ? after.getF64FloatAttr(*init) : parameter.getSplatAttr();
  RandomAttr random = init ? RandomAttr() : parameter.getRandomAttr();
  auto state = StateOp::create(after, parameter.getLoc(), Role::Optimizer, name,
                               FlatSymbolRefAttr::get(parameter.getSymNameAttr()), type, data,
                               splat, /*required=*/false, random);
  symbols.insert(state);
  return state;
}

/// The master of `parameter` and the states of its optimizer. One with codes is two states: the
/// codes, of 4 bits two in a byte, and the scales of its blocks. Both are zeros initially.
void StepUpdates::addStates(ParameterOp parameter, const Optimizer &optimizer,
                            const UpdateForm &form, SmallVectorImpl<Attribute> &states) {
  OpBuilder after(parameter->getContext());
  after.setInsertionPointAfter(parameter);
  auto add = [&](const Twine &suffix, RankedTensorType type, std::optional<double> init) {
    StateOp state = addState(after, parameter, suffix.str(), type, init);
    states.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
    return state;
  };
  RankedTensorType values = parameter.getTensorType().clone(after.getF32Type());
  const int64_t elements = values.getNumElements();
  if (form.hasMaster())
    add(kMasterSuffix, values, std::nullopt);
  for (auto [index, state] : llvm::enumerate(optimizer.states())) {
    const StateForm stored = form.states.empty() ? StateForm() : form.states[index];
    if (!stored.hasCodes()) {
      add(state.suffix, stored.bits == 16 ? values.clone(after.getBF16Type()) : values,
          state.isAverage ? std::nullopt : std::optional(state.init));
      continue;
    }
    auto codes = values.clone(after.getI8Type());
    StateOp own = add(state.suffix,
                      stored.bits == 4 ? codes.clone(ArrayRef<int64_t>(elements / 2)) : codes, 0.0);
    add(state.suffix + kScaleSuffix, values.clone(ArrayRef<int64_t>(elements / stored.block)), 0.0);
    own.setBlocksAttr(BlocksAttr::get(parameter->getContext(), stored.bits, stored.block,
                                      stored.map, cast<FlatSymbolRefAttr>(states.back())));
  }
}

/// Of the symbols that addStates() adds for an optimizer of matrices, those of the states that its
/// direction advances: the last ones.
static ArrayRef<Attribute> directionStates(const Optimizer &optimizer, const UpdateForm &form,
                                           ArrayRef<Attribute> states) {
  const size_t others = optimizer.states().size() - optimizer.numDirectionStates();
  size_t symbols = form.hasMaster() + others;
  if (!form.states.empty())
    symbols += llvm::count_if(ArrayRef(form.states).take_front(others),
                              [](const StateForm &state) { return state.hasCodes(); });
  return states.drop_front(symbols);
}

void StepUpdates::remarkPrecision() {
  if (precision.isDefault())
    return;
  int64_t states = 0, wide = 0;
  for (auto state : module.getOps<StateOp>()) {
    StringRef name = state.getSymName();
    if (!state.getOf() || name.ends_with(kScaleSuffix) ||
        state.getSuffix() == ("." + kMasterSuffix).str())
      continue;
    ++states;
    wide += state.getTensorType().getElementType().isF32();
  }
  remark::passed(step.getLoc(), remark::RemarkOpts::name("states").category("precision"))
      << llvm::formatv("{0} of {1} states of the optimizer are stored in 16, 8 or 4 bits",
                       states - wide, states)
                 .str() +
             (wide ? "; the others have less than 4096 elements, or no whole blocks" : "");
}

/// What the rows and columns of a matrix are, after its type.
static StringRef describeOrientation(MatrixOrientation orientation) {
  switch (orientation) {
  case MatrixOrientation::Unknown:
    return "";
  case MatrixOrientation::OutputsFirst:
    return ", outputs x inputs";
  case MatrixOrientation::InputsFirst:
    return ", inputs x outputs";
  }
  llvm_unreachable("an orientation without a text");
}

void StepUpdates::remarkMatrices(ArrayRef<GradientOp> gradients) {
  if (!groups.divides())
    return;
  for (GradientOp gradient : gradients) {
    auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
    const Optimizer &optimizer = groups.optimizer(groupOf(parameter));
    std::string text = parameter.getSymName().str() + ": ";
    const SmallVector<int64_t> shape = wholeShape(parameter, parameter.getTensorType());
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    llvm::raw_string_ostream(text) << parameter.getTensorType().getElementType();
    if (StringRef reason = matrices.whyNot(parameter); !reason.empty())
      text += ", " + reason.str();
    else
      text += describeOrientation(matrices.orientationOf(parameter)).str() +
              optimizer.describeMatrixStep(matrices.shapeOf(parameter),
                                           matrices.orientationOf(parameter));
    remark::passed(
        parameter.getLoc(),
        remark::RemarkOpts::name(optimizer.getSettings().definition().name).category("updates"))
        << text;
  }
}

/// Whether states of `parameter` may have codes. The elements of a part must follow each other in
/// the tensor of the model, and each of its rows consist of blocks: then blocks of the part are
/// blocks of the whole, and all parts have codes.
static bool mayHaveCodes(ParameterOp parameter) {
  PartAttr part = partOf(parameter);
  ShardAttr shard = shardOf(parameter);
  if ((part && part.getAxis() != 0) ||
      (shard && (shard.getDim() != 0 || !shard.getParts().empty())))
    return false;
  const SmallVector<int64_t> shape = wholeShape(parameter, parameter.getTensorType());
  return ShapedType::getNumElements(shape) >= kLeastCodedElements &&
         (!part || ShapedType::getNumElements(ArrayRef(shape).drop_front()) % kLargestBlock == 0);
}

const SmallVector<func::FuncOp> &StepUpdates::kernelsFor(unsigned group, const UpdateForm &form) {
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

void StepUpdates::addUpdate(GradientOp gradient, const GradientFactor &factor) {
  auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
  unsigned group = groupOf(parameter);
  const Optimizer &optimizer = groups.optimizer(group);
  UpdateForm form{parameter.getTensorType().getElementType(),
                  getElementTypeOrSelf(gradient.getResult().getType()),
                  bool(factor.factor),
                  precision.formsOf(optimizer, parameter.getTensorType().getNumElements(),
                                    mayHaveCodes(parameter)),
                  masters == MasterWeights::F32,
                  masters == MasterWeights::None &&
                      parameter.getTensorType().getElementType().isBF16()};
  Value change = gradient.getResult();
  if (optimizer.isOfTensors()) {
    change = addTensorStep(gradient, parameter, group, form, factor);
    form = {form.parameter, builder.getF32Type(), /*scaled=*/false};
  }
  SmallVector<Attribute> states;
  addStates(parameter, optimizer, form, states);
  if (optimizer.isOfMatrices()) {
    auto own = llvm::map_to_vector(directionStates(optimizer, form, states),
                                   [](Attribute state) { return cast<FlatSymbolRefAttr>(state); });
    states.pop_back_n(own.size());
    if (!form.states.empty())
      form.states.erase(form.states.begin(), form.states.end() - optimizer.numDirectionStates());
    change = addMatrixStep(gradient, parameter, own, group, form, factor);
    form = {form.parameter, builder.getF32Type(), /*scaled=*/false};
  }
  const SmallVector<func::FuncOp> &made = kernelsFor(group, form);
  SmallVector<Attribute> names = llvm::map_to_vector(made, [](func::FuncOp kernel) -> Attribute {
    return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
  });
  ArrayAttr layerwise;
  if (optimizer.isLayerwise()) // measures, adds up, rates
    layerwise = builder.getArrayAttr({names[1], names[3], names[2]});
  SmallVector<Value> operands;
  if (form.scaled)
    operands.push_back(factor.factor);
  llvm::append_range(operands, scalarsOf(group));
  if (form.roundsAtRandom)
    operands.push_back(NodeBuilder(builder, gradient.getLoc(), "update")
                           .programInput(kStepNumber, builder.getI64Type()));
  inEpilogue(UpdateOp::create(
      builder, gradient.getLoc(), gradient.getParameterAttr(), builder.getArrayAttr(states), change,
      cast<FlatSymbolRefAttr>(names.front()), layerwise, operands, factor.counts));
}

} // namespace zero
