//===- LiftedKernels.cpp - kernels of lifted updates ----------------------===//

#include "LiftedKernels.h"

#include "ElementCode.h"
#include "UpdateNodes.h"
#include "dialects/Zero/Part.h"
#include "zero/Ops/Function.h"
#include "zero/Optimizers/Kernel.h"
#include "zero/Transforms/Step/GradientKernels.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/FoldUtils.h"

using namespace mlir;

namespace zero {

/// A slice of a tensor like `value`: any number of elements or, of `rank` 2, of blocks.
static RankedTensorType sliceOf(Value value, unsigned rank) {
  SmallVector<int64_t> shape(rank, kTensorAlignment);
  shape.front() = ShapedType::kDynamic;
  return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
}

static RankedTensorType scalarLike(Type element) { return RankedTensorType::get({}, element); }

/// The parameter and the states of `update`.
static SmallVector<CarriedState> stateOf(const LiftedUpdate &update) {
  SmallVector<CarriedState> all{update.parameter};
  llvm::append_range(all, update.states);
  return all;
}

/// Appends the types (`change`, share, scalars...).
static void appendInputs(Value change, ArrayRef<Value> scalars, unsigned rank,
                         SmallVectorImpl<Type> &types) {
  types.push_back(sliceOf(change, rank));
  types.push_back(scalarLike(Float32Type::get(change.getContext())));
  for (Value scalar : scalars)
    types.push_back(scalarLike(getElementTypeOrSelf(scalar.getType())));
}

/// The element of a mean of gradients.
static Value meanOf(OpBuilder &builder, Value sum, Value share) {
  return arith::MulFOp::create(builder, sum.getLoc(), sum, share).getResult();
}

/// The types (parameter, states..., gradient, share, scalars...).
static SmallVector<Type> operandTypes(const LiftedUpdate &update, unsigned rank) {
  SmallVector<Type> types;
  for (CarriedState state : stateOf(update))
    types.push_back(sliceOf(state.write.getValue(), rank));
  appendInputs(update.change(), update.scalars, rank, types);
  return types;
}

/// Maps what the nodes of `update` read to `values`, the elements of its operands. The step of a
/// matrix follows from the mean of gradients already.
static void mapOperands(LiftedUpdate &update, OpBuilder &builder, ValueRange values,
                        IRMapping &elements) {
  const unsigned numStates = 1 + update.states.size();
  for (auto [state, value] : llvm::zip_equal(stateOf(update), values.take_front(numStates)))
    if (CarriedState own = state; own.read)
      elements.map(own.read.getResult(), value);
  elements.map(update.change(), update.matrix
                                    ? values[numStates]
                                    : meanOf(builder, values[numStates], values[numStates + 1]));
  for (auto [scalar, value] : llvm::zip_equal(update.scalars, values.drop_front(numStates + 2)))
    elements.map(scalar, value);
}

/// Maps the parameter and the new states of `update` to the first of `values`, and its scalars to
/// the last.
static void mapNewStates(LiftedUpdate &update, ValueRange values, IRMapping &elements) {
  elements.map(update.parameter.read.getResult(), values.front());
  for (auto [state, value] : llvm::zip(update.states, values.drop_front()))
    elements.map(skipViews(CarriedState(state).write.getValue()), value);
  for (auto [scalar, value] :
       llvm::zip_equal(update.scalars, values.take_back(update.scalars.size())))
    elements.map(scalar, value);
}

/// `kernel`, unless `built` is false: then it is erased.
static FailureOr<func::FuncOp> finish(func::FuncOp kernel, bool built) {
  if (built)
    return kernel;
  kernel.erase();
  return failure();
}

func::FuncOp LiftedKernels::share(func::FuncOp kernel) {
  for (func::FuncOp known : made)
    if (known.getFunctionType() == kernel.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &kernel.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      kernel.erase();
      return known;
    }
  made.push_back(kernel);
  symbols.insert(kernel);
  return kernel;
}

/// (parameter, states..., gradient, share, scalars...) -> (parameter, states...).
FailureOr<func::FuncOp> LiftedKernels::buildUpdate(LiftedUpdate &update) {
  const unsigned numStates = 1 + update.states.size();
  SmallVector<Type> types = operandTypes(update, /*rank=*/1);
  auto results = ArrayRef<Type>(types).take_front(numStates);
  func::FuncOp kernel =
      startKernel(module, freeName(symbols, "update"), types, results, 0, numStates);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  bool built = true;
  auto element = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
    IRMapping elements;
    mapOperands(update, b, values, elements);
    built = succeeded(buildElementCode(update.nodes, b, elements));
    for (CarriedState state : stateOf(update))
      next.push_back(built ? elementOf(b, skipViews(state.write.getValue()), elements)
                           : values.front());
  };
  func::ReturnOp::create(builder, loc,
                         updateElements(builder, loc, /*rank=*/1, arguments.take_front(numStates),
                                        arguments.drop_front(numStates), element));
  return finish(kernel, built);
}

