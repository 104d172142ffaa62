//===- machine.h - limits of this machine -----------------------*- C++ -*-===//

#ifndef RUNTIME_MEASURE_MACHINE_H
#define RUNTIME_MEASURE_MACHINE_H

#include "runtime/execute/team.h"

namespace zero::rt {

/// Measures the limits of a rank while all ranks of `options` do the same, on separate threads that
/// end with it; see zero_rt_measure_machine().
Status measureMachine(const TeamOptions &options, zero_rt_machine &machine);

} // namespace zero::rt

#endif // RUNTIME_MEASURE_MACHINE_H
