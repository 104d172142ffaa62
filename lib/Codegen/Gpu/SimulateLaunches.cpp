//===- SimulateLaunches.cpp - lower launches to loops on a core -----------===//
//
// Blocks run one after the other. In a block, threads run one after the other up to the next
// barrier. Barriers are not inside of loops, so a block is a list of phases, each of which is a
// loop over its threads. Values of a thread that later phases need are stored in an array.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SIMULATELAUNCHES
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether threads wait for each other at `op`.
static bool isMeeting(Operation *op) {
  return isa<gpu::ShuffleOp, gpu::BarrierOp, NVVM::SyncWarpOp>(op);
}

static bool hasMeeting(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        return isMeeting(nested) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// An operation of a thread, and whether the thread runs it: null if it does.
struct Step {
  Operation *op;
  Value condition;
};

class Simulator {
public:
  Simulator(func::FuncOp kernel, gpu::LaunchOp launch)
      : launch(launch), builder(launch), loc(launch.getLoc()),
        entry(OpBuilder::atBlockBegin(&kernel.getBody().front())),
        threads(*getConstantIntValue(launch.getBlockSizeX())) {}

  void run();

private:
  void list(Block &block, Value condition);
  void shuffle(gpu::ShuffleOp op);
  void runPhase(ArrayRef<Step> steps);
  scf::ForOp loopOver(Value end);
  Value get(Value value);
  Value arrayOf(Value value);
  bool isOwn(Value value) {
    return value.getParentRegion() && launch.getBody().isAncestor(value.getParentRegion()) &&
           value.getDefiningOp();
  }

  gpu::LaunchOp launch;
  OpBuilder builder;
  Location loc;
  OpBuilder entry; ///< where arrays are made
  int64_t threads;
  std::vector<Step> steps;
  /// The values in the current phase, and the values that are the same in all phases.
  IRMapping here, always;
  Value thread;
  llvm::DenseMap<Value, Value> arrays;
};
} // namespace

scf::ForOp Simulator::loopOver(Value end) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, end, one);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  return loop;
}

/// An array with one element per thread for `value`.
Value Simulator::arrayOf(Value value) {
  Value &array = arrays[value];
  if (!array)
    array = memref::AllocaOp::create(entry, loc, MemRefType::get({threads}, value.getType()));
  return array;
}

/// `value` in the current phase. Buffers are created in each phase, scalars were saved.
Value Simulator::get(Value value) {
  if (Value known = here.lookupOrNull(value))
    return known;
  if (!isOwn(value))
    return value;
  if (!isa<MemRefType>(value.getType()))
    return memref::LoadOp::create(builder, loc, arrayOf(value), thread);
  for (Value operand : value.getDefiningOp()->getOperands())
    if (isOwn(operand))
      here.map(operand, get(operand));
  builder.clone(*value.getDefiningOp(), here);
  return here.lookup(value);
}

/// Lists the operations of a thread in `block`, including nested blocks that contain barriers.
void Simulator::list(Block &block, Value condition) {
  for (Operation &op : block.without_terminator()) {
    auto choice = dyn_cast<scf::IfOp>(op);
    if (choice && hasMeeting(choice))
      list(*choice.thenBlock(), choice.getCondition());
    else
      steps.push_back({&op, condition});
  }
}

/// Whether something else than `steps` reads `value`.
static bool isReadBehind(Value value, ArrayRef<Step> steps) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return llvm::none_of(steps, [&](const Step &step) { return step.op->isAncestor(user); });
  });
}

void Simulator::runPhase(ArrayRef<Step> steps) {
  if (steps.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  here = always;
  thread = loopOver(arith::ConstantIndexOp::create(builder, loc, threads)).getInductionVar();
  here.map(launch.getThreadIds().x, thread);
  Value condition;
  for (const Step &step : steps) {
    if (step.condition != condition) {
      condition = step.condition;
      auto choice = scf::IfOp::create(builder, loc, get(condition));
      builder.setInsertionPoint(choice.thenBlock()->getTerminator());
    }
    step.op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (isOwn(operand) && !step.op->isAncestor(operand.getParentBlock()->getParentOp()))
          here.map(operand, get(operand));
    });
    builder.clone(*step.op, here);
    for (Value result : step.op->getResults())
      if (!isa<MemRefType>(result.getType()) && isReadBehind(result, steps))
        memref::StoreOp::create(builder, loc, here.lookup(result), arrayOf(result), thread);
  }
}

/// Gives each thread the value of another thread.
void Simulator::shuffle(gpu::ShuffleOp op) {
  OpBuilder::InsertionGuard guard(builder);
  Value own = loopOver(arith::ConstantIndexOp::create(builder, loc, threads)).getInductionVar();
  Value bit = arith::ConstantIndexOp::create(builder, loc, *getConstantIntValue(op.getOffset()));
  Value other = arith::XOrIOp::create(builder, loc, own, bit);
  Value value = memref::LoadOp::create(builder, loc, arrayOf(op.getValue()), other);
  memref::StoreOp::create(builder, loc, value, arrayOf(op.getShuffleResult()), own);
}

void Simulator::run() {
  list(launch.getBody().front(), Value());
  Value block = loopOver(launch.getGridSizeX()).getInductionVar();
  always.map(launch.getBlockIds().x, block);
  for (BlockArgument memory : launch.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(memory.getType());
    auto plain = MemRefType::get(type.getShape(), type.getElementType());
    always.map(memory, memref::AllocaOp::create(entry, loc, plain));
  }
  ArrayRef<Step> rest(steps);
  while (!rest.empty()) {
    ArrayRef<Step> phase = rest.take_until([](const Step &step) { return isMeeting(step.op); });
    runPhase(phase);
    rest = rest.drop_front(phase.size());
    if (rest.empty())
      break;
    if (auto op = dyn_cast<gpu::ShuffleOp>(rest.front().op))
      shuffle(op);
    rest = rest.drop_front();
  }
  launch.erase();
}

namespace {
struct SimulateLaunches : zero::impl::SimulateLaunchesBase<SimulateLaunches> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    for (auto launch : llvm::to_vector(kernel.getOps<gpu::LaunchOp>()))
      Simulator(kernel, launch).run();
  }
};
} // namespace
