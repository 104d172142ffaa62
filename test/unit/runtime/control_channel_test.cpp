//===- control_channel_test.cpp - small messages between processes --------===//

#include "runtime/processes/control_channel.h"

#include "job.h"

#include "runtime/processes/handshake.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace zero::rt;
using namespace zero::rt::test;
namespace fs = std::filesystem;

namespace {

std::string gathered(ControlChannel &channel, const char *what, const std::string &own) {
  std::vector<std::string> all;
  const Status status = channel.allGather(what, own, all);
  if (!status.ok())
    return status.getMessage();
  std::string text;
  for (const std::string &each : all)
    text += (text.empty() ? "" : " ") + each;
  return text;
}

using Shape = std::tuple<int, bool>;
class Channels : public testing::TestWithParam<Shape> {};

TEST_P(Channels, AllGather) {
  const auto [processes, tcp] = GetParam();
  Job job(processes, tcp);
  job.startAll([](ControlChannel &channel) {
    for (int round = 0; round < 20; ++round)
      say(gathered(channel, "numbers", std::to_string(channel.process() * 100 + round)));
    std::vector<std::string> all;
    const std::string large(size_t(channel.process() % 2) * 3'000'000,
                            char('a' + channel.process()));
    EXPECT_TRUE(channel.allGather("texts", large, all).ok());
    EXPECT_EQ(int(all.size()), channel.processes());
    for (size_t process = 0; process < all.size(); ++process)
      EXPECT_EQ(all[process], std::string(process % 2 * 3'000'000, char('a' + process)));
  });
  for (int process = 0; process < processes; ++process)
    for (int round = 0; round < 20; ++round) {
      std::string expected;
      for (int other = 0; other < processes; ++other)
        expected += (other ? " " : "") + std::to_string(other * 100 + round);
      EXPECT_EQ(job.line(process), expected);
    }
  job.join();
}

std::set<int> entries(const char *folder) {
  std::set<int> numbers;
  for (const auto &each : fs::directory_iterator(folder))
    numbers.insert(std::stoi(each.path().filename()));
  return numbers;
}

std::set<int> openFiles() {
  std::set<int> files = entries("/proc/self/fd"); // with the one that reads this folder
  std::erase_if(files, [](int file) { return ::fcntl(file, F_GETFD) < 0; });
  return files;
}

TEST_P(Channels, LeaveNothing) {
  const auto [processes, tcp] = GetParam();
  Job job(processes, tcp);
  for (int process = 0; process < processes; ++process)
    job.run([&, process] {
      std::thread([] {}).join(); // ThreadSanitizer starts one of its own
      const std::set<int> before = openFiles();
      const int threads = entries("/proc/self/task").size();
      for (int round = 0; round < 3; ++round) {
        ChannelPtr channel;
        ASSERT_EQ(textOf(ControlChannel::open(job.optionsOf(process), channel)), "ok");
        EXPECT_EQ(int(entries("/proc/self/task").size()), threads + 1);
        for (const int file : openFiles())
          EXPECT_TRUE(before.contains(file) || ::fcntl(file, F_GETFD) & FD_CLOEXEC) << file;
        gathered(*channel, "end", "");
      }
      EXPECT_EQ(openFiles(), before);
      EXPECT_EQ(int(entries("/proc/self/task").size()), threads);
    });
  job.join();
}

INSTANTIATE_TEST_SUITE_P(Shapes, Channels,
                         testing::Combine(testing::Values(1, 2, 5), testing::Bool()),
                         [](const testing::TestParamInfo<Shape> &info) {
                           return format("%d_%s", std::get<0>(info.param),
                                         std::get<1>(info.param) ? "tcp" : "unix");
                         });

/// A process that ends may open the channel of the next attempt before process 0 has ended.
TEST(Channel, NextAttempt) {
  for (const bool tcp : {false, true}) {
    Job job(2, tcp);
    for (int process = 0; process < 2; ++process)
      job.run([&, process] {
        for (int attempt = 0; attempt < 2; ++attempt) {
          ChannelPtr channel;
          ASSERT_EQ(textOf(ControlChannel::open(job.optionsOf(process), channel)), "ok");
          EXPECT_EQ(gathered(*channel, "x", std::to_string(attempt)), attempt ? "1 1" : "0 0");
          if (process == 0)
            pause(0.1);
        }
      });
    job.join();
  }
}

TEST(Channel, LateStart) {
  for (const bool tcp : {false, true})
    for (const int late : {0, 2}) {
      Job job(3, tcp);
      const auto body = [](ControlChannel &channel) { say(gathered(channel, "x", "y")); };
      for (int process = 0; process < 3; ++process)
        if (process != late)
          job.start(process, body);
      pause(0.1);
      job.start(late, body);
      for (int process = 0; process < 3; ++process)
        EXPECT_EQ(job.line(process), "y y y");
      job.join();
    }
}

TEST(Channel, GivenListener) {
  Job job(2);
  job.run([&] {
    Address address;
    Socket listener;
    ASSERT_TRUE(parseAddress(job.address, address).ok());
    ASSERT_TRUE(listenAt(address, after(5), listener).ok());
    ControlOptions options = job.optionsOf(0);
    options.listener = ::dup(listener.get());
    ChannelPtr channel;
    ASSERT_EQ(textOf(ControlChannel::open(options, channel)), "ok");
    EXPECT_TRUE(::fcntl(options.listener, F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(gathered(*channel, "x", "a"), "a b");
  });
  job.start(1, [](ControlChannel &channel) { EXPECT_EQ(gathered(channel, "x", "b"), "a b"); });
  job.join();
}

TEST(Channel, IdleThreadsUseNoTime) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    gathered(channel, "start", "");
    rusage before, after;
    ::getrusage(RUSAGE_SELF, &before);
    pause(0.2);
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 20);
    gathered(channel, "end", "");
  });
  job.join();
}

