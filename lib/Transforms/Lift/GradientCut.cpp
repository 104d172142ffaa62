//===- GradientCut.cpp - what a gradient is computed from -----------------===//
//
// The derivatives of a backward pass are products with values of the forward pass. So whoever goes
// back from a gradient soon meets such a value. If instead everything passes through one value that
// is as large as the gradient, contains its elements, or is combined with state that the forward
// pass does not read, that value is nearer to the gradient. An optimizer that normalizes rows of a
// gradient, multiplies it by itself, or updates several parameters as one vector looks like this.
//
//===----------------------------------------------------------------------===//

#include "GradientCut.h"

#include "UpdateNodes.h"
#include "zero/Ops/ElementFunctions.h"
#include "zero/Ops/OpTable.h"

#include <set>

using namespace mlir;

namespace zero {

/// Whether the result of `node` is known not to be linear in its operands that are local.
static bool isNonlinear(onnx::NodeOp node, llvm::function_ref<bool(Value)> isLocal) {
  const ops::OpDef *def = ops::lookup(node);
  auto varies = llvm::map_to_vector(node.getInputs(), isLocal);
  if (!def || varies.empty())
    return false;
  if (def->function == ops::Function::Product)
    return varies.size() > 1 && varies[0] && varies[1];
  const bool isKnown = def->kind == ops::Kind::Elementwise || def->kind == ops::Kind::Rows;
  return isKnown && (node.getDomain().empty() || ops::isElementFunction(node)) &&
         !isLinear(node, varies);
}

/// Whether `node` computes each element from single elements of its operands.
static bool isOfElements(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  return def && (def->kind == ops::Kind::View || def->kind == ops::Kind::Elementwise ||
                 def->narrow == ops::Narrow::Move);
}

static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

std::optional<NonlinearCut> findNonlinearCut(Value gradient,
                                             llvm::function_ref<bool(Value)> isLocal,
                                             llvm::function_ref<bool(Value)> isSource,
                                             llvm::function_ref<bool(Value)> isOfState) {
  auto earlier = [](onnx::NodeOp a, onnx::NodeOp b) { return a->isBeforeInBlock(b); };
  std::set<onnx::NodeOp, decltype(earlier)> open(earlier); // the last one is the latest
  onnx::NodeOp nonlinear;
  bool readsState = false;
  bool takesElements = true; ///< each element of the gradient follows from one of each value
  for (Value latest = gradient;;) {
    auto node = latest.getDefiningOp<onnx::NodeOp>();
    if (!node || isSource(latest))
      return std::nullopt;
    bool isUpdate = readsState || takesElements || elementsOf(latest) == elementsOf(gradient);
    if (nonlinear && open.empty() && isUpdate)
      return NonlinearCut{latest, nonlinear};
    takesElements &= isOfElements(node);
    if (!nonlinear && isNonlinear(node, isLocal))
      nonlinear = node;
    for (Value operand : node.getInputs()) {
      readsState |= isOfState(operand);
      if (!isLocal(operand))
        continue;
      auto source = operand.getDefiningOp<onnx::NodeOp>();
      if (!source || isSource(operand))
        return std::nullopt;
      open.insert(source);
    }
    if (open.empty())
      return std::nullopt;
    latest = (*open.rbegin())->getResult(0);
    open.erase(std::prev(open.end()));
  }
}

} // namespace zero
