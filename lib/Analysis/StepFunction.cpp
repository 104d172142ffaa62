//===- StepFunction.cpp - the step function and its parts -----------------===//

#include "zero/Analysis/StepFunction.h"
#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero {

FailureOr<func::FuncOp> findStep(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepName);
  if (!step || step.isExternal())
    return module.emitError() << "expected a function named @" << kStepName
                              << " that is one training step";
  if (!step.getBody().hasOneBlock())
    return step.emitError("expected a step of one block");
  return step;
}

StringRef argumentBinding(func::FuncOp step, unsigned index) {
  auto name = step.getArgAttrOfType<StringAttr>(index, kBindingAttr);
  return name ? name.getValue() : StringRef();
}

StringRef resultBinding(func::FuncOp step, unsigned index) {
  auto name = step.getResultAttrOfType<StringAttr>(index, kBindingAttr);
  return name ? name.getValue() : StringRef();
}

FailureOr<Value> findLoss(func::FuncOp step) {
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    if (resultBinding(step, index) != "loss")
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getNumElements() != 1 || !isa<FloatType>(type.getElementType()))
      return step.emitError() << "expected a loss of one float element, got " << value.getType();
    return value;
  }
  return step.emitError() << "expected a result with " << kBindingAttr << " = \"loss\"";
}

bool hasTrainingNodes(func::FuncOp step) {
  return llvm::any_of(step.getOps<onnx::NodeOp>(),
                      [](onnx::NodeOp node) { return node.getDomain() == onnx::kTrainingDomain; });
}

int64_t microBatchesOf(ModuleOp module) {
  auto several = module->getAttrOfType<IntegerAttr>(kMicroBatchesAttr);
  return several ? std::max<int64_t>(1, several.getInt()) : 1;
}

int64_t iterationsOf(ModuleOp module) {
  return module->hasAttr(kInterleavedAttr) ? 1 : microBatchesOf(module);
}

Operation *findEpilogue(func::FuncOp step) {
  return &*llvm::find_if(step.getBody().front(),
                         [](Operation &op) { return isIn(&op, Segment::Epilogue); });
}

Operation *findPrologueEnd(func::FuncOp step) {
  Block &block = step.getBody().front();
  Operation *end = &block.front();
  for (Operation &op : block)
    if (isIn(&op, Segment::Prologue))
      end = op.getNextNode();
  return end;
}

Value addArgument(func::FuncOp step, Type type, StringRef name) {
  unsigned index = step.getNumArguments();
  Builder builder(step.getContext());
  auto attrs =
      builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, builder.getStringAttr(name)));
  (void)step.insertArgument(index, type, attrs, step.getLoc());
  return step.getArgument(index);
}

void addResult(func::FuncOp step, Value value, StringRef name) {
  Builder builder(step.getContext());
  auto attrs =
      builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, builder.getStringAttr(name)));
  (void)step.insertResult(step.getNumResults(), value.getType(), attrs);
  Operation *terminator = step.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), value);
}

void setResult(func::FuncOp step, unsigned index, Value value) {
  step.getBody().front().getTerminator()->setOperand(index, value);
}

} // namespace zero
