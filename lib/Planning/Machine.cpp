//===- Machine.cpp - how long work takes on a machine ---------------------===//

#include "zero/Planning/Machine.h"

#include <algorithm>
#include <cmath>

namespace zero::planning {

/// How unlike a measured product is: squared doublings of each size, and as much as one
/// for an operand that lies otherwise.
static double distance(const ProductRate &rate, const KernelCost &cost) {
  auto doublings = [](double measured, double wanted) {
    const double difference = std::log2(measured / std::max(wanted, 1.0));
    return difference * difference;
  };
  return doublings(rate.m, cost.m) + doublings(rate.n, cost.n) + doublings(rate.k, cost.k) +
         (rate.transposedA != cost.transposedA) + (rate.transposedB != cost.transposedB);
}

/// Operations a second of a product: the measured rates weighted by nearness (Shepard's
/// interpolation, 1968, with the fourth power of the distance), and no more than the peak
/// of its operands' type allows.
static double productFlops(const Machine &machine, const KernelCost &cost) {
  const double peak = cost.half ? machine.halfFlops : machine.peakFlops;
  double weights = 0, sum = 0;
  for (const ProductRate &rate : machine.products) {
    const double square = std::max(distance(rate, cost), 1e-6);
    weights += 1 / (square * square);
    sum += rate.flops / (square * square);
  }
  // What was measured are products of float32.
  return weights > 0 ? sum / weights * (peak / machine.peakFlops) : peak;
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
  const double computing = cost.flops / flopsRate(machine, cost), moving = cost.bytes / bandwidth;
  // The rates of libraries have the moving in them, unless there is more than usual of it.
  return machine.launchSeconds +
         (cost.kind == KernelKind::Native ? computing + moving : std::max(computing, moving));
}

double copySeconds(const Machine &machine, double bytes) {
  return machine.launchSeconds + 2 * bytes / machine.copyBandwidth;
}

double collectiveSeconds(const Machine &machine, CollectiveKind kind, double bytes, int64_t ranks,
                         bool inPlace) {
  const double slice = bytes / double(ranks), received = bytes - slice;
  auto seconds = [received](const CollectiveRate &rate) {
    return rate.latency + received / rate.bandwidth;
  };
  const double gather = seconds(machine.gather) + (inPlace ? 0 : copySeconds(machine, slice));
  switch (kind) {
  case CollectiveKind::AllGather:
    return gather;
  case CollectiveKind::ReduceScatter:
    return seconds(machine.reduce);
  case CollectiveKind::AllReduce:
    break;
  }
  return seconds(machine.reduce) + seconds(machine.gather);
}

} // namespace zero::planning
