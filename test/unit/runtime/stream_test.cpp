//===- stream_test.cpp - bytes of a process for another one ---------------===//

#include "job.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

using namespace zero::rt;
using namespace zero::rt::test;

namespace {

constexpr uint64_t kMiB = uint64_t(1) << 20;

char byteAt(uint64_t offset) { return char(offset * 31 + (offset >> 16)); }

Status readPattern(char *piece, uint64_t offset, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    piece[i] = byteAt(offset + i);
  return {};
}

Status ignore(const char *, uint64_t, uint64_t) { return {}; }

/// Checks that pieces come in order.
class Checked {
public:
  Status operator()(const char *piece, uint64_t offset, uint64_t count) {
    EXPECT_EQ(offset, next);
    EXPECT_LE(count, kMiB);
    next += count;
    bool isSame = true;
    for (uint64_t i = 0; i < count; ++i)
      isSame &= piece[i] == byteAt(offset + i);
    EXPECT_TRUE(isSame) << "at " << offset;
    return {};
  }
  uint64_t next = 0;
};

/// The most memory that this process has used so far.
uint64_t largestMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::stoull(line.substr(6)) * 1024;
  return 0;
}

using Ends = std::tuple<int, int>;
class Streams : public testing::TestWithParam<Ends> {};

TEST_P(Streams, AllSizes) {
  const auto [from, to] = GetParam();
  Job job(3, true);
  job.startAll([from, to](ControlChannel &channel) {
    for (const uint64_t bytes : {uint64_t(0), uint64_t(1), kMiB, kMiB + 1, 9 * kMiB + 5}) {
      Checked checked;
      EXPECT_EQ(textOf(channel.stream("x", from, to, bytes, readPattern, std::ref(checked))), "ok");
      EXPECT_EQ(checked.next, channel.process() == to ? bytes : 0);
    }
    std::vector<std::string> all;
    EXPECT_EQ(textOf(channel.allGather("end", "", all)), "ok");
  });
  job.join();
}

INSTANTIATE_TEST_SUITE_P(Pairs, Streams,
                         testing::Values(Ends(0, 1), Ends(1, 0), Ends(1, 2), Ends(2, 1), Ends(0, 0),
                                         Ends(2, 2)),
                         [](const testing::TestParamInfo<Ends> &info) {
                           return format("%d_to_%d", std::get<0>(info.param),
                                         std::get<1>(info.param));
                         });

TEST(Stream, SlowReceiver) {
  for (const bool tcp : {false, true}) {
    Job job(3, tcp);
    job.startAll([](ControlChannel &channel) {
      const uint64_t before = largestMemory();
      Checked checked;
      const auto write = [&](const char *piece, uint64_t offset, uint64_t count) {
        pause(offset == 8 * kMiB ? 0.4 : 0.002);
        return checked(piece, offset, count);
      };
      EXPECT_EQ(textOf(channel.stream("x", 1, 2, 64 * kMiB, readPattern, write)), "ok");
      std::vector<std::string> all;
      EXPECT_EQ(textOf(channel.allGather("end", "", all)), "ok");
      if (!kIsSanitized)
        EXPECT_LT(largestMemory() - before, 16 * kMiB);
    });
    job.join();
  }
}

TEST(Stream, ManyAtOnce) {
  Job job(5);
  job.startAll([](ControlChannel &channel) {
    for (const auto &[from, to] : {std::pair(1, 2), {3, 4}, {2, 0}, {4, 1}}) {
      Checked checked;
      EXPECT_EQ(textOf(channel.stream("x", from, to, 10 * kMiB, readPattern, std::ref(checked))),
                "ok");
    }
    std::vector<std::string> all;
    EXPECT_EQ(textOf(channel.allGather("end", "", all)), "ok");
  });
  job.join();
}

