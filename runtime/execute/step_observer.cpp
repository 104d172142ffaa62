//===- step_observer.cpp - observers of a rank's steps --------------------===//

#include "runtime/execute/step_observer.h"

namespace zero::rt {

void StepObservers::attach(StepObserver &observer) {
  attached.push_back(&observer);
  watching.reserve(attached.size()); // a step allocates nothing
}

void StepObservers::detach(const StepObserver &observer) {
  std::erase(attached, &observer);
  watching.clear();
}

void StepObservers::begin(uint64_t step, Mode mode) {
  watching.clear();
  for (StepObserver *each : attached)
    if (each->begin(step, mode))
      watching.push_back(each);
}

void StepObservers::endStep() {
  for (StepObserver *each : watching)
    each->endStep();
}

} // namespace zero::rt