/// (states..., gradient, share, scalars...) -> (states..., direction).
FailureOr<func::FuncOp> LiftedKernels::buildDirection(LiftedUpdate &update) {
  MatrixStep &matrix = *update.matrix;
  const unsigned numStates = matrix.states.size();
  SmallVector<Type> types;
  for (CarriedState &state : matrix.states)
    types.push_back(sliceOf(state.write.getValue(), /*rank=*/1));
  SmallVector<Type> results(types);
  results.push_back(sliceOf(matrix.direction, /*rank=*/1));
  appendInputs(update.gradient, matrix.scalars, /*rank=*/1, types);
  func::FuncOp kernel =
      startKernel(module, freeName(symbols, "direction"), types, results, 0, numStates);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments(), given = arguments.drop_front(numStates);
  Value count = tensor::DimOp::create(builder, loc, given.front(), 0);
  SmallVector<Value> outs(arguments.take_front(numStates));
  outs.push_back(tensor::EmptyOp::create(builder, loc, results.back(), count));
  bool built = true;
  auto element = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
    IRMapping elements;
    for (auto [state, value] : llvm::zip(matrix.states, values))
      elements.map(CarriedState(state).read.getResult(), value);
    ValueRange inputs = values.drop_front(numStates + 1); // behind the content of the direction
    elements.map(update.gradient, meanOf(b, inputs[0], inputs[1]));
    for (auto [scalar, value] : llvm::zip_equal(matrix.scalars, inputs.drop_front(2)))
      elements.map(scalar, value);
    built = succeeded(buildElementCode(matrix.directionNodes, b, elements));
    for (CarriedState &state : matrix.states)
      next.push_back(built ? elementOf(b, skipViews(state.write.getValue()), elements)
                           : inputs.front());
    next.push_back(built ? elementOf(b, matrix.direction, elements) : inputs.front());
  };
  func::ReturnOp::create(builder, loc,
                         updateElements(builder, loc, /*rank=*/1, outs, given, element));
  FailureOr<func::FuncOp> finished = finish(kernel, built);
  return failed(finished) ? finished : FailureOr<func::FuncOp>(share(*finished));
}

/// A constant of `type` for elements that are not in any tensor, or for any scalar.
static Value constantOf(OpBuilder &builder, Location loc, Type type, double value) {
  type = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(type) ? TypedAttr(builder.getFloatAttr(type, value))
                                        : builder.getIntegerAttr(type, value != 0);
  return arith::ConstantOp::create(builder, loc, attr);
}

/// Whether the direction is zero for elements whose parameter, states and gradient are zero. Slices
/// have such elements between tensors, which must not count in norms.
static bool isZeroOutside(LiftedUpdate &update) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(update.gradient.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location loc = module->getLoc();
  SmallVector<Value> values;
  for (Type type : operandTypes(update, /*rank=*/1))
    values.push_back(
        constantOf(builder, loc, type, cast<RankedTensorType>(type).getRank() ? 0 : 1));
  IRMapping before, after;
  mapOperands(update, builder, values, before);
  if (failed(buildElementCode(update.nodes, builder, before)))
    return false;
  SmallVector<Value> next{values.front()};
  for (CarriedState state : update.states)
    next.push_back(elementOf(builder, skipViews(state.write.getValue()), before));
  llvm::append_range(next, ArrayRef<Value>(values).take_back(update.scalars.size()));
  mapNewStates(update, next, after);
  if (failed(buildElementCode(update.layer->directionNodes, builder, after)))
    return false;
  // Kept alive while constants are folded.
  auto result =
      UnrealizedConversionCastOp::create(builder, loc, update.layer->direction.getType(),
                                         elementOf(builder, update.layer->direction, after));
  OperationFolder folder(loc.getContext());
  for (Operation &op : llvm::make_early_inc_range(*module->getBody()))
    if (&op != result.getOperation())
      (void)folder.tryToFold(&op);
  return matchPattern(result.getOperand(0), m_AnyZeroFloat());
}

