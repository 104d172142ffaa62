//===- recording_wait.cpp - calls that wait for the GPU -------------------===//
//
// The CUDA driver completes all work of a device before it frees memory, unloads code or destroys a
// context ("implicit synchronization" in the CUDA programming guide). NCCL's kernels end when those
// of the other ranks have come. Such a call beside one therefore blocks until its peers come, or
// until its communicator is aborted: for ever if neither happens (NCCL issues 48 and 549). Memory
// of the host, and of a device that others access, is freed in all contexts, so all devices count.
// The same holds for a kernel that a test stalls.
//
//===----------------------------------------------------------------------===//

#include "engine.h"

#include <chrono>
#include <thread>

namespace recording {

std::shared_ptr<const LongKernel> Engine::unfinished(const void *communicator) const {
  std::shared_ptr<const LongKernel> found;
  anyPending([&](const Work &work) {
    if (work.kernel && (!communicator || work.kernel->communicator == communicator))
      found = work.kernel;
    return found != nullptr;
  });
  return found;
}

void Engine::awaitKernels(const char *call, const void *communicator) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      if (unfinished(communicator))
        progress();
      const std::shared_ptr<const LongKernel> running = unfinished(communicator);
      if (!running)
        return;
      if (Clock::now() - begin > std::chrono::duration<double>(settings.hangSeconds))
        return problem(std::string(call) + " would hang: " + running->name + " is running");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

} // namespace recording
