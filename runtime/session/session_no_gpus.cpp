//===- session_no_gpus.cpp - a runtime that is built without GPUs ---------===//

#include "runtime/session/session_gpus.h"

namespace zero::rt {

Status openGpus(const LoadedProgram &, const zero_rt_session_options &, World *,
                const GroupOptions &, std::unique_ptr<Device> &,
                std::vector<std::unique_ptr<Communicator>> &) {
  return fail(ZERO_RT_UNSUPPORTED, "the executable is compiled for cuda, and this runtime is built "
                                   "without GPUs: compile the model with --device=cpu");
}

} // namespace zero::rt
