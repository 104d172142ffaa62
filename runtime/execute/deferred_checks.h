//===- deferred_checks.h - checks that are read later -----------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_DEFERRED_CHECKS_H
#define RUNTIME_EXECUTE_DEFERRED_CHECKS_H

#include "runtime/execute/commands.h"
#include "runtime/execute/windows.h"

#include <atomic>

namespace zero::rt {

/// The error of `check`, whose two values are at `value`; none if both are in its range.
Status outcomeOf(const CheckCommand &check, const char *label, int rank, const int64_t *value);

/// The checks of one rank whose values reach the host while later commands already run. A thread of
/// the device's driver looks at each value when it is there. The commands may have run into a
/// graph, which names these objects by their addresses: they stay as long as the device works.
class DeferredChecks {
public:
  /// Finds the checks in `segments`, which must stay where they are.
  void open(const std::vector<CommandSegment> &segments, const StepWindows &windows);
  bool isEmpty() const { return entries.empty(); }

  /// Before a step: none has failed.
  void clear() { first.store(nullptr); }
  /// The argument of look() for the check with window `window`.
  void *entry(uint32_t window);
  /// Looks at the value of an entry that is in its window now. Calls follow each other in the order
  /// of the program.
  static void look(void *entry);
  /// The error of the first check that has failed. All values have been looked at.
  Status outcome(int rank) const;

private:
  struct Entry {
    DeferredChecks *owner;
    const CheckCommand *check;
    const char *label;
    const int64_t *value;
  };
  uint32_t firstWindow = 0;
  std::vector<Entry> entries; ///< by window, from firstWindow on
  std::atomic<const Entry *> first{nullptr};
  std::array<int64_t, 2> values{}; ///< of `first`
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_DEFERRED_CHECKS_H
