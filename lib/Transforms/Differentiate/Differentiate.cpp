//===- Differentiate.cpp - append the gradient of the loss ----------------===//

#include "Activation.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Differentiate/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "include/zero/Transforms/Differentiate/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The model's trained parameters, in the module's order.
static SmallVector<ParameterOp> trainedParameters(ModuleOp module) {
  SmallVector<ParameterOp> parameters;
  for (auto parameter : module.getOps<ParameterOp>())
    if (!parameter.getFrozen())
      parameters.push_back(parameter);
  return parameters;
}

/// The read of each parameter, which is marked in `reverse` and replaces other reads of it.
static llvm::MapVector<StringAttr, Value> activateReads(func::FuncOp step, ReverseMode &reverse,
                                                        ArrayRef<ParameterOp> parameters) {
  llvm::MapVector<StringAttr, Value> reads;
  for (ParameterOp parameter : parameters)
    reads.insert({parameter.getSymNameAttr(), Value()});
  for (auto read : step.getBody().getOps<ReadOp>()) {
    auto *found = reads.find(read.getSymbolAttr().getAttr());
    if (found == reads.end())
      continue;
    if (found->second)
      read.replaceAllUsesWith(found->second);
    else
      reverse.activate(found->second = read.getResult());
  }
  return reads;
}

static LogicalResult emitGradient(OpBuilder &builder, ParameterOp parameter, Value read,
                                  Value gradient) {
  if (!gradient) {
    InFlightDiagnostic error = parameter.emitError()
                               << "parameter '" << parameter.getSymName()
                               << "' is to be trained but does not reach the loss; freeze it "
                                  "or leave it out of --trainable";
    if (read)
      noteZeroDerivatives(error, read);
    return error;
  }
  GradientOp::create(builder, parameter.getLoc(), gradient.getType(),
                     FlatSymbolRefAttr::get(parameter.getSymNameAttr()), gradient, ArrayAttr());
  return success();
}

/// The seed of the gradient: the rank's share of the loss, times the loss scale where
/// the program has one.
static Value makeSeed(OpBuilder &builder, func::FuncOp step, Value loss) {
  Location loc = step.getLoc();
  Value share = RankShareOp::create(builder, loc, loss.getType());
  auto module = step->getParentOfType<ModuleOp>();
  auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr);
  auto scale = module.lookupSymbol<StateOp>(kLossScale);
  if (!precision || !precision.getValue().isF16() || !scale)
    return share;
  Value read = ReadOp::create(builder, loc, scale.getTensorType(), scale.getSymName());
  return NodeBuilder(builder, loc, kLossScale).mul(share, read);
}

static InFlightDiagnostic refuseToTrain(func::FuncOp step) {
  InFlightDiagnostic error =
      step.emitError("nothing to train: the model has no trainable parameter");
  if (step->getParentOfType<ModuleOp>().getOps<ParameterOp>().empty())
    error.attachNote() << "parameters are initializers of a model; if they are inputs whose next "
                          "values are outputs, pair them with --carry=INPUT=OUTPUT,...";
  return error;
}

static LogicalResult differentiate(func::FuncOp step) {
  SmallVector<ParameterOp> parameters = trainedParameters(step->getParentOfType<ModuleOp>());
  if (parameters.empty())
    return refuseToTrain(step);
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();

  OpBuilder builder(step.getBody().front().getTerminator());
  ReverseMode reverse(builder);
  llvm::MapVector<StringAttr, Value> reads = activateReads(step, reverse, parameters);
  SmallVector<Operation *> ops =
      activate(opsBetween(step.getBody().front(), {}, *loss), reverse, *loss);
  if (!reverse.isActive(*loss)) {
    InFlightDiagnostic error = step.emitError("the loss does not depend on any trained parameter");
    noteZeroDerivatives(error, llvm::to_vector(llvm::make_filter_range(
                                   llvm::make_second_range(reads), [](Value v) { return !!v; })));
    return error;
  }
  reverse.accumulate(*loss, makeSeed(builder, step, *loss));
  if (failed(reverse.run(ops)))
    return failure();
  for (ParameterOp parameter : parameters) {
    Value read = reads.lookup(parameter.getSymNameAttr());
    if (failed(emitGradient(builder, parameter, read, read ? reverse.gradientOf(read) : Value())))
      return failure();
  }
  return success();
}

namespace {
struct Differentiate : zero::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    // A graph that already trains comes with its own gradients.
    if (!step->getBody().getOps<GradientOp>().empty() ||
        !step->getBody().getOps<UpdateOp>().empty())
      return;
    if (failed(differentiate(*step)))
      signalPassFailure();
  }
};
} // namespace
