//===- conversation.cpp - collectives, failures and questions -------------===//

#include "runtime/processes/conversation.h"

#include "runtime/processes/gathering.h"

namespace zero::rt {

/// How long process 0 may take to say what the failure of the job is.
static constexpr double kVerdictSeconds = 1;
/// Answers are lines of an error.
static constexpr size_t kLargestAnswer = 4096;

/// How much longer than process 0 the others wait: it knows better who is missing. They only see
/// the end of this time if it is stopped.
static Clock::duration patience(const ControlOptions &options) {
  return seconds(std::max(0.5, options.timeoutSeconds / 10));
}

ControlChannel::Conversation::~Conversation() {
  if (!mail)
    return;
  {
    Lock lock(mail->mutex);
    handler = nullptr;
    answer = nullptr;
  }
  mail->close();
}

Status ControlChannel::Conversation::open() {
  std::vector<Address> addresses(1);
  if (options.processes > 1) {
    ZERO_RT_TRY(parseAddress(options.address, addresses.front()));
    for (const std::string &other : options.otherAddresses)
      ZERO_RT_TRY(parseAddress(other, addresses.emplace_back()));
    ZERO_RT_TRY(checkSecret(options));
  }
  hasLeft.resize(options.processes);
  const Time deadline = after(options.timeoutSeconds);
  mail = options.process == 0 ? makeHub(options, addresses.front(), *this)
                              : makeMember(options, std::move(addresses), *this);
  ZERO_RT_TRY(mail->open(deadline));
  Lock lock(mail->mutex);
  return await(
      lock, deadline + patience(options), 0, [&] { return !names.empty(); },
      [&] {
        return rt::fail(ZERO_RT_TIMEOUT, "not all %d processes have connected within %g s",
                        options.processes, options.timeoutSeconds);
      });
}

void ControlChannel::Conversation::start(const Message &message) {
  Fields fields(message.text());
  for (int process = 0; process < options.processes; ++process)
    names.push_back(readName(fields));
}

void ControlChannel::Conversation::receive(Message &&message) {
  const MessageHeader &header = message.header;
  switch (header.kind) {
  case Kind::Start:
    start(message);
    break;
  case Kind::Gathered:
    gathered = std::move(message);
    break;
  case Kind::Grant:
    takeGrant(message);
    break;
  case Kind::Piece:
    if (header.sequence == receiving)
      pieces.push_back(std::move(message));
    break;
  case Kind::Failed:
    if (!failure) {
      failure = statusOf(message);
      isOwnFailure = header.from == options.process;
    }
    break;
  case Kind::Ask:
    questions.push_back(header);
    break;
  case Kind::Answer:
    takeAnswer(message);
    break;
  case Kind::Left:
    if (header.from >= 0 && header.from < options.processes)
      hasLeft[header.from] = true;
    break;
  default:
    break; // of a handshake
  }
  mail->changed.notify_all();
}

void ControlChannel::Conversation::takeGrant(const Message &message) {
  Fields fields(message.text());
  Room &room = rooms[message.header.sequence];
  room.pieces += message.header.code;
  room.bytes = fields.number();
  room.what = fields.text();
}

void ControlChannel::Conversation::takeAnswer(const Message &message) {
  const auto found = answers.find(message.header.sequence);
  const int from = message.header.from;
  if (found != answers.end() && from >= 0 && from < options.processes)
    found->second[from] = std::string(message.text());
}

void ControlChannel::Conversation::post(Message message, uint64_t sequence, uint32_t code) {
  message.header.sequence = sequence;
  message.header.code = code;
  mail->send(std::move(message));
  mail->wake();
}

std::string ControlChannel::Conversation::nameOf(int process) const {
  return process >= 0 && process < int(names.size()) ? names[process].full()
                                                     : format("process %d", process);
}

Status ControlChannel::Conversation::await(Lock &lock, Time deadline, int peer,
                                           const std::function<bool()> &isDone,
                                           const std::function<Status()> &late) {
  const auto hasEnded = [&](int process) { return process >= 0 && hasLeft[process]; };
  const bool isEarly = mail->changed.wait_until(
      lock, deadline, [&] { return isDone() || failure || hasEnded(peer) || hasEnded(0); });
  if (isDone())
    return {};
  if (failure)
    return *failure;
  return giveUp(
      lock, Kind::FailAll,
      isEarly ? rt::fail(ZERO_RT_ABORTED, "%s has ended", nameOf(hasEnded(peer) ? peer : 0).c_str())
              : late());
}

Status ControlChannel::Conversation::giveUp(Lock &lock, Kind kind, const Status &reason) {
  if (failure)
    return *failure;
  mail->send(failureMessage(kind, options.process, reason));
  mail->wake();
  if (!mail->isOwnThread())
    mail->changed.wait_until(lock, after(kVerdictSeconds), [&] { return failure || hasLeft[0]; });
  if (!failure) { // process 0 does not answer, or has ended
    isOwnFailure = true;
    failure = reason;
    mail->changed.notify_all();
  }
  return *failure;
}

Status ControlChannel::Conversation::allGather(const char *what, std::string_view own,
                                               std::vector<std::string> &all) {
  Lock lock(mail->mutex);
  if (failure)
    return *failure;
  const uint64_t sequence = ++collective;
  if (own.size() > kLargestGather)
    return giveUp(lock, Kind::Fail,
                  rt::fail(ZERO_RT_INVALID_ARGUMENT,
                           "'%s': expected at most %llu MiB, got %zu bytes", what,
                           static_cast<unsigned long long>(kLargestGather >> 20), own.size()));
  gathered.reset();
  post(Message(Kind::Gather, options.process, 0, Gathering::encode(what, own)), sequence);
  ZERO_RT_TRY(await(
      lock, after(options.timeoutSeconds) + patience(options), 0,
      [&] { return gathered && gathered->header.sequence == sequence; },
      [&] {
        return rt::fail(ZERO_RT_TIMEOUT, "%s did not answer at '%s' within %g s", nameOf(0).c_str(),
                        what, options.timeoutSeconds);
      }));
  const Message message = std::move(*gathered);
  gathered.reset();
  lock.unlock();
  if (!Gathering::decode(message.text(), options.processes, all))
    return rt::fail(ZERO_RT_INTERNAL, "'%s': process 0 sent a malformed answer", what);
  return {};
}

Status ControlChannel::Conversation::fail(Kind kind, const Status &reason) {
  Lock lock(mail->mutex);
  return giveUp(lock, kind, reason);
}

Status ControlChannel::Conversation::currentFailure() {
  Lock lock(mail->mutex);
  return failure.value_or(Status());
}

void ControlChannel::Conversation::callHandler(Lock &lock) {
  if (!failure || isOwnFailure || isHandled || !handler)
    return;
  isHandled = true;
  const auto call = handler;
  const Status reason = *failure;
  lock.unlock();
  call(reason);
  lock.lock();
}

void ControlChannel::Conversation::onFailure(std::function<void(const Status &)> newHandler) {
  Lock lock(mail->mutex);
  handler = std::move(newHandler);
  callHandler(lock);
}

void ControlChannel::Conversation::answerQuestions(Lock &lock) {
  const std::vector<MessageHeader> asked = std::move(questions);
  questions.clear();
  for (const MessageHeader &question : asked) {
    const auto call = answer;
    lock.unlock();
    std::string text = call ? call().substr(0, kLargestAnswer) : std::string();
    lock.lock();
    post(Message(Kind::Answer, options.process, question.from, std::move(text)), question.sequence);
  }
}

void ControlChannel::Conversation::runCallbacks() {
  Lock lock(mail->mutex);
  answerQuestions(lock);
  callHandler(lock);
}

void ControlChannel::Conversation::onProgress(std::function<std::string()> newAnswer) {
  Lock lock(mail->mutex);
  answer = std::move(newAnswer);
}

bool ControlChannel::Conversation::isAnswered(
    const std::vector<std::optional<std::string>> &answers) const {
  for (int process = 0; process < options.processes; ++process)
    if (!answers[process] && !hasLeft[process] && !hasLeft[0])
      return false;
  return true;
}

std::vector<std::optional<std::string>> ControlChannel::Conversation::askProgress(double seconds) {
  Lock lock(mail->mutex);
  const uint64_t question = ++lastQuestion;
  std::vector<std::optional<std::string>> &result = answers[question];
  result.resize(options.processes);
  post(Message(Kind::Ask, options.process, kEveryone), question);
  const auto own = answer;
  lock.unlock();
  std::string text = own ? own() : std::string();
  lock.lock();
  result[options.process] = std::move(text);
  if (!mail->isOwnThread())
    mail->changed.wait_until(lock, after(seconds), [&] { return isAnswered(result); });
  auto taken = std::move(result);
  answers.erase(question);
  return taken;
}

} // namespace zero::rt
