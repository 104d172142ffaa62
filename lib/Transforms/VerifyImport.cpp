//===- VerifyImport.cpp - what import promises ----------------------------===//

#include "dialects/Zero/ExporterAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "include/zero/Transforms/Passes.h.inc"

/// "FastGelu of domain 'com.microsoft', opset 1".
static StringAttr describeOperator(onnx::NodeOp node) {
  std::string text = node.getOpType().str();
  if (!node.getDomain().empty())
    text += " of domain '" + node.getDomain().str() + "'";
  text += ", opset " + std::to_string(node.getOpset());
  return StringAttr::get(node.getContext(), text);
}

/// One error with a note for each operator that the table does not know.
static LogicalResult verifyOperators(ModuleOp module) {
  llvm::MapVector<StringAttr, SmallVector<onnx::NodeOp>> unknown;
  module.walk([&](onnx::NodeOp node) {
    if (!ops::lookup(node))
      unknown[describeOperator(node)].push_back(node);
  });
  if (unknown.empty())
    return success();
  InFlightDiagnostic error = emitError(module.getLoc())
                             << unknown.size() << " operators are not supported";
  constexpr size_t kNamed = 3;
  for (auto &[description, nodes] : unknown) {
    Diagnostic &note = error.attachNote(nodes.front().getLoc());
    note << description.getValue() << ": " << nodes.size()
         << (nodes.size() == 1 ? " node, " : " nodes, ");
    llvm::interleaveComma(ArrayRef(nodes).take_front(kNamed), note,
                          [&](onnx::NodeOp node) { note << node.getNodeAttr(); });
    note << (nodes.size() > kNamed ? ", ..." : "");
    // One is enough: the others are of the same kind mostly.
    if (auto more = nodes.front()->getAttrOfType<StringAttr>(kImportNoteAttr))
      note << "; " << more.getValue();
  }
  return error;
}

/// Every value is `onnx.none` or a tensor of static shape.
static LogicalResult verifyShapes(ModuleOp module) {
  WalkResult result = module.walk([](onnx::NodeOp node) {
    for (OpResult value : node->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (isa<NoneType>(value.getType()) || (type && type.hasStaticShape()))
        continue;
      emitError(node.getLoc()) << node.describe() << ": expected a static shape of result "
                               << value.getResultNumber() << ", got " << value.getType();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Floats are f32 or f64: `zero-widen-floats` leaves none of 16 bits to an ONNX model.
static LogicalResult verifyElementTypes(ModuleOp module) {
  for (auto state : module.getOps<StateOp>()) {
    Type type = state.getTensorType().getElementType();
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
      return emitError(state.getLoc())
             << "tensor '" << state.getSymName() << "': expected f32 or f64, got " << type;
  }
  return success();
}

/// Every input and result of the step has the name that users bind.
static LogicalResult verifyBindings(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (!step.getArgAttrOfType<StringAttr>(i, kBindingAttr))
      return emitError(step.getLoc())
             << "expected a name ('" << kBindingAttr << "') on input " << i;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (!step.getResultAttrOfType<StringAttr>(i, kBindingAttr))
      return emitError(step.getLoc())
             << "expected a name ('" << kBindingAttr << "') on result " << i;
  return success();
}

namespace {
struct VerifyImport : impl::VerifyImportBase<VerifyImport> {
  using VerifyImportBase::VerifyImportBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step) || failed(verifyOperators(module)) || failed(verifyShapes(module)) ||
        failed(verifyElementTypes(module)) || failed(verifyBindings(*step)))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
