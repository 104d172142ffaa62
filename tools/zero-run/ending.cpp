//===- ending.cpp - when a run ends before its last step ------------------===//

#include "ending.h"

#include "tools/process/process.h"

using namespace zero::rt;

namespace zero::run {

void EarlyEnd::addEvaluation(const Evaluation &result) {
  const bool isBetter = !best || result.total.loss < best->total.loss;
  worse = isBetter ? 0 : worse + 1;
  if (isBetter)
    best = result;
}

bool EarlyEnd::isOutOfTime() const {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin;
  return options.maxSeconds > 0 && longest > 0 &&
         gone.count() + longest + saving > options.maxSeconds;
}

/// The clock of process 0 counts.
Status EarlyEnd::shallStop(const Session &session, bool &stops) {
  const bool isSignalled = process::interruption() != 0;
  const bool isOver = (job.isFirst() && isOutOfTime()) || isOutOfPatience();
  ZERO_RT_TRY(job.any(session, isSignalled || isOver, stops));
  return stops ? job.any(session, isSignalled, hasSignal) : Status();
}

Ending EarlyEnd::why() const {
  if (hasSignal)
    return Ending::Signal;
  return isOutOfPatience() ? Ending::Patience : Ending::Time;
}

std::string EarlyEnd::patienceText() const {
  return format("no better evaluation loss since %.6f after step %llu", double(best->total.loss),
                static_cast<unsigned long long>(best->step));
}

} // namespace zero::run
