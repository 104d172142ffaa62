//===- MachineFile.h - machines by name or file -----------------*- C++ -*-===//

#ifndef ZERO_MACHINE_MACHINEFILE_H
#define ZERO_MACHINE_MACHINEFILE_H

#include "zero/Planning/Machine.h"

#include <string_view>

namespace zero {

/// The machine of `name`: a preset, or else a file written by `zero-run --calibrate`. Returns an
/// error message, empty on success.
std::string loadMachine(const std::string &name, planning::Machine &machine);

/// The default preset, for programs on GPUs or on CPUs.
std::string defaultMachine(bool onGpu);

/// "cpu, a100, dgx2, gh200, h100, h200, rtx4090".
std::string machinePresets();

} // namespace zero

#endif // ZERO_MACHINE_MACHINEFILE_H
