//===- VerifyStateOrder.cpp - verify reads before writes ------------------===//

#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYSTATEORDER
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct VerifyStateOrder : zero::impl::VerifyStateOrderBase<VerifyStateOrder> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step) || failed(checkOrder(*step)) || failed(checkTaken(*step)))
      signalPassFailure();
  }

  static LogicalResult checkOrder(func::FuncOp step) {
    llvm::DenseMap<StringAttr, WriteOp> written;
    llvm::DenseMap<StringAttr, ReadOp> early; // of ops that are not delayed
    for (Operation &op : step.getBody().front()) {
      if (auto write = dyn_cast<WriteOp>(op)) {
        if (op.hasAttr(kDelayedAttr)) {
          if (ReadOp read = early.lookup(write.getSymbolAttr().getAttr()))
            return read.emitOpError() << "reads " << write.getSymbolAttr()
                                      << " before the update of the step before has written it";
          continue;
        }
        if (WriteOp &first = written[write.getSymbolAttr().getAttr()]; !first) {
          first = write;
          continue;
        }
        return op.emitOpError() << "writes " << write.getSymbolAttr() << " a second time";
      }
      auto read = dyn_cast<ReadOp>(op);
      if (read && !op.hasAttr(kDelayedAttr))
        early.try_emplace(read.getSymbolAttr().getAttr(), read);
      if (read)
        if (WriteOp write = written.lookup(read.getSymbolAttr().getAttr())) {
          InFlightDiagnostic error = op.emitOpError()
                                     << "reads " << read.getSymbolAttr() << " after it was written";
          error.attachNote(write.getLoc()) << "written here";
          return error;
        }
      if (isa<CollectiveOpInterface>(op) && !op.hasAttr(kNameAttr))
        return op.emitOpError() << "has no " << kNameAttr << " for messages";
    }
    return success();
  }

  /// No value of the step's start is read once a launch works in place on its
  /// bytes; a gather may still write into them.
  LogicalResult checkTaken(func::FuncOp step) {
    SymbolTable symbols(getOperation());
    llvm::DenseMap<Value, StringAttr> holds; // values that are a symbol's bytes
    llvm::DenseMap<StringAttr, Operation *> taken;
    for (Operation &op : step.getBody().front()) {
      auto access = dyn_cast<BufferAccessOpInterface>(op);
      for (OpOperand &operand : op.getOpOperands()) {
        StringAttr symbol = holds.lookup(operand.get());
        Operation *taker = symbol ? taken.lookup(symbol) : nullptr;
        if (!taker || (access && !access.readsBytes(operand)))
          continue;
        InFlightDiagnostic error = op.emitOpError() << "reads @" << symbol.getValue()
                                                    << " after its bytes were overwritten";
        error.attachNote(taker->getLoc()) << "overwritten here";
        return error;
      }
      if (auto write = dyn_cast<WriteOp>(op); write && op.hasAttr(kDelayedAttr))
        taken.erase(write.getSymbolAttr().getAttr());
      if (auto read = dyn_cast<ReadOp>(op))
        holds[read.getResult()] = read.getSymbolAttr().getAttr();
      else if (isView(&op))
        if (StringAttr symbol = holds.lookup(op.getOperand(0)))
          holds[op.getResult(0)] = symbol;
      if (auto launch = dyn_cast<LaunchOp>(op))
        take(launch, symbols.lookup<func::FuncOp>(launch.getKernel()), holds, taken);
    }
    return success();
  }

  static void take(LaunchOp launch, func::FuncOp kernel,
                   const llvm::DenseMap<Value, StringAttr> &holds,
                   llvm::DenseMap<StringAttr, Operation *> &taken) {
    for (auto [index, input] : llvm::enumerate(launch.getInputs()))
      if (StringAttr symbol = holds.lookup(input); symbol && kernel.getArgAttr(index, kInplaceAttr))
        taken[symbol] = launch;
  }
};
} // namespace
