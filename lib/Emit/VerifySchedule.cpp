//===- VerifySchedule.cpp - verify the tables of a program ----------------===//

#include "VerifySchedule.h"

#include "Tables.h"
#include "runtime/verify/lane_check.h"
#include "runtime/verify/value_check.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Emit/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "include/zero/Emit/Passes.h.inc"

LogicalResult verifySchedule(ModuleOp module, const rt::proto::Program &program, StringRef data) {
  rt::Status status = rt::checkValues(program, {data.bytes_begin(), data.bytes_end()});
  if (status.ok())
    status = rt::checkLanes(program);
  if (!status.ok())
    return module.emitError() << "internal: " << status.getMessage();
  return success();
}
} // namespace zero

using namespace zero;

namespace {
struct VerifySchedule : zero::impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    Tables tables;
    if (failed(findStep(getOperation())) ||
        failed(buildTables(getOperation(), getAnalysis<Storage>(), EmitOptions(), tables)))
      signalPassFailure();
  }
};
} // namespace
