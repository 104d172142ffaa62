//===- lane_check_test.cpp - checks of concurrent lanes -------------------===//

#include "compiled.h"
#include "parts.h"

#include "runtime/verify/lane_check.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::rt;

namespace {

/// A program of copies that read [from, from + bytes) and write [to, to + bytes).
struct Copies {
  proto::Program program;

  Copies() {
    setRanks(program, 1);
    program.add_segments();
  }
  proto::Command &add(proto::Lane lane, uint64_t from, uint64_t to, uint64_t bytes,
                      std::initializer_list<uint32_t> waits = {}) {
    proto::Command &command = *program.mutable_segments(0)->add_commands();
    command.set_lane(lane);
    command.set_label("copy " + std::to_string(program.segments(0).commands_size() - 1));
    proto::Copy &copy = *command.mutable_copy();
    copy.mutable_src()->set_offset(from);
    copy.mutable_src()->set_reads(1);
    copy.mutable_dst()->set_offset(to);
    copy.mutable_dst()->set_writes(1);
    copy.set_bytes(bytes);
    for (uint32_t wait : waits)
      command.add_waits(wait);
    return command;
  }
  void expectRefused(const char *part) const {
    Status status = checkLanes(program);
    EXPECT_EQ(status.getCode(), ZERO_RT_BAD_FILE);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  }
};

TEST(LaneCheck, AReaderMustComeAfterTheWriter) {
  Copies copies;
  copies.add(proto::H2D, 0, 100, 10);
  proto::Command &reader = copies.add(proto::COMPUTE, 105, 200, 10);
  copies.expectRefused("commands 0 ('copy 0', lane H2D) and 1 ('copy 1', lane COMPUTE) touch bytes "
                       "105 to 110 of the arena, and nothing says which comes first");
  reader.add_waits(0);
  EXPECT_TRUE(checkLanes(copies.program).ok());
}

TEST(LaneCheck, AWriterMustComeAfterAllReaders) {
  Copies copies;
  copies.add(proto::COMPUTE, 0, 100, 10);
  copies.add(proto::D2H, 0, 200, 10);
  proto::Command &writer = copies.add(proto::H2D, 300, 0, 10, {0});
  copies.expectRefused("commands 1 ('copy 1', lane D2H) and 2");
  writer.add_waits(1);
  EXPECT_TRUE(checkLanes(copies.program).ok());
}

TEST(LaneCheck, WhatAWaitBringsCounts) {
  Copies copies;
  copies.add(proto::H2D, 0, 100, 10);
  copies.add(proto::COMPUTE, 100, 200, 10, {0});
  copies.add(proto::D2H, 200, 300, 10, {1});
  copies.add(proto::NVME_WRITE, 100, 400, 10, {2}); // ordered after command 0 through 1 and 2
  EXPECT_TRUE(checkLanes(copies.program).ok());
}

TEST(LaneCheck, ReadersOfTheSameBytesNeedNoOrder) {
  Copies copies;
  copies.add(proto::COMPUTE, 0, 100, 10);
  copies.add(proto::D2H, 0, 200, 10);
  EXPECT_TRUE(checkLanes(copies.program).ok());
}

TEST(LaneCheck, AWaitForWhatComesLaterIsRefused) {
  Copies copies;
  copies.add(proto::H2D, 0, 100, 10, {1});
  copies.add(proto::COMPUTE, 100, 200, 10);
  copies.expectRefused("command 0 ('copy 0') waits for command 1, which comes later");
}

TEST(LaneCheck, RanksSlicesOfABucketAreOneThing) {
  Copies copies;
  setRanks(copies.program, 4);
  copies.add(proto::H2D, 0, 100, 10).mutable_copy()->mutable_dst()->add_rank_strides(10);
  copies.add(proto::COMPUTE, 130, 200, 10);
  copies.expectRefused("touch bytes 130 to 140");
}

TEST(LaneCheck, CollectivesHaveOneOrder) {
  Copies copies;
  for (proto::Lane lane : {proto::COLLECTIVE, proto::H2D}) {
    proto::Command &command = copies.add(lane, 0, 0, 0);
    command.mutable_collective()->set_dtype(proto::F32);
  }
  copies.expectRefused("commands 0 ('copy 0', lane COLLECTIVE) and 1 ('copy 1', lane H2D) are "
                       "collectives, which all ranks must begin in one order, and nothing says");
  copies.program.mutable_segments(0)->mutable_commands(1)->add_waits(0);
  EXPECT_TRUE(checkLanes(copies.program).ok());
}

/// Calls body(command) once for each wait of `program`, with this wait removed.
template <typename Body>
void withoutEachWait(proto::Program &program, Body body) {
  for (auto &segment : *program.mutable_segments())
    for (auto &command : *segment.mutable_commands())
      for (int i = 0; i < command.waits_size(); ++i) {
        const google::protobuf::RepeatedField<uint32_t> waits = command.waits();
        command.mutable_waits()->erase(command.waits().begin() + i);
        body(command);
        *command.mutable_waits() = waits;
      }
}

class RealSchedules : public testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(RealSchedules, EveryWaitIsNeeded) {
  Compiled compiled(GetParam().first, GetParam().second);
  proto::Program program = compiled.program();
  ASSERT_TRUE(checkLanes(program).ok()) << checkLanes(program).getMessage();
  int waits = 0;
  withoutEachWait(program, [&](const proto::Command &command) {
    ++waits;
    EXPECT_FALSE(checkLanes(program).ok()) << command.label();
  });
  EXPECT_GT(waits, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, RealSchedules,
    testing::Values(std::pair("gpt2-tiny", "--zero-stage=3 --ranks=4"),
                    std::pair("gpt2-tiny", "--zero-stage=2 --ranks=2 --micro-batches=3"),
                    std::pair("llama-tiny",
                              "--zero-stage=3 --ranks=2 --precision=bf16 --clip-norm=1"),
                    std::pair("resnet-tiny", "--zero-stage=1 --ranks=4")));

} // namespace