TEST(Channel, MissingProcess) {
  Job job(4, false, 0.5);
  for (const int process : {0, 2})
    job.start(process, [](ControlChannel &) { say("opened"); });
  for (const int process : {0, 2})
    EXPECT_EQ(job.line(process),
              "processes 1 and 3 of 4 did not connect to " + job.address + " within 0.5 s");
  job.join();
}

TEST(Channel, MissingProcess0) {
  for (const bool tcp : {false, true}) {
    Job job(2, tcp, 0.2);
    job.start(1, [](ControlChannel &) { say("opened"); });
    EXPECT_EQ(job.line(1), "process 0 was not found at " + job.address +
                               " within 0.2 s: cannot connect to " + job.address +
                               ": Connection refused");
    job.join();
  }
}

TEST(Channel, EndBeforeAllAreConnected) {
  Job job(3);
  for (const int process : {0, 1})
    job.start(process, [](ControlChannel &) { say("opened"); });
  pause(0.2);
  job.signal(1, SIGKILL);
  EXPECT_EQ(job.line(0, 2), job.nameOf(1) + " ended unexpectedly");
}

Socket connected(const Job &job) {
  Address address;
  Socket socket;
  EXPECT_TRUE(parseAddress(job.address, address).ok());
  while (!connectTo(address, after(5), socket).ok())
    pause(0.01);
  return socket;
}

/// Joins with `hello` as a process that knows the secret, and says how process 0 refuses it.
void sayRefusal(const Job &job, const Hello &hello) {
  Connection connection(connected(job), kLargestHello);
  connection.send(hello.encode());
  std::optional<Message> answer = received(connection);
  Welcome welcome;
  if (answer && Welcome::decode(*answer, welcome)) {
    const Acquaintance both(job.optionsOf(1).secret, hello, welcome);
    connection.send(handshakeMessage(Kind::Confirm, both.proofOfMember()));
    both.sealAtMember(connection);
    answer = received(connection);
  }
  say(answer && answer->header.kind == Kind::Refused ? "refused: " + std::string(answer->text())
                                                     : "no answer");
}

