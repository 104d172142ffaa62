//===- team_test.cpp - the cores of ranks and their threads ---------------===//

#include "runtime/device/cpu/openmp.h"
#include "runtime/execute/team.h"
#include "runtime/support/thread.h"

#include <gtest/gtest.h>
#include <mutex>
#include <sched.h>
#include <set>
#include <thread>

using namespace zero::rt;
using Cores = std::set<int>;

static Cores coresOfThread() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  Cores cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed))
      cores.insert(core);
  return cores;
}

namespace {
/// The sets of cores that the threads of a rank may use, without duplicates.
struct Seen {
  std::mutex mutex;
  std::set<Cores> cores;
};
} // namespace

static void note(void *data) {
  Seen &seen = *static_cast<Seen *>(data);
  std::lock_guard<std::mutex> lock(seen.mutex);
  seen.cores.insert(coresOfThread());
}

/// The sets of cores that the `threads` threads of each rank may use.
static std::vector<std::set<Cores>> run(const TeamOptions &options) {
  std::vector<Seen> seen(options.ranks);
  Team team(options);
  Status status = team.run([&](int rank) {
    runOnTeam(note, &seen[rank - options.firstRank], options.threadsPerRank);
    return Status();
  });
  EXPECT_TRUE(status.ok());
  std::vector<std::set<Cores>> result;
  for (Seen &one : seen)
    result.push_back(one.cores);
  return result;
}

static std::vector<std::set<Cores>> run(int ranks, int threads, int pin) {
  return run(TeamOptions::ofAll(ranks, threads, pin));
}

TEST(Team, RanksTakeNeighbouringCores) {
  const Cores all = coresOfThread();
  const std::vector<int> cores(all.begin(), all.end());
  EXPECT_EQ(usableCores(), int(cores.size()));
  for (int threads = 1; threads <= usableCores(); ++threads) {
    const int ranks = usableCores() / threads;
    auto seen = run(ranks, threads, 1);
    for (int rank = 0; rank < ranks; ++rank) {
      Cores own(cores.begin() + rank * threads, cores.begin() + (rank + 1) * threads);
      EXPECT_EQ(seen[rank], std::set<Cores>{own}) << "rank " << rank << " of " << threads;
    }
  }
}

/// The ranks of another process of the node take the first cores.
TEST(Team, ProcessesTakeTheirPartOfTheCores) {
  const Cores all = coresOfThread();
  if (all.size() < 2 || int(all.size()) < int(std::thread::hardware_concurrency()))
    GTEST_SKIP() << "not all cores, or one";
  TeamOptions options;
  options.firstRank = 5;
  options.neighbours = 2;
  options.place = 1;
  options.pin = 1;
  EXPECT_EQ(run(options)[0], std::set<Cores>{Cores{*std::next(all.begin())}});
}

TEST(Team, IsNotBoundWhereThreadsTakeTurns) {
  const Cores all = coresOfThread();
  for (int pin : {-1, 1})
    for (const std::set<Cores> &seen : run(2, usableCores(), pin))
      EXPECT_EQ(seen, std::set<Cores>{all});
}

TEST(Team, ASmallJobMakesWay) {
  if (usableCores() < 2)
    GTEST_SKIP() << "one core";
  EXPECT_EQ(run(1, 1, -1)[0], std::set<Cores>{coresOfThread()});
  EXPECT_EQ(run(1, 1, 0)[0], std::set<Cores>{coresOfThread()});
}