TEST(Stream, FailurePassesABlockedReceiver) {
  for (const bool byRelay : {false, true}) {
    Job job(4, true, 60);
    job.startAll([byRelay](ControlChannel &channel) {
      channel.onFailure([](const Status &reason) { say("handler: " + reason.getMessage()); });
      if (channel.process() == (byRelay ? 0 : 3)) {
        pause(0.1);
        return channel.fail(Status(ZERO_RT_IO, "a disk is full"));
      }
      const Status status =
          channel.stream("x", 1, 2, 64 * kMiB, readPattern, [](const char *, uint64_t, uint64_t) {
            pause(0.4); // meanwhile, the handler is called
            say("written");
            return Status();
          });
      std::vector<std::string> all;
      say(textOf(channel.process() == 0 ? channel.allGather("next", "", all) : status));
      pause(0.1); // until the handler was called
    });
    const std::string first = job.line(2);
    EXPECT_TRUE(first.starts_with("handler: ") && first.ends_with(": a disk is full")) << first;
    EXPECT_EQ(job.line(2), "written");
    EXPECT_EQ(job.line(2), first.substr(9));
    std::vector<std::string> ofSender = {job.line(1), job.line(1)};
    std::sort(ofSender.begin(), ofSender.end());
    EXPECT_EQ(ofSender[0], first);
    EXPECT_EQ(ofSender[1], first.substr(9));
  }
}

TEST(Stream, ErrorsOfCallbacks) {
  for (const int failing : {1, 2}) {
    Job job(3);
    job.startAll([failing](ControlChannel &channel) {
      const auto step = [&](int process, uint64_t offset) {
        return process == failing && offset >= 3 * kMiB ? Status(ZERO_RT_BAD_FILE, "torn")
                                                        : Status();
      };
      Status status = channel.stream(
          "x", 1, 2, 64 * kMiB, [&](char *, uint64_t offset, uint64_t) { return step(1, offset); },
          [&](const char *, uint64_t offset, uint64_t) { return step(2, offset); });
      std::vector<std::string> all;
      if (channel.process() == 0)
        status = channel.allGather("next", "", all);
      say(format("%d %s", int(status.getCode()), status.getMessage().c_str()));
    });
    const std::string name = job.nameOf(failing);
    for (int process = 0; process < 3; ++process)
      EXPECT_EQ(job.line(process), format("%d ", int(ZERO_RT_BAD_FILE)) +
                                       name.substr(0, name.find(" (pid")) + ": torn");
    job.join();
  }
}

TEST(Stream, StoppedReceiver) {
  Job job(3, false, 0.5);
  job.startAll([](ControlChannel &channel) {
    const Status status = channel.stream("x", 1, 2, 64 * kMiB, readPattern,
                                         [](const char *, uint64_t offset, uint64_t) {
                                           if (offset == 0) {
                                             say("ready");
                                             pause(60);
                                           }
                                           return Status();
                                         });
    if (channel.process() == 0)
      pause(2); // it passes on the pieces
    say(textOf(status));
  });
  EXPECT_EQ(job.line(2), "ready");
  job.signal(2, SIGSTOP);
  EXPECT_EQ(job.line(1), job.nameOf(2) + " did not take a piece of 'x' within 0.5 s");
}

TEST(Stream, MissingSender) {
  Job job(3, false, 0.5);
  job.startAll([](ControlChannel &channel) {
    if (channel.process() == 1)
      return pause(2);
    const Status status = channel.stream("x", 1, 2, kMiB, readPattern, ignore);
    std::vector<std::string> all;
    say(textOf(channel.process() == 2 ? status : channel.allGather("next", "", all)));
  });
  const std::string text = job.line(2);
  EXPECT_TRUE(text == job.nameOf(1) + " did not send a piece of 'x' within 0.5 s" ||
              text.ends_with(" did not arrive at 'next' within 0.5 s"))
      << text;
  EXPECT_EQ(job.line(0), text);
}

TEST(Stream, DifferentCalls) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    const uint64_t bytes = channel.process() == 0 ? 10 : 20;
    say(textOf(channel.stream("x", 0, 1, bytes, readPattern, ignore)));
  });
  const std::string text = job.line(0);
  EXPECT_EQ(text, "processes make different calls: " + job.nameOf(0) + " sends 10 bytes of 'x', " +
                      job.nameOf(1) + " expects 20 bytes of 'x'");
  EXPECT_EQ(job.line(1), text);
  job.join();
}

TEST(Stream, BadProcesses) {
  Job job(1);
  job.startAll([](ControlChannel &channel) {
    for (const auto &[from, to] : {std::pair(-1, 0), {0, 1}})
      EXPECT_EQ(channel.stream("x", from, to, 1, nullptr, nullptr).getCode(),
                ZERO_RT_INVALID_ARGUMENT);
  });
  job.join();
}

} // namespace
