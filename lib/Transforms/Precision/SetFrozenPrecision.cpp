//===- SetFrozenPrecision.cpp - frozen parameters in 16 bits --------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Precision/HalfFloats.h"
#include "zero/Transforms/Precision/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SETFROZENPRECISION
#include "include/zero/Transforms/Precision/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Gives `parameter` elements of type `narrow`; its initial values stay as they are stored.
static void narrowParameter(ParameterOp parameter, FloatType narrow) {
  RankedTensorType type = parameter.getTensorType();
  if (DataAttr data = parameter.getDataAttr(); data && !data.getStored())
    parameter.setDataAttr(DataAttr::get(parameter.getContext(), data.getFile(), data.getOffset(),
                                        data.getBytes(), type.getElementType()));
  parameter.setType(type.clone(narrow));
}

/// Gives `value`, and views of it, elements of type `narrow`.
static void narrowViews(Value value, FloatType narrow) {
  value.setType(cast<RankedTensorType>(value.getType()).clone(narrow));
  for (Operation *user : value.getUsers())
    if (auto node = dyn_cast<onnx::NodeOp>(user))
      if (ops::isView(node) && node.getInputs().front() == value)
        narrowViews(node.getOutputs().front(), narrow);
}

static FloatType typeOf(MLIRContext *context, HalfPrecision precision) {
  switch (precision) {
  case HalfPrecision::BF16:
    return BFloat16Type::get(context);
  case HalfPrecision::F16:
    return Float16Type::get(context);
  }
  llvm_unreachable("a precision without a type");
}

/// Narrows the frozen parameters of `module`. Returns their number.
static unsigned narrowFrozen(ModuleOp module, func::FuncOp step, FloatType narrow) {
  llvm::DenseSet<StringAttr> frozen;
  for (auto parameter : module.getOps<ParameterOp>())
    if (parameter.getFrozen() && parameter.getTensorType().getElementType().isF32()) {
      narrowParameter(parameter, narrow);
      frozen.insert(parameter.getSymNameAttr());
    }
  for (auto read : step.getOps<ReadOp>())
    if (frozen.contains(read.getSymbolAttr().getAttr()))
      narrowViews(read.getResult(), narrow);
  return frozen.size();
}

namespace {
struct SetFrozenPrecision : zero::impl::SetFrozenPrecisionBase<SetFrozenPrecision> {
  using SetFrozenPrecisionBase::SetFrozenPrecisionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::string flag = "--frozen-precision=" + wordOf(precision.getValue()).str();
    FloatType narrow = typeOf(&getContext(), precision);
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    if (module->hasAttr(kPrecisionAttr)) {
      emitError(module.getLoc()) << flag << ": expected no --precision, which stores all "
                                 << "parameters in 16 bits; leave one of the two out";
      return signalPassFailure();
    }
    const unsigned count = narrowFrozen(module, *step, narrow);
    if (count == 0) {
      emitError(module.getLoc()) << flag << ": expected frozen parameters of f32, found none; say "
                                 << "what is frozen with --freeze or --trainable";
      return signalPassFailure();
    }
    module->setAttr(kFrozenPrecisionAttr, TypeAttr::get(narrow));
    remark::passed(step->getLoc(), remark::RemarkOpts::name("frozen").category("precision"))
        << llvm::formatv(
               "{0} frozen parameters are stored as {1}, and extended where they are read", count,
               wordOf(precision.getValue()))
               .str();
  }
};
} // namespace
