//===- AnnotateCosts.cpp - annotate kernels with FLOPs and bytes ----------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Costs.h"
#include "zero/Codegen/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ANNOTATECOSTS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

namespace {
struct AnnotateCosts : zero::impl::AnnotateCostsBase<AnnotateCosts> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(zero::kKernelAttr) || kernel.isDeclaration())
      return;
    zero::KernelCosts costs = zero::computeCosts(kernel);
    Builder builder(&getContext());
    kernel->setAttr(zero::kFlopsAttr, builder.getI64IntegerAttr(costs.flops));
    kernel->setAttr(zero::kBytesAttr, builder.getI64IntegerAttr(costs.bytes));
  }
};
} // namespace
