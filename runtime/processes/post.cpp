//===- post.cpp - the thread that sends and receives messages -------------===//

#include "runtime/processes/post.h"

#include "runtime/support/thread.h"

#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zero::rt {

/// How long a process that ends waits for others to read what it has sent.
static constexpr double kLingerSeconds = 1;

Status Post::startThread() {
  event = Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.isOpen())
    return fail(ZERO_RT_IO, "cannot create an eventfd: %s", std::strerror(errno));
  return rt::startThread("messages between processes", thread, [this] { run(); });
}

void Post::wake() {
  const uint64_t one = 1;
  // It cannot fail: the thread reads it, and 2^64 calls are out of reach.
  (void)!::write(event.get(), &one, sizeof(one));
}

void Post::close() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    closing = true;
    end = after(kLingerSeconds);
    sayGoodbye();
  }
  wake();
  thread.join();
}

void Post::run() {
  threadId = std::this_thread::get_id();
  PollSet polls;
  while (true) {
    polls.clear();
    const int events = polls.add(event.get(), POLLIN);
    {
      std::lock_guard lock(mutex);
      prepare(polls);
      polls.wakeAt(end);
      if (closing && (isClosed() || Clock::now() >= end))
        return;
    }
    polls.wait();
    uint64_t count;
    if (polls.events(events))
      (void)!::read(event.get(), &count, sizeof(count)); // resets it
    {
      std::lock_guard lock(mutex);
      serve(polls);
    }
    inbox.runCallbacks();
  }
}

} // namespace zero::rt
