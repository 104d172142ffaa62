//===- VerifySchedule.cpp - no state is read after it was written ---------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct VerifySchedule : zero::impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step) || failed(check(*step)))
      signalPassFailure();
  }

  static LogicalResult check(func::FuncOp step) {
    llvm::DenseMap<StringAttr, WriteOp> written;
    for (Operation &op : step.getBody().front()) {
      if (auto write = dyn_cast<WriteOp>(op)) {
        if (WriteOp &first = written[write.getSymbolAttr().getAttr()]; !first) {
          first = write;
          continue;
        }
        return op.emitOpError() << "writes " << write.getSymbolAttr() << " a second time";
      }
      if (auto read = dyn_cast<ReadOp>(op))
        if (WriteOp write = written.lookup(read.getSymbolAttr().getAttr())) {
          InFlightDiagnostic error = op.emitOpError() << "reads " << read.getSymbolAttr()
                                                      << " after it was written";
          error.attachNote(write.getLoc()) << "written here";
          return error;
        }
      if (isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op) && !op.hasAttr(kNameAttr))
        return op.emitOpError() << "has no " << kNameAttr << " for messages";
    }
    return success();
  }
};
} // namespace
