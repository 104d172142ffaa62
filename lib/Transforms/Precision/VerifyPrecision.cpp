//===- VerifyPrecision.cpp - verify that wide values are f32 --------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Precision/HalfFloats.h"
#include "zero/Transforms/Precision/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYPRECISION
#include "include/zero/Transforms/Precision/Passes.h.inc"
} // namespace zero

using namespace zero;

static LogicalResult verifySymbols(ModuleOp module, Type narrow) {
  for (auto parameter : module.getOps<ParameterOp>())
    if (Type type = parameter.getTensorType().getElementType(); type.isF32() || isHalfFloat(type))
      if (type != narrow)
        return emitError(parameter.getLoc()) << "parameter '" << parameter.getSymName()
                                             << "': expected " << narrow << ", got " << type;
  for (auto state : module.getOps<StateOp>())
    if (isHalfFloat(state.getTensorType()))
      return emitError(state.getLoc())
             << "state '" << state.getSymName() << "': expected no 16-bit floats, got "
             << state.getTensorType();
  return success();
}

/// Only frozen parameters, and values that are views of them, are of 16 bits.
static LogicalResult verifyFrozen(ModuleOp module, func::FuncOp step, Type narrow) {
  for (auto parameter : module.getOps<ParameterOp>()) {
    if (parameter.getBlocks())
      continue;
    Type type = parameter.getTensorType().getElementType();
    if (parameter.getFrozen() ? type.isF32() || (isHalfFloat(type) && type != narrow)
                              : isHalfFloat(type))
      return emitError(parameter.getLoc())
             << (parameter.getFrozen() ? "frozen" : "trained") << " parameter '"
             << parameter.getSymName() << "': expected "
             << (parameter.getFrozen() ? narrow : Type(Float32Type::get(type.getContext())))
             << ", got " << type;
  }
  for (auto node : step.getBody().getOps<onnx::NodeOp>())
    for (Value result : node.getOutputs())
      if (isHalfFloat(result.getType()) && !ops::isView(node))
        return emitError(node.getLoc())
               << node.describe() << ": expected a result of f32, got " << result.getType();
  return success();
}

static LogicalResult verifyNode(onnx::NodeOp node, Type narrow) {
  const ops::OpDef *def = ops::lookup(node);
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    Type type = getElementTypeOrSelf(result);
    if (!isHalfFloat(type))
      continue;
    if (def && def->wideResults >> index & 1)
      return emitError(node.getLoc()) << "result " << index << " of " << node.describe()
                                      << ": expected f32, which losses, sums and statistics keep, "
                                         "got "
                                      << type;
    if (type != narrow)
      return emitError(node.getLoc()) << "result " << index << " of " << node.describe()
                                      << ": expected f32 or " << narrow << ", got " << type;
  }
  return success();
}

namespace {
struct VerifyPrecision : zero::impl::VerifyPrecisionBase<VerifyPrecision> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr);
    auto frozen = module->getAttrOfType<TypeAttr>(kFrozenPrecisionAttr);
    if (!precision && !frozen)
      return;
    FailureOr<func::FuncOp> step = findStep(module);
    if (succeeded(step) && frozen) {
      if (failed(verifyFrozen(module, *step, frozen.getValue())))
        signalPassFailure();
      return;
    }
    FailureOr<Value> loss = succeeded(step) ? findLoss(*step) : FailureOr<Value>();
    if (failed(loss) || failed(verifySymbols(module, precision.getValue())))
      return signalPassFailure();
    if (isHalfFloat(loss->getType())) {
      step->emitError() << "expected a loss of f32, got " << loss->getType();
      return signalPassFailure();
    }
    for (auto node : step->getBody().getOps<onnx::NodeOp>())
      if (failed(verifyNode(node, precision.getValue())))
        return signalPassFailure();
  }
};
} // namespace
