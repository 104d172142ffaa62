//===- measurements.cpp - figures that all ranks measure ------------------===//

#include "runtime/measure/measurements.h"

#include "runtime/comm/host/host_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/support/available_memory.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace zero::rt {

/// The bytes of each rank: in total twice the caches that one core of current processors reaches,
/// and four times each core's share of them, but at most half of the memory that there is.
static uint64_t bytesOfRank(const TeamOptions &options) {
  const uint64_t threads = uint64_t(options.neighbours) * unsigned(options.threadsPerRank);
  const uint64_t cores = std::min<uint64_t>(threads, std::thread::hardware_concurrency());
  const uint64_t all = std::max<uint64_t>(192, 48 * cores) * (uint64_t(1) << 20);
  return std::min(all, availableMemory() / 2) / unsigned(options.neighbours);
}

Measurements::Measurements(const TeamOptions &options, uint64_t least)
    : options(options), bytes(std::max(bytesOfRank(options), least)),
      shared(std::make_shared<Shared>()), team(options) {}

size_t Measurements::add(Measure measure) {
  shared->figures.push_back({std::move(measure), std::vector<double>(size_t(options.ranks))});
  return shared->figures.size() - 1;
}

Status Measurements::open() {
  shared->probes.resize(size_t(options.ranks));
  auto ends = makeThreadGroup({options.ranks});
  for (size_t rank = 0; rank < ends.size(); ++rank)
    shared->probes[rank].communicator = std::move(ends[rank]);
  return team.run([shared = shared, threads = options.threadsPerRank, bytes = bytes](int rank) {
    Probe &probe = shared->probes[size_t(rank)];
    probe.threads = threads;
    prepareTeam(threads);
    return Roofline::create(threads, bytes, probe.roofline);
  });
}

Status Measurements::run(int rounds) {
  ZERO_RT_TRY(open());
  for (int round = 0; round < rounds; ++round)
    for (size_t number = 0; number < shared->figures.size(); ++number)
      ZERO_RT_TRY(team.run([shared = shared, number](int rank) {
        Figure &figure = shared->figures[number];
        double rate = 0, &best = figure.best[size_t(rank)];
        Status status = figure.measure(shared->probes[size_t(rank)], rate);
        best = std::max(best, rate);
        return status;
      }));
  return {};
}

double Measurements::rate(size_t number) const {
  const std::vector<double> &best = shared->figures[number].best;
  return std::accumulate(best.begin(), best.end(), 0.0) / double(best.size());
}

} // namespace zero::rt
