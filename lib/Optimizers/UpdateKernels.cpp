//===- UpdateKernels.cpp - optimizers as kernels --------------------------===//
//
// Arguments of an update: parameter, states... (of a 16-bit parameter its f32 master
// first), gradient, scalars... (a factor on the gradient first, if it is scaled). The
// optimizer's own rules see f32 values only.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

namespace {

/// Builds the kernels of one optimizer for one form.
class UpdateBuilder {
public:
  UpdateBuilder(ModuleOp module, const Optimizer &optimizer, const UpdateForm &form)
      : module(module), optimizer(optimizer), form(form), context(module.getContext()),
        f32(Float32Type::get(context)), rank(optimizer.isLayerwise() ? 2 : 1) {}

  func::FuncOp buildUpdate(StringRef name);
  func::FuncOp buildMeasure(StringRef name);
  func::FuncOp buildApply(StringRef name);
  func::FuncOp buildDirection(StringRef name);

private:
  using Body =
      llvm::function_ref<void(Formula &, OpBuilder &, ValueRange, SmallVectorImpl<Value> &)>;

  /// Those that the update itself has.
  unsigned numOwnStates() const {
    return optimizer.states().size() - optimizer.numDirectionStates();
  }
  unsigned numStates() const { return form.hasMaster() + numOwnStates(); }
  unsigned numScalars() const { return form.scaled + optimizer.numScalars(); }
  /// A slice: any number of elements or of blocks.
  RankedTensorType flat(Type element) const {
    SmallVector<int64_t> shape(rank, kTensorAlignment);
    shape.front() = ShapedType::kDynamic;
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType perBlock() const { return RankedTensorType::get({ShapedType::kDynamic}, f32); }
  RankedTensorType scalar() const { return RankedTensorType::get({}, f32); }

  /// parameter, states..., gradient, scalars...
  SmallVector<Type> updateTypes() const {
    SmallVector<Type> types{flat(form.parameter)};
    types.append(numStates(), flat(f32));
    types.push_back(flat(form.gradient));
    types.append(numScalars(), scalar());
    return types;
  }

  SmallVector<Value> elementwise(OpBuilder &builder, ValueRange ins, ValueRange outs, Body body);

  /// The f32 values that the optimizer's rules take: the parameter (its master),
  /// its states, the gradient times its factor, scalars.
  SmallVector<Value> rules(Formula &f, ValueRange operands) const;

  ModuleOp module;
  const Optimizer &optimizer;
  const UpdateForm &form;
  MLIRContext *context;
  Type f32;
  unsigned rank;
};

} // namespace

/// The loop over slices; `body` is as for updateElements().
SmallVector<Value> UpdateBuilder::elementwise(OpBuilder &builder, ValueRange ins, ValueRange outs,
                                              Body body) {
  return updateElements(builder, module.getLoc(), rank, outs, ins,
                        [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &results) {
                          Formula f(b, module.getLoc());
                          body(f, b, values, results);
                        });
}

SmallVector<Value> UpdateBuilder::rules(Formula &f, ValueRange operands) const {
  SmallVector<Value> values(operands.drop_front(form.hasMaster()));
  unsigned gradient = 1 + numOwnStates();
  values[gradient] = f.cast(values[gradient], f32);
  if (form.scaled) {
    values[gradient] = f.mul(values[gradient], values[gradient + 1]);
    values.erase(values.begin() + gradient + 1);
  }
  return values;
}

func::FuncOp UpdateBuilder::buildUpdate(StringRef name) {
  unsigned numResults = 1 + numStates();
  SmallVector<Type> types = updateTypes();
  auto results = ArrayRef<Type>(types).take_front(numResults);
  func::FuncOp kernel = startKernel(module, name, types, results, 0, numResults);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  auto body = [&](Formula &f, OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &updated) {
    optimizer.buildUpdate(b, kernel.getLoc(), rules(f, values), updated);
    if (form.hasMaster())
      updated.insert(updated.begin(), f.cast(updated.front(), form.parameter));
  };
  func::ReturnOp::create(builder, kernel.getLoc(),
                         elementwise(builder, arguments.drop_front(numResults),
                                     arguments.take_front(numResults), body));
  return kernel;
}

func::FuncOp UpdateBuilder::buildDirection(StringRef name) {
  unsigned states = optimizer.numDirectionStates();
  SmallVector<Type> types(states, flat(f32)), results(states + 1, flat(f32));
  types.push_back(flat(form.gradient));
  types.append(numScalars(), scalar());
  func::FuncOp kernel = startKernel(module, name, types, results, 0, states);
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments(), given = arguments.drop_front(states);
  Value elements = tensor::DimOp::create(builder, loc, given.front(), 0);
  SmallVector<Value> outs(arguments.take_front(states));
  outs.push_back(tensor::EmptyOp::create(builder, loc, flat(f32), elements));
  auto body = [&](Formula &f, OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
    SmallVector<Value> operands(values.take_front(states)); // without the content of the direction
    Value gradient = f.cast(values[states + 1], f32);
    operands.push_back(form.scaled ? f.mul(gradient, values[states + 2]) : gradient);
    llvm::append_range(operands, values.drop_front(states + 2 + form.scaled));
    optimizer.buildMatrixDirection(b, loc, operands, next);
  };
  func::ReturnOp::create(builder, loc, elementwise(builder, given, outs, body));
  return kernel;
}

/// Advances the states and measures parameter and direction.
func::FuncOp UpdateBuilder::buildMeasure(StringRef name) {
  unsigned states = optimizer.states().size(), first = 1 + form.hasMaster();
  SmallVector<Type> results(states, flat(f32));
  results.append(2, perBlock());
  func::FuncOp kernel = startKernel(module, name, updateTypes(), results, first, states);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  ValueRange given = arguments.drop_front(first + states);
  Value weight = arguments[form.hasMaster()];
  Location loc = kernel.getLoc();

  SmallVector<Value> ins{weight};
  llvm::append_range(ins, given);
  SmallVector<Value> returned =
      elementwise(builder, ins, arguments.slice(first, states),
                  [&](Formula &f, OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &next) {
                    // States come first here: move the parameter before them.
                    SmallVector<Value> operands(form.hasMaster() + 1, values[states]);
                    llvm::append_range(operands, values.take_front(states));
                    llvm::append_range(operands, values.drop_front(states + 1));
                    optimizer.buildStates(b, loc, rules(f, operands), next);
                  });
  SmallVector<Value> measured{weight};
  llvm::append_range(measured, returned);
  llvm::append_range(measured, given.drop_front(1 + form.scaled));
  returned.push_back(sumSquaresOfBlocks(
      builder, loc, weight, [](OpBuilder &, ValueRange values) { return values.front(); }));
  returned.push_back(
      sumSquaresOfBlocks(builder, loc, measured, [&](OpBuilder &b, ValueRange values) {
        return optimizer.buildDirection(b, loc, values);
      }));
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

/// parameter, states..., ratios, scalars... -> parameter, master.
func::FuncOp UpdateBuilder::buildApply(StringRef name) {
  unsigned numResults = 1 + form.hasMaster();
  SmallVector<Type> types = updateTypes();
  types[1 + numStates()] = perBlock();
  auto results = ArrayRef<Type>(types).take_front(numResults);
  func::FuncOp kernel = startKernel(module, name, types, results, 0, numResults);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  unsigned states = optimizer.states().size();
  auto body = [&](Formula &f, OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &updated) {
    Value weight = values[form.hasMaster()];
    Value ratio = values[numResults + states];
    ValueRange scalars = values.drop_front(numResults + states + 1 + form.scaled);
    SmallVector<Value> operands{weight};
    llvm::append_range(operands, values.slice(numResults, states));
    llvm::append_range(operands, scalars);
    Value direction = optimizer.buildDirection(b, kernel.getLoc(), operands);
    Value next = f.fma(f.mul(scalars.front(), ratio), direction, weight);
    if (form.hasMaster())
      updated.push_back(f.cast(next, form.parameter));
    updated.push_back(next);
  };
  func::ReturnOp::create(builder, kernel.getLoc(),
                         elementwise(builder, arguments.drop_front(numResults),
                                     arguments.take_front(numResults), body));
  return kernel;
}

/// (sum of squares of a tensor f64, of its direction f64, tensor<?xf32>) -> the ratio
/// of their norms for each block.
static func::FuncOp buildRatio(ModuleOp module, StringRef name) {
  return buildRatioKernel(module, name, [&](OpBuilder &b, ValueRange sums) {
    Location loc = module.getLoc();
    Formula f(b, loc);
    Type f64 = b.getF64Type();
    Value zero = f.constant(0, f64), one = f.constant(1, f64);
    auto isPositive = [&](Value value) {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, value, zero).getResult();
    };
    Value both = arith::AndIOp::create(b, loc, isPositive(sums[0]), isPositive(sums[1]));
    Value ratio = f.div(f.sqrt(sums[0]), f.sqrt(sums[1]));
    return f.cast(f.select(both, ratio, one), b.getF32Type());
  });
}

func::FuncOp buildDirectionKernel(ModuleOp module, const Optimizer &optimizer,
                                  const UpdateForm &form, StringRef name) {
  const bool isPlain = llvm::all_of(form.states, [](StateForm state) { return state.bits == 32; });
  return isPlain ? UpdateBuilder(module, optimizer, form).buildDirection(name)
                 : buildStoredDirection(module, optimizer, form, name);
}

SmallVector<func::FuncOp> buildUpdateKernels(ModuleOp module, const Optimizer &optimizer,
                                             const UpdateForm &form, StringRef name) {
  if (!form.isPlain())
    return {buildStoredUpdate(module, optimizer, form, name)};
  UpdateBuilder builder(module, optimizer, form);
  if (!optimizer.isLayerwise())
    return {builder.buildUpdate(name)};
  return {builder.buildApply(name), builder.buildMeasure((name + "_measure").str()),
          buildRatio(module, (name + "_ratio").str())};
}

} // namespace zero
