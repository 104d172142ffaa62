//===- WidenSums.cpp - add the terms of long sums in doubles --------------===//
//
// A float that adds n terms one after the other is wrong by up to n / 2 units in its last place; a
// double rounds to the right float for any n that memory holds, in any order. So there is no tree
// of partial sums, which every fused loop and every GPU thread would have to keep.
//
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_WIDENSUMS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Accumulators of a sum along rows of memory: two vectors of 16 lanes, four of 8, or 32 threads.
static constexpr int64_t kAccumulators = 32;
/// The most terms that a float adds in order.
static constexpr int64_t kTermsInRow = 32, kTermsInColumn = 64;

/// The operation that adds a term to the float that `generic` carries, or null.
static Operation *combinerOf(linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1 ||
      !getElementTypeOrSelf(generic.getDpsInits()[0]).isF32())
    return nullptr;
  BlockArgument carried = generic.getRegionOutputArgs().front();
  Operation *made = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  bool adds = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(made) && carried.hasOneUse() &&
              *carried.user_begin() == made;
  return adds ? made : nullptr;
}

/// The map of the operand whose elements are the terms, or null: a contraction has more terms than
/// any of its operands has elements.
static AffineMap termsMap(linalg::GenericOp generic, ArrayRef<int64_t> extents) {
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    auto depends = [&](unsigned dim) { return extents[dim] == 1 || map.isFunctionOfDim(dim); };
    if (llvm::all_of(llvm::seq<unsigned>(0, extents.size()), depends))
      return map;
  }
  return {};
}

/// The loop that runs along memory through the operand of `map`; none if no loop alone does.
static std::optional<unsigned> loopAlongMemory(AffineMap map, ArrayRef<int64_t> extents) {
  for (AffineExpr index : llvm::reverse(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim && !isa<AffineConstantExpr>(index))
      return std::nullopt;
    if (dim && extents[dim.getPosition()] > 1)
      return dim.getPosition();
  }
  return std::nullopt;
}

/// Whether a float would add too many terms in order.
static bool isLong(linalg::GenericOp generic) {
  SmallVector<int64_t> extents = generic.getStaticLoopRanges();
  AffineMap map = termsMap(generic, extents);
  if (!map || llvm::any_of(extents, ShapedType::isDynamic))
    return false;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  int64_t terms = 1;
  for (unsigned dim : reduced)
    terms *= extents[dim];
  std::optional<unsigned> last = loopAlongMemory(map, extents);
  return last && llvm::is_contained(reduced, *last)
             ? terms > kTermsInRow * std::min(extents[*last], kAccumulators)
             : terms > kTermsInColumn;
}

/// The doubles `sum`, combined with the floats `start`, as floats.
static linalg::GenericOp round(IRRewriter &rewriter, Value sum, Value start, Operation *combiner) {
  auto type = cast<RankedTensorType>(start.getType());
  AffineMap same = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      rewriter, sum.getLoc(), TypeRange(type), sum, start, ArrayRef<AffineMap>{same, same}, loops,
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        Value from = arith::ExtFOp::create(builder, loc, values[0].getType(), values[1]);
        Operation *total = builder.clone(*combiner);
        total->setOperands({from, values[0]});
        linalg::YieldOp::create(
            builder, loc,
            arith::TruncFOp::create(builder, loc, type.getElementType(), total->getResult(0))
                .getResult());
      });
}

/// Makes `generic`, which `combiner` adds in, a sum in doubles that starts from nothing. Adds that
/// to what it started from, and rounds.
static void widen(IRRewriter &rewriter, linalg::GenericOp generic, Operation *combiner) {
  Location loc = generic.getLoc();
  Type wide = rewriter.getF64Type();
  Value start = generic.getDpsInits()[0];
  auto type = cast<RankedTensorType>(start.getType());
  rewriter.setInsertionPoint(generic);
  Value none = arith::ConstantOp::create(
      rewriter, loc, rewriter.getF64FloatAttr(isa<arith::AddFOp>(combiner) ? 0 : 1));
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), wide);
  Value fill = linalg::FillOp::create(rewriter, loc, none, empty).getResult(0);
  BlockArgument carried = generic.getRegionOutputArgs().front();
  carried.setType(wide);
  rewriter.setInsertionPoint(combiner);
  for (OpOperand &operand : combiner->getOpOperands())
    if (operand.get() != carried)
      operand.set(arith::ExtFOp::create(rewriter, loc, wide, operand.get()));
  combiner->getResult(0).setType(wide);
  generic.getOutputsMutable().assign(fill);
  Value sum = generic.getResult(0);
  sum.setType(type.clone(wide));

  rewriter.setInsertionPointAfter(generic);
  auto rounded = round(rewriter, sum, start, combiner);
  rewriter.replaceAllUsesExcept(sum, rounded.getResult(0), rounded);
}

namespace {
struct WidenSums : zero::impl::WidenSumsBase<WidenSums> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      return;
    IRRewriter rewriter(&getContext());
    kernel.walk([&](linalg::GenericOp generic) {
      if (Operation *combiner = combinerOf(generic); combiner && isLong(generic))
        widen(rewriter, generic, combiner);
    });
  }
};
} // namespace
