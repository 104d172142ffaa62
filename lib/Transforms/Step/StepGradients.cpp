//===- StepGradients.cpp - accumulate and clip gradients ------------------===//
//
// The global norm is a sum over blocks of 64 elements of each tensor, over the
// blocks of a tensor, over the tensors in the model's order: no cut into buckets or
// shards changes its bits.
//
//===----------------------------------------------------------------------===//

#include "StepGuard.h"

#include "zero/Transforms/Step/StepGradients.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace zero {

Value reshapeInEpilogue(OpBuilder &builder, Value value, RankedTensorType type) {
  auto own = cast<RankedTensorType>(value.getType());
  if (own == type)
    return value;
  if (own.getRank() != 1 && type.getRank() != 1)
    value = reshapeInEpilogue(builder, value, own.clone(ArrayRef<int64_t>(own.getNumElements())));
  Location loc = value.getLoc();
  own = cast<RankedTensorType>(value.getType());
  SmallVector<ReassociationIndices> all{
      llvm::to_vector<2>(llvm::seq<int64_t>(std::max(own.getRank(), type.getRank())))};
  if (type.getRank() == 1)
    return inEpilogue(tensor::CollapseShapeOp::create(builder, loc, type, value, all)).getResult();
  return inEpilogue(tensor::ExpandShapeOp::create(builder, loc, type, value, all)).getResult();
}

Value inRows(OpBuilder &builder, Value value, ShapedType taken) {
  auto own = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(taken.getShape());
  shape.front() = own.getNumElements() / ShapedType::getNumElements(taken.getShape().drop_front());
  return reshapeInEpilogue(builder, value, own.clone(shape));
}

std::string freeName(const SymbolTable &symbols, StringRef name) {
  std::string free = name.str();
  while (symbols.lookup(free))
    free += '_';
  return free;
}

