//===- FuseKernels.cpp - fuse linalg ops into few loop nests --------------===//

#include "LoopFusion.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Whether `op` is a reshape that only adds or drops dimensions of size one.
static bool isUnitReshape(Operation *op) {
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return false;
  auto withoutOnes = [](Value value) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
    llvm::erase(shape, 1);
    return shape;
  };
  return withoutOnes(op->getOperand(0)) == withoutOnes(op->getResult(0));
}

/// Moves reshapes to the borders of the kernel, where they cost nothing, and
/// writes pad and concat with the ops that bufferize in place.
static void simplify(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  linalg::populateDecomposePadPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  // With dimensions of size one the expansions would trigger each other forever.
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
    return !isUnitReshape(operand->getOwner()) && !isUnitReshape(operand->get().getDefiningOp());
  });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  // Merged constants and empty tensors would make buffers with many users.
  config.enableConstantCSE(false)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setMaxNumRewrites(1000);
  // The result is correct even if the patterns do not converge.
  (void)applyPatternsGreedily(kernel, std::move(patterns), config);
}

/// Writes reshapes between linalg ops that only add or drop dimensions of size one
/// as linalg.generic, so that they join the loops around them.
static void generalizeUnitReshapes(func::FuncOp kernel, RewriterBase &rewriter) {
  auto isLinalg = [](Operation *op) { return isa_and_nonnull<linalg::LinalgOp>(op); };
  SmallVector<Operation *> reshapes;
  kernel.walk([&](Operation *op) {
    if (isUnitReshape(op) &&
        (isLinalg(op->getOperand(0).getDefiningOp()) || llvm::any_of(op->getUsers(), isLinalg)))
      reshapes.push_back(op);
  });
  for (Operation *op : reshapes) {
    rewriter.setInsertionPoint(op);
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<AffineExpr> exprs(from.getRank(), rewriter.getAffineConstantExpr(0));
    int64_t dim = 0;
    for (int64_t position = 0; position < from.getRank(); ++position) {
      if (from.getDimSize(position) == 1)
        continue;
      while (to.getDimSize(dim) == 1)
        ++dim;
      exprs[position] = rewriter.getAffineDimExpr(dim++);
    }
    Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), to, ValueRange());
    SmallVector<AffineMap> maps{AffineMap::get(to.getRank(), 0, exprs, rewriter.getContext()),
                                rewriter.getMultiDimIdentityMap(to.getRank())};
    SmallVector<utils::IteratorType> loops(to.getRank(), utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(to), op->getOperand(0), empty, maps, loops,
        [](OpBuilder &builder, Location loc, ValueRange values) {
          linalg::YieldOp::create(builder, loc, values.front());
        });
  }
}

/// Rewrites every linalg op except fill as linalg.generic, if it has such a form.
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

static void eraseDead(func::FuncOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// The value that `generic` extends element by element, or null.
static Value extendedValue(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  auto extension = dyn_cast<arith::ExtFOp>(body->front());
  if (!extension || extension->getNextNode() != body->getTerminator() ||
      generic.getNumDpsInputs() != 1 || extension.getIn() != body->getArgument(0) ||
      !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return {};
  return generic.getDpsInputs().front();
}

/// Moves extensions of 16-bit floats to their uses. A separate loop for the extension of a bias
/// would be placed between the loops over rows.
static void inlineExtensions(func::FuncOp kernel, RewriterBase &rewriter) {
  kernel.walk([&](linalg::GenericOp generic) {
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      Value narrow = producer ? extendedValue(producer) : Value();
      if (!narrow)
        continue;
      BlockArgument element = generic.getMatchingBlockArgument(operand);
      Type wide = element.getType();
      operand->set(narrow);
      element.setType(getElementTypeOrSelf(narrow));
      rewriter.setInsertionPointToStart(generic.getBody());
      auto extended = arith::ExtFOp::create(rewriter, generic.getLoc(), wide, element);
      element.replaceAllUsesExcept(extended, extended);
    }
  });
  // Remove extensions without users, which would prevent fusion.
  eraseDead(kernel);
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

namespace {
struct FuseKernels : zero::impl::FuseKernelsBase<FuseKernels> {
  using FuseKernelsBase::FuseKernelsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      return;
    simplify(kernel);
    IRRewriter rewriter(&getContext());
    generalize(kernel, rewriter);
    generalizeUnitReshapes(kernel, rewriter);
    inlineExtensions(kernel, rewriter);
    // Inner blocks first: loops that a lowering wrote stay as they are.
    SmallVector<Block *> blocks;
    kernel.walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    DenseMap<Value, Value> shared = sharedBuffers(kernel);
    for (Block *block : blocks)
      fuseIntoLoops(rewriter, *block, shared,
                    forGpu && !isHostKernel(kernel) ? LoopStyle::Gpu : LoopStyle::Core);
    eraseDead(kernel);
  }
};
} // namespace
