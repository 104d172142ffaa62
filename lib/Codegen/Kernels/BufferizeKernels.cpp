//===- BufferizeKernels.cpp - bufferize kernels ---------------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/ContiguousLoops.h"
#include "zero/Codegen/Passes.h"
#include "zero/Codegen/SplitLoops.h"
#include "zero/Codegen/Workspace.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BUFFERIZEKERNELS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

static MemRefType bufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// The argument that result `index` shares its buffer with, or null.
static BlockArgument sharedArgument(func::FuncOp kernel, unsigned index) {
  for (BlockArgument argument : kernel.getArguments()) {
    auto result = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kInplaceAttr);
    if (result && result.getInt() == index)
      return argument;
  }
  return {};
}

/// A reshape of a result becomes the inverse reshape of its buffer, so that the
/// loops write to the buffer itself.
static void reshapeBuffer(OpBuilder &builder, Value &value, Value &buffer) {
  while (true) {
    Location loc = value.getLoc();
    if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
      buffer =
          memref::CollapseShapeOp::create(builder, loc, buffer, expand.getReassociationIndices());
      value = expand.getSrc();
    } else if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
      buffer = memref::ExpandShapeOp::create(builder, loc, collapse.getSrcType().getShape(), buffer,
                                             collapse.getReassociationIndices());
      value = collapse.getSrc();
    } else {
      return;
    }
    if (isa<BlockArgument>(value))
      return;
  }
}

/// Gives `kernel` buffers for arguments and results; its body keeps its tensors.
static void toDestinations(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  OpBuilder builder(kernel.getContext());
  auto end = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<Value> buffers;
  for (unsigned index = 0; index < end.getNumOperands(); ++index)
    buffers.push_back(sharedArgument(kernel, index));
  for (auto [buffer, result] : llvm::zip(buffers, end.getOperands()))
    if (!buffer)
      buffer = body.addArgument(bufferType(result.getType()), end.getLoc());
  llvm::SmallDenseSet<Value> written(buffers.begin(), buffers.end());

  builder.setInsertionPointToStart(&body);
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    argument.setType(bufferType(type));
    auto tensor = bufferization::ToTensorOp::create(builder, argument.getLoc(), type, argument,
                                                    /*restrict=*/true,
                                                    /*writable=*/written.contains(argument));
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  builder.setInsertionPoint(end);
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    Value value = end.getOperand(index);
    reshapeBuffer(builder, value, buffer);
    auto write =
        bufferization::MaterializeInDestinationOp::create(builder, end.getLoc(), value, buffer);
    write.setRestrict(true);
    write.setWritable(true);
  }
  end->setOperands({});

  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.resize(body.getNumArguments(), builder.getDictionaryAttr({}));
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  kernel.removeResAttrsAttr();
  kernel.setAllArgAttrs(attributes);
  for (Value buffer : written)
    kernel.setArgAttr(cast<BlockArgument>(buffer).getArgNumber(), "llvm.noalias",
                      builder.getUnitAttr());
}

static bufferization::OneShotBufferizationOptions bufferizeOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  // A copy is a loop like any other: the vectoriser sees it, and no runtime
  // function is called for strided ones.
  options.memCpyFn = [](OpBuilder &builder, Location loc, Value from, Value to) {
    linalg::CopyOp::create(builder, loc, from, to);
    return success();
  };
  return options;
}

/// Loops over buffers carry nothing: their iter_args are all the same buffer, and
/// a result computed in place was copied to itself.
static void cleanUp(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  linalg::CopyOp::getCanonicalizationPatterns(patterns, context);
  memref::SubViewOp::getCanonicalizationPatterns(patterns, context);
  memref::CastOp::getCanonicalizationPatterns(patterns, context);
  bufferization::ToTensorOp::getCanonicalizationPatterns(patterns, context);
  bufferization::ToBufferOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(kernel, std::move(patterns), config);
}

/// Says which of the loops written for `op` have independent iterations.
static void markLoops(linalg::LinalgOp op, ArrayRef<Operation *> loops) {
  for (auto [loop, type] : llvm::zip(loops, op.getIteratorTypesArray()))
    if (linalg::isParallelIterator(type))
      loop->setAttr(kLoopAttr, StringAttr::get(op->getContext(), kParallelLoop));
}

static LogicalResult lowerToLoops(func::FuncOp kernel, RewriterBase &rewriter, bool forGpu) {
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops))
      return op->emitError() << "cannot write '" << op->getName() << "' as loops";
    if (forGpu)
      markLoops(op, *loops);
    rewriter.eraseOp(op);
  }
  return success();
}

static LogicalResult bufferize(func::FuncOp kernel, bool forGpu) {
  toDestinations(kernel);
  IRRewriter rewriter(kernel.getContext());
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(kernel, bufferizeOptions(), state)))
    return failure();
  cleanUp(kernel);
  if (failed(lowerToLoops(kernel, rewriter, forGpu)))
    return failure();
  // The place of temporaries depends on the number of threads.
  if (forGpu)
    return success();
  collapseContiguousLoops(kernel);
  std::optional<Split> split = findSplit(kernel);
  if (failed(placeTemporaries(kernel)))
    return failure();
  // Threads share the workspace, but each has a stack.
  if (split && !(split->hasTemporaries && kernel->hasAttr(kWorkspaceAttr)))
    applySplit(kernel, *split);
  return success();
}

namespace {
struct BufferizeKernels : zero::impl::BufferizeKernelsBase<BufferizeKernels> {
  using BufferizeKernelsBase::BufferizeKernelsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isNativeKernel(kernel) && !kernel.isDeclaration() &&
          failed(bufferize(kernel, forGpu && !isHostKernel(kernel)))) {
        kernel.emitError() << "cannot bufferize kernel '" << kernel.getName() << "'";
        return signalPassFailure();
      }
  }
};
} // namespace
