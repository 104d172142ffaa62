//===- LiftUpdates.cpp - gradients and updates of a whole step ------------===//

#include "ElementCode.h"
#include "LiftedKernels.h"
#include "UpdateAnalysis.h"
#include "UpdateNodes.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Part.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Optimizers/Kernel.h"
#include "zero/Transforms/Lift/Passes.h"
#include "zero/Transforms/Step/Directions.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_LIFTUPDATES
#include "include/zero/Transforms/Lift/Passes.h.inc"

namespace {
/// Rewrites what the analysis found.
class Lifter {
public:
  Lifter(ModuleOp module, func::FuncOp step, LiftedStep &found)
      : module(module), step(step), found(found), symbols(module),
        builder(step.getBody().front().getTerminator()), loc(step.getLoc()),
        kernels(module, symbols) {}

  LogicalResult run();

private:
  void buildGradients();
  func::FuncOp normKernel(RankedTensorType type, bool isRoot);
  void buildNorms();
  LogicalResult buildScalars();
  LogicalResult liftUpdate(LiftedUpdate &update);
  ParameterOp declareParameter(StateOp state);
  SmallVector<Attribute> declareStates(ArrayRef<CarriedState> states, ParameterOp parameter);
  FailureOr<Value> liftMatrix(LiftedUpdate &update, ParameterOp parameter);
  void takeLearningRate();
  void writeOnce(CarriedState &state);

  ModuleOp module;
  func::FuncOp step;
  LiftedStep &found;
  SymbolTable symbols;
  OpBuilder builder;
  Location loc;
  Value share; ///< the factor that makes a sum over ranks and micro-batches a mean
  /// Of each scalar of updates, the result of the launch that computes them all.
  llvm::DenseMap<Value, Value> scalarOf;
  llvm::DenseMap<Value, Value> sumOf; ///< of each gradient, over ranks and micro-batches
  llvm::DenseMap<std::pair<Type, unsigned>, func::FuncOp> normKernels;
  LiftedKernels kernels;
  ArrayAttr collecting; ///< see kDirectionAttr; null before the first direction
};
} // namespace

static RankedTensorType typeOfScalar(Value value) {
  return RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
}

/// The indices of the only element of a tensor of `type`.
static SmallVector<Value> firstIndices(OpBuilder &builder, Location loc, RankedTensorType type) {
  SmallVector<Value> zeros;
  for (int64_t i = 0; i < type.getRank(); ++i)
    zeros.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  return zeros;
}

static Value loadElement(OpBuilder &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::ExtractOp::create(builder, tensor.getLoc(), tensor,
                                   firstIndices(builder, tensor.getLoc(), type));
}

static Value storeElement(OpBuilder &builder, Value element, RankedTensorType type) {
  Location loc = element.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return tensor::InsertOp::create(builder, loc, element, empty, firstIndices(builder, loc, type));
}

