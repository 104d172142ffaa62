//===- handshake.cpp - how a process joins its job ------------------------===//

#include "runtime/processes/handshake.h"

#include <thread>
#include <unistd.h>

namespace zero::rt {

/// How long another program that listens there may keep a process waiting.
static constexpr double kConnectSeconds = 2, kAnswerSeconds = 3;

std::string ProcessName::brief() const {
  return format("%s on host '%s'", escape(about).c_str(), escape(host).c_str());
}

std::string ProcessName::full() const {
  return format("%s (pid %llu)", brief().c_str(), static_cast<unsigned long long>(pid));
}

std::string listOf(const std::vector<std::string> &names, size_t most) {
  std::string text;
  const size_t shown = names.size() > most + 1 ? most : names.size();
  for (size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return shown < names.size() ? text + format(" and %zu others", names.size() - shown) : text;
}

void append(std::string &body, const ProcessName &name) {
  append(body, name.about);
  append(body, name.host);
  append(body, name.pid);
}

ProcessName readName(Fields &fields) {
  ProcessName name;
  name.about = fields.text();
  name.host = fields.text();
  name.pid = fields.number();
  return name;
}

Hello Hello::own(const ControlOptions &options) {
  Hello hello;
  hello.version = ZERO_VERSION;
  hello.job = options.job;
  hello.process = options.process;
  hello.processes = options.processes;
  hello.name = {options.about, hostName(), uint64_t(::getpid())};
  hello.challenge = newChallenge();
  return hello;
}

Message Hello::encode() const {
  std::string body;
  append(body, version);
  append(body, job);
  append(body, uint64_t(process));
  append(body, uint64_t(processes));
  append(body, name);
  append(body, challenge);
  Message message = handshakeMessage(Kind::Hello, std::move(body));
  message.header.code = protocol;
  return message;
}

bool Hello::decode(const Message &message, Hello &hello) {
  if (message.header.kind != Kind::Hello || message.header.sequence != kHelloMagic)
    return false;
  hello.protocol = message.header.code;
  Fields fields(message.text());
  hello.version = fields.text();
  hello.job = fields.text();
  if (!fields.isOk() || hello.protocol != kProtocol)
    return fields.isOk();
  const uint64_t process = fields.number(), processes = fields.number();
  hello.name = readName(fields);
  hello.challenge = fields.text();
  if (!fields.isAtEnd() || process > INT32_MAX || processes > INT32_MAX ||
      hello.challenge.size() != kChallengeBytes)
    return false;
  hello.process = int(process);
  hello.processes = int(processes);
  return true;
}

Message Welcome::encode() const {
  std::string body;
  append(body, name);
  append(body, challenge);
  append(body, proof);
  return handshakeMessage(Kind::Welcome, std::move(body));
}

bool Welcome::decode(const Message &message, Welcome &welcome) {
  Fields fields(message.text());
  welcome.name = readName(fields);
  welcome.challenge = fields.text();
  welcome.proof = fields.text();
  return message.header.kind == Kind::Welcome && fields.isAtEnd() &&
         welcome.challenge.size() == kChallengeBytes;
}

Acquaintance::Acquaintance(const std::string &secret, const Hello &hello, const Welcome &welcome)
    : secret(secret) {
  append(said, hello.encode().text());
  append(said, welcome.name);
  append(said, welcome.challenge);
}

void Acquaintance::sealAtHub(Connection &connection) const {
  connection.seal(Seal(proofOf(secret, "messages of process 0", said)),
                  Seal(proofOf(secret, "messages of the process", said)));
}

void Acquaintance::sealAtMember(Connection &connection) const {
  connection.seal(Seal(proofOf(secret, "messages of the process", said)),
                  Seal(proofOf(secret, "messages of process 0", said)));
}

Message handshakeMessage(Kind kind, std::string body) {
  Message message(kind, 0, 0, std::move(body));
  message.header.sequence = kHelloMagic;
  return message;
}

Message refusal(Refusal why, const Status &status) {
  Message message = handshakeMessage(Kind::Refused, status.getMessage().substr(0, 2048));
  message.header.code = uint32_t(why);
  return message;
}

namespace {

/// One attempt to join at one address.
class Attempt {
public:
  Attempt(const ControlOptions &options, const Address &address, Time deadline)
      : options(options), address(address), deadline(deadline) {}

  Status run();
  /// Process 0 of this job refuses this process: another attempt would not help.
  bool isFinal() const { return final; }

  Joined joined;

private:
  Status waitForAnswer(Time end, Message &answer);
  Status refused(const Message &answer) const;
  Status lost(const char *why) const {
    return fail(ZERO_RT_IO, "%s at %s", why, escape(address.text).c_str());
  }

  const ControlOptions &options;
  const Address &address;
  Time deadline;
  bool final = false;
};

/// The first message that comes; others stay in `early`.
Status Attempt::waitForAnswer(Time end, Message &answer) {
  Connection &connection = *joined.connection;
  std::vector<Message> &received = joined.early;
  while (received.empty() && !connection.isLost() && Clock::now() < end) {
    PollSet polls;
    polls.wakeAt(end);
    connection.prepare(polls);
    polls.wait();
    connection.serve(polls, [&](Message &&message) {
      received.push_back(std::move(message));
      return true;
    });
  }
  if (received.empty())
    return lost(connection.isLost() ? "another program listens, or process 0 has ended,"
                                    : "no answer from what listens");
  answer = std::move(received.front());
  received.erase(received.begin());
  return answer.header.sequence == kHelloMagic ? Status() : lost("another program listens");
}

Status Attempt::refused(const Message &answer) const {
  return {ZERO_RT_INVALID_ARGUMENT, escape(std::string(answer.text()))};
}

Status Attempt::run() {
  Socket socket;
  ZERO_RT_TRY(connectTo(address, std::min(deadline, after(kConnectSeconds)), socket));
  joined.connection = std::make_unique<Connection>(std::move(socket), kLargestHello);
  const Hello hello = Hello::own(options);
  joined.connection->send(hello.encode());
  Message answer;
  ZERO_RT_TRY(waitForAnswer(std::min(deadline, after(kAnswerSeconds)), answer));
  if (answer.header.kind == Kind::Refused) {
    // Nothing is proven. But at a local socket only this user listens.
    final = address.isLocal() && answer.header.code != uint32_t(Refusal::Ended);
    return refused(answer);
  }
  Welcome welcome;
  if (!Welcome::decode(answer, welcome) || !joined.early.empty())
    return lost("another program listens");
  const Acquaintance both(options.secret, hello, welcome);
  if (!isSameProof(welcome.proof, both.proofOfHub()))
    return lost("another job or program listens, which does not know the secret of this job,");
  joined.connection->send(handshakeMessage(Kind::Confirm, both.proofOfMember()));
  both.sealAtMember(*joined.connection);
  ZERO_RT_TRY(waitForAnswer(deadline, answer));
  if (answer.header.kind == Kind::Refused) {
    final = answer.header.code == uint32_t(Refusal::Mismatch);
    return refused(answer);
  }
  if (answer.header.kind != Kind::Admitted)
    return lost("process 0 has sent a message that is not understood");
  joined.hub = std::move(welcome.name);
  joined.connection->setLimit(kLargestMessage);
  return {};
}

} // namespace

Status joinJob(const ControlOptions &options, const std::vector<Address> &addresses, Time deadline,
               Joined &joined) {
  Status last;
  std::vector<std::string> texts;
  for (const Address &address : addresses)
    texts.push_back(escape(address.text));
  for (auto pause = std::chrono::milliseconds(5); Clock::now() < deadline;
       pause = std::min(2 * pause, std::chrono::milliseconds(250))) {
    for (const Address &address : addresses) {
      Attempt attempt(options, address, deadline);
      Status status = attempt.run();
      if (status.ok()) {
        joined = std::move(attempt.joined);
        return {};
      }
      if (attempt.isFinal())
        return status;
      // That an address has no listener says less than an answer elsewhere.
      if (last.ok() || &address == &addresses.front() || status.getCode() != ZERO_RT_IO)
        last = std::move(status);
      if (Clock::now() >= deadline)
        break;
    }
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + pause));
  }
  return fail(ZERO_RT_TIMEOUT, "process 0 was not found at %s within %g s: %s",
              listOf(texts, texts.size()).c_str(), options.timeoutSeconds,
              last.ok() ? "no time was left" : last.getMessage().c_str());
}

} // namespace zero::rt
