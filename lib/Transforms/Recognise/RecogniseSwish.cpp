//===- RecogniseSwish.cpp - x sigmoid(alpha x) to Swish -------------------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISESWISH
#include "include/zero/Transforms/Recognise/Passes.h.inc"

// The first opset with Swish.
static constexpr int64_t kSwishOpset = 24;

/// alpha, where `value` is `x` times it.
static std::optional<double> factorOf(Value value, Value x) {
  if (value == x)
    return 1;
  onnx::NodeOp product = nodeOf(value, op::Mul);
  if (!product || !llvm::is_contained(product.getInputs(), x) || !value.hasOneUse())
    return std::nullopt;
  return numberOf(otherInput(product, x));
}

static void recognise(onnx::NodeOp sigmoid) {
  Value gate = sigmoid.getResult(0);
  onnx::NodeOp product = soleUser(gate, {op::Mul});
  if (!product)
    return;
  Value x = otherInput(product, gate);
  std::optional<double> alpha = factorOf(sigmoid.getInputs()[0], x);
  if (!alpha || product.getResult(0).getType() != x.getType() || gate.getType() != x.getType())
    return;
  Builder builder(product.getContext());
  auto attr = builder.getNamedAttr("alpha", builder.getF32FloatAttr(float(*alpha)));
  remarkFound(replaceRoot(product, op::Swish, x, attr, kSwishOpset), "swish");
}

namespace {
struct RecogniseSwish : impl::RecogniseSwishBase<RecogniseSwish> {
  void runOnOperation() override { forEachNode(getOperation(), op::Sigmoid, recognise); }
};
} // namespace

} // namespace zero
