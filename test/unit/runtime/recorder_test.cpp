//===- recorder_test.cpp - what a session records of its steps ------------===//

#include "allocations.h"
#include "runtime/execute/recorder.h"
#include "trial.h"
#include "zero_rt/shapes.h"

#include <algorithm>
#include <malloc.h>
#include <tuple>

using namespace zero::rt;

namespace {

std::vector<zero_rt_command_info> commandsOf(const Trial &trial) {
  zero_rt_program_info info;
  EXPECT_OK(zero_rt_executable_info(trial.executable, &info));
  std::vector<zero_rt_command_info> commands(info.commands);
  for (size_t i = 0; i < commands.size(); ++i)
    EXPECT_OK(zero_rt_executable_command(trial.executable, i, &commands[i]));
  return commands;
}

TEST(RecordedShapes, HaveTheirCommands) {
  Trial trial((TinyProgram(1, 3)));
  zero_rt_shape_info shape;
  EXPECT_OK(zero_rt_executable_shape(trial.executable, 0, &shape));
  EXPECT_EQ(shape.first_command, 0u);
  EXPECT_EQ(shape.commands, commandsOf(trial).size());
  EXPECT_NE(std::string(shape.name).find('='), std::string::npos);
  EXPECT_FAILS(zero_rt_executable_shape(trial.executable, 1, &shape), ZERO_RT_NOT_FOUND,
               "no shape of index 1");
}

zero_rt_recording recordingOf(const Trial &trial, int rank) {
  zero_rt_recording recording;
  EXPECT_OK(zero_rt_session_recording(trial.session, rank, &recording));
  return recording;
}

/// Nine commands in each iteration, two after the last one.
constexpr size_t kPerIteration = 9, kBehind = 2;

class Recording : public testing::TestWithParam<int> {};

TEST_P(Recording, HasEveryCommandInOrder) {
  const int ranks = GetParam();
  Trial trial((TinyProgram(ranks, 3)));
  trial.start();
  trial.bind(6 * ranks);
  EXPECT_OK(trial.step());
  EXPECT_OK(zero_rt_session_record(trial.session, 2));
  EXPECT_EQ(recordingOf(trial, 0).step_count, 0u);
  EXPECT_OK(trial.step());
  EXPECT_FALSE(recordingOf(trial, 0).full);
  EXPECT_OK(trial.step());
  EXPECT_OK(trial.step()); // exceeds the capacity of the recording
  for (int rank = 0; rank < ranks; ++rank) {
    const zero_rt_recording recording = recordingOf(trial, rank);
    EXPECT_TRUE(recording.full);
    ASSERT_EQ(recording.step_count, 2u);
    uint64_t now = 0;
    for (size_t i = 0; i < 2; ++i) {
      const zero_rt_recorded_step &step = recording.steps[i];
      EXPECT_EQ(step.step, i + 1);
      ASSERT_EQ(step.events, 3 * kPerIteration + kBehind);
      EXPECT_EQ(step.first_event, i * step.events);
      EXPECT_GE(step.begin, now);
      now = step.begin;
      std::vector<zero_rt_event> events(recording.events + step.first_event,
                                        recording.events + step.first_event + step.events);
      // Lanes of a GPU overtake each other.
      const bool isOrdered = !moveTrial;
      if (!isOrdered)
        std::ranges::sort(events, {}, [](const zero_rt_event &event) {
          return std::tuple(event.command >= kPerIteration, event.micro_batch, event.command);
        });
      for (size_t j = 0; j < step.events; ++j) {
        const zero_rt_event &event = events[j];
        const bool isBehind = j >= 3 * kPerIteration;
        EXPECT_EQ(event.command, isBehind ? j - 2 * kPerIteration : j % kPerIteration);
        EXPECT_EQ(event.micro_batch, isBehind ? 0 : j / kPerIteration);
        EXPECT_GE(event.begin, isOrdered ? now : step.begin);
        EXPECT_GE(event.end, event.begin);
        EXPECT_LE(event.waited, event.end - event.begin);
        now = std::max(now, event.end);
      }
      EXPECT_GE(step.end, now);
      now = step.end;
    }
  }
}

TEST_P(Recording, ChangesNoBitAndAllocatesNothing) {
  ONLY_ON_CPU() << "the recording driver allocates";
  Trial trial((TinyProgram(GetParam(), 2))), plain((TinyProgram(GetParam(), 2)));
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(64);
    for (int step = 0; step < 2; ++step)
      EXPECT_OK(each->step());
  }
  EXPECT_OK(zero_rt_session_record(trial.session, 10));
  const struct mallinfo2 before = ::mallinfo2();
  AllocationWatch watch;
  for (int step = 0; step < 12; ++step) {
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    EXPECT_EQ(trial.result.loss, plain.result.loss);
  }
  EXPECT_NO_LARGE_ALLOCATIONS(watch);
  EXPECT_LE(::mallinfo2().arena, before.arena + libraryBytes()) << "the heap grew in a step";
  EXPECT_EQ(trial.weights(), plain.weights());
}

INSTANTIATE_TEST_SUITE_P(Ranks, Recording, testing::Values(1, 2, 5));

