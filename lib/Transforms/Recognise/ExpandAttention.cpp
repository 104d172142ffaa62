//===- ExpandAttention.cpp - expand attention into products ---------------===//

#include "Patterns.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/Attention.h"
#include "zero/Transforms/Recognise/Passes.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "include/zero/Transforms/Recognise/Passes.h.inc"

namespace {
struct ExpandAttention : impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  bool isTooWide(onnx::NodeOp node) const {
    const AttentionForm form(node);
    return std::max(form.query.width, form.value.width) > widest;
  }

  void runOnOperation() override {
    for (auto node : llvm::to_vector(getOperation().getOps<onnx::NodeOp>())) {
      if (node.is(own::ContextAttention) && isTooWide(node)) {
        node.emitError() << "expected attention in one kernel along 'context', got "
                         << node.describe() << ", which is computed as products; leave out the "
                         << "axis, or --attention=products, or use heads up to 128 wide on GPUs";
        return signalPassFailure();
      }
      if (!node.isAnyOf({own::Attention, own::AttentionGrad}) || !isTooWide(node))
        continue;
      OpBuilder at(node);
      NodeBuilder builder(at, node.getLoc(), node.getNode());
      if (node.is(own::AttentionGrad))
        node.replaceAllUsesWith(expandAttentionGrad(builder, node));
      else
        node.getResult(0).replaceAllUsesWith(expandAttention(builder, node));
    }
    eraseUnused(getOperation());
  }
};
} // namespace

} // namespace zero
