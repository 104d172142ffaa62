//===- evaluation.cpp - the loss of held-out data -------------------------===//

#include "evaluation.h"

#include "data.h"
#include "runtime/support/checked.h"
#include "warnings.h"
#include "zero_rt/averages.h"

#include <algorithm>
#include <cstdio>

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
          openData(executable, {"--eval-data", /*trains=*/false, options.choosePacking()},
                   options.evalData, options.quiet, job.isFirst(), data);
      !status.ok())
    return fail(status.getCode(), "--eval-data: %s", status.getMessage().c_str());
  every = options.evalEvery.value_or(0);
  usesAverages = options.evaluatesAverages;
  const zero_rt_data_info info = infoOf(data);
  batch = info.samples_per_step;
  samples = info.samples;
  uint64_t limit;
  if (options.evalSteps && checkedMultiply(*options.evalSteps, batch, limit))
    samples = std::min(samples, limit);
  return {};
}

bool Evaluator::isDue(uint64_t steps, uint64_t all) const {
  return isOpen() && (steps == all || (every > 0 && steps > 0 && steps % every == 0));
}

Status Evaluator::run(const Session &session, uint64_t steps, Evaluation &result,
                      bool &complete) const {
  result = {steps, {}};
  complete = false;
  if (!usesAverages)
    return runSamples(session, result, complete);
  ZERO_RT_TRY(take(zero_rt_session_use_averages(session.get(), 1)));
  ZERO_RT_TRY(runSamples(session, result, complete));
  return take(zero_rt_session_use_averages(session.get(), 0));
}

Status Evaluator::runSamples(const Session &session, Evaluation &result, bool &complete) const {
  for (uint64_t first = 0; first < samples; first += batch) {
    bool stops;
    ZERO_RT_TRY(job.shallStop(session, stops));
    if (stops)
      return {};
    ZERO_RT_TRY(take(zero_rt_session_evaluate_samples(
        session.get(), data.get(), first, std::min(batch, samples - first), &result.total)));
  }
  complete = true;
  return {};
}

void Evaluator::warn(const zero_rt_evaluation &total) const {
  char text[ZERO_RT_WARNING_BYTES];
  for (size_t i = 0; zero_rt_evaluation_warning(&total, i, text, sizeof(text)); ++i)
    if (job.isFirst())
      run::warn(text);
}

} // namespace zero::run
