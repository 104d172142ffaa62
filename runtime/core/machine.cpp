//===- machine.cpp - what this machine can do at most ---------------------===//

#include "runtime/core/machine.h"

#include "runtime/device/cpu/roofline.h"

#include <algorithm>
#include <thread>

namespace zero::rt {

/// Spread over the limits, so that what disturbs one moment spoils none of them.
static constexpr int kRounds = 4;
static constexpr double kSeconds = 0.04; ///< of each limit in a round

namespace {
struct Limit {
  double (Roofline::*measure)(double seconds);
  double zero_rt_machine::*result;
};

/// Shared with the team's threads: one that never comes back keeps it alive.
struct Probe {
  std::unique_ptr<Roofline> roofline;
  zero_rt_machine best{};
};
} // namespace

static const Limit kLimits[] = {
    {&Roofline::flops, &zero_rt_machine::flops},
    {&Roofline::triadBandwidth, &zero_rt_machine::triad_bandwidth},
    {&Roofline::copyBandwidth, &zero_rt_machine::copy_bandwidth},
};

/// Bytes of each rank: in all twice what one core reaches of today's caches, and four times
/// each core's share of them.
static uint64_t bytesOfRank(const TeamOptions &options) {
  const uint64_t threads = uint64_t(options.ranks) * unsigned(options.threadsPerRank);
  const uint64_t cores = std::min<uint64_t>(threads, std::thread::hardware_concurrency());
  return std::max<uint64_t>(192, 48 * cores) * (uint64_t(1) << 20) / unsigned(options.ranks);
}

Status measureMachine(const TeamOptions &options, zero_rt_machine &machine) {
  Team team(options);
  auto probes = std::make_shared<std::vector<Probe>>(size_t(options.ranks));
  const int threads = options.threadsPerRank;
  ZERO_RT_TRY(team.run([probes, threads, bytes = bytesOfRank(options)](int rank) {
    return Roofline::create(threads, bytes, (*probes)[size_t(rank)].roofline);
  }));
  for (int round = 0; round < kRounds; ++round)
    for (const Limit &limit : kLimits)
      ZERO_RT_TRY(team.run([probes, limit](int rank) {
        Probe &probe = (*probes)[size_t(rank)];
        double &best = probe.best.*limit.result;
        best = std::max(best, ((*probe.roofline).*limit.measure)(kSeconds));
        return Status();
      }));
  machine = {};
  for (const Limit &limit : kLimits)
    for (const Probe &probe : *probes)
      machine.*limit.result += probe.best.*limit.result / double(options.ranks);
  return {};
}

} // namespace zero::rt
