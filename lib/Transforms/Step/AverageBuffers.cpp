//===- AverageBuffers.cpp - average buffers over ranks --------------------===//

#include "dialects/Zero/EvaluationAttrs.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Step/Passes.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_AVERAGEBUFFERS
#include "include/zero/Transforms/Step/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The flat bucket of buffers of one element type, in the order of `writes`.
static RankedTensorType layOut(Type element, ArrayRef<WriteOp> writes,
                               SmallVectorImpl<int64_t> &starts) {
  int64_t elements = 0;
  for (WriteOp write : writes) {
    starts.push_back(elements);
    int64_t count = cast<RankedTensorType>(write.getValue().getType()).getNumElements();
    elements += llvm::alignTo(count, kTensorAlignment);
  }
  return RankedTensorType::get({elements}, element);
}

namespace {
/// Averages the buffers of one element type.
class BufferAverager {
public:
  BufferAverager(ModuleOp module, func::FuncOp step, Type element, MutableArrayRef<WriteOp> writes)
      : module(module), step(step), writes(writes), type(layOut(element, writes, starts)) {}

  /// Makes each micro-batch continue from the result of the previous one: the values are in
  /// accumulators, which start as the buffers.
  void carry(const llvm::StringMap<SmallVector<ReadOp>> &reads);
  /// Replaces the written value by its mean over ranks, at `builder`.
  void average(OpBuilder &builder, bool inEpilogue);

private:
  LaunchOp assign(OpBuilder &builder, Value target, Value value);

  ModuleOp module;
  func::FuncOp step;
  MutableArrayRef<WriteOp> writes;
  SmallVector<int64_t> starts;
  RankedTensorType type;
  FlatSymbolRefAttr kernel;
};
} // namespace

LaunchOp BufferAverager::assign(OpBuilder &builder, Value target, Value value) {
  auto launch =
      LaunchOp::create(builder, step.getLoc(), target.getType(), kernel, ValueRange{target, value});
  launch->setAttr(kNameAttr, builder.getStringAttr("buffers"));
  return launch;
}

void BufferAverager::carry(const llvm::StringMap<SmallVector<ReadOp>> &reads) {
  SymbolTable symbols(module);
  Type element = type.getElementType();
  func::FuncOp copy =
      buildAccumulate(module, freeName(symbols, "carry"), element, element, /*isFirst=*/true);
  kernel = FlatSymbolRefAttr::get(copy.getSymNameAttr());
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  OpBuilder begin(findPrologueEnd(step));
  for (WriteOp write : writes) {
    auto own = cast<RankedTensorType>(write.getValue().getType());
    auto carried = BufferOp::create(atTop, module.getLoc(), Role::Accumulator,
                                    freeName(symbols, (write.getSymbol() + ".carried").str()), own,
                                    /*shards=*/1);
    ReadOp initial = ReadOp::create(begin, step.getLoc(), own, write.getSymbolAttr());
    Value place =
        ReadOp::create(begin, step.getLoc(), own, FlatSymbolRefAttr::get(carried.getSymNameAttr()));
    LaunchOp first = assign(begin, place, initial);
    setIterations(first, Iterations::First);
    for (ReadOp read : reads.lookup(write.getSymbol()))
      read.getResult().replaceAllUsesWith(first.getResult(0));
    OpBuilder after(write);
    LaunchOp next = assign(after, first.getResult(0), write.getValue());
    next->setAttr(kCarriesAttr, after.getUnitAttr());
    write.getValueMutable().assign(next.getResult(0));
  }
}

void BufferAverager::average(OpBuilder &builder, bool inEpilogue) {
  Location loc = writes.front().getLoc();
  SmallVector<Value> members =
      llvm::map_to_vector(writes, [](WriteOp write) -> Value { return write.getValue(); });
  auto mark = [&](Operation *op) {
    if (inEpilogue)
      setSegment(op, Segment::Epilogue);
    return op->getResult(0);
  };
  Value bucket = mark(BucketOp::create(builder, loc, type, members, starts));
  Value mean = mark(RankMeanOp::create(builder, loc, type, bucket));
  for (auto [write, start] : llvm::zip_equal(writes, starts))
    write.getValueMutable().assign(
        mark(MemberOp::create(builder, write.getLoc(), write.getValue().getType(), mean,
                              builder.getI64IntegerAttr(start))));
}

/// Whether the step counts, where that is decided; else null.
static TypedValue<RankedTensorType> findCondition(func::FuncOp step) {
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    if (resultBinding(step, index) == "applied")
      return cast<TypedValue<RankedTensorType>>(value);
  return {};
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
    llvm::StringMap<SmallVector<ReadOp>> reads;
    for (Operation &op : block) {
      if (auto read = dyn_cast<ReadOp>(op))
        reads[read.getSymbol()].push_back(read);
      auto write = dyn_cast<WriteOp>(op);
      auto state = write ? symbols.lookup<StateOp>(write.getSymbol()) : StateOp();
      // What a step writes once is the same on all ranks.
      if (state && state.getRole() == Role::Buffer && isIn(write, Segment::MicroBatch))
        writes[state.getTensorType().getElementType()].push_back(write);
    }
    bool several = microBatchesOf(getOperation()) > 1;
    OpBuilder builder(findEpilogue(*step));
    TypedValue<RankedTensorType> condition = findCondition(*step);
    for (auto &[element, ofType] : writes) {
      BufferAverager averager(getOperation(), *step, element, ofType);
      if (several)
        averager.carry(reads);
      // Integers, such as the key of random numbers, have no mean: they count steps, and are the
      // same on all ranks.
      if (isa<FloatType>(element))
        averager.average(builder, several);
      for (WriteOp write : ofType) {
        write->moveBefore(block.getTerminator());
        setSegment(write, Segment::Epilogue);
        if (condition)
          write.getConditionMutable().assign(condition);
      }
    }
  }
};
} // namespace