static Attribute symbolOf(func::FuncOp kernel) {
  return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

/// "bf16", for the names of kernels.
static std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

//===----------------------------------------------------------------------===//
// Accumulation
//===----------------------------------------------------------------------===//

/// The kernels for the first and the later micro-batches.
static ArrayAttr accumulators(ModuleOp module, StringRef name, Type summand, double factor) {
  SymbolTable symbols(module);
  Builder builder(module.getContext());
  auto build = [&](bool isFirst, StringRef suffix) {
    std::string free = freeName(symbols, (name + "_" + nameOf(summand) + suffix).str());
    Type f32 = builder.getF32Type();
    return symbolOf(buildAccumulate(module, free, f32, summand, isFirst, factor));
  };
  return builder.getArrayAttr({build(true, "_first"), build(false, "_later")});
}

/// The same for sums in bf16, and `key`, which they round by.
static ArrayAttr roundingAccumulators(ModuleOp module, Type summand, Attribute key) {
  SymbolTable symbols(module);
  auto build = [&](bool isFirst, StringRef suffix) {
    std::string name = freeName(symbols, ("accumulate_bf16_" + nameOf(summand) + suffix).str());
    return symbolOf(buildRoundedAccumulate(module, name, summand, isFirst));
  };
  return Builder(module.getContext())
      .getArrayAttr({build(true, "_first"), build(false, "_later"), key});
}

void accumulateMicroBatches(ModuleOp module, func::FuncOp step, uint64_t microBatches,
                            GradPrecision precision) {
  if (microBatches == 1)
    return;
  llvm::DenseMap<Type, ArrayAttr> kernels;
  Builder builder(module.getContext());
  Type f32 = builder.getF32Type(), sum = f32;
  Attribute key;
  if (precision == GradPrecision::BF16) {
    sum = builder.getBF16Type();
    key = symbolOf(buildRoundingKey(module, freeName(SymbolTable(module), "rounding_key")));
    module->setAttr(kGradPrecisionAttr, TypeAttr::get(sum));
  }
  for (auto gradient : step.getBody().getOps<GradientOp>()) {
    auto type = cast<RankedTensorType>(gradient.getLocal().getType());
    ArrayAttr &pair = kernels[type.getElementType()];
    if (!pair)
      pair = key ? roundingAccumulators(module, type.getElementType(), key)
                 : accumulators(module, "accumulate", type.getElementType(), 1);
    gradient.setAccumulateAttr(pair);
    gradient.getResult().setType(type.clone(sum));
  }
  ArrayAttr means;
  for (auto mean : step.getBody().getOps<MicroMeanOp>()) {
    if (!means)
      means = accumulators(module, "mean", f32, 1.0 / double(microBatches));
    mean.setAccumulateAttr(means);
  }
}

//===----------------------------------------------------------------------===//
// Norm, clipping, loss scale
//===----------------------------------------------------------------------===//

namespace {
class FactorBuilder {
public:
  FactorBuilder(ModuleOp module, func::FuncOp step, const GradientFactorOptions &options)
      : module(module), step(step), options(options), symbols(module),
        builder(step.getBody().front().getTerminator()), loc(step.getLoc()) {}

  GradientFactor run(ArrayRef<GradientOp> gradients);

private:
  LaunchOp launch(func::FuncOp kernel, ValueRange inputs);
  Value squareSum(ArrayRef<GradientOp> gradients);
  Value readScale();
  void adaptScale(Value scale, TypedValue<RankedTensorType> counts);
  Value clipByPrevious(Value norm);
  Value addCounter(StringRef name, double init);

  ModuleOp module;
  func::FuncOp step;
  const GradientFactorOptions &options;
  SymbolTable symbols;
  OpBuilder builder;
  Location loc;
};
} // namespace

LaunchOp FactorBuilder::launch(func::FuncOp kernel, ValueRange inputs) {
  auto op = LaunchOp::create(builder, loc, kernel.getFunctionType().getResults(),
                             FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs);
  op->setAttr(kNameAttr, kernel.getSymNameAttr());
  return inEpilogue(op);
}

ArrayAttr buildSquareSumKernels(ModuleOp module, StringRef name, Type element) {
  SymbolTable symbols(module);
  func::FuncOp blocks =
      buildSquareBlocks(module, freeName(symbols, (name + "_squares").str()), element);
  func::FuncOp total = buildTotal(module, freeName(symbols, (name + "_total").str()),
                                  Float32Type::get(module.getContext()));
  return Builder(module.getContext()).getArrayAttr({symbolOf(blocks), symbolOf(total)});
}

/// The square of the norm of all gradients together.
Value FactorBuilder::squareSum(ArrayRef<GradientOp> gradients) {
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  llvm::DenseMap<Type, Attribute> blocks;
  Attribute total = symbolOf(buildTotal(module, freeName(symbols, "total"), f32));
  auto one = RankedTensorType::get({}, f64);
  SmallVector<Value> sums;
  SmallVector<int64_t> starts;
  for (GradientOp gradient : gradients) {
    Type element = getElementTypeOrSelf(gradient.getResult().getType());
    Attribute &kernel = blocks[element];
    if (!kernel)
      kernel = symbolOf(buildSquareBlocks(
          module, freeName(symbols, "square_blocks_" + nameOf(element)), element));
    starts.push_back(sums.size());
    sums.push_back(inEpilogue(SquareSumOp::create(builder, loc, one, gradient.getResult(),
                                                  builder.getArrayAttr({kernel, total}))));
  }
  auto list = RankedTensorType::get({int64_t(sums.size())}, f64);
  Value all = inEpilogue(BucketOp::create(builder, loc, list, sums, starts));
  // The kernel is built for one length and works for any number of elements.
  func::FuncOp sum = buildTotal(module, freeName(symbols, "total_f64"), f64);
  return launch(sum, all).getResult(0);
}

Value FactorBuilder::readScale() {
  auto state = symbols.lookup<StateOp>(kLossScale);
  if (!state)
    return {};
  return inEpilogue(ReadOp::create(builder, loc, state.getTensorType(),
                                   FlatSymbolRefAttr::get(state.getSymNameAttr())));
}

/// An f32 scalar that outlives the step; returns its value.
Value FactorBuilder::addCounter(StringRef name, double init) {
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto state = StateOp::create(atTop, module.getLoc(), Role::Optimizer, name, FlatSymbolRefAttr(),
                               type, DataAttr(), builder.getF64FloatAttr(init));
  return inEpilogue(
      ReadOp::create(builder, loc, type, FlatSymbolRefAttr::get(state.getSymNameAttr())));
}

void FactorBuilder::adaptScale(Value scale, TypedValue<RankedTensorType> counts) {
  static constexpr StringLiteral kGood = "loss_scale.good_steps", kLeft = "loss_scale.patience";
  Value good = addCounter(kGood, 0), left = addCounter(kLeft, options.lossScale.hysteresis);
  func::FuncOp kernel =
      buildLossScale(module, freeName(symbols, "next_loss_scale"), options.lossScale);
  LaunchOp next = launch(kernel, {counts, scale, good, left});
  auto check = CheckOp::create(builder, loc, next.getResult(3), 0, 0,
                               "the gradients overflow even with the minimum loss scale; "
                               "--precision=bf16 has the range of fp32");
  check->setAttr(kNameAttr, builder.getStringAttr(kLossScale));
  inEpilogue(check);
  static constexpr StringLiteral kStates[] = {kLossScale, kGood, kLeft};
  for (auto [name, value] : llvm::zip_first(kStates, next.getResults()))
    inEpilogue(
        WriteOp::create(builder, loc, FlatSymbolRefAttr::get(module.getContext(), name), value));
}

/// The factor that clips the norm of the step before, which is kept as `clip.norm`: 0 in the first
/// step, also of a run that resumes without it. It depends on no gradient of this step.
Value FactorBuilder::clipByPrevious(Value norm) {
  static constexpr StringLiteral kNorm = "clip.norm";
  SmallVector<Value> inputs{addCounter(kNorm, 0)};
  module.lookupSymbol<StateOp>(kNorm)->setAttr(kLateAttr, builder.getF64FloatAttr(0));
  if (options.share)
    inputs.push_back(options.share);
  func::FuncOp kernel = buildClipFactor(module, freeName(symbols, "clip_factor"), options.clipNorm,
                                        bool(options.share));
  Value factor = launch(kernel, inputs).getResult(0);
  inEpilogue(
      WriteOp::create(builder, loc, FlatSymbolRefAttr::get(module.getContext(), kNorm), norm));
  return factor;
}

GradientFactor FactorBuilder::run(ArrayRef<GradientOp> gradients) {
  Value scale = readScale();
  const bool skips = scale || options.skipsNonFinite || options.guard.isOn();
  if (!skips && options.clipNorm == 0)
    return {};
  SmallVector<Value> inputs{squareSum(gradients)};
  if (scale)
    inputs.push_back(scale);
  if (options.share)
    inputs.push_back(options.share);
  const double clipNow = options.clipsByPrevious ? 0 : options.clipNorm;
  GradientFactorForm form{clipNow, bool(scale), bool(options.share), skips};
  func::FuncOp kernel = buildGradientFactor(module, freeName(symbols, "gradient_factor"), form);
  LaunchOp made = launch(kernel, inputs);
  GradientFactor result;
  if (scale || options.share || options.clipNorm > 0) // else it is 1
    result.factor = made.getResult(1);
  addResult(step, made.getResult(0), "gradient_norm");
  if (options.clipsByPrevious)
    result.factor = clipByPrevious(made.getResult(0));
  if (!skips)
    return result;
  auto isFinite = cast<TypedValue<RankedTensorType>>(made.getResult(2));
  result.counts = options.guard.isOn()
                      ? addStepGuard(step, builder, made.getResult(0), isFinite, options.guard)
                      : isFinite;
  if (scale)
    addResult(step, made.getResult(3), "loss_scale");
  addResult(step, result.counts, "applied");
  if (scale && !options.isScaleFixed)
    adaptScale(scale, isFinite);
  return result;
}

GradientFactor buildGradientFactor(ModuleOp module, func::FuncOp step,
                                   ArrayRef<GradientOp> gradients,
                                   const GradientFactorOptions &options) {
  return FactorBuilder(module, step, options).run(gradients);
}

} // namespace zero