TEST(Recorder, LeavesEvaluationsOut) {
  Trial trial((TinyProgram(2)));
  trial.start();
  trial.bind(4);
  EXPECT_OK(zero_rt_session_record(trial.session, 1));
  EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, 0, &trial.result));
  EXPECT_EQ(recordingOf(trial, 0).step_count, 0u);
  EXPECT_OK(trial.step());
  EXPECT_EQ(recordingOf(trial, 0).steps[0].events, kPerIteration + kBehind);
  EXPECT_OK(zero_rt_session_record(trial.session, 0));
  EXPECT_EQ(recordingOf(trial, 0).step_count, 0u);
  EXPECT_OK(trial.step());
}

TEST(Recorder, RefusesWhatCannotBe) {
  Trial trial((TinyProgram(2)));
  trial.start();
  EXPECT_FAILS(zero_rt_session_record(trial.session, UINT64_MAX), ZERO_RT_INVALID_ARGUMENT,
               "too many to record");
  zero_rt_recording recording;
  EXPECT_FAILS(zero_rt_session_recording(trial.session, 2, &recording), ZERO_RT_INVALID_ARGUMENT,
               "no rank 2 among 2");
  zero_rt_command_info info;
  EXPECT_FAILS(zero_rt_executable_command(trial.executable, kPerIteration + kBehind, &info),
               ZERO_RT_NOT_FOUND, "no command of index 11");
}

TEST(Recorder, DropsAStepThatDidNotEnd) {
  Recorder recorder(1, {2}, Recorder::Clock::now());
  recorder.beginStep(7);
  recorder.add({3, 0, 10, 20, 5});
  recorder.beginStep(8);
  recorder.add({4, 0, 30, 40, 0});
  EXPECT_EQ(recorder.recording().step_count, 0u);
  recorder.endStep();
  const zero_rt_recording recording = recorder.recording();
  ASSERT_TRUE(recording.full);
  EXPECT_EQ(recording.steps[0].step, 8u);
  ASSERT_EQ(recording.steps[0].events, 1u);
  EXPECT_EQ(recording.events[0].command, 4u);
}

TEST(Commands, TellKindsAndCosts) {
  TinyProgram tiny(3);
  tiny.program.mutable_kernels(0)->set_flops(48);
  tiny.program.mutable_kernels(0)->set_bytes(104);
  tiny.program.mutable_kernels(3)->set_flops(2); // flops of sgd per element
  tiny.program.mutable_kernels(3)->set_bytes(12);
  Trial trial(tiny);
  const auto commands = commandsOf(trial);
  ASSERT_EQ(commands.size(), kPerIteration + kBehind);
  auto expect = [&](size_t index, zero_rt_command_kind kind, const char *name, uint64_t flops,
                    uint64_t bytes) {
    EXPECT_EQ(commands[index].kind, kind) << index;
    EXPECT_STREQ(commands[index].name, name);
    EXPECT_EQ(commands[index].flops, flops) << index;
    EXPECT_EQ(commands[index].bytes, bytes) << index;
  };
  expect(0, ZERO_RT_ALL_GATHER, "all-gather", 0, 2 * 4 * tiny.slice);
  EXPECT_STREQ(commands[0].label, "gather w");
  expect(1, ZERO_RT_NATIVE, "range", 0, 0);
  expect(2, ZERO_RT_CHECK, "check", 0, 0);
  expect(3, ZERO_RT_MATMUL, "forward", 48, 104);
  expect(5, ZERO_RT_COPY, "copy", 0, 8);
  expect(6, ZERO_RT_ALL_REDUCE, "all-reduce", 0, 2 * 4); // its slice is one element
  expect(8, ZERO_RT_REDUCE_SCATTER, "reduce-scatter", 0, 2 * 4 * tiny.slice);
  expect(9, ZERO_RT_NATIVE, "sgd", 2 * tiny.slice, 12 * tiny.slice);
  // Collectives report the received elements that communicators count.
  trial.start();
  trial.bind(6);
  EXPECT_OK(trial.step());
  zero_rt_stats stats;
  EXPECT_OK(zero_rt_session_stats(trial.session, 0, &stats));
  EXPECT_EQ(stats.model_bytes + stats.control_bytes,
            commands[0].bytes + commands[6].bytes + commands[8].bytes);
}

TEST(Machine, HasLimits) {
  Trial trial((TinyProgram(2)));
  zero_rt_machine machine{};
  trial.options.threads_per_rank = 1025;
  EXPECT_FAILS(zero_rt_measure_machine(trial.executable, &trial.options, &machine),
               ZERO_RT_INVALID_ARGUMENT, "expected at most 1024 threads per rank, got 1025");
  for (int threads : {1, 2}) {
    trial.options.threads_per_rank = threads;
    EXPECT_OK(zero_rt_measure_machine(trial.executable, &trial.options, &machine));
    // A hundredth of the slowest current core, and a hundred times the fastest.
    EXPECT_GT(machine.flops, 1e7);
    EXPECT_LT(machine.flops, 1e13);
    EXPECT_GT(machine.triad_bandwidth, 1e7);
    EXPECT_LT(machine.triad_bandwidth, 1e13);
    EXPECT_GT(machine.copy_bandwidth, 1e7);
    EXPECT_LT(machine.copy_bandwidth, 1e13);
  }
}

} // namespace
