//===- thread.cpp - threads and the cores they may use --------------------===//

#include "runtime/support/thread.h"

#include <sched.h>
#include <system_error>

namespace zero::rt {

int usableCores() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Status startThread(const std::string &what, std::thread &thread, std::function<void()> body) {
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error &error) {
    return fail(ZERO_RT_IO,
                "cannot start a thread for %s: %s; limits on memory and processes are those of "
                "'ulimit -v' and 'ulimit -u', or of the container",
                what.c_str(), error.code().message().c_str());
  }
  return {};
}

} // namespace zero::rt
