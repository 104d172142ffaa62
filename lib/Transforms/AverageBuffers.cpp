//===- AverageBuffers.cpp - buffers are the same on all ranks -------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_AVERAGEBUFFERS
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Replaces what `writes` store, of one element type, by its mean over ranks.
static void average(OpBuilder &builder, Type element, MutableArrayRef<WriteOp> writes) {
  SmallVector<Value> members;
  SmallVector<int64_t> starts;
  int64_t elements = 0;
  for (WriteOp write : writes) {
    members.push_back(write.getValue());
    starts.push_back(elements);
    int64_t count = cast<RankedTensorType>(write.getValue().getType()).getNumElements();
    elements += llvm::alignTo(count, kTensorAlignment);
  }
  Location loc = writes.front().getLoc();
  auto type = RankedTensorType::get({elements}, element);
  Value bucket = BucketOp::create(builder, loc, type, members, starts);
  Value mean = RankMeanOp::create(builder, loc, type, bucket);
  for (auto [write, start] : llvm::zip_equal(writes, starts))
    write.getValueMutable().assign(MemberOp::create(builder, write.getLoc(),
                                                    write.getValue().getType(), mean,
                                                    builder.getI64IntegerAttr(start)));
}

namespace {
struct AverageBuffers : zero::impl::AverageBuffersBase<AverageBuffers> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    Block &block = step->getBody().front();
    llvm::MapVector<Type, SmallVector<WriteOp>> writes;
    Operation *epilogue = nullptr;
    for (Operation &op : block) {
      auto write = dyn_cast<WriteOp>(op);
      auto state = write ? symbols.lookup<StateOp>(write.getSymbol()) : StateOp();
      if (state && state.getRole() == Role::Buffer)
        writes[state.getTensorType().getElementType()].push_back(write);
      if (!epilogue && op.hasAttr(kEpilogueAttr))
        epilogue = &op;
    }
    OpBuilder builder(epilogue ? epilogue : block.getTerminator());
    for (auto &[element, ofType] : writes) {
      average(builder, element, ofType);
      for (WriteOp write : ofType) {
        write->moveBefore(block.getTerminator());
        write->setAttr(kEpilogueAttr, builder.getUnitAttr());
      }
    }
  }
};
} // namespace
