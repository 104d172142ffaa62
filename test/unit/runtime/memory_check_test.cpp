//===- memory_check_test.cpp - mistakes that --check-memory finds ---------===//

#include "mixed_program.h"
#include "parts.h"
#include "runtime/execute/memory_check.h"
#include "trial.h"

using namespace zero::rt;

namespace {

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

std::vector<std::pair<uint64_t, uint64_t>> gapsOf(const RangeSet &set, ByteRange range) {
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  set.forEachGap(range, [&](ByteRange gap) { gaps.push_back({gap.begin, gap.end}); });
  return gaps;
}

TEST(RangeSet, IsASetOfBytes) {
  RangeSet set;
  std::vector<bool> bytes(64);
  for (uint64_t i = 0; i < 400; ++i) {
    const uint64_t begin = i * 37 % 61, end = std::min<uint64_t>(64, begin + i * 13 % 9);
    if (i % 3)
      set.add({begin, end});
    else
      set.remove({begin, end});
    std::fill(bytes.begin() + long(begin), bytes.begin() + long(end), i % 3 != 0);
    uint64_t missing = 0;
    for (auto [first, last] : gapsOf(set, {5, 60})) {
      missing += last - first;
      for (uint64_t byte = first; byte < last; ++byte)
        EXPECT_FALSE(bytes[byte]) << i << ": " << byte;
    }
    EXPECT_EQ(missing, uint64_t(std::count(bytes.begin() + 5, bytes.begin() + 60, false))) << i;
  }
}

TEST(Shadow, KnowsWhatEachByteHolds) {
  Shadow shadow(100);
  shadow.write({10, 50}, {1, 10, 7, true});
  shadow.write({40, 60}, {2, 40, 8, true});
  shadow.rename({0, 100}, 1, 3, 0);
  shadow.kill({20, 30});
  EXPECT_EQ(shadow.liveBytes(), 40u);
  std::string text;
  shadow.forEach({5, 100}, [&](ByteRange part, const Content &content) {
    text += std::to_string(part.begin) + (content.live ? "+" : "-") +
            std::to_string(content.value) + "/" + std::to_string(content.writer) + " ";
  });
  EXPECT_EQ(text, "5-0/-1 10+3/7 20-0/-1 30+3/7 40+2/8 60-0/-1 ");
  shadow.rename({55, 70}, 0, 4, 55);
  EXPECT_EQ(shadow.liveBytes(), 50u);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

zero_rt_stats statsOf(Trial &trial) {
  zero_rt_stats stats{};
  EXPECT_OK(zero_rt_session_stats(trial.session, 1, &stats));
  return stats;
}

TEST(MemoryCheck, MeasuresTheCommands) {
  TinyProgram tiny(2);
  tiny.program.mutable_arenas(0)->set_bytes(tiny.at.end + 640); // unused bytes
  Trial trial(tiny), plain((TinyProgram(2)));
  trial.options.check_memory = 1;
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(8);
    for (int step = 0; step < 3; ++step)
      EXPECT_OK(each->step());
  }
  EXPECT_EQ(trial.weights(), plain.weights());
  EXPECT_EQ(statsOf(trial).measured_peak[ZERO_RT_DEVICE], tiny.at.end);
  // The peak is in backward: state (24 + 8 + 4), rate, x, two losses, and the operands and results
  // of the product.
  const uint64_t workspace = tiny.segment(0).commands(7).launch().args(3).bytes();
  EXPECT_EQ(statsOf(trial).measured_live[ZERO_RT_DEVICE], 36 + 4 + 32 + 8 + 24 + 48 + workspace);
  EXPECT_EQ(statsOf(plain).measured_peak[ZERO_RT_DEVICE], 0u);
  EXPECT_EQ(statsOf(plain).measured_live[ZERO_RT_DEVICE], 0u);
}

/// Expects that the first step under --check-memory fails with `part` in the message.
template <typename Program>
void expectFound(const Program &program, const std::string &part,
                 zero_rt_code code = ZERO_RT_INTERNAL) {
  Trial trial(program);
  trial.options.check_memory = 1;
  trial.start();
  trial.bind(4 * program.program.ranks() * program.program.micro_batches());
  EXPECT_FAILS(trial.step(), code, part);
}

/// Expects that the mistake is found before execution.
template <typename Program>
void expectProven(const Program &program, const std::string &part) {
  Trial trial(program);
  trial.options.check_memory = 1;
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_BAD_FILE, part);
}

std::string bytes(uint64_t begin, uint64_t size) {
  return "bytes " + std::to_string(begin) + " to " + std::to_string(begin + size) +
         " of the arena, ";
}

TEST(MemoryCheck, NamesWhoReadsWhatNobodyWrote) {
  TinyProgram tiny(2);
  tiny.segment(0).mutable_commands()->DeleteSubrange(3, 1); // removes the product that computes y
  expectProven(tiny, "command 3 ('kernel 2'): it reads " + bytes(tiny.at.y, 24) +
                         "which no command has written in this step");
}

TEST(MemoryCheck, NamesWhoWroteThereInstead) {
  TinyProgram tiny(2); // the loss is written to another address
  proto::Segment &segment = tiny.segment(0);
  for (proto::Address &address : *segment.mutable_commands(4)->mutable_launch()->mutable_args())
    if (address.offset() == tiny.at.localLoss)
      address.set_offset(tiny.at.x);
  expectProven(tiny, "command 5 (''): it reads " + bytes(tiny.at.localLoss, 4) +
                         "which no command has written in this step");
  TinyProgram other(2); // dy overlaps x, which the same command reads
  for (proto::Address &address :
       *other.segment(0).mutable_commands(4)->mutable_launch()->mutable_args())
    if (address.offset() == other.at.dy)
      address.set_offset(other.at.x), address.set_bytes(24);
  other.segment(0).mutable_commands(7)->mutable_launch()->mutable_args(1)->set_offset(other.at.x);
  expectProven(other, "command 7 ('kernel 1'): it reads " + bytes(other.at.x, 24) +
                          "which command 4 ('kernel 2') wrote last, with another value");
}

