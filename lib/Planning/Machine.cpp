//===- Machine.cpp - how long work takes on a machine ---------------------===//

#include "zero/Planning/Machine.h"

#include <algorithm>
#include <cmath>

namespace zero::planning {

/// Squared distance of sizes, in doublings of each.
static double distance(const ProductRate &rate, const KernelCost &cost) {
  const double m = std::log2(rate.m / std::max(cost.m, 1.0));
  const double n = std::log2(rate.n / std::max(cost.n, 1.0));
  const double k = std::log2(rate.k / std::max(cost.k, 1.0));
  return m * m + n * n + k * k;
}

/// Flops a second of a product: the measured rates weighted by nearness (Shepard's
/// interpolation, 1968, with the fourth power of the distance).
static double productFlops(const Machine &machine, const KernelCost &cost) {
  double weights = 0, sum = 0;
  for (const ProductRate &rate : machine.products) {
    const double square = distance(rate, cost);
    if (square < 1e-6)
      return rate.flops;
    const double weight = 1 / (square * square);
    weights += weight;
    sum += weight * rate.flops;
  }
  return weights > 0 ? sum / weights : machine.peakFlops;
}

static double flopsRate(const Machine &machine, const KernelCost &cost) {
  switch (cost.kind) {
  case KernelKind::Product:
    return productFlops(machine, cost);
  case KernelKind::Convolution:
    return machine.convolutionFlops;
  case KernelKind::Attention:
    return cost.backward ? machine.attentionBackward : machine.attentionForward;
  case KernelKind::Native:
    break;
  }
  return machine.nativeFlops;
}

double kernelSeconds(const Machine &machine, const KernelCost &cost) {
  const double bandwidth =
      cost.bytes <= machine.cacheBytes ? machine.cacheBandwidth : machine.memoryBandwidth;
  return machine.launchSeconds +
         std::max(cost.flops / flopsRate(machine, cost), cost.bytes / bandwidth);
}

double copySeconds(const Machine &machine, double bytes) {
  return machine.launchSeconds + 2 * bytes / machine.copyBandwidth;
}

double collectiveSeconds(const Machine &machine, CollectiveKind kind, double bytes, int64_t ranks) {
  if (ranks <= 1)
    return machine.launchSeconds;
  const double received = bytes * double(ranks - 1) / double(ranks);
  auto seconds = [received](const CollectiveRate &rate) {
    return rate.latency + received / rate.bandwidth;
  };
  switch (kind) {
  case CollectiveKind::AllGather:
    return seconds(machine.gather);
  case CollectiveKind::ReduceScatter:
    return seconds(machine.reduce);
  case CollectiveKind::AllReduce:
    break;
  }
  return seconds(machine.reduce) + seconds(machine.gather);
}

} // namespace zero::planning
