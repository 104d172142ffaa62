//===- spinning.h - spinning of OpenMP threads ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_SPINNING_H
#define TOOLS_ZERO_RUN_SPINNING_H

namespace zero::run {

/// Starts this program anew with an environment in which threads that wait for work soon
/// sleep, unless the user has said how they wait. OpenMP reads it only when it is loaded,
/// and would else spin for milliseconds: ten times slower where others need the core.
/// Returns if there is nothing to do, or it cannot be done.
void limitSpinning(char **arguments);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_SPINNING_H