TEST(Channel, OtherVersion) {
  Job job(2);
  job.start(0, [](ControlChannel &) { say("opened"); });
  Hello hello = Hello::own(job.optionsOf(1));
  hello.version = "0.0.1";
  const int other = job.run([&] { sayRefusal(job, hello); });
  const std::string text = job.line(0);
  EXPECT_TRUE(
      text.starts_with("all processes must have the same version: " + job.nameOf(0) + " has "))
      << text;
  EXPECT_NE(text.find(" has 0.0.1 (protocol 2)"), std::string::npos) << text;
  EXPECT_EQ(job.line(other), "refused: " + text);
  job.join();
}

/// Nothing is proven with another protocol: whoever speaks it does not end the job.
TEST(Channel, OtherProtocol) {
  Job job(2, false, 1);
  job.start(0, [](ControlChannel &) { say("opened"); });
  Hello hello = Hello::own(job.optionsOf(1));
  hello.protocol = 7;
  const int other = job.run([&] { sayRefusal(job, hello); });
  const std::string refused = job.line(other);
  EXPECT_NE(refused.find("refused: all processes must have the same version: "), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("another process has "), std::string::npos) << refused;
  EXPECT_NE(refused.find("(protocol 7)"), std::string::npos) << refused;
  const std::string text = job.line(0);
  EXPECT_TRUE(text.starts_with("process 1 of 2 did not connect to " + job.address +
                               " within 1 s; 1 "
                               "other connection was turned away, the last one because of this: "))
      << text;
  job.join();
}

TEST(Channel, OtherSize) {
  Job job(2);
  job.start(0, [](ControlChannel &) { say("opened"); });
  const int other = job.run([&] {
    ControlOptions options = job.optionsOf(1);
    options.processes = 3;
    ChannelPtr channel;
    say(textOf(ControlChannel::open(options, channel)));
  });
  const std::string text = job.line(0);
  EXPECT_TRUE(text.starts_with("processes expect jobs of different sizes: 2 processes by " +
                               job.nameOf(0) + ", 3 by rank 1 on host"))
      << text;
  EXPECT_EQ(job.line(other), text);
  job.join();
}

TEST(Channel, OneNumberTwice) {
  Job job(3);
  for (const int process : {0, 1})
    job.start(process, [](ControlChannel &) { say("opened"); });
  pause(0.2);
  const int same = job.run([&] {
    ChannelPtr channel;
    say(textOf(ControlChannel::open(job.optionsOf(1), channel)));
  });
  const std::string text = job.line(0);
  EXPECT_TRUE(text.starts_with("both are process 1: " + job.nameOf(1) + " and rank 1 on host"))
      << text;
  EXPECT_EQ(job.line(1), text);
  EXPECT_EQ(job.line(same), text);
  job.join();
}

TEST(Channel, OneNumberTwiceInARunningJob) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    say("opened");
    pause(0.5);
    say(gathered(channel, "x", "y"));
  });
  EXPECT_EQ(job.line(0), "opened");
  EXPECT_EQ(job.line(1), "opened");
  const int same = job.run([&] {
    ChannelPtr channel;
    say(textOf(ControlChannel::open(job.optionsOf(1), channel)));
  });
  EXPECT_TRUE(job.line(same).starts_with("both are process 1: "));
  EXPECT_EQ(job.line(0), "y y") << "a stranger does not end the job";
  EXPECT_EQ(job.line(1), "y y");
  job.join();
}

