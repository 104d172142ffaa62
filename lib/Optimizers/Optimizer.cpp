//===- Optimizer.cpp - kernels from optimizers ----------------------------===//

#include "zero/Optimizers/Optimizer.h"

#include "Optimizers.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

Optimizer::~Optimizer() = default;

std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static std::string checkOptions(const OptimizerOptions &options) {
  auto inUnit = [](double beta) { return beta >= 0 && beta < 1; };
  if (!inUnit(options.beta1) || !inUnit(options.beta2))
    return "expected betas in [0, 1), got " + number(options.beta1) + "," + number(options.beta2);
  if (!(options.epsilon >= 0))
    return "expected eps >= 0, got " + number(options.epsilon);
  if (!(options.weightDecay >= 0))
    return "expected a weight decay >= 0, got " + number(options.weightDecay);
  if (!(options.momentum >= 0))
    return "expected a momentum >= 0, got " + number(options.momentum);
  bool hasSgdOption = options.momentum != 0 || options.dampening != 0 || options.nesterov;
  if (options.name != "sgd" && hasSgdOption)
    return "momentum, dampening and nesterov are options of sgd, got '" + options.name + "'";
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    return "nesterov needs a momentum and no dampening";
  return "";
}

std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error) {
  using Create = std::unique_ptr<Optimizer> (*)(const OptimizerOptions &);
  auto create = llvm::StringSwitch<Create>(options.name)
                    .Case("sgd", createSgd)
                    .Case("adam", [](const OptimizerOptions &o) { return createAdam(o, false); })
                    .Case("adamw", [](const OptimizerOptions &o) { return createAdam(o, true); })
                    .Case("lamb", createLamb)
                    .Case("lion", createLion)
                    .Default(nullptr);
  if (!create) {
    error = "unknown optimizer '" + options.name + "', expected sgd, adam, adamw, lamb or lion";
    return nullptr;
  }
  error = checkOptions(options);
  return error.empty() ? create(options) : nullptr;
}

/// Starts a private kernel; the caller fills the entry block.
static func::FuncOp startKernel(ModuleOp module, StringRef name, ArrayRef<Type> inputs,
                                ArrayRef<Type> results, unsigned firstInplace,
                                unsigned numInplace) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = builder.getFunctionType(inputs, results);
  auto kernel = func::FuncOp::create(builder, module.getLoc(), name, type);
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, builder.getUnitAttr());
  for (unsigned i = 0; i < numInplace; ++i)
    kernel.setArgAttr(firstInplace + i, kInplaceAttr, builder.getI64IntegerAttr(i));
  kernel.addEntryBlock();
  return kernel;
}

func::FuncOp buildUpdateKernel(ModuleOp module, const Optimizer &optimizer, StringRef name) {
  MLIRContext *context = module.getContext();
  Type f32 = Float32Type::get(context);
  auto flat = RankedTensorType::get({ShapedType::kDynamic}, f32);
  auto scalar = RankedTensorType::get({}, f32);
  unsigned numResults = 1 + optimizer.states().size();
  SmallVector<Type> inputs(numResults + 1, flat);
  inputs.append(optimizer.numScalars(), scalar);
  SmallVector<Type> results(numResults, flat);
  func::FuncOp kernel = startKernel(module, name, inputs, results, 0, numResults);

  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto arguments = kernel.getArguments();
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  AffineMap broadcast = AffineMap::get(1, 0, context);
  // Results first among the operands: they are the destinations, updated in place.
  SmallVector<Value> ins(arguments.drop_front(numResults));
  SmallVector<Value> outs(arguments.take_front(numResults));
  SmallVector<AffineMap> maps(1, identity);
  maps.append(optimizer.numScalars(), broadcast);
  maps.append(numResults, identity);
  auto body = [&](OpBuilder &b, Location l, ValueRange values) {
    SmallVector<Value> operands(values.take_back(numResults));
    llvm::append_range(operands, values.drop_back(numResults));
    SmallVector<Value> updated;
    optimizer.buildUpdate(b, l, operands, updated);
    linalg::YieldOp::create(b, l, updated);
  };
  auto generic = linalg::GenericOp::create(builder, loc, results, ins, outs, maps,
                                           {utils::IteratorType::parallel}, body);
  func::ReturnOp::create(builder, loc, generic.getResults());
  return kernel;
}

/// A tensor<type> of one element, built in destination-passing style.
static Value toTensor(OpBuilder &builder, Location loc, Value element) {
  auto type = RankedTensorType::get({}, element.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  return tensor::InsertOp::create(builder, loc, element, empty, ValueRange());
}

func::FuncOp buildScalarKernel(ModuleOp module, const Optimizer &optimizer, StringRef name) {
  MLIRContext *context = module.getContext();
  auto f32 = RankedTensorType::get({}, Float32Type::get(context));
  auto f64 = RankedTensorType::get({}, Float64Type::get(context));
  unsigned numStates = optimizer.scalarStates().size();
  SmallVector<Type> inputs(1, f32);
  inputs.append(numStates, f64);
  SmallVector<Type> results(numStates, f64);
  results.append(optimizer.numScalars(), f32);
  func::FuncOp kernel = startKernel(module, name, inputs, results, 1, numStates);

  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  SmallVector<Value> elements;
  for (Value argument : kernel.getArguments())
    elements.push_back(tensor::ExtractOp::create(builder, loc, argument, ValueRange()));
  Value lr = arith::ExtFOp::create(builder, loc, f64.getElementType(), elements.front());
  SmallVector<Value> next;
  optimizer.buildScalars(builder, loc, lr, ArrayRef<Value>(elements).drop_front(), next);

  SmallVector<Value> returned;
  for (unsigned i = 0; i < numStates; ++i)
    returned.push_back(
        tensor::InsertOp::create(builder, loc, next[i], kernel.getArgument(1 + i), ValueRange()));
  for (Value scalar : ArrayRef<Value>(next).drop_front(numStates))
    returned.push_back(toTensor(
        builder, loc, arith::TruncFOp::create(builder, loc, f32.getElementType(), scalar)));
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

} // namespace zero
