//===- collectives.cpp - measures collectives of CPU ranks ----------------===//
//
// usage: collectives RANKS [ROUNDS], alone or under a launcher. The ranks are threads of one
// process, or divided among the launcher's processes. Prints a line of JSON for each size and
// collective: the seconds of a rank, best and median of the rounds.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/arena.h"
#include "runtime/execute/team.h"
#include "runtime/session/process_group.h"
#include "runtime/support/json_writer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace zero::rt;
using Clock = std::chrono::steady_clock;

namespace {

/// Bytes of the whole tensor.
constexpr uint64_t kSizes[] = {uint64_t(1) << 20, uint64_t(16) << 20, uint64_t(128) << 20};

/// A rank's end and its memory: a tensor, and a slice of it.
struct Member {
  std::unique_ptr<Communicator> end;
  std::unique_ptr<Arena> whole, slice;

  Status open() {
    ZERO_RT_TRY(reserveHostMemory(kSizes[2], /*guarded=*/false, /*resident=*/false, whole));
    ZERO_RT_TRY(whole->touch());
    ZERO_RT_TRY(reserveHostMemory(kSizes[2] / uint64_t(end->ranks()), /*guarded=*/false,
                                  /*resident=*/false, slice));
    return slice->touch();
  }

  Status run(bool gathers, uint64_t elements) {
    const uint64_t own = elements / uint64_t(end->ranks());
    return gathers
               ? end->allGather({"gather"}, ZERO_RT_F32, slice->base(), whole->base(), own)
               : end->reduceScatter({"reduce"}, {ZERO_RT_F32}, whole->base(), slice->base(), own);
  }

  Status measure(int rounds, bool gathers, uint64_t bytes, std::vector<double> &seconds) {
    for (int round = -2; round < rounds; ++round) {
      float one = 1;
      ZERO_RT_TRY(end->allReduce({"begin"}, {ZERO_RT_F32}, &one, 1));
      const auto begin = Clock::now();
      ZERO_RT_TRY(run(gathers, bytes / sizeof(float)));
      if (round >= 0)
        seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return {};
  }
};

} // namespace

static Status measureAll(int ranks, int rounds) {
  LaunchInfo launch;
  ZERO_RT_TRY(detectLauncher([](const char *name) { return std::getenv(name); }, launch));
  std::shared_ptr<World> world;
  std::vector<std::unique_ptr<Communicator>> ends;
  if (launch.processes > 1) {
    WorldOptions options;
    options.launch = launch;
    ZERO_RT_TRY(World::open(options, world));
    ZERO_RT_TRY(checkDivides(*world, ranks));
    ZERO_RT_TRY(openProcessGroup(*world, {.ranks = ranks}, ends));
  } else {
    ends = makeThreadGroup({.ranks = ranks});
  }
  std::vector<Member> members(ends.size());
  for (size_t i = 0; i < ends.size(); ++i)
    members[i].end = std::move(ends[i]);
  Team team(TeamOptions::ofAll(int(members.size()), 1, /*pin=*/0));
  ZERO_RT_TRY(team.run([&](int index) { return members[size_t(index)].open(); }));
  for (const uint64_t bytes : kSizes)
    for (const bool gathers : {false, true}) {
      std::vector<std::vector<double>> seconds(members.size());
      ZERO_RT_TRY(team.run([&](int index) {
        return members[size_t(index)].measure(rounds, gathers, bytes, seconds[size_t(index)]);
      }));
      if (members.front().end->rank() > 0)
        continue;
      JsonWriter json(JsonWriter::Compact);
      json.object([&] {
        json.member("collective", gathers ? "all-gather" : "reduce-scatter");
        json.member("bytes", bytes);
        json.member("best", seconds.front().front());
        json.member("median", seconds.front()[seconds.front().size() / 2]);
      });
      std::printf("%s\n", json.text().c_str());
    }
  return {};
}

int main(int argc, char **argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 30;
  Status status = measureAll(ranks, rounds);
  if (!status.ok())
    std::fprintf(stderr, "collectives: error: %s\n", status.getMessage().c_str());
  return status.ok() ? 0 : 1;
}
