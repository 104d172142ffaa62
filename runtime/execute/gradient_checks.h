//===- gradient_checks.h - whether gradients are finite ---------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_GRADIENT_CHECKS_H
#define RUNTIME_EXECUTE_GRADIENT_CHECKS_H

#include "runtime/execute/commands.h"
#include "runtime/support/finite.h"

#include <deque>

namespace zero::rt {

/// The checks of the gradients that the updates of one rank read. Each update looks at its gradient
/// piece by piece, right before it reads the piece, so that no pass over memory is added. One that
/// finds NaN or infinity has changed state by then: the step fails, which ends the session.
class GradientChecks {
public:
  /// Gives the launches in `segments`, which are those of `rank`, their checks: those on the cores
  /// of the host, and those on the device if the host can read its memory.
  void open(const proto::Program &program, int rank, bool onDevice,
            std::vector<CommandSegment> &segments);

  /// Before a step: nothing was found.
  void clear();
  /// Looks at the gradient of `command`, a launch that is skipped.
  static void lookSkipped(const Command &command);
  /// The first tensor in the order of the model of which a gradient was not finite.
  std::optional<FiniteCheck::Finding> finding() const;
  /// Its name; empty if there is none.
  const std::string &name() const;
  /// The error of that; none if all gradients were finite.
  Status outcome(int rank) const;

private:
  const proto::Program *program = nullptr;
  std::deque<FiniteCheck> checks;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_GRADIENT_CHECKS_H
