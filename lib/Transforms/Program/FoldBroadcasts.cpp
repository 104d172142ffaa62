//===- FoldBroadcasts.cpp - fold broadcasts into elementwise nodes --------===//

#include "DeadOps.h"
#include "ElementwiseNodes.h"

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FOLDBROADCASTS
#include "include/zero/Transforms/Program/Passes.h.inc"

/// The shape of NumPy's broadcast of `shapes`, or nothing if they do not fit.
static std::optional<SmallVector<int64_t>> broadcast(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    const size_t shift = result.size() - shape.size();
    for (auto [index, extent] : llvm::enumerate(shape)) {
      int64_t &common = result[shift + index];
      if (common != 1 && extent != 1 && common != extent)
        return std::nullopt;
      if (common == 1)
        common = extent;
    }
  }
  return result;
}

/// The operand of the Expand that makes `value`; else null.
static Value unexpanded(Value value) {
  auto expand = value.getDefiningOp<onnx::NodeOp>();
  return ops::computes(expand, ops::Function::Broadcast) ? expand.getInputs().front() : Value();
}

/// Lets `node` read what its operands are broadcast from, as long as its result keeps its shape.
static void foldOperands(onnx::NodeOp node) {
  if (!isElementwise(node) || node.getNumOperands() < 2)
    return;
  ArrayRef<int64_t> wanted = tensorType(node.getResult(0)).getShape();
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value input : node.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type)
      return;
    shapes.push_back(type.getShape());
  }
  if (broadcast(shapes) != SmallVector<int64_t>(wanted))
    return;
  for (OpOperand &operand : node->getOpOperands()) {
    Value source = unexpanded(operand.get());
    if (!source)
      continue;
    ArrayRef<int64_t> &shape = shapes[operand.getOperandNumber()], before = shape;
    shape = tensorType(source).getShape();
    if (broadcast(shapes) == SmallVector<int64_t>(wanted))
      operand.set(source);
    else
      shape = before;
  }
}

namespace {
struct FoldBroadcasts : impl::FoldBroadcastsBase<FoldBroadcasts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    Block &body = function.getBody().front();
    for (auto node : body.getOps<onnx::NodeOp>())
      foldOperands(node);
    eraseDeadOps(body);
  }
};
} // namespace
} // namespace zero
