//===- machine.cpp - what this machine can do at most ---------------------===//

#include "runtime/core/machine.h"

#include "runtime/device/cpu/roofline.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace zero::rt {

static constexpr int kRounds = 3;
static constexpr double kSeconds = 0.05; ///< of a round

namespace {
/// Shared with the team's threads: one that never comes back keeps it alive.
struct Probes {
  std::vector<std::unique_ptr<Roofline>> of;
  std::vector<double> best;
};
} // namespace

/// Bytes of each rank: four times the caches that its cores have on today's CPUs.
static uint64_t bytesOfRank(const TeamOptions &options) {
  const uint64_t threads = uint64_t(options.ranks) * unsigned(options.threadsPerRank);
  const uint64_t cores = std::min<uint64_t>(threads, std::thread::hardware_concurrency());
  return std::max<uint64_t>(192, 48 * cores) * (uint64_t(1) << 20) / unsigned(options.ranks);
}

/// The mean over ranks of the best rate that each finds.
static Status measure(Team &team, const std::shared_ptr<Probes> &probes,
                      double (Roofline::*limit)(double), double &rate) {
  probes->best.assign(probes->of.size(), 0);
  for (int round = 0; round < kRounds; ++round)
    ZERO_RT_TRY(team.run([probes, limit](int rank) {
      double &best = probes->best[size_t(rank)];
      best = std::max(best, (*probes->of[size_t(rank)].*limit)(kSeconds));
      return Status();
    }));
  rate =
      std::accumulate(probes->best.begin(), probes->best.end(), 0.0) / double(probes->best.size());
  return {};
}

Status measureMachine(const TeamOptions &options, zero_rt_machine &machine) {
  Team team(options);
  auto probes = std::make_shared<Probes>();
  probes->of.resize(size_t(options.ranks));
  const int threads = options.threadsPerRank;
  ZERO_RT_TRY(team.run([probes, threads, bytes = bytesOfRank(options)](int rank) {
    return Roofline::create(threads, bytes, probes->of[size_t(rank)]);
  }));
  zero_rt_machine measured{};
  ZERO_RT_TRY(measure(team, probes, &Roofline::flops, measured.flops));
  ZERO_RT_TRY(measure(team, probes, &Roofline::triadBandwidth, measured.triad_bandwidth));
  ZERO_RT_TRY(measure(team, probes, &Roofline::copyBandwidth, measured.copy_bandwidth));
  machine = measured;
  return {};
}

} // namespace zero::rt