/// (parameter, states..., gradient, share, scalars...) -> (states..., sums of squares of the
/// parameter and of the direction for each block).
FailureOr<func::FuncOp> LiftedKernels::buildMeasure(LiftedUpdate &update) {
  const unsigned numStates = update.states.size();
  SmallVector<Type> types = operandTypes(update, /*rank=*/2);
  SmallVector<Type> results(ArrayRef<Type>(types).slice(1, numStates));
  results.append(2,
                 RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(loc.getContext())));
  func::FuncOp kernel =
      startKernel(module, freeName(symbols, "update_measure"), types, results, 1, numStates);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  bool built = true;
  auto element = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
    // States come first here, and the parameter behind them.
    SmallVector<Value> operands{values[numStates]};
    llvm::append_range(operands, values.take_front(numStates));
    llvm::append_range(operands, values.drop_front(numStates + 1));
    IRMapping elements;
    mapOperands(update, b, operands, elements);
    built &= succeeded(buildElementCode(update.nodes, b, elements));
    for (auto [state, value] : llvm::zip(update.states, values))
      next.push_back(built ? elementOf(b, skipViews(CarriedState(state).write.getValue()), elements)
                           : value);
  };
  SmallVector<Value> ins{arguments.front()};
  llvm::append_range(ins, arguments.drop_front(1 + numStates));
  SmallVector<Value> returned =
      updateElements(builder, loc, /*rank=*/2, arguments.slice(1, numStates), ins, element);
  SmallVector<Value> measured{arguments.front()};
  llvm::append_range(measured, returned);
  llvm::append_range(measured, arguments.take_back(update.scalars.size()));
  auto direction = [&](OpBuilder &b, ValueRange values) {
    IRMapping elements;
    mapNewStates(update, values, elements);
    built &= succeeded(buildElementCode(update.layer->directionNodes, b, elements));
    return built ? elementOf(b, update.layer->direction, elements) : values.front();
  };
  returned.push_back(
      sumSquaresOfBlocks(builder, loc, arguments.front(),
                         [](OpBuilder &, ValueRange values) { return values.front(); }));
  returned.push_back(sumSquaresOfBlocks(builder, loc, measured, direction));
  func::ReturnOp::create(builder, loc, returned);
  return finish(kernel, built);
}

/// (sum of squares of the parameter f64, of the direction f64, tensor<?xf32>) -> the ratio for each
/// block.
FailureOr<func::FuncOp> LiftedKernels::buildRatio(LiftedUpdate &update) {
  const LayerRatio &layer = *update.layer;
  bool built = true;
  auto ratio = [&](OpBuilder &b, ValueRange sums) -> Value {
    IRMapping elements;
    Formula f(b, loc);
    for (auto [norm, sum] : {std::pair(layer.ofWeight, sums[0]), {layer.ofDirection, sums[1]}})
      if (onnx::NodeOp node = norm) {
        Value result = node.getResult(0);
        Value value = ops::computes(node, ops::Function::ReduceL2) ? f.sqrt(sum) : Value(sum);
        elements.map(result, f.cast(value, getElementTypeOrSelf(result.getType())));
      }
    built = succeeded(buildElementCode(layer.nodes, b, elements));
    return built ? elementOf(b, layer.ratio, elements) : f.constant(0, b.getF32Type());
  };
  func::FuncOp kernel = buildRatioKernel(module, freeName(symbols, "update_ratio"), ratio);
  return finish(kernel, built);
}

/// (parameter, states..., ratios, share, scalars...) -> parameter.
FailureOr<func::FuncOp> LiftedKernels::buildApply(LiftedUpdate &update) {
  SmallVector<Type> types = operandTypes(update, /*rank=*/2);
  const unsigned ratioIndex = 1 + update.states.size();
  types[ratioIndex] =
      RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(loc.getContext()));
  func::FuncOp kernel =
      startKernel(module, freeName(symbols, "update"), types, types.front(), 0, 1);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  bool built = true;
  auto element = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
    IRMapping elements;
    mapNewStates(update, values, elements);
    elements.map(update.layer->ratio, values[ratioIndex]);
    built = succeeded(buildElementCode(update.lastNodes, b, elements));
    next.push_back(built ? elementOf(b, skipViews(update.parameter.write.getValue()), elements)
                         : values.front());
  };
  func::ReturnOp::create(builder, loc,
                         updateElements(builder, loc, /*rank=*/2, arguments.take_front(1),
                                        arguments.drop_front(1), element));
  return finish(kernel, built);
}

FailureOr<UpdateKernels> LiftedKernels::build(LiftedUpdate &update) {
  if (!update.layer) {
    FailureOr<func::FuncOp> kernel = buildUpdate(update);
    if (failed(kernel))
      return failure();
    return UpdateKernels{share(*kernel), ArrayAttr()};
  }
  if (!isZeroOutside(update))
    return emitError(update.layer->ofDirection.getLoc())
           << "parameter '" << update.parameter.state.getSymName()
           << "': expected the value of which its update takes a norm to be zero where the "
              "parameter, its states and its gradient are zero";
  FailureOr<func::FuncOp> measure = buildMeasure(update);
  if (failed(measure))
    return failure();
  FailureOr<func::FuncOp> ratio = buildRatio(update);
  if (failed(ratio))
    return failure();
  FailureOr<func::FuncOp> apply = buildApply(update);
  if (failed(apply))
    return failure();
  if (!total) {
    total =
        buildTotal(module, freeName(symbols, "update_total"), Float32Type::get(loc.getContext()));
    symbols.insert(total);
  }
  Builder builder(loc.getContext());
  auto name = [](func::FuncOp kernel) -> Attribute {
    return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
  };
  ArrayAttr layerwise =
      builder.getArrayAttr({name(share(*measure)), name(total), name(share(*ratio))});
  return UpdateKernels{share(*apply), layerwise};
}

} // namespace zero
