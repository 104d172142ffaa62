//===- schedule_mutation_test.cpp - the proof finds wrong schedules -------===//
//
// Real schedules with one mistake in their waits, addresses or order. Each is executed in the worst
// orders that its waits allow. If this changes a result or does not terminate, the proof over the
// tables must have rejected the schedule. If the proof accepts a schedule, there must be a reason.
//
//===----------------------------------------------------------------------===//

#include "adversary.h"
#include "compiled.h"
#include "offload.h"
#include "places.h"

#include "runtime/format/format.h"
#include "runtime/verify/lane_check.h"
#include "runtime/verify/value_check.h"

#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;

namespace {

/// The mistake, and the reason why it may have no effect. Empty: the proof must reject it.
struct Mistake {
  std::string what, harmlessBecause;
};

//===----------------------------------------------------------------------===//
// Mistakes that are equivalent by construction, found without the proof
//===----------------------------------------------------------------------===//

/// Whether `earlier` is complete when `later` begins, because of waits and the order of lanes.
bool reaches(const proto::Segment &segment, uint32_t earlier, uint32_t later) {
  std::vector<uint32_t> open{later};
  std::set<uint32_t> seen;
  while (!open.empty()) {
    const uint32_t index = open.back();
    open.pop_back();
    if (index == earlier)
      return true;
    if (index < earlier || !seen.insert(index).second)
      continue;
    const proto::Command &command = segment.commands(int(index));
    open.insert(open.end(), command.waits().begin(), command.waits().end());
    for (uint32_t before = index; before-- > 0;)
      if (segment.commands(int(before)).lane() == command.lane()) {
        open.push_back(before);
        break;
      }
  }
  return false;
}

/// Whether one of two commands reads bytes that the other one writes.
bool passValue(const proto::Program &program, const proto::Command &a, const proto::Command &b) {
  for (const Access &one : accessesOfAllRanks(program, a))
    for (const Access &other : accessesOfAllRanks(program, b))
      if (one.range.begin < other.range.end && other.range.begin < one.range.end &&
          ((one.writes && one.writes == other.reads) ||
           (other.writes && other.writes == one.reads)))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

/// A command that waits, and its position in the program.
struct Waiter {
  proto::Segment *segment;
  uint32_t index;
  proto::Command &command() const { return *segment->mutable_commands(int(index)); }
};

Waiter pickWaiter(proto::Program &program, Random &random) {
  std::vector<Waiter> waiters;
  for (proto::Segment &segment : *program.mutable_segments())
    for (int i = 0; i < segment.commands_size(); ++i)
      if (segment.commands(i).waits_size() > 0)
        waiters.push_back({&segment, uint32_t(i)});
  return pick(waiters, random);
}

std::string text(const Waiter &waiter) {
  return "command " + std::to_string(waiter.index) + " ('" + waiter.command().label() + "')";
}

Mistake dropWait(proto::Program &program, Random &random) {
  const Waiter waiter = pickWaiter(program, random);
  auto &waits = *waiter.command().mutable_waits();
  const auto at = waits.begin() + long(random() % uint64_t(waits.size()));
  const uint32_t dropped = *at;
  waits.erase(at);
  return {text(waiter) + " does not wait for " + std::to_string(dropped),
          reaches(*waiter.segment, dropped, waiter.index) ? "other waits bring it" : ""};
}

Mistake swapWait(proto::Program &program, Random &random) {
  const Waiter waiter = pickWaiter(program, random);
  uint32_t &wait = pick(*waiter.command().mutable_waits(), random);
  const uint32_t before = wait;
  wait = uint32_t(random() % uint64_t(waiter.segment->commands_size()));
  return {text(waiter) + " waits for " + std::to_string(wait) + " in place of " +
              std::to_string(before),
          wait < waiter.index && reaches(*waiter.segment, before, waiter.index)
              ? "what it waits for comes after that"
              : ""};
}

template <typename Place>
proto::Tier tierOf(const Place &place) {
  if constexpr (requires { place.tier(); })
    return place.tier();
  else
    return proto::DEVICE;
}

constexpr const char *kFree = "nothing else needs its bytes there meanwhile";

std::vector<uint64_t> offsetsOf(proto::Program &program, proto::Tier tier) {
  std::vector<uint64_t> offsets;
  forEachPlace(program, [&](uint32_t, auto *place) {
    if (tierOf(*place) == tier)
      offsets.push_back(place->offset());
  });
  return offsets;
}

/// Moves a value, with the values that share its bytes, to the bytes of another value whose
/// lifetime ends too early or begins too late for that.
Mistake moveValue(proto::Program &program, Random &random) {
  Groups groups(program);
  using Key = std::pair<uint32_t, proto::Tier>;
  std::set<Key> persistent, transient;
  for (const proto::Buffer &buffer : program.buffers())
    persistent.insert({groups.of(buffer.value()), buffer.tier()});
  forEachPlace(program, [&](uint32_t value, auto *place) {
    if (const Key key{groups.of(value), tierOf(*place)}; !persistent.count(key))
      transient.insert(key);
  });
  const Key chosen = pick(transient, random);
  const uint64_t to = pick(offsetsOf(program, chosen.second), random);
  auto forEach = [&](auto body) {
    forEachPlace(program, [&](uint32_t value, auto *place) {
      if (Key(groups.of(value), tierOf(*place)) == chosen)
        body(place);
    });
  };
  uint64_t lowest = UINT64_MAX;
  forEach([&](auto *place) { lowest = std::min<uint64_t>(lowest, place->offset()); });
  forEach([&](auto *place) { place->set_offset(place->offset() - lowest + to); });
  return {"value " + std::to_string(chosen.first) + " lies at " + std::to_string(to) + " of " +
              proto::Tier_Name(chosen.second),
          kFree};
}

/// Changes the address of one argument of one command.
Mistake moveAddress(proto::Program &program, Random &random) {
  uint64_t count = 0, index = 0;
  forEachPlace(program, [&](uint32_t, auto *) { ++count; });
  const uint64_t chosen = random() % count, number = random();
  std::string what;
  proto::Program original = program; // addresses are looked up here, not in the changed program
  forEachPlace(program, [&](uint32_t, auto *place) {
    if (index++ != chosen)
      return;
    const auto offsets = offsetsOf(original, tierOf(*place));
    place->set_offset(number % 2 ? offsets[number % offsets.size()] : place->offset() + 64);
    what = "address " + std::to_string(chosen) + " is " + std::to_string(place->offset());
  });
  return {what, kFree};
}

/// Swaps two commands that are close to each other. Waits either move with them or do not.
Mistake swapCommands(proto::Program &program, Random &random) {
  std::vector<proto::Segment *> segments;
  for (proto::Segment &segment : *program.mutable_segments())
    if (segment.commands_size() > 3)
      segments.push_back(&segment);
  proto::Segment &segment = *pick(segments, random);
  const int distance = 1 + int(random() % 3);
  const int first = int(random() % uint64_t(segment.commands_size() - distance));
  const int second = first + distance;
  const bool follows = random() % 2;
  bool depend = false;
  for (int i = first; i <= second; ++i)
    for (int end : {first, second})
      depend |= i != end && passValue(program, segment.commands(i), segment.commands(end));
  segment.mutable_commands()->SwapElements(first, second);
  if (follows)
    for (proto::Command &command : *segment.mutable_commands())
      for (uint32_t &wait : *command.mutable_waits())
        wait = int(wait) == first ? uint32_t(second) : int(wait) == second ? uint32_t(first) : wait;
  return {text({&segment, uint32_t(second)}) + " and " + text({&segment, uint32_t(first)}) +
              " are swapped" + (follows ? ", waits with them" : ""),
          depend ? "" : "no value passes between them, and their bytes are free in either order"};
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

std::string refusal(const proto::Program &program) {
  // Constants may be damaged, too: no predicate is known.
  Status status = checkValues(program, {});
  if (status.ok())
    status = checkLanes(program);
  return status.ok() ? "" : status.getMessage();
}

enum Verdict : int { Same, Differs, StandsStill, Ends };

/// Runs the steps of `program` with all policies in a separate process, because a wrong address may
/// end it.
Verdict runAll(Adversary &adversary, const proto::Program &program,
               const Adversary::End &expected) {
  std::fflush(nullptr); // otherwise both processes print it
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    for (const Policy &policy : policiesFor(program)) {
      const Adversary::End end = adversary.run(program, policy);
      if (end.kind == Adversary::End::Deadlock)
        ::_exit(StandsStill);
      if (!(end == expected))
        ::_exit(Differs);
    }
    ::_exit(Same);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? Verdict(WEXITSTATUS(status)) : Ends;
}

struct Counts {
  int mutants = 0, differ = 0, standStill = 0, end = 0, refused = 0, accepted = 0, missed = 0;
};
Counts total;

struct Subject {
  const char *graph, *flags;
  int mutants; ///< of each kind of mistake
};

class ScheduleMutation : public testing::TestWithParam<Subject> {
protected:
  static void TearDownTestSuite() {
    printf("%d mutants: %d change a result, %d stand still, %d end the process; %d are refused, "
           "%d accepted and equivalent\n",
           total.mutants, total.differ, total.standStill, total.end, total.refused, total.accepted);
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    if (all.test_to_run_count() == all.total_test_count()) {
      EXPECT_GE(total.mutants, 500);
      EXPECT_GT(total.standStill, 0);
    }
  }

  static void mutate(Adversary &adversary, const proto::Program &program, int mutants) {
    ASSERT_EQ(refusal(program), "");
    const Adversary::End expected = adversary.run(program, {});
    ASSERT_EQ(expected.kind, Adversary::End::Done);
    ASSERT_EQ(runAll(adversary, program, expected), Same);
    Mistake (*const mistakes[])(proto::Program &, Random &) = {dropWait, swapWait, moveValue,
                                                               moveAddress, swapCommands};
    for (int i = 0; i < mutants; ++i) {
      Random random(static_cast<uint64_t>(i));
      proto::Program mutant = program;
      const auto [what, harmlessBecause] = mistakes[i % 5](mutant, random);
      const std::string refused = refusal(mutant);
      const Verdict verdict = runAll(adversary, mutant, expected);
      ++total.mutants;
      total.differ += verdict == Differs, total.standStill += verdict == StandsStill;
      total.end += verdict == Ends;
      ++(refused.empty() ? total.accepted : total.refused);
      if (!refused.empty())
        continue;
      EXPECT_EQ(verdict, Same) << "mutant " << i << ": " << what << ": not refused";
      EXPECT_NE(harmlessBecause, "") << "mutant " << i << ": " << what << ": why is it harmless?";
      printf("mutant %d is accepted: %s: %s\n", i, what.c_str(), harmlessBecause.c_str());
    }
  }
};

TEST_P(ScheduleMutation, IsRefused) {
  const Subject &subject = GetParam();
  const Compiled compiled(subject.graph, subject.flags);
  Adversary adversary(compiled.file());
  const Adversary::End inMemory = adversary.run(compiled.program(), {});
  mutate(adversary, compiled.program(), subject.mutants);
  for (bool toDisk : {false, true}) {
    const proto::Program offloaded = offload(compiled.program(), toDisk, toDisk ? 5 : 3);
    EXPECT_TRUE(adversary.run(offloaded, {}) == inMemory);
    mutate(adversary, offloaded, subject.mutants);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ScheduleMutation,
    testing::Values(
        Subject{"mlp", "--ranks=2 --zero-stage=0 --optimizer=adamw", 30},
        Subject{"mlp", "--ranks=2 --zero-stage=1 --optimizer=adamw --micro-batches=3", 30},
        Subject{"mlp", "--ranks=2 --zero-stage=2 --optimizer=adamw --precision=fp16", 30},
        Subject{"mlp",
                "--ranks=4 --zero-stage=3 --ranks-per-node=2 --shard-params=node "
                "--optimizer=adamw --clip-norm=0.1",
                30},
        Subject{"gpt2-tiny", "--ranks=2 --zero-stage=0 --optimizer=adamw", 20},
        Subject{"gpt2-tiny", "--ranks=2 --zero-stage=1 --optimizer=adamw", 20},
        Subject{"gpt2-tiny", "--ranks=2 --zero-stage=2 --optimizer=lamb --micro-batches=2", 20},
        Subject{"gpt2-tiny", "--ranks=2 --zero-stage=3 --optimizer=adamw --micro-batches=2", 20}));

} // namespace
