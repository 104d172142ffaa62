//===- control_failure_test.cpp - failures of processes of a job ----------===//

#include "job.h"

#include <gtest/gtest.h>
#include <mutex>

using namespace zero::rt;
using namespace zero::rt::test;

namespace {

Status gather(ControlChannel &channel, const char *what) {
  std::vector<std::string> all;
  return channel.allGather(what, "x", all);
}

std::string codeAndText(const Status &status) {
  return format("%d %s", int(status.getCode()), status.getMessage().c_str());
}

/// Says when the handler is called.
void sayFailures(ControlChannel &channel) {
  channel.onFailure([](const Status &reason) { say("handler: " + codeAndText(reason)); });
}

using Shape = std::tuple<int, bool>; ///< who ends, TCP
class Ends : public testing::TestWithParam<Shape> {
protected:
  int victim() const { return std::get<0>(GetParam()); }
  std::string ended(const Job &job) const {
    return format("%d ", int(ZERO_RT_ABORTED)) + job.nameOf(victim()) + " ended unexpectedly";
  }
};

TEST_P(Ends, WhileIdle) {
  Job job(3, std::get<1>(GetParam()), 60);
  job.startAll([](ControlChannel &channel) {
    sayFailures(channel);
    EXPECT_TRUE(gather(channel, "start").ok());
    say("ready");
    pause(0.2);
    say(codeAndText(gather(channel, "next")));
    say(codeAndText(channel.failure()));
  });
  for (int process = 0; process < 3; ++process)
    EXPECT_EQ(job.line(process), "ready");
  job.signal(victim(), SIGKILL);
  for (int process = 0; process < 3; ++process) {
    if (process == victim())
      continue;
    EXPECT_EQ(job.line(process, 0.15), "handler: " + ended(job)) << "at once";
    EXPECT_EQ(job.line(process), ended(job));
    EXPECT_EQ(job.line(process), ended(job));
    EXPECT_EQ(job.line(process), "(end)") << "the handler is called once";
  }
}

TEST_P(Ends, WhileOthersGather) {
  Job job(3, std::get<1>(GetParam()), 60);
  job.startAll([this](ControlChannel &channel) {
    EXPECT_TRUE(gather(channel, "start").ok());
    say("ready");
    if (channel.process() == victim())
      pause(60);
    say(codeAndText(gather(channel, "next")));
  });
  for (int process = 0; process < 3; ++process)
    EXPECT_EQ(job.line(process), "ready");
  pause(0.05);
  job.signal(victim(), SIGKILL);
  for (int process = 0; process < 3; ++process)
    if (process != victim())
      EXPECT_EQ(job.line(process, 2), ended(job));
}

TEST_P(Ends, WhileStreaming) {
  Job job(3, std::get<1>(GetParam()), 60);
  job.startAll([](ControlChannel &channel) {
    const Status status = channel.stream(
        "weights", 1, 2, uint64_t(1) << 40,
        [](char *, uint64_t offset, uint64_t) {
          if (offset == uint64_t(20) << 20)
            say("ready");
          return Status();
        },
        [](const char *, uint64_t, uint64_t) { return Status(); });
    say(codeAndText(channel.process() == 0 ? gather(channel, "next") : status));
  });
  EXPECT_EQ(job.line(1), "ready");
  job.signal(victim(), SIGKILL);
  for (int process = 0; process < 3; ++process)
    if (process != victim())
      EXPECT_EQ(job.line(process, 3), ended(job));
}

INSTANTIATE_TEST_SUITE_P(Processes, Ends,
                         testing::Combine(testing::Values(0, 1, 2), testing::Bool()),
                         [](const testing::TestParamInfo<Shape> &info) {
                           return format("%d_%s", std::get<0>(info.param),
                                         std::get<1>(info.param) ? "tcp" : "unix");
                         });

TEST(Failure, StoppedProcess) {
  for (const int stopped : {0, 2}) {
    Job job(3, false, 0.5);
    job.startAll([stopped](ControlChannel &channel) {
      channel.onProgress([&] { return format("step %d", 10 * channel.process()); });
      EXPECT_TRUE(gather(channel, "start").ok());
      say("ready");
      if (channel.process() == stopped)
        pause(60);
      say(codeAndText(gather(channel, "sums")));
      for (const auto &each : channel.askProgress(0.3))
        say(each.value_or("nothing"));
    });
    for (int process = 0; process < 3; ++process)
      EXPECT_EQ(job.line(process), "ready");
    job.signal(stopped, SIGSTOP);
    for (int process = 0; process < 3; ++process) {
      if (process == stopped)
        continue;
      EXPECT_EQ(job.line(process), format("%d ", int(ZERO_RT_TIMEOUT)) + job.nameOf(stopped) +
                                       (stopped == 0 ? " did not answer" : " did not arrive") +
                                       " at 'sums' within 0.5 s");
      for (int other = 0; other < 3; ++other)
        // All messages pass process 0.
        EXPECT_EQ(job.line(process), other == stopped || (stopped == 0 && other != process)
                                         ? "nothing"
                                         : format("step %d", 10 * other));
    }
  }
}

TEST(Failure, ProgressOfBusyProcesses) {
  Job job(3, true);
  job.startAll([](ControlChannel &channel) {
    channel.onProgress([] { return std::string("in a collective"); });
    EXPECT_TRUE(gather(channel, "start").ok());
    if (channel.process() == 2) {
      pause(0.1);
      for (int round = 0; round < 5; ++round)
        for (const auto &each : channel.askProgress(5))
          EXPECT_EQ(each, "in a collective");
    }
    EXPECT_EQ(textOf(gather(channel, "next")), "ok");
  });
  job.join();
}

TEST(Failure, Reported) {
  for (int failing = 0; failing < 3; ++failing) {
    Job job(3, failing == 1, 60);
    job.startAll([failing](ControlChannel &channel) {
      sayFailures(channel);
      EXPECT_TRUE(gather(channel, "start").ok());
      if (channel.process() == failing) {
        channel.fail(Status(ZERO_RT_BAD_DATA, "the file 'x' is short"));
        say(codeAndText(channel.failure()));
        channel.fail(Status(ZERO_RT_IO, "later"));
        say(codeAndText(gather(channel, "next")));
        return;
      }
      say(codeAndText(gather(channel, "next")));
      pause(0.1);
    });
    std::string text = format("%d ", int(ZERO_RT_BAD_DATA)) + job.nameOf(failing);
    text.erase(text.find(" (pid"));
    text += ": the file 'x' is short";
    for (int process = 0; process < 3; ++process) {
      std::vector<std::string> lines = {job.line(process), job.line(process)};
      EXPECT_EQ(job.line(process), "(end)");
      std::sort(lines.begin(), lines.end());
      EXPECT_EQ(lines[0], text);
      EXPECT_EQ(lines[1], process == failing ? text : "handler: " + text);
    }
    job.join();
  }
}

TEST(Failure, FirstOfManyIsThatOfAll) {
  Job job(5);
  job.startAll([](ControlChannel &channel) {
    EXPECT_TRUE(gather(channel, "start").ok());
    channel.fail(Status(ZERO_RT_IO, "a disk is full"));
    say(codeAndText(channel.failure()));
  });
  const std::string first = job.line(0);
  EXPECT_NE(first.find(": a disk is full"), std::string::npos) << first;
  for (int process = 1; process < 5; ++process)
    EXPECT_EQ(job.line(process), first);
  job.join();
}

TEST(Failure, HandlerMayEndTheProcess) {
  Job job(3);
  job.startAll([](ControlChannel &channel) {
    channel.onFailure([](const Status &reason) {
      say(reason.getMessage());
      ::_exit(0);
    });
    EXPECT_TRUE(gather(channel, "start").ok());
    if (channel.process() == 1) {
      channel.fail(Status(ZERO_RT_IO, "a disk is full"));
      ::_exit(0);
    }
    pause(60);
  });
  const std::string name = job.nameOf(1);
  for (const int process : {0, 2})
    EXPECT_EQ(job.line(process), name.substr(0, name.find(" (pid")) + ": a disk is full");
  job.join();
}

TEST(Failure, HandlerAfterTheFailure) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    if (channel.process() == 0)
      return channel.fail(Status(ZERO_RT_IO, "x"));
    EXPECT_FALSE(gather(channel, "next").ok());
    bool isCalled = false;
    channel.onFailure([&](const Status &) { isCalled = true; });
    EXPECT_TRUE(isCalled);
  });
  job.join();
}