/// Builds one launch that computes from counters and the learning rate what updates read, and the
/// next values of counters.
LogicalResult Lifter::buildScalars() {
  SmallVector<std::pair<Value, RankedTensorType>> wanted;
  llvm::SetVector<Value> roots;
  for (LiftedUpdate &update : found.updates) {
    roots.insert_range(update.scalars);
    if (update.matrix)
      roots.insert_range(update.matrix->scalars);
  }
  for (Value scalar : roots)
    wanted.emplace_back(scalar, typeOfScalar(scalar));
  for (CarriedState &state : found.counters) {
    wanted.emplace_back(skipViews(state.write.getValue()), state.state.getTensorType());
    roots.insert(wanted.back().first);
  }
  if (found.learningRate)
    wanted.emplace_back(found.learningRate, typeOfScalar(found.learningRate));
  if (wanted.empty())
    return success();
  ScalarNodes nodes = collectScalarNodes(step, roots.getArrayRef());

  SmallVector<Type> inputs(ValueRange(nodes.leaves).getTypes());
  func::FuncOp kernel = startKernel(module, freeName(symbols, "update_scalars"), inputs, {});
  symbols.insert(kernel);
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().front());
  IRMapping elements;
  for (auto [leaf, argument] : llvm::zip_equal(nodes.leaves, kernel.getArguments()))
    elements.map(leaf, loadElement(body, argument));
  if (failed(buildElementCode(nodes.nodes, body, elements)))
    return failure();
  SmallVector<Value> made;
  for (auto &[value, type] : wanted)
    made.push_back(storeElement(body, elementOf(body, value, elements), type));
  auto end = func::ReturnOp::create(body, loc, made);
  // Exporters often compute the same correction once for each parameter.
  DominanceInfo dominance(kernel);
  IRRewriter rewriter(body);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);

  SmallVector<Value> returned(end.getOperands());
  llvm::SetVector<Value> distinct(returned.begin(), returned.end());
  end->setOperands(distinct.getArrayRef());
  ValueRange results(distinct.getArrayRef());
  kernel.setFunctionType(builder.getFunctionType(inputs, results.getTypes()));
  auto launch =
      inEpilogue(LaunchOp::create(builder, loc, results.getTypes(),
                                  FlatSymbolRefAttr::get(kernel.getSymNameAttr()), nodes.leaves));
  launch->setAttr(kNameAttr, kernel.getSymNameAttr());
  auto resultOf = [&](unsigned index) {
    return launch.getResult(llvm::find(distinct, returned[index]) - distinct.begin());
  };
  unsigned index = 0;
  for (Value scalar : roots.getArrayRef().take_front(wanted.size() - found.counters.size() -
                                                     bool(found.learningRate)))
    scalarOf[scalar] = resultOf(index++);
  for (CarriedState &state : found.counters)
    state.write.getValueMutable().assign(resultOf(index++));
  if (found.learningRate)
    addResult(step, resultOf(index), "learning_rate");
  return success();
}

/// `state` as a parameter.
ParameterOp Lifter::declareParameter(StateOp state) {
  OpBuilder at(state);
  auto parameter = ParameterOp::create(
      at, state.getLoc(), state.getSymName(), state.getTensorType(), state.getDataAttr(),
      state.getSplatAttr(), /*frozen=*/false, state.getRequired(), state.getRandomAttr());
  if (Attribute aliases = state->getAttr(kAliasesAttr))
    parameter->setAttr(kAliasesAttr, aliases);
  symbols.erase(state);
  symbols.insert(parameter);
  return parameter;
}

/// Makes `states` optimizer states of `parameter`, behind those that it has, and moves them there,
/// since states of a bucket are in the order of the module. Returns their names.
SmallVector<Attribute> Lifter::declareStates(ArrayRef<CarriedState> states, ParameterOp parameter) {
  auto symbol = FlatSymbolRefAttr::get(parameter.getSymNameAttr());
  SmallVector<Attribute> names;
  Operation *last = parameter;
  unsigned index = 0;
  auto isOwn = [&](Operation *op) {
    auto state = dyn_cast_or_null<StateOp>(op);
    return state && state.getOfAttr() == symbol;
  };
  for (; isOwn(last->getNextNode()); ++index)
    last = last->getNextNode();
  for (CarriedState carried : states) {
    StateOp state = carried.state;
    state.setRole(Role::Optimizer);
    state.setOfAttr(symbol);
    state.setSlotAttr(builder.getStringAttr("state" + Twine(index++)));
    state->moveAfter(last);
    last = state;
    names.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
    carried.write.erase();
  }
  return names;
}

/// Floating-point operations of `nodes`: two for each product of elements, one for other elements.
static double countOperations(ArrayRef<onnx::NodeOp> nodes) {
  double operations = 0;
  for (onnx::NodeOp node : nodes) {
    auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
    const double elements = type ? double(type.getNumElements()) : 0;
    operations += ops::computes(node, ops::Function::Product)
                      ? 2 * double(node.inputType(0).getNumElements() * type.getShape().back())
                      : elements;
  }
  return operations;
}