TEST(MemoryCheck, TellsApartWhatFollowsInTheSameBytes) {
  TinyProgram tiny(2); // the epilogue reads y, whose bytes now hold a part of x
  proto::Command &command = launch(tiny.segment(1), 5, {tiny.at.y});
  command.mutable_launch()->mutable_args(0)->set_bytes(8);
  command.mutable_launch()->mutable_args(0)->set_reads(uint32_t(tiny.at.y + 1));
  proto::Command &copy = *tiny.segment(0).add_commands();
  copy.set_label("copy");
  copy.mutable_copy()->mutable_src()->set_offset(tiny.at.x);
  copy.mutable_copy()->mutable_src()->set_reads(uint32_t(tiny.at.x + 1));
  copy.mutable_copy()->mutable_dst()->set_offset(tiny.at.y);
  copy.mutable_copy()->mutable_dst()->set_writes(uint32_t(tiny.at.y + 2));
  copy.mutable_copy()->set_bytes(8);
  expectProven(tiny, "command 12 ('kernel 5'): it reads " + bytes(tiny.at.y, 8) +
                         "which command 9 ('copy') wrote last, with another value");
}

TEST(MemoryCheck, SeesReadsThatAreNotSaid) {
  TinyProgram tiny(2); // the loss declares to read one element of y: the others are dead before
  tiny.segment(0).mutable_commands(4)->mutable_launch()->mutable_args(0)->set_bytes(4);
  expectFound(tiny, "the loss is NaN", ZERO_RT_NOT_FINITE);
}

std::string wrote(uint64_t at) {
  return "command 4 ('kernel 2'): it wrote byte " + std::to_string(at) + " of the arena, outside";
}

TEST(MemoryCheck, SeesWritesThatAreNotSaid) {
  for (bool isLive : {false, true}) {
    TinyProgram tiny(2); // dy is declared shorter than it is: the bytes after it hold nothing, or x
    proto::Address &dy = *tiny.segment(0).mutable_commands(4)->mutable_launch()->mutable_args(3);
    dy.set_offset(isLive ? tiny.at.x - 8 : tiny.at.dy);
    dy.set_bytes(8);
    tiny.segment(0).mutable_commands(7)->mutable_launch()->mutable_args(1)->clear_reads();
    expectFound(tiny, wrote(dy.offset() + 8));
  }
}

TEST(MemoryCheck, SeesFreeBytesThatChange) {
  TinyProgram tiny(1);
  std::vector<char> arena(tiny.at.end);
  MemoryCheck check(tiny.program, 0, {arena.data()});
  check.begin(0, Mode::Step);
  EXPECT_TRUE(check.beforeInputs().ok());
  EXPECT_TRUE(check.after().ok());
  arena[tiny.at.y + 20] = 1; // before y is written
  Status status;
  for (int i = 0; status.ok() && i < tiny.segment(0).commands_size(); ++i)
    if (status = check.beforeCommand({}); status.ok())
      status = check.after();
  EXPECT_EQ(status.getMessage(), "rank 0, command 3 ('kernel 0'): a write to " +
                                     bytes(tiny.at.y, 24) +
                                     "which no command has written since they were freed");
}

TEST(MemoryCheck, SeesUpdatesThatAreMissing) {
  // The address holds another live value, so only the value number shows the mistake.
  TinyProgram tiny(2);
  proto::Address &count = *tiny.segment(1).mutable_commands(1)->mutable_launch()->mutable_args(0);
  const uint32_t before = count.reads(), after = 9999;
  count.set_writes(after);
  proto::Rename &rename = *tiny.segment(1).add_renames();
  rename.set_command(2);
  *rename.mutable_place() = count;
  rename.set_from(after), rename.set_to(before), rename.set_strict(true);
  Trial trial(tiny);
  trial.options.check_memory = 1;
  trial.start();
  trial.bind(8);
  EXPECT_OK(trial.step());
  EXPECT_OK(trial.step());
  tiny.segment(1).mutable_commands()->DeleteSubrange(1, 1);
  rename.set_command(1);
  expectProven(tiny, "a state's new value: it reads " + bytes(tiny.at.count, 8) +
                         "which the step before wrote last, with another value");
}

TEST(MemoryCheck, FollowsIterationsAndPredicates) {
  for (int microBatches : {1, 2, 3, 5}) {
    MixedProgram mixed(2, microBatches, 3e38); // overflows, so the update is skipped
    Trial trial(mixed);
    trial.options.check_memory = 1;
    trial.options.allow_nan = 1;
    trial.start();
    trial.bind(uint64_t(8 * microBatches));
    zero_rt_step_result evaluated;
    for (int step = 0; step < 3; ++step) {
      EXPECT_OK(trial.step(ZERO_RT_KEEP_GRADIENTS));
      EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, 0, &evaluated));
    }
    EXPECT_EQ(statsOf(trial).measured_peak[ZERO_RT_DEVICE], mixed.at.end);
  }
  // A value that only the first iteration computes is missing in later ones once it is overwritten.
  MixedProgram mixed(2, 3);
  for (proto::Command &command : *mixed.segment(1).mutable_commands())
    if (command.when() == proto::Command::FIRST && command.has_copy())
      command.set_when(proto::Command::LAST);
  expectProven(mixed, "command 8 ('kernel 3'): it reads " + bytes(mixed.at.loss, 4) +
                          "which no command has written in this step");
}

} // namespace
