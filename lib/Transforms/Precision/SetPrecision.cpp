//===- SetPrecision.cpp - store values in 16 bits -------------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Precision/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SETPRECISION
#include "include/zero/Transforms/Precision/Passes.h.inc"
} // namespace zero

using namespace zero;

static bool isFloatTensor(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }

namespace {
class Narrower {
public:
  Narrower(ModuleOp module, func::FuncOp step, FloatType narrow, StringRef flag)
      : module(module), step(step), narrow(narrow), flag(flag) {}

  LogicalResult run();
  std::string describe() const {
    return llvm::formatv("{0}: {1} parameters and {2} values of the step are stored in 16 bits; "
                         "{3} losses, sums and statistics of these stay f32",
                         flag, parameters.size(), numNarrow, numKept)
        .str();
  }

private:
  LogicalResult check();
  void keepLoss(Value loss);
  void narrowParameter(ParameterOp parameter);
  void visit(Operation &op);
  void visitNode(onnx::NodeOp node);
  void widenBuffer(WriteOp write);
  /// `result` has the type of `operand` and propagates its changes.
  void follow(Value operand, Value result);
  void store(Value value);

  ModuleOp module;
  func::FuncOp step;
  FloatType narrow;
  StringRef flag;
  llvm::DenseSet<StringAttr> parameters;
  /// Values of which other values are computed that are stored in 16 bits.
  llvm::DenseSet<Value> spreads;
  /// The loss, values that are averaged over micro-batches, and their sources through views.
  llvm::DenseSet<Value> losses;
  unsigned numNarrow = 0, numKept = 0;
};
} // namespace

LogicalResult Narrower::check() {
  for (Operation &op : step.getBody().front()) {
    if (isa<GradientOp, UpdateOp>(op))
      return op.emitError() << "--precision=" << flag
                            << ": the graph already contains a training step, whose types do not "
                               "change; leave it out";
    if (!isa<onnx::NodeOp, onnx::NoneOp, ReadOp, WriteOp, RankMeanOp, MicroMeanOp, RankShareOp,
             arith::ConstantOp, func::ReturnOp>(op))
      return op.emitError() << "--precision=" << flag << ": expected nodes of a model, got '"
                            << op.getName() << "', which computes in the types that it has";
    if (auto node = dyn_cast<onnx::NodeOp>(op); node && !ops::lookup(node))
      return node.emitError() << node.describe() << " of opset " << node.getOpset()
                              << " is not known";
  }
  return success();
}

/// The operand that `op` gives another shape, or null.
static Value viewedOperand(Operation *op) {
  auto node = dyn_cast_or_null<onnx::NodeOp>(op);
  return ops::isView(node) ? node.getInputs().front() : Value();
}

void Narrower::keepLoss(Value loss) {
  for (Value value = loss; value; value = viewedOperand(value.getDefiningOp()))
    losses.insert(value);
}

void Narrower::narrowParameter(ParameterOp parameter) {
  RankedTensorType type = parameter.getTensorType();
  if (!type.getElementType().isF32())
    return;
  if (DataAttr data = parameter.getDataAttr(); data && !data.getStored())
    parameter.setDataAttr(DataAttr::get(module.getContext(), data.getFile(), data.getOffset(),
                                        data.getBytes(), type.getElementType()));
  parameter.setType(type.clone(narrow));
  parameters.insert(parameter.getSymNameAttr());
}

void Narrower::store(Value value) {
  spreads.insert(value);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType().isF32())
    value.setType(type.clone(narrow));
}

void Narrower::follow(Value operand, Value result) {
  result.setType(cast<RankedTensorType>(result.getType()).clone(getElementTypeOrSelf(operand)));
  if (spreads.contains(operand))
    spreads.insert(result);
}

void Narrower::visitNode(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  if (def->kind == ops::Kind::View || def->kind == ops::Kind::Exchange)
    return follow(node.getInputs().front(), node.getOutputs().front());
  if (llvm::none_of(node.getInputs(), [&](Value input) { return spreads.contains(input); }))
    return;
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    if (!isFloatTensor(result))
      continue;
    bool keeps = (def->wideResults >> index & 1) || losses.contains(result);
    ++(keeps ? numKept : numNarrow);
    if (!keeps)
      store(result);
  }
}

void Narrower::visit(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op)) {
    if (parameters.contains(read.getSymbolAttr().getAttr()))
      store(read.getResult());
  } else if (isa<RankMeanOp, MicroMeanOp>(op)) {
    follow(op.getOperand(0), op.getResult(0));
  } else if (auto write = dyn_cast<WriteOp>(op)) {
    widenBuffer(write);
  } else if (auto node = dyn_cast<onnx::NodeOp>(op)) {
    visitNode(node);
  }
}

/// A buffer that forward updates keeps its type.
void Narrower::widenBuffer(WriteOp write) {
  auto state = module.lookupSymbol<StateOp>(write.getSymbol());
  Type element = state.getTensorType().getElementType();
  if (getElementTypeOrSelf(write.getValue()) == element)
    return;
  OpBuilder builder(write);
  write.getValueMutable().assign(
      NodeBuilder(builder, write.getLoc(), write.getSymbol()).cast(write.getValue(), element));
}

LogicalResult Narrower::run() {
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss) || failed(check()))
    return failure();
  keepLoss(*loss);
  for (auto mean : step.getBody().getOps<MicroMeanOp>())
    keepLoss(mean.getInput());
  for (auto parameter : module.getOps<ParameterOp>())
    narrowParameter(parameter);
  Block &body = step.getBody().front();
  // Inputs stay as users bind them.
  for (BlockArgument argument : body.getArguments())
    if (isFloatTensor(argument))
      spreads.insert(argument);
  for (Operation &op : llvm::make_early_inc_range(body))
    visit(op);
  step.setFunctionType(FunctionType::get(step.getContext(), body.getArgumentTypes(),
                                         body.getTerminator()->getOperandTypes()));
  module->setAttr(kPrecisionAttr, TypeAttr::get(narrow));
  return success();
}

/// Adds the scale of the loss, which keeps small gradients above f16's smallest number.
static LogicalResult addLossScale(ModuleOp module, double initial) {
  if (Operation *taken = module.lookupSymbol(kLossScale))
    return emitError(taken->getLoc()) << "initializer '" << kLossScale
                                      << "': expected another name, that of the loss scale is "
                                         "reserved";
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  StateOp::create(builder, module.getLoc(), Role::Optimizer, kLossScale, FlatSymbolRefAttr(),
                  RankedTensorType::get({}, builder.getF32Type()), DataAttr(),
                  builder.getF64FloatAttr(initial));
  return success();
}

namespace {
struct SetPrecision : zero::impl::SetPrecisionBase<SetPrecision> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    if (precision == Precision::F32)
      return;
    Builder builder(&getContext());
    FloatType narrow = precision == Precision::BF16 ? FloatType(builder.getBF16Type())
                                                    : FloatType(builder.getF16Type());
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Narrower narrower(getOperation(), *step, narrow, wordOf(precision.getValue()));
    if (failed(narrower.run()) ||
        (narrow.isF16() && failed(addLossScale(getOperation(), lossScale))))
      return signalPassFailure();
    remark::passed(step->getLoc(), remark::RemarkOpts::name("narrowed").category("precision"))
        << narrower.describe();
  }
};
} // namespace