/// Adds the launch of the direction of `update`. Moves the nodes behind it to the epilogue, and
/// returns the step that they compute.
FailureOr<Value> Lifter::liftMatrix(LiftedUpdate &update, ParameterOp parameter) {
  MatrixStep &matrix = *update.matrix;
  FailureOr<func::FuncOp> kernel = kernels.buildDirection(update);
  if (failed(kernel))
    return failure();
  auto states = llvm::map_to_vector(declareStates(matrix.states, parameter),
                                    [](Attribute state) { return cast<FlatSymbolRefAttr>(state); });
  SmallVector<Value> scalars{share};
  for (Value scalar : matrix.scalars)
    scalars.push_back(scalarOf.lookup(scalar));
  if (!collecting)
    collecting = buildCollectingKernels(module, symbols, /*haveConditions=*/false);
  auto gradient = sumOf.lookup(update.gradient).getDefiningOp<GradientOp>();
  Value direction =
      launchDirection(builder, symbols, {gradient, states, *kernel, scalars, {}, collecting});
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(countOperations(matrix.nodes)));
  for (onnx::NodeOp node : matrix.nodes) {
    node->replaceUsesOfWith(matrix.direction, direction);
    inEpilogue(node)->moveBefore(step.getBody().front().getTerminator());
  }
  return matrix.step;
}

LogicalResult Lifter::liftUpdate(LiftedUpdate &update) {
  FailureOr<UpdateKernels> built = kernels.build(update);
  if (failed(built))
    return failure();
  ParameterOp parameter = declareParameter(update.parameter.state);
  auto symbol = FlatSymbolRefAttr::get(parameter.getSymNameAttr());
  SmallVector<Attribute> states = declareStates(update.states, parameter);
  FailureOr<Value> change = sumOf.lookup(update.gradient);
  if (update.matrix)
    change = liftMatrix(update, parameter);
  if (failed(change))
    return failure();
  SmallVector<Value> scalars{share};
  for (Value scalar : update.scalars)
    scalars.push_back(scalarOf.lookup(scalar));
  inEpilogue(UpdateOp::create(builder, parameter.getLoc(), symbol, builder.getArrayAttr(states),
                              *change, FlatSymbolRefAttr::get(built->update.getSymNameAttr()),
                              built->layerwise, scalars, /*condition=*/Value()));
  update.parameter.write.erase();
  std::string type = llvm::formatv("{0}", parameter.getTensorType());
  StringRef shape = StringRef(type).split('<').second.drop_back(); // "64x8xf32"
  remark::passed(parameter.getLoc(), remark::RemarkOpts::name("trained").category("parameters"))
      << llvm::formatv("{0}: {1}{2}", parameter.getSymName(), shape,
                       update.matrix ? ", updated as a whole matrix" : "")
             .str();
  return success();
}

/// Replaces the learning rate of the model by the input that the runtime sets.
void Lifter::takeLearningRate() {
  if (!found.learningRate)
    return;
  BlockArgument rate = found.learningRate;
  step.setArgAttr(rate.getArgNumber(), kBindingAttr, builder.getStringAttr(kLearningRate));
  auto type = cast<RankedTensorType>(rate.getType());
  if (type.getRank() == 0)
    return;
  rate.setType(typeOfScalar(rate));
  Block &block = step.getBody().front();
  step.setFunctionType(
      builder.getFunctionType(block.getArgumentTypes(), step.getFunctionType().getResults()));
  OpBuilder begin = OpBuilder::atBlockBegin(&block);
  Value shaped = NodeBuilder(begin, loc, kLearningRate).reshape(rate, type.getShape());
  rate.replaceAllUsesExcept(shaped, shaped.getDefiningOp());
}

/// Computes the next value of `state`, which is the same on all ranks, once a step.
void Lifter::writeOnce(CarriedState &state) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [](Operation *op) { return isa<onnx::NodeOp>(op); };
  Operation *end = step.getBody().front().getTerminator();
  Value next = state.write.getValue();
  IRMapping copies;
  if (next.getDefiningOp<onnx::NodeOp>()) {
    (void)getBackwardSlice(next, &slice, options);
    OpBuilder at(end);
    for (Operation *op : slice)
      inEpilogue(at.clone(*op, copies));
  }
  state.write.getValueMutable().assign(copies.lookupOrDefault(next));
  inEpilogue(state.write)->moveBefore(end);
}

