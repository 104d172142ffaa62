//===- memory_mutation_test.cpp - mutations that --check-memory finds -----===//
//
// Runs executables that contain one mistake of the kind that a planner could make. The first steps
// under --check-memory must find each mistake that changes a result.
//
//===----------------------------------------------------------------------===//

#include "compiled.h"
#include "places.h"
#include "tiny_program.h"

#include <gtest/gtest.h>
#include <set>

using namespace zero::rt;

namespace {

std::vector<uint64_t> offsetsOf(proto::Program &program) {
  std::vector<uint64_t> offsets;
  forEachPlace(program, [&](uint32_t, auto *place) { offsets.push_back(place->offset()); });
  return offsets;
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

/// The mistake, and the reason why it may have no effect. Empty: it always has an effect.
struct Mistake {
  std::string what, harmlessWhere;
};

static constexpr const char *kFree = "nothing else needs its bytes there meanwhile";

/// Moves one value of the step, with the values that share its bytes, to the bytes of another.
Mistake moveValue(proto::Program &program, Random &random) {
  Groups groups(program);
  std::set<uint32_t> persistent, transient;
  for (const proto::Buffer &buffer : program.buffers())
    persistent.insert(groups.of(buffer.value()));
  forEachPlace(program, [&](uint32_t value, auto *) {
    if (!persistent.count(groups.of(value)))
      transient.insert(groups.of(value));
  });
  const uint32_t group = pick(transient, random);
  uint64_t lowest = UINT64_MAX;
  const uint64_t to = pick(offsetsOf(program), random);
  auto forEach = [&](auto body) {
    forEachPlace(program, [&](uint32_t value, auto *place) {
      if (groups.of(value) == group)
        body(place);
    });
  };
  forEach([&](auto *place) { lowest = std::min<uint64_t>(lowest, place->offset()); });
  forEach([&](auto *place) { place->set_offset(place->offset() - lowest + to); });
  return {"value " + std::to_string(group) + " lies at " + std::to_string(to), kFree};
}

/// Changes the address of one argument of one command.
Mistake moveAddress(proto::Program &program, Random &random) {
  const std::vector<uint64_t> offsets = offsetsOf(program);
  const uint64_t chosen = random() % offsets.size();
  const uint64_t to = random() % 2 ? offsets[random() % offsets.size()] : offsets[chosen] + 64;
  uint64_t index = 0;
  forEachPlace(program, [&](uint32_t, auto *place) {
    if (index++ == chosen)
      place->set_offset(to);
  });
  return {"address " + std::to_string(chosen) + " is " + std::to_string(to), kFree};
}

/// Ends the arena before the last values end.
Mistake shrinkArena(proto::Program &program, Random &random) {
  proto::Arena &arena = *program.mutable_arenas(0);
  const uint64_t by = 1 + random() % (arena.bytes() / 4);
  arena.set_bytes(arena.bytes() - by);
  return {"the arena is " + std::to_string(by) + " bytes smaller",
          by < arena.alignment() ? "they fill the arena up to its alignment" : ""};
}

/// Removes a command.
Mistake dropCommand(proto::Program &program, Random &random) {
  proto::Segment &segment = pick(*program.mutable_segments(), random);
  if (segment.commands_size() == 0)
    return {"nothing", "a segment without commands"};
  const auto index = uint32_t(random() % uint64_t(segment.commands_size()));
  const std::string label = segment.commands(int(index)).label();
  const bool isCheck = segment.commands(int(index)).has_check();
  segment.mutable_commands()->DeleteSubrange(int(index), 1);
  for (proto::Rename &rename : *segment.mutable_renames())
    if (rename.command() > index)
      rename.set_command(rename.command() - 1);
  return {"command " + std::to_string(index) + " ('" + label + "') is missing",
          isCheck ? "a check that passes" : ""};
}

struct Subject {
  const char *graph, *flags;
  int mutants;
};

class MemoryMutation : public testing::TestWithParam<Subject> {};

TEST_P(MemoryMutation, IsFound) {
  const Subject &subject = GetParam();
  const Compiled compiled(subject.graph, subject.flags);
  const Outcome expected = compiled.run(compiled.program(), false);
  ASSERT_FALSE(expected.failed) << expected.error;
  const Outcome watched = compiled.run(compiled.program(), true);
  ASSERT_FALSE(watched.failed) << watched.error;
  EXPECT_EQ(watched.bits, expected.bits);
  EXPECT_EQ(watched.peak, compiled.program().certificates(0).peak());
  EXPECT_LE(watched.mostLive, compiled.program().certificates(0).lower_bound());

  Mistake (*const mistakes[])(proto::Program &, Random &) = {moveValue, moveAddress, shrinkArena,
                                                             dropCommand};
  int found = 0, harmful = 0;
  for (int i = 0; i < subject.mutants; ++i) {
    Random random(static_cast<uint64_t>(i));
    proto::Program mutant = compiled.program();
    const auto [what, harmlessWhere] = mistakes[i % 4](mutant, random);
    orderLanes(mutant); // so that races between lanes are not what is found
    const Outcome outcome = compiled.run(mutant, true);
    const Outcome plain = compiled.run(mutant, false);
    const bool changes = plain.failed || plain.bits != expected.bits;
    found += outcome.failed;
    harmful += changes;
    if (outcome.failed)
      continue;
    EXPECT_FALSE(changes) << "mutant " << i << ": " << what << ": not found";
    EXPECT_EQ(outcome.bits, expected.bits) << "mutant " << i << ": " << what;
    EXPECT_NE(harmlessWhere, "") << "mutant " << i << ": " << what << ": why is it harmless?";
    printf("mutant %d survives: %s: %s\n", i, what.c_str(), harmlessWhere.c_str());
  }
  printf("%d mutants: %d change a result, %d are found, %d change nothing\n", subject.mutants,
         harmful, found, subject.mutants - found);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, MemoryMutation,
    testing::Values(
        Subject{"mlp", "--ranks=2 --zero-stage=3 --optimizer=adamw --clip-norm=0.1", 400},
        Subject{"mlp",
                "--ranks=2 --zero-stage=1 --micro-batches=3 --optimizer=adamw --precision=fp16",
                400},
        Subject{"gpt2-tiny", "--ranks=2 --zero-stage=2 --micro-batches=2 --optimizer=lamb", 100}));

} // namespace
