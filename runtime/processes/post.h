//===- post.h - the thread that sends and receives messages -----*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_POST_H
#define RUNTIME_PROCESSES_POST_H

#include "runtime/processes/handshake.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace zero::rt {

/// What receives the messages of this process.
class Inbox {
public:
  virtual ~Inbox() = default;
  /// Called with the lock of the Post.
  virtual void receive(Message &&message) = 0;
  /// Called on the thread of the Post, without its lock, after messages were received.
  virtual void runCallbacks() = 0;
};

/// The connections of a process, and the thread that serves them. Functions say who holds the lock.
class Post {
public:
  explicit Post(const ControlOptions &options, Inbox &inbox) : options(options), inbox(inbox) {}
  virtual ~Post() = default;
  Post(const Post &) = delete;
  Post &operator=(const Post &) = delete;

  /// Connects to the others, until `deadline`. Without the lock.
  virtual Status open(Time deadline) = 0;
  /// Sends or delivers to header.to, or to all others. With the lock.
  virtual void send(Message message) = 0;
  /// Makes the thread look at what was sent.
  void wake();
  /// Says goodbye, and ends the thread. Without the lock.
  void close();
  bool isOwnThread() const { return std::this_thread::get_id() == threadId.load(); }

  std::mutex mutex;
  std::condition_variable changed; ///< what the inbox has received

protected:
  Status startThread();
  virtual void sayGoodbye() = 0;                ///< with the lock
  virtual void prepare(PollSet &polls) = 0;     ///< with the lock
  virtual void serve(const PollSet &polls) = 0; ///< with the lock
  virtual bool isClosed() const = 0;            ///< after sayGoodbye(): all others have closed

  const ControlOptions options;
  Inbox &inbox;
  bool closing = false;

private:
  void run();

  Socket event;
  std::thread thread;
  std::atomic<std::thread::id> threadId;
  Time end = Time::max(); ///< of waiting for others to close
};

/// The post of process 0, or of another one.
std::unique_ptr<Post> makeHub(const ControlOptions &options, const Address &address, Inbox &inbox);
std::unique_ptr<Post> makeMember(const ControlOptions &options, std::vector<Address> addresses,
                                 Inbox &inbox);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_POST_H