TEST(Channel, OtherJobAtTheSameSocket) {
  Job job(2);
  job.start(0, [](ControlChannel &channel) { say(gathered(channel, "x", "y")); });
  const int other = job.run([&] {
    ControlOptions options = job.optionsOf(1);
    options.job = "other";
    ChannelPtr channel;
    say(textOf(ControlChannel::open(options, channel)));
  });
  EXPECT_EQ(job.line(other), job.nameOf(0) + " listens at " + job.address + " for another job");
  job.start(1, [](ControlChannel &channel) { say(gathered(channel, "x", "y")); });
  EXPECT_EQ(job.line(0), "y y");
  EXPECT_EQ(job.line(1), "y y");
  job.join();
}

/// Sends bytes to process 0, and keeps the connection.
void disturb(const Job &job, std::vector<Socket> &sockets, const std::string &bytes) {
  sockets.push_back(connected(job));
  (void)!::send(sockets.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

TEST(Channel, Strangers) {
  for (const bool tcp : {false, true}) {
    Job job(2, tcp);
    const auto body = [](ControlChannel &channel) {
      say("opened");
      pause(0.2);
      say(gathered(channel, "x", "y"));
    };
    job.start(0, body);
    std::vector<Socket> sockets;
    const auto disturbAll = [&] {
      Message hello = Hello::own(job.optionsOf(1)).encode();
      hello.header.bytes = uint64_t(1) << 62;
      std::string large(reinterpret_cast<const char *>(&hello.header), sizeof(MessageHeader));
      hello.header.bytes = 100;
      std::string garbled(reinterpret_cast<const char *>(&hello.header), sizeof(MessageHeader));
      garbled += std::string(100, '\xff');
      const std::string all[] = {"",
                                 "GET / HTTP/1.0\r\n\r\n",
                                 std::string(100'000, '\xff'),
                                 large,
                                 garbled,
                                 Hello::own(job.optionsOf(1)).encode().body->substr(0, 20)};
      for (const std::string &bytes : all)
        for (int i = 0; i < 8; ++i)
          disturb(job, sockets, bytes);
    };
    disturbAll();
    job.start(1, body);
    EXPECT_EQ(job.line(0), "opened");
    EXPECT_EQ(job.line(1), "opened");
    disturbAll();
    EXPECT_EQ(job.line(0), "y y");
    EXPECT_EQ(job.line(1), "y y");
    job.join();
  }
}

TEST(Channel, Addresses) {
  for (const char *bad : {"", "unix:", "unix:@", "unix:name", "tcp:", "tcp::1", "tcp:host",
                          "tcp:host:", "tcp:host:0", "tcp:host:65536", "tcp:host:x", "host:1"}) {
    Address address;
    EXPECT_FALSE(parseAddress(bad, address).ok()) << bad;
  }
  EXPECT_FALSE([](Address address) {
    return parseAddress("unix:@" + std::string(200, 'x'), address).ok();
  }(Address()));
  Address address;
  ASSERT_TRUE(parseAddress("tcp:[::1]:65530", address).ok());
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 65530);
  ASSERT_TRUE(parseAddress("tcp:a.example.org:80", address).ok());
  EXPECT_EQ(address.host, "a.example.org");
  EXPECT_TRUE(meansLoopback("127.1.2.3") && meansLoopback("::1") && meansLoopback("localhost"));
  EXPECT_FALSE(meansLoopback("10.0.0.1") || meansLoopback("a.example.org"));
}

TEST(Channel, BadOptions) {
  const auto open = [](auto change) {
    ControlOptions options;
    options.processes = 2;
    options.address = "unix:@zero-test-bad";
    options.timeoutSeconds = 0.1;
    change(options);
    ChannelPtr channel;
    return ControlChannel::open(options, channel).getCode();
  };
  EXPECT_EQ(open([](ControlOptions &options) { options.process = 2; }), ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.processes = 0; }), ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.address = "x"; }), ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.timeoutSeconds = 0; }),
            ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.job = std::string(2000, 'x'); }),
            ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.listener = 0; }), ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(open([](ControlOptions &options) { options.address = "tcp:127.0.0.1:61440"; }),
            ZERO_RT_INVALID_ARGUMENT)
      << "without a secret";
}

} // namespace
