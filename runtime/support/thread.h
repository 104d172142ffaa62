//===- thread.h - threads and the cores they may use ------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_THREAD_H
#define RUNTIME_SUPPORT_THREAD_H

#include "runtime/support/status.h"

#include <functional>
#include <thread>

namespace zero::rt {

/// Cores that this process may use, as taskset and cgroups leave them.
int usableCores();

/// Starts `thread` with `body`. If a limit on memory or processes is reached, fails with an error
/// that names the purpose of the thread.
Status startThread(const std::string &what, std::thread &thread, std::function<void()> body);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_THREAD_H
