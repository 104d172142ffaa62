//===- VerifyExport.cpp - diagnose lost parameters ------------------------===//

#include "ConstantRoles.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Findings.h"
#include "zero/Analysis/ConstantNames.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/BatchNorm.h"
#include "zero/Ops/Function.h"
#include "zero/Transforms/Import/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYEXPORT
#include "include/zero/Transforms/Import/Passes.h.inc"

using ops::Function;

/// The node that makes `value`, if it computes one of `functions`.
static onnx::NodeOp producer(Value value, ArrayRef<Function> functions) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  return ops::computes(node, functions) ? node : nullptr;
}

namespace {
class Inspector {
public:
  Inspector(ModuleOp module, func::FuncOp step, bool verbose)
      : module(module), step(step), roles(step), verbose(verbose) {}

  LogicalResult run() {
    findLost();
    findFrozenStatistics();
    warnOfMissingEpsilons();
    if (findings.empty())
      return success();
    InFlightDiagnostic error =
        emitError(module.getLoc())
        << "the exporter seems to have lost parameters (findings: " << findings.size()
        << "): the graph would not train as the model does";
    attachFindings(error,
                   {"export for training: model.train(), then torch.onnx.export(..., dynamo=True, "
                    "optimize=False); with dynamo=False: do_constant_folding=False, "
                    "training=torch.onnx.TrainingMode.TRAINING",
                    "or, if the graph is intended, list the parameters to train in "
                    "--trainable=FILE, one name or pattern per line"},
                   findings, verbose);
    return error;
  }

private:
  /// Finds parameters that the exporter's metadata lists as lost. Without metadata, finds constants
  /// that look like weights.
  void findLost() {
    if (auto lost = module->getAttrOfType<ArrayAttr>(kLostParametersAttr))
      for (auto line : lost.getAsValueRange<StringAttr>())
        findings.push_back({line.str()});
    llvm::StringMap<ReadOp> reads;
    for (auto read : step.getOps<ReadOp>())
      reads[read.getSymbol()] = read;
    for (auto state : module.getOps<StateOp>())
      if (ReadOp read = reads.lookup(state.getSymName()); read && roles.reachesLoss(read))
        inspect(state, read);
  }

  void inspect(StateOp state, ReadOp read) {
    RankedTensorType type = state.getTensorType();
    bool isConstant = state.getRole() == Role::Constant && isa<FloatType>(type.getElementType());
    if (!isConstant || type.getNumElements() == 1 || state->hasAttr(kExportedAsAttr) ||
        isModulePath(state.getSymName(), module->hasAttr(kNoRecordAttr)) ||
        !roles.bufferReason(read).empty())
      return;
    onnx::NodeOp reader = roles.weightReader(read);
    if (!reader)
      return;
    std::string shape;
    llvm::raw_string_ostream os(shape);
    llvm::interleave(type.getShape(), os, "x");
    findings.push_back({"constant '" + state.getSymName().str() + "' of " + shape + ", read by " +
                        reader.describe() + ", looks like a weight without its name"});
  }

  void findFrozenStatistics() {
    for (auto node : step.getOps<onnx::NodeOp>())
      if (roles.reachesLoss(node) && !trainsBatchNorm(node) &&
          llvm::any_of(node->getOpOperands(), readsStatistics))
        findings.push_back({node.describe() + " is in inference mode: it would neither use nor "
                                              "update the statistics of a batch"});
  }

  static bool readsStatistics(OpOperand &use) {
    return ops::roleOf(use) == ops::OperandRole::Statistics && use.get().getDefiningOp<ReadOp>();
  }

  /// Whether `value` is the square root of a sum of squares to which nothing was added.
  static bool isBareNorm(Value value) {
    if (producer(value, Function::ReduceL2))
      return true;
    onnx::NodeOp root = producer(value, Function::Sqrt);
    if (!root)
      return false;
    Value inner = root.getInputs().front();
    return producer(inner, {Function::ReduceMean, Function::ReduceSum,
                            Function::ReduceSumSquare}) != nullptr;
  }

  void warnOfMissingEpsilons() {
    for (auto node : step.getOps<onnx::NodeOp>()) {
      if (!roles.reachesLoss(node))
        continue;
      if (ops::computes(node, {Function::Div, Function::Reciprocal}) &&
          isBareNorm(node.getInputs().back()))
        emitWarning(node.getLoc())
            << node.describe()
            << " divides by a norm with no epsilon, and by zero where that is 0: an exporter that "
               "folds x + 1e-8 to x leaves this";
    }
  }

  ModuleOp module;
  func::FuncOp step;
  ConstantRoles roles;
  bool verbose;
  std::vector<Finding> findings;
};

struct VerifyExport : impl::VerifyExportBase<VerifyExport> {
  using VerifyExportBase::VerifyExportBase;

  void runOnOperation() override {
    // A whole step is trained as it is.
    if (getOperation()->hasAttr(kWholeStepAttr))
      return;
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step) || failed(Inspector(getOperation(), *step, verbose).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
