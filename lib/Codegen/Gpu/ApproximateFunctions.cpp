//===- ApproximateFunctions.cpp - functions of a GPU for short floats -----===//
//
// A GPU has instructions for some functions, with an error that 16 bits hardly show. The
// polynomials that other functions are would take most of the time of a kernel like GELU.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_APPROXIMATEFUNCTIONS
#include "include/zero/Codegen/Passes.h.inc"

static bool isShort(Type type) { return type.isBF16() || type.isF16(); }

/// Whether all that is computed from `value` are floats of 16 bits, element by element: a sum over
/// elements carries its value, and is none.
static bool becomesShort(Value value) {
  ForwardSliceOptions untilShort;
  untilShort.filter = [](Operation *op) {
    return !isa<arith::TruncFOp>(op) || !isShort(op->getResult(0).getType());
  };
  SetVector<Operation *> slice;
  getForwardSlice(value, &slice, untilShort);
  return llvm::all_of(slice, [](Operation *op) {
    return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
           op->getResult(0).getType().isF32();
  });
}

namespace {
struct ApproximateFunctions : impl::ApproximateFunctionsBase<ApproximateFunctions> {
  using ApproximateFunctionsBase::ApproximateFunctionsBase;

  void runOnOperation() override {
    SmallVector<math::TanhOp> found;
    getOperation().walk([&](math::TanhOp op) {
      if (op.getType().isF32() && becomesShort(op))
        found.push_back(op);
    });
    for (math::TanhOp op : found) {
      OpBuilder builder(op);
      auto function = LLVM::TanhOp::create(builder, op.getLoc(), op.getOperand());
      function.setFastmathFlags(LLVM::FastmathFlags::afn);
      op.replaceAllUsesWith(function.getResult());
      op.erase();
    }
  }
};
} // namespace
} // namespace zero