/// Sums gradients over ranks.
void Lifter::buildGradients() {
  for (LiftedUpdate &update : found.updates) {
    auto symbol = FlatSymbolRefAttr::get(update.parameter.state.getSymNameAttr());
    Type type = update.gradient.getType();
    auto gradient = GradientOp::create(builder, update.parameter.write.getLoc(), type, symbol,
                                       update.gradient, ArrayAttr());
    sumOf[update.gradient] = gradient.getResult();
  }
}

/// The kernel (sum of squares f64, share f32) -> the norm of the mean, or its square, of `type`.
func::FuncOp Lifter::normKernel(RankedTensorType type, bool isRoot) {
  func::FuncOp &kernel = normKernels[{type, unsigned(isRoot)}];
  if (kernel)
    return kernel;
  kernel = startKernel(module, freeName(symbols, isRoot ? "norm" : "square_norm"),
                       {RankedTensorType::get({}, builder.getF64Type()), share.getType()},
                       TypeRange(type));
  symbols.insert(kernel);
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(body, loc);
  Value sum = loadElement(body, kernel.getArgument(0));
  Value factor = f.cast(loadElement(body, kernel.getArgument(1)), body.getF64Type());
  Value norm = isRoot ? f.mul(f.sqrt(sum), factor) : f.mul(sum, f.mul(factor, factor));
  func::ReturnOp::create(body, loc, storeElement(body, f.cast(norm, type.getElementType()), type));
  return kernel;
}

/// Computes the norms that updates depend on from the sums over ranks, once a step.
void Lifter::buildNorms() {
  if (found.norms.empty())
    return;
  llvm::DenseMap<Type, ArrayAttr> squares;
  llvm::DenseMap<Value, Value> squareOf;
  // `partition` measures all members of a bucket.
  for (LiftedUpdate &update : found.updates) {
    Value sum = sumOf.lookup(update.gradient);
    ArrayAttr &own = squares[getElementTypeOrSelf(sum.getType())];
    if (!own)
      own = buildSquareSumKernels(module, "gradient", getElementTypeOrSelf(sum.getType()));
    squareOf[update.gradient] = inEpilogue(SquareSumOp::create(
        builder, loc, RankedTensorType::get({}, builder.getF64Type()), sum, own));
  }
  for (GradientNorm &norm : found.norms) {
    Value result = norm.node.getResult(0);
    func::FuncOp kernel =
        normKernel(tensorType(result), ops::computes(norm.node, ops::Function::ReduceL2));
    auto launch = inEpilogue(LaunchOp::create(builder, norm.node.getLoc(), result.getType(),
                                              FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                                              ValueRange{squareOf.lookup(norm.gradient), share}));
    launch->setAttr(kNameAttr, norm.node.getNodeAttr());
    result.replaceAllUsesWith(launch.getResult(0));
    for (LiftedUpdate &update : found.updates) {
      llvm::replace(update.scalars, result, Value(launch.getResult(0)));
      if (update.matrix)
        llvm::replace(update.matrix->scalars, result, Value(launch.getResult(0)));
    }
  }
  for (onnx::NodeOp node : found.normNodes)
    inEpilogue(node)->moveBefore(step.getBody().front().getTerminator());
}

LogicalResult Lifter::run() {
  takeLearningRate();
  share = RankShareOp::create(builder, loc, RankedTensorType::get({}, builder.getF32Type()));
  buildGradients();
  buildNorms();
  if (failed(buildScalars()))
    return failure();
  for (LiftedUpdate &update : found.updates)
    if (failed(liftUpdate(update)))
      return failure();
  for (CarriedState &state : found.counters) {
    state.state.setRole(Role::Optimizer);
    inEpilogue(state.write)->moveBefore(step.getBody().front().getTerminator());
  }
  llvm::for_each(found.common, [&](CarriedState &state) { writeOnce(state); });
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  module->setAttr(kOptimizerAttr, builder.getStringAttr("the model's own"));
  return success();
}

namespace {
struct LiftUpdates : impl::LiftUpdatesBase<LiftUpdates> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(kWholeStepAttr))
      return;
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    // Done already, or not possible yet.
    if (!step->getOps<UpdateOp>().empty() || hasTrainingNodes(*step))
      return;
    FailureOr<LiftedStep> found = analyseUpdates(module, *step);
    if (failed(found) || failed(Lifter(module, *step, *found).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
