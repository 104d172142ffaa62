//===- timeline_test.cpp - the timeline of a planned step -----------------===//

#include "runtime/verify/lifetimes.h"
#include "runtime/verify/timeline.h"
#include "tier_program.h"
#include "trial.h"

#include <cmath>
#include <map>

using namespace zero::rt;

namespace {

/// A step on all tiers in which command i takes i + 1 ms.
TierProgram planned(int ranks, int microBatches) {
  TierProgram program(ranks, microBatches, true);
  program.program.set_machine("a machine");
  int number = 0;
  for (proto::Segment &segment : *program.program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      command.set_seconds(1e-3 * ++number);
  return program;
}

TEST(Timeline, HasEveryCommandOnceBehindWhatItWaitsFor) {
  const TierProgram tiers = planned(2, 3);
  proto::Program program = tiers.program;
  orderByBytes(program);
  const Timeline timeline = layOut(program, plannedCosts(program), /*keepsEvents=*/true);
  ASSERT_EQ(timeline.events.size(), 1u);
  std::vector<const proto::Command *> commands;
  std::vector<size_t> first;
  for (const proto::Segment &segment : program.segments()) {
    first.insert(first.end(), size_t(segment.commands_size()), commands.size());
    for (const proto::Command &command : segment.commands())
      commands.push_back(&command);
  }
  std::map<std::pair<size_t, uint32_t>, zero_rt_event> byCommand;
  std::map<int, uint64_t> free; // by lane
  uint64_t begun = 0, last = 0;
  for (const zero_rt_event &event : timeline.events[0]) {
    const proto::Command &command = *commands[event.command];
    EXPECT_TRUE(byCommand.try_emplace({event.command, event.micro_batch}, event).second);
    EXPECT_NEAR(double(event.end - event.begin), 1e6 * (event.command + 1), 1);
    EXPECT_GE(event.begin, begun) << command.label();
    EXPECT_GE(event.begin, free[command.lane()]) << command.label();
    begun = event.begin, free[command.lane()] = event.end;
    last = std::max(last, event.end);
  }
  for (const auto &[key, event] : byCommand)
    for (uint32_t wait : commands[key.first]->waits()) {
      auto waited = byCommand.find({first[key.first] + wait, key.second});
      if (waited != byCommand.end()) // if the command is in the iteration
        EXPECT_GE(event.begin, waited->second.end) << commands[key.first]->label();
    }
  size_t runs = 0;
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      for (uint64_t iteration = 0; iteration < std::max(segment.repeat(), 1u); ++iteration)
        runs += runsInIteration(command.when(), iteration, std::max(segment.repeat(), 1u));
  EXPECT_EQ(byCommand.size(), runs);
  EXPECT_EQ(last, nanoseconds(timeline.seconds));
}

TEST(Timeline, SumsAreThoseOfItsEvents) {
  TierProgram program = planned(1, 2);
  orderByBytes(program.program);
  const StepCosts costs = plannedCosts(program.program);
  const Timeline timeline = layOut(program.program, costs, /*keepsEvents=*/true);
  std::map<int, double> busy;
  for (const zero_rt_event &event : timeline.events[0]) {
    size_t index = event.command;
    const bool isBehind = index >= size_t(program.program.segments(0).commands_size());
    if (isBehind)
      index -= size_t(program.program.segments(0).commands_size());
    busy[program.program.segments(isBehind).commands(int(index)).lane()] +=
        double(event.end - event.begin - event.waited) * 1e-9;
  }
  for (int lane = 0; lane < ZERO_RT_LANES; ++lane)
    EXPECT_NEAR(timeline.lanes[size_t(lane)].seconds, busy[lane], 1e-7) << lane;
  const uint64_t shard = program.slice * 4, big = kBig * 4;
  EXPECT_EQ(timeline.lanes[proto::NVME_READ].bytes, 2 * shard + big);
  EXPECT_EQ(timeline.lanes[proto::NVME_WRITE].bytes, shard + big);
  EXPECT_EQ(timeline.lanes[proto::COMPUTE].bytes, 0u); // its copies stay on the device
  // The compute lane waits for all work that it does not do.
  EXPECT_NEAR(timeline.stalled + busy[proto::COMPUTE], timeline.seconds, 1e-7);
  EXPECT_GT(timeline.stalled, 0);
  const Timeline sums = layOut(program.program, costs, /*keepsEvents=*/false);
  EXPECT_EQ(sums.seconds, timeline.seconds);
  EXPECT_EQ(sums.stalled, timeline.stalled);
  EXPECT_TRUE(sums.events[0].empty());
}

TEST(Timeline, WithoutTransfersCollectivesFollowKernels) {
  TinyProgram tiny(2, 2);
  for (proto::Segment &segment : *tiny.program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands()) {
      command.set_seconds(1);
      command.clear_waits();
    }
  StepCosts costs = plannedCosts(tiny.program);
  const Timeline inSequence = layOut(tiny.program, costs, /*keepsEvents=*/false);
  costs.overlaps = true;
  const Timeline beside = layOut(tiny.program, costs, /*keepsEvents=*/false);
  EXPECT_EQ(inSequence.stalled, 0);
  const double computes = inSequence.lanes[proto::COMPUTE].seconds;
  EXPECT_EQ(inSequence.seconds, computes + inSequence.lanes[proto::COLLECTIVE].seconds);
  EXPECT_GT(inSequence.seconds, beside.seconds);
  EXPECT_EQ(beside.seconds, computes + beside.stalled);
}

/// A read beside a write: each takes all of the drives.
TEST(Timeline, LanesShareWhatTheProgramSays) {
  proto::Program program;
  proto::Segment &segment = *program.add_segments();
  for (proto::Lane lane : {proto::NVME_READ, proto::NVME_WRITE}) {
    segment.add_commands()->set_lane(lane);
    segment.mutable_commands()->rbegin()->set_seconds(1);
  }
  EXPECT_DOUBLE_EQ(layOut(program, plannedCosts(program), false).seconds, 1);
  program.mutable_lane_shares()->Resize(int(ZERO_RT_LANES * kResources), 0);
  for (proto::Lane lane : {proto::NVME_READ, proto::NVME_WRITE})
    program.set_lane_shares(int(size_t(lane) * kResources + size_t(Resource::Drives)), 1);
  EXPECT_DOUBLE_EQ(layOut(program, plannedCosts(program), false).seconds, 2);
}

/// Two reads, a kernel after the second, and a kernel that follows it.
TEST(Timeline, TheCriticalPathEndsWithTheStep) {
  proto::Program program;
  proto::Segment &segment = *program.add_segments();
  segment.set_repeat(2);
  for (proto::Lane lane : {proto::NVME_READ, proto::COMPUTE, proto::NVME_READ, proto::COMPUTE}) {
    segment.add_commands()->set_lane(lane);
    segment.mutable_commands()->rbegin()->set_seconds(lane == proto::COMPUTE ? 2 : 3);
  }
  segment.mutable_commands(3)->add_waits(2);
  const Timeline timeline = layOut(program, plannedCosts(program), false);
  EXPECT_DOUBLE_EQ(timeline.seconds, 16);
  EXPECT_DOUBLE_EQ(timeline.critical[ZERO_RT_NVME_READ], 12);
  EXPECT_DOUBLE_EQ(timeline.critical[ZERO_RT_COMPUTE], 4); // not the first kernels
}

/// A read, a second read that only the last iteration has, and a kernel after both.
TEST(Timeline, WhatIsLeftOutKeepsItsPlace) {
  proto::Program program;
  proto::Segment &segment = *program.add_segments();
  segment.set_repeat(2);
  for (proto::Lane lane : {proto::NVME_READ, proto::NVME_READ, proto::COMPUTE}) {
    segment.add_commands()->set_lane(lane);
    segment.mutable_commands()->rbegin()->set_seconds(1);
  }
  segment.mutable_commands(1)->set_when(proto::Command::LAST);
  segment.mutable_commands(2)->add_waits(1);
  const Timeline timeline = layOut(program, plannedCosts(program), /*keepsEvents=*/true);
  const std::vector<zero_rt_event> &events = timeline.events[0];
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[1].command, 2u); // waits for the read before the omitted one
  EXPECT_EQ(events[1].begin, nanoseconds(1));
  EXPECT_EQ(events[4].begin, nanoseconds(4));
  EXPECT_DOUBLE_EQ(timeline.seconds, 5);
  EXPECT_DOUBLE_EQ(timeline.stalled, 3);
}

TEST(Timeline, IsHandedOutAsARecording) {
  Trial trial(planned(2, 2));
  zero_rt_plan plan;
  zero_rt_recording timeline;
  EXPECT_OK(zero_rt_executable_plan(trial.executable, &plan));
  EXPECT_STREQ(plan.machine, "a machine");
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_OK(zero_rt_executable_timeline(trial.executable, &timeline));
    ASSERT_EQ(timeline.step_count, 1u);
    EXPECT_EQ(timeline.steps[0].begin, 0u);
    EXPECT_EQ(timeline.steps[0].end, nanoseconds(plan.seconds));
    EXPECT_EQ(timeline.events[0].begin, 0u);
  }
  uint64_t read = 0;
  for (size_t i = 0; i < timeline.steps[0].events; ++i) {
    zero_rt_command_info info;
    EXPECT_OK(zero_rt_executable_command(trial.executable, timeline.events[i].command, &info));
    read += info.lane == ZERO_RT_NVME_READ ? info.bytes : 0;
  }
  EXPECT_EQ(read, plan.lanes[ZERO_RT_NVME_READ].bytes);
}

TEST(Timeline, NeedsAPlanThatCanBe) {
  Trial trial(TierProgram(1, 1, true));
  zero_rt_plan plan;
  zero_rt_recording timeline;
  EXPECT_FAILS(zero_rt_executable_plan(trial.executable, &plan), ZERO_RT_NOT_FOUND,
               "has no estimated times of its commands");
  EXPECT_FAILS(zero_rt_executable_timeline(trial.executable, &timeline), ZERO_RT_NOT_FOUND,
               "has no estimated times of its commands");
  for (double seconds : {-1e-3, double(INFINITY), double(NAN)}) {
    TierProgram program = planned(1, 1);
    program.segment(0).mutable_commands(0)->set_seconds(seconds);
    expectRefused(program, ZERO_RT_BAD_FILE, "'read w': expected a finite time of at least 0");
  }
}

} // namespace
