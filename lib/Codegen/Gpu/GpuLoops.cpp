//===- GpuLoops.cpp - common functions of loops for GPUs ------------------===//

#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace zero {

bool isMarked(Operation *op, StringRef mark) {
  auto attr = isa<scf::ForOp>(op) ? op->getAttrOfType<StringAttr>(kLoopAttr) : StringAttr();
  return attr && attr.getValue() == mark;
}

bool isShared(Operation *op) { return isMarked(op, kParallelLoop) || isMarked(op, kSumLoop); }

std::optional<int64_t> iterationsOf(scf::ForOp loop) {
  if (!isConstantIntValue(loop.getLowerBound(), 0) || !isConstantIntValue(loop.getStep(), 1))
    return std::nullopt;
  if (loop.getUpperBound().getDefiningOp<memref::DimOp>())
    return ShapedType::kDynamic;
  return getConstantIntValue(loop.getUpperBound());
}

std::optional<int64_t> constantIterationsOf(scf::ForOp loop) {
  std::optional<int64_t> extent = iterationsOf(loop);
  return extent == ShapedType::kDynamic ? std::nullopt : extent;
}

/// Whether `loop` passes its loop-carried values to `inner` and yields the results of `inner`.
static bool carriesThrough(scf::ForOp loop, scf::ForOp inner) {
  return ValueRange(loop.getRegionIterArgs()) == ValueRange(inner.getInitArgs()) &&
         ValueRange(loop.getYieldedValues()) == ValueRange(inner.getResults()) &&
         llvm::all_of(loop.getRegionIterArgs(), [](Value value) { return value.hasOneUse(); });
}

scf::ForOp innerLoopOf(scf::ForOp loop) {
  scf::ForOp inner;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isMemoryEffectFree(&op) && op.getNumRegions() == 0)
      continue;
    if (inner || !isa<scf::ForOp>(op))
      return {};
    inner = cast<scf::ForOp>(op);
  }
  return inner && carriesThrough(loop, inner) && constantIterationsOf(inner) ? inner : scf::ForOp();
}

affine::AffineDelinearizeIndexOp digitsOf(scf::ForOp loop) {
  auto digits = dyn_cast<affine::AffineDelinearizeIndexOp>(loop.getBody()->front());
  return digits && digits.getLinearIndex() == loop.getInductionVar()
             ? digits
             : affine::AffineDelinearizeIndexOp();
}

Value memoryOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

StringRef threadsName(Threads threads) {
  static constexpr StringLiteral names[] = {"one", "warp", "block", "column"};
  return names[unsigned(threads)];
}

int64_t lanesOf(Threads threads) {
  static constexpr int64_t lanes[] = {1, 32, 256, 16};
  return lanes[unsigned(threads)];
}

Operation *combinerOf(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index);
  Operation *made = loop.getYieldedValues()[index].getDefiningOp();
  if (!made || made->getBlock() != loop.getBody() || !carried.hasOneUse() ||
      *carried.user_begin() != made)
    return nullptr;
  if (auto inner = dyn_cast<scf::ForOp>(made)) {
    unsigned result = cast<OpResult>(loop.getYieldedValues()[index]).getResultNumber();
    return inner.getInitArgs()[result] == carried ? combinerOf(inner, result) : nullptr;
  }
  bool isPlain = made->getNumOperands() == 2 && made->getNumResults() == 1;
  return isPlain && arith::getNeutralElement(made) ? made : nullptr;
}

bool mayCombine(scf::ForOp loop, unsigned index) {
  Type type = loop.getResult(index).getType();
  return type.isIntOrFloat() && llvm::is_contained({32u, 64u}, type.getIntOrFloatBitWidth()) &&
         combinerOf(loop, index);
}

} // namespace zero
