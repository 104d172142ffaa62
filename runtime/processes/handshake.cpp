//===- handshake.cpp - how a process joins its job ------------------------===//

#include "runtime/processes/handshake.h"

#include <optional>
#include <thread>
#include <unistd.h>

namespace zero::rt {

/// How long another program that listens at one of the ports may keep a process waiting.
static constexpr double kConnectSeconds = 2, kAnswerSeconds = 3;

std::string ProcessName::brief() const {
  return format("%s on host '%s'", escape(about).c_str(), escape(host).c_str());
}

std::string ProcessName::full() const {
  return format("%s (pid %llu)", brief().c_str(), static_cast<unsigned long long>(pid));
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
  return hello;
}

Message Hello::encode() const {
  std::string body;
  append(body, version);
  append(body, job);
  append(body, uint64_t(process));
  append(body, uint64_t(processes));
  append(body, name);
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
  if (!fields.isAtEnd() || process > INT32_MAX || processes > INT32_MAX)
    return false;
  hello.process = int(process);
  hello.processes = int(processes);
  return true;
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

/// One attempt to join at one port.
class Attempt {
public:
  Attempt(const ControlOptions &options, const Address &address, int port, Time deadline)
      : options(options), address(address), port(port), deadline(deadline) {}

  Status run();
  /// Process 0 of this job refuses this process: another attempt would not help.
  bool isFinal() const { return final; }

  std::unique_ptr<Connection> connection;
  ProcessName hub;

private:
  Status waitForAnswer(Message &answer);
  Status refused(const Message &answer);
  Status lost(const char *why) const {
    return fail(ZERO_RT_IO, "%s at %s", why, escape(address.at(port)).c_str());
  }

  const ControlOptions &options;
  const Address &address;
  int port;
  Time deadline;
  bool final = false;
};

Status Attempt::waitForAnswer(Message &answer) {
  std::optional<Message> received;
  const Time end = std::min(deadline, after(kAnswerSeconds));
  while (!received && !connection->isLost() && Clock::now() < end) {
    PollSet polls;
    polls.wakeAt(end);
    connection->prepare(polls);
    polls.wait();
    connection->serve(polls, [&](Message &&message) {
      received = std::move(message);
      return true;
    });
  }
  if (!received)
    return lost(connection->isLost() ? "another program listens, or process 0 has ended,"
                                     : "no answer from what listens");
  answer = std::move(*received);
  return {};
}

Status Attempt::refused(const Message &answer) {
  final = answer.header.code == uint32_t(Refusal::Mismatch) ||
          (address.isLocal() && answer.header.code == uint32_t(Refusal::OtherJob));
  return {ZERO_RT_INVALID_ARGUMENT, escape(std::string(answer.text()))};
}

Status Attempt::run() {
  Socket socket;
  ZERO_RT_TRY(connectTo(address, port, std::min(deadline, after(kConnectSeconds)), socket));
  connection = std::make_unique<Connection>(std::move(socket), kLargestHello);
  connection->send(Hello::own(options).encode());
  Message answer;
  ZERO_RT_TRY(waitForAnswer(answer));
  if (answer.header.sequence != kHelloMagic)
    return lost("another program listens");
  if (answer.header.kind == Kind::Refused)
    return refused(answer);
  Fields fields(answer.text());
  hub = readName(fields);
  if (answer.header.kind != Kind::Welcome || !fields.isAtEnd())
    return lost("another program listens");
  connection->setLimit(kLargestMessage);
  connection->send(handshakeMessage(Kind::Confirm));
  return {};
}

} // namespace

Status joinJob(const ControlOptions &options, const Address &address, Time deadline,
               std::unique_ptr<Connection> &connection, ProcessName &hub) {
  Status last;
  for (auto pause = std::chrono::milliseconds(5); Clock::now() < deadline;
       pause = std::min(2 * pause, std::chrono::milliseconds(250))) {
    for (int port = 0; port < address.ports() && Clock::now() < deadline; ++port) {
      Attempt attempt(options, address, port, deadline);
      Status status = attempt.run();
      if (status.ok()) {
        connection = std::move(attempt.connection);
        hub = std::move(attempt.hub);
        return {};
      }
      if (attempt.isFinal())
        return status;
      // Most ports have no listener: another reason says more.
      if (port == 0 || status.getCode() == ZERO_RT_INVALID_ARGUMENT)
        last = std::move(status);
    }
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + pause));
  }
  return fail(ZERO_RT_TIMEOUT, "process 0 was not found at %s within %g s: %s",
              escape(address.text).c_str(), options.timeoutSeconds,
              last.ok() ? "no time was left" : last.getMessage().c_str());
}

} // namespace zero::rt
