//===- VerifyImport.cpp - verify the imported module ----------------------===//

#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Findings.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Import/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "include/zero/Transforms/Import/Passes.h.inc"

/// "FastGelu of domain 'com.microsoft', opset 1".
static StringAttr describeOperator(onnx::NodeOp node) {
  std::string text = node.getOpType().str();
  if (!node.getDomain().empty())
    text += " of domain '" + node.getDomain().str() + "'";
  text += ", opset " + std::to_string(node.getOpset());
  return StringAttr::get(node.getContext(), text);
}

/// "FastGelu of domain 'com.microsoft', opset 1: 3 nodes, \"a\", \"b\", \"c\"".
static Finding describeNodes(StringAttr description, ArrayRef<onnx::NodeOp> nodes) {
  constexpr size_t kNamed = 3;
  onnx::NodeOp first = nodes.front();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << description.getValue() << ": " << nodes.size()
     << (nodes.size() == 1 ? " node, " : " nodes, ");
  llvm::interleaveComma(nodes.take_front(kNamed), os,
                        [&](onnx::NodeOp node) { os << node.getNodeAttr(); });
  os << (nodes.size() > kNamed ? ", ..." : "");
  // One is enough: the others are of the same kind mostly.
  if (auto more = first->getAttrOfType<StringAttr>(kImportNoteAttr))
    os << "; " << more.getValue();
  return {text, first.getLoc()};
}

/// One error that names each operator that the table does not know.
static LogicalResult verifyOperators(ModuleOp module, bool verbose) {
  llvm::MapVector<StringAttr, SmallVector<onnx::NodeOp>> unknown;
  module.walk([&](onnx::NodeOp node) {
    if (!ops::lookup(node))
      unknown[describeOperator(node)].push_back(node);
  });
  if (unknown.empty())
    return success();
  std::vector<Finding> findings;
  for (auto &[description, nodes] : unknown)
    findings.push_back(describeNodes(description, nodes));
  InFlightDiagnostic error = emitError(module.getLoc())
                             << unknown.size() << " operators are not supported";
  attachFindings(
      error,
      {"write the model with operators of docs/reference/ops.md, or export it for another opset"},
      findings, verbose);
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

/// Further names of tensors are names, and of one tensor each.
static LogicalResult verifyAliases(ModuleOp module) {
  llvm::StringSet<> taken;
  for (auto symbol : module.getOps<SymbolOpInterface>())
    if (!isa<func::FuncOp>(symbol))
      taken.insert(symbol.getName());
  for (auto state : module.getOps<StateOp>())
    for (StringRef alias : aliasesOf(state))
      if (alias.empty() || !taken.insert(alias).second)
        return emitError(state.getLoc()) << "tensor '" << state.getSymName()
                                         << "': expected a name of its own as an alias, got '"
                                         << alias << "', which is another's";
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
    if (failed(step) || failed(verifyOperators(module, verbose)) || failed(verifyShapes(module)) ||
        failed(verifyElementTypes(module)) || failed(verifyAliases(module)) ||
        failed(verifyBindings(*step)))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
