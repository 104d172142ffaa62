//===- deferred_checks.cpp - checks that are read later -------------------===//

#include "runtime/execute/deferred_checks.h"

#include <algorithm>

namespace zero::rt {

static bool isOutside(const CheckCommand &check, int64_t value) {
  return value < check.lower || value > check.upper;
}

Status outcomeOf(const CheckCommand &check, const char *label, int rank, const int64_t *value) {
  for (int i = 0; i < 2; ++i)
    if (isOutside(check, value[i]))
      return fail(ZERO_RT_CHECK_FAILED, "rank %d, node '%s': %s: expected %lld to %lld, got %lld",
                  rank, escape(label).c_str(), escape(check.message).c_str(),
                  static_cast<long long>(check.lower), static_cast<long long>(check.upper),
                  static_cast<long long>(value[i]));
  return {};
}

void DeferredChecks::open(const std::vector<CommandSegment> &segments, const StepWindows &windows) {
  firstWindow = windows.checks;
  entries.clear();
  bool any = false;
  for (const CommandSegment &segment : segments)
    for (const Command &command : segment.commands)
      if (const auto *check = std::get_if<CheckCommand>(&command.body)) {
        entries.push_back({this, check, command.label, windows.at<const int64_t>(check->window)});
        any |= check->deferred;
      }
  if (!any)
    entries.clear();
}

void *DeferredChecks::entry(uint32_t window) { return &entries[window - firstWindow]; }

void DeferredChecks::look(void *entry) {
  const auto *self = static_cast<const Entry *>(entry);
  DeferredChecks &all = *self->owner;
  const bool fails =
      isOutside(*self->check, self->value[0]) || isOutside(*self->check, self->value[1]);
  if (!fails || all.first.load(std::memory_order_relaxed))
    return;
  std::copy_n(self->value, all.values.size(), all.values.begin());
  all.first.store(self, std::memory_order_release);
}

Status DeferredChecks::outcome(int rank) const {
  const Entry *failed = first.load(std::memory_order_acquire);
  return failed ? outcomeOf(*failed->check, failed->label, rank, values.data()) : Status();
}

} // namespace zero::rt
