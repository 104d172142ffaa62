//===- signals.cpp - start and end of a tool's process --------------------===//

#include "tools/process/process.h"

#include "faults.h"
#include "runtime/support/temporary.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace zero::process {

static const char *tool = "";
static constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static bool isIgnored[NSIG];
/// The first signal, and how many other than SIGPIPE came. A handler may use nothing else.
static std::atomic<int> received{0};
static std::atomic<int> count{0};
static std::atomic<bool> hasChildren{false}; ///< that are asked to end, too
static_assert(std::atomic<int>::is_always_lock_free);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static void openStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF)
      continue;
    // Gets the lowest number that is free: this one. Where there is no /dev, any folder keeps it.
    if (::open("/dev/null", O_RDWR) < 0)
      (void)::open("/", O_RDONLY);
  }
}

/// Whether standard output or error has no reader any more.
static bool isOutputClosed() {
  pollfd streams[] = {{STDOUT_FILENO, POLLOUT, 0}, {STDERR_FILENO, POLLOUT, 0}};
  return ::poll(streams, 2, 0) > 0 && ((streams[0].revents | streams[1].revents) & POLLERR);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// The thread that ends the process.
static std::atomic<pid_t> ender{0};

void beginEnd() {
  pid_t none = 0;
  const pid_t self = ::gettid();
  if (!ender.compare_exchange_strong(none, self) && none != self)
    for (;;)
      ::pause();
}

static void say(const char *text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

void endByError(std::initializer_list<const char *> parts) {
  beginEnd();
  rt::removeTemporaries(/*isFailure=*/true);
  say(tool);
  say(": error: ");
  for (const char *part : parts)
    say(part);
  say("\n");
  ::_exit(1);
}

void endForMemory() {
  endByError(
      {"out of memory; limits are those of 'ulimit -v' and 'ulimit -d', or of the container"});
}

static constexpr char kNoThread[] =
    "cannot start a thread; limits are those of 'ulimit -u' and 'ulimit -v', or of the container";

static void onTerminate() {
  try {
    if (std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    endForMemory();
  } catch (const std::system_error &error) {
    const bool isLimit = error.code() == std::errc::resource_unavailable_try_again;
    endByError({isLimit ? kNoThread : error.what()});
  } catch (const std::exception &error) {
    endByError({error.what()});
  } catch (...) {
    endByError({"an exception of an unknown type"});
  }
  endByError({"ended by std::terminate()"});
}

static void endBySignal(int signal) {
  beginEnd();
  rt::removeTemporaries(/*isFailure=*/false);
  ::_exit(128 + signal);
}

static void askToEnd(int signal) {
  int none = 0;
  received.compare_exchange_strong(none, signal);
}

static void onSignalInOrder(int signal) {
  const int error = errno;
  if (signal == SIGPIPE) {
    if (isOutputClosed())
      askToEnd(signal);
  } else if (count++ > 0 && !hasChildren) {
    endBySignal(signal);
  } else {
    askToEnd(signal);
  }
  errno = error;
}

/// Ends the process by the signal itself, so that its parent sees the signal.
static void onSignalAtOnce(int signal) {
  beginEnd();
  rt::removeTemporaries(/*isFailure=*/false);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {}, old;
  if (::sigaction(signal, nullptr, &old) != 0)
    return;
  isIgnored[signal] = handler == SIG_IGN || old.sa_handler == SIG_IGN;
  action.sa_handler = isIgnored[signal] ? SIG_IGN : handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

void restoreIgnored() {
  for (int signal = 1; signal < NSIG; ++signal)
    if (isIgnored[signal])
      std::signal(signal, SIG_IGN);
}

void begin(const char *name, Ending ending) {
  openStandardStreams();
  tool = name;
  // Threads end by a library that the system loads for the first that does: not when memory is
  // short, for then it ends the process.
  void *frame;
  (void)::backtrace(&frame, 1);
  std::set_terminate(onTerminate);
  for (int signal : kEnding)
    handle(signal, ending == Ending::InOrder ? onSignalInOrder : onSignalAtOnce);
  handle(SIGXFSZ, SIG_IGN);
  catchFaults();
}

std::string ownPath() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  return {path, length > 0 ? size_t(length) : 0};
}

void restart(char **arguments) {
  ::execv(ownPath().c_str(), arguments);
  ::execv("/proc/self/exe", arguments); // where the file has been replaced
}

pid_t forkForProgram() {
  sigset_t ending, before;
  ::sigemptyset(&ending);
  for (int signal : kEnding)
    ::sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, &before);
  const pid_t child = ::fork();
  if (child == 0)
    for (int signal : kEnding)
      std::signal(signal, isIgnored[signal] ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return child;
}

void endWithChildren() { hasChildren = true; }

int interruption() { return received; }

int interruptions() { return count; }

int interruptionCode() { return 128 + interruption(); }

} // namespace zero::process
