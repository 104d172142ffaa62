//===- evaluation.cpp - the loss of held-out data -------------------------===//

#include "evaluation.h"

#include "data.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::run {

static bool hasLoss(const Executable &executable) {
  zero_rt_value_info info;
  for (size_t i = 0; i < infoOf(executable).outputs; ++i)
    if (zero_rt_executable_output(executable.get(), i, &info).code == ZERO_RT_OK &&
        info.name == std::string("loss"))
      return true;
  return false;
}

Status Evaluator::open(const Options &options, const Executable &executable) {
  if (options.evalData.empty())
    return {};
  if (!hasLoss(executable))
    return fail(ZERO_RT_INVALID_ARGUMENT, "--eval-data: the program has no loss");
  if (Status status =
          openData(executable, "--eval-data", options.evalData, options.quiet, job.isFirst(), data);
      !status.ok())
    return fail(status.getCode(), "--eval-data: %s", status.getMessage().c_str());
  every = options.evalEvery.value_or(0);
  batches = std::min(std::max<uint64_t>(1, infoOf(data).steps_per_epoch),
                     options.evalSteps.value_or(UINT64_MAX));
  return {};
}

bool Evaluator::isDue(uint64_t steps, uint64_t all) const {
  return isOpen() && (steps == all || (every > 0 && steps > 0 && steps % every == 0));
}

Status Evaluator::run(const Session &session, uint64_t steps, Evaluation &result,
                      bool &complete) const {
  result = {steps, 0, batches, 0};
  complete = false;
  for (uint64_t batch = 0; batch < batches; ++batch) {
    bool stops;
    ZERO_RT_TRY(job.shallStop(session, stops));
    if (stops)
      return {};
    zero_rt_step_result one;
    ZERO_RT_TRY(take(zero_rt_session_evaluate(session.get(), data.get(), batch, &one)));
    result.loss += one.loss / double(batches);
    result.seconds += one.seconds;
  }
  complete = true;
  return {};
}

} // namespace zero::run
