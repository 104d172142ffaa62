//===- FuseKernels.cpp - linalg to few loop nests -------------------------===//

#include "LoopFusion.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FUSEKERNELS
#include "include/zero/Codegen/Passes.h.inc"

bool isNativeKernel(func::FuncOp function) {
  return function->hasAttr(kKernelAttr) && !function->hasAttr(kLibraryAttr);
}
} // namespace zero

using namespace zero;

/// Moves reshapes to the borders of the kernel, where they cost nothing, and
/// writes pad and concat with the ops that bufferize in place.
static void simplify(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  linalg::populateDecomposePadPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *) { return true; });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  // Merged constants and empty tensors would make buffers with many users.
  config.enableConstantCSE(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // What does not converge is still correct.
  (void)applyPatternsGreedily(kernel, std::move(patterns), config);
}

/// Writes every linalg op but fill as linalg.generic; what has no such form stays.
static void generalize(func::FuncOp kernel, RewriterBase &rewriter) {
  SmallVector<linalg::LinalgOp> named;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// For each result that shares an argument's buffer: the argument.
static DenseMap<Value, Value> sharedBuffers(func::FuncOp kernel) {
  DenseMap<Value, Value> shared;
  Operation *end = kernel.getBody().front().getTerminator();
  for (BlockArgument argument : kernel.getArguments())
    if (auto result = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kInplaceAttr))
      shared[end->getOperand(result.getInt())] = argument;
  return shared;
}

static void eraseDead(func::FuncOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {
struct FuseKernels : zero::impl::FuseKernelsBase<FuseKernels> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      return;
    simplify(kernel);
    IRRewriter rewriter(&getContext());
    generalize(kernel, rewriter);
    // Inner blocks first: loops that a lowering wrote stay as they are.
    SmallVector<Block *> blocks;
    kernel.walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    DenseMap<Value, Value> shared = sharedBuffers(kernel);
    for (Block *block : blocks)
      fuseIntoLoops(rewriter, *block, shared);
    eraseDead(kernel);
  }
};
} // namespace
