//===- conversation.h - collectives, failures and questions -----*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_CONVERSATION_H
#define RUNTIME_PROCESSES_CONVERSATION_H

#include "runtime/processes/post.h"

#include <deque>
#include <map>

namespace zero::rt {

/// The state of a ControlChannel. The lock is that of the post.
class ControlChannel::Conversation final : public Inbox {
public:
  explicit Conversation(const ControlOptions &options) : options(options) {}
  /// Ends the thread first, then everything that it uses.
  ~Conversation() override;

  Status open();
  Status allGather(const char *what, std::string_view own, std::vector<std::string> &all);
  Status stream(const char *what, int from, int to, uint64_t bytes, const Read &read,
                const Write &write);
  void onFailure(std::function<void(const Status &)> newHandler);
  Status fail(Kind kind, const Status &reason);
  Status currentFailure();
  std::vector<std::optional<std::string>> askProgress(double seconds);
  void onProgress(std::function<std::string()> newAnswer);

  void receive(Message &&message) override;
  void runCallbacks() override;

  const ControlOptions options;

private:
  using Lock = std::unique_lock<std::mutex>;

  /// What the sender of a stream knows of the receiver.
  struct Room {
    uint64_t pieces = 0, bytes = 0;
    std::string what;
  };

  void start(const Message &message);
  void takeGrant(const Message &message);
  void takeAnswer(const Message &message);
  void post(Message message, uint64_t sequence, uint32_t code = 0);
  void callHandler(Lock &lock);
  void answerQuestions(Lock &lock);

  /// Waits for `isDone`. Ends with the failure of the job; the end of `peer` or of process 0 is
  /// one, and so is the deadline, which `late` describes.
  Status await(Lock &lock, Time deadline, int peer, const std::function<bool()> &isDone,
               const std::function<Status()> &late);
  /// Ends the job; returns its failure, which may be an earlier one.
  Status giveUp(Lock &lock, Kind kind, const Status &reason);
  bool isAnswered(const std::vector<std::optional<std::string>> &answers) const;
  std::string nameOf(int process) const;

  Status sendStream(const char *what, int to, uint64_t bytes, const Read &read);
  Status receiveStream(const char *what, int from, uint64_t bytes, const Write &write);
  Status copyStream(uint64_t bytes, const Read &read, const Write &write);
  Status awaitRoom(Lock &lock, const char *what, int to, uint64_t bytes);
  Status awaitPiece(Lock &lock, const char *what, int from, uint64_t count, Message &piece);

  std::unique_ptr<Post> mail;
  std::vector<ProcessName> names; ///< of all processes, once all are connected
  std::vector<bool> hasLeft;

  uint64_t collective = 0; ///< the number of the last one of this process
  std::optional<Message> gathered;
  std::map<uint64_t, Room> rooms; ///< by collective
  std::deque<Message> pieces;     ///< of the stream that this process receives
  uint64_t receiving = 0;         ///< its collective, or 0

  std::optional<Status> failure;
  bool isOwnFailure = false, isHandled = false;
  std::function<void(const Status &)> handler;

  std::function<std::string()> answer;
  std::vector<MessageHeader> questions; ///< of others, to be answered
  uint64_t lastQuestion = 0;
  std::map<uint64_t, std::vector<std::optional<std::string>>> answers; ///< by question
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_CONVERSATION_H