TEST(Failure, EndWithoutArriving) {
  for (const int ending : {0, 1}) {
    Job job(3, false, 60);
    job.startAll([ending](ControlChannel &channel) {
      EXPECT_TRUE(gather(channel, "start").ok());
      if (channel.process() == ending)
        return;
      say(codeAndText(gather(channel, "next")));
    });
    for (int process = 0; process < 3; ++process) {
      if (process == ending)
        continue;
      const std::string text = job.line(process, 3), name = job.nameOf(ending);
      // Process 0 may have ended before it knew that others wait.
      EXPECT_TRUE(
          text ==
              format("%d ", int(ZERO_RT_ABORTED)) + name + " ended without arriving at 'next'" ||
          (ending == 0 && text == format("%d ", int(ZERO_RT_ABORTED)) + name + " has ended"))
          << text;
    }
    job.join();
  }
}

TEST(Failure, GoodbyeIsNone) {
  Job job(3, true);
  job.startAll([](ControlChannel &channel) {
    sayFailures(channel);
    EXPECT_TRUE(gather(channel, "start").ok());
    pause(0.1 * ((channel.process() + 1) % 3)); // process 2 ends first, 1 last
    EXPECT_EQ(textOf(channel.failure()), "ok");
  });
  job.join();
}

TEST(Failure, DifferentCalls) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    say(codeAndText(gather(channel, channel.process() ? "sums" : "sizes")));
  });
  const std::string text = job.line(0);
  EXPECT_EQ(job.line(1), text);
  EXPECT_TRUE(
      text.starts_with(format("%d processes make different calls: ", int(ZERO_RT_INTERNAL))))
      << text;
  // Who was first says "is at".
  EXPECT_TRUE(text.find(job.nameOf(1) + " is at 'sums'") != std::string::npos ||
              text.find(job.nameOf(1) + " at 'sums'") != std::string::npos)
      << text;
  job.join();
}

TEST(Failure, TooMuchToGather) {
  Job job(3);
  job.startAll([](ControlChannel &channel) {
    std::vector<std::string> all;
    say(textOf(channel.allGather("large", std::string(size_t(30) << 20, 'x'), all)));
  });
  for (int process = 0; process < 3; ++process)
    EXPECT_EQ(job.line(process), "'large' gathers more than 64 MiB from all processes");
  job.join();
}

TEST(Failure, TooMuchOfOneProcess) {
  Job job(2);
  job.startAll([](ControlChannel &channel) {
    std::vector<std::string> all;
    const size_t bytes = channel.process() == 1 ? (size_t(64) << 20) + 1 : 1;
    say(textOf(channel.allGather("large", std::string(bytes, 'x'), all)));
  });
  const std::string text = job.line(0);
  EXPECT_TRUE(text.ends_with(": 'large': expected at most 64 MiB, got 67108865 bytes")) << text;
  EXPECT_EQ(job.line(1), text);
  job.join();
}

} // namespace
