//===- Machine.cpp - times of work on a machine ---------------------------===//

#include "zero/Planning/Machine.h"

#include <algorithm>
#include <cmath>

namespace zero::planning {

/// Squared doublings between two sizes.
static double doublings(double measured, double wanted) {
  const double difference = std::log2(measured / std::max(wanted, 1.0));
  return difference * difference;
}

/// The rates of `measured`, weighted by nearness: Shepard's interpolation (1968) with the
/// fourth power of the distance, whose square `distance` tells. 0 of nothing.
template <typename Rate, typename Distance, typename Flops>
static double interpolate(const std::vector<Rate> &measured, Distance distance, Flops flops) {
  double weights = 0, sum = 0;
  for (const Rate &rate : measured) {
    const double square = std::max<double>(distance(rate), 1e-6);
    weights += 1 / (square * square);
    sum += flops(rate) / (square * square);
  }
  return weights > 0 ? sum / weights : 0;
}

/// A different layout of an operand counts as much as a factor of 2 in a size.
static double productFlops(const Machine &machine, const KernelCost &cost) {
  const double peak = cost.half ? machine.halfFlops : machine.peakFlops;
  const double flops = interpolate(
      machine.products,
      [&](const ProductRate &rate) {
        return doublings(rate.m, cost.m) + doublings(rate.n, cost.n) + doublings(rate.k, cost.k) +
               (rate.transposedA != cost.transposedA) + (rate.transposedB != cost.transposedB);
      },
      [](const ProductRate &rate) { return rate.flops; });
  // The measured products are those of float32.
  return flops > 0 ? flops * (peak / machine.peakFlops) : peak;
}

static double attentionFlops(const Machine &machine, const KernelCost &cost) {
  const double rows = std::sqrt(cost.m * cost.n);
  const double flops = interpolate(
      machine.attention, [&](const AttentionRate &rate) { return doublings(rate.rows, rows); },
      [&](const AttentionRate &rate) { return cost.backward ? rate.backward : rate.forward; });
  return flops > 0 ? flops : cost.half ? machine.halfFlops : machine.peakFlops;
}

static double flopsRate(const Machine &machine, const KernelCost &cost) {
  switch (cost.kind) {
  case KernelKind::Product:
    return productFlops(machine, cost);
  case KernelKind::Convolution:
    return machine.convolutionFlops;
  case KernelKind::Attention:
    return attentionFlops(machine, cost);
  case KernelKind::Native:
    break;
  }
  return machine.nativeFlops;
}

double kernelSeconds(const Machine &machine, const KernelCost &cost) {
  if (auto known = machine.measured.find(kernelWork(cost.flops, cost.bytes));
      known != machine.measured.end())
    return known->second;
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

int64_t ranksOnNode(const Machine &machine, int64_t ranks) {
  const int64_t most = machine.network.ranksPerNode;
  return most > 0 ? std::min(most, ranks) : ranks;
}

double hostKernelSeconds(const Machine &machine, const KernelCost &cost, int64_t ranks) {
  const Host &host = machine.host;
  if (host.memoryBandwidth == 0)
    return kernelSeconds(machine, cost);
  const double computing = host.nativeFlops > 0 ? cost.flops / host.nativeFlops : 0;
  return double(ranksOnNode(machine, ranks)) * (computing + cost.bytes / host.memoryBandwidth);
}

/// Bytes per second of one drive.
static double driveRate(const Disk &disk, Link link) {
  const double known = link == Link::DiskRead ? disk.read : disk.write;
  return known > 0 ? known : 1e9;
}

double drivesRate(const Machine &machine, Link link) {
  const Disk &disk = machine.disk;
  const double all = disk.count * driveRate(disk, link);
  return disk.bus > 0 ? std::min(disk.bus, all) : all;
}

static bool isOfDisk(Link link) { return link == Link::DiskRead || link == Link::DiskWrite; }

static const HostLink &hostLink(const Machine &machine, Link link) {
  return link == Link::HostToDevice ? machine.hostToDevice : machine.deviceToHost;
}

/// Bytes per second that `ranks` ranks of a node move over `link` together.
static double linkRate(const Machine &machine, Link link, int64_t ranks) {
  if (isOfDisk(link))
    return drivesRate(machine, link);
  const HostLink &own = hostLink(machine, link);
  const double all = own.bandwidth * double(ranks);
  return own.nodeBandwidth > 0 ? std::min(own.nodeBandwidth, all) : all;
}

double transferSeconds(const Machine &machine, Link link, double bytes, int64_t ranks) {
  const bool isCopy = !isOfDisk(link) && hostLink(machine, link).bandwidth == 0;
  if (isCopy)
    return copySeconds(machine, bytes);
  const int64_t here = ranksOnNode(machine, ranks);
  const double latency = isOfDisk(link) ? 0 : hostLink(machine, link).latency;
  return latency + bytes * double(here) / linkRate(machine, link, here);
}

/// A drive that reads at rate r and writes at rate w has both at f r and f w, together the mixed
/// rate m = f (r + w). So each direction takes 1 / (2 f) of its time: between a half, where they do
/// not delay each other, and all, where they take turns.
DriveShare driveShare(const Machine &machine, Link link) {
  const Disk &disk = machine.disk;
  const double both = driveRate(disk, Link::DiskRead) + driveRate(disk, Link::DiskWrite);
  const double all = drivesRate(machine, link), single = disk.count * driveRate(disk, link);
  DriveShare share;
  share.bus = disk.bus > 0 ? all / disk.bus : 0;
  if (disk.mixed > 0)
    share.time = all / single * std::clamp(both / (2 * disk.mixed), 0.5, 1.0);
  return share;
}

double hostMemoryShare(const Machine &machine, Link link, int64_t ranks) {
  if (machine.host.memoryBandwidth == 0)
    return 0;
  const double rate = linkRate(machine, link, ranksOnNode(machine, ranks));
  return std::min(1.0, rate / machine.host.memoryBandwidth);
}

/// Whether ranks bring values to each other after they have added them up, if they do.
static bool gathers(const Exchange &exchange) { return !exchange.sums || !exchange.toSlices; }

/// Ranks of the exchange on a node; 0: all are on one.
static int64_t ranksHere(const Machine &machine, const Exchange &exchange) {
  return exchange.perNode > 0 ? exchange.perNode : machine.network.ranksPerNode;
}

/// Ranks of other nodes; 0: all are on one.
static double ranksElsewhere(const Machine &machine, const Exchange &exchange) {
  const int64_t here = ranksHere(machine, exchange);
  return here > 0 ? double(std::max<int64_t>(0, exchange.ranks - here)) : 0;
}

/// Whether collectives are rings, as NCCL's are: the values of a node are added before they cross
/// its connection, whatever the program says, and all connections are busy at the same time.
static bool hasRings(const Machine &machine) { return machine.host.memoryBandwidth > 0; }

double networkBytes(const Machine &machine, const Exchange &exchange) {
  const double elsewhere = ranksElsewhere(machine, exchange);
  const double slice = exchange.bytes / double(exchange.ranks), crossing = elsewhere * slice;
  const int64_t here = ranksHere(machine, exchange);
  double bytes = 0;
  if (exchange.sums)
    bytes += hasRings(machine)               ? crossing
             : exchange.ranksPerNode == here ? crossing * exchange.sumRatio
                                             : crossing * double(here);
  const bool isWhole = !exchange.sums && !exchange.fromSlices;
  if (gathers(exchange) && elsewhere > 0) // a value that is not cut leaves once for each other node
    bytes += isWhole ? exchange.bytes * elsewhere / double(here) : crossing;
  const bool hasOthers = elsewhere > 0 && machine.network.ranksPerNode > here;
  return hasOthers ? bytes * double(machine.network.ranksPerNode) / double(here) : bytes;
}

/// Messages that follow each other.
static double networkSeconds(const Machine &machine, const Exchange &exchange) {
  if (ranksElsewhere(machine, exchange) == 0)
    return 0;
  const int messages = (exchange.sums ? 1 : 0) + (gathers(exchange) ? 1 : 0);
  return messages * machine.network.latency +
         networkBytes(machine, exchange) / machine.network.bandwidth;
}

double collectiveSeconds(const Machine &machine, const Exchange &exchange) {
  auto seconds = [](const CollectiveRate &rate, double moved) {
    return rate.latency + moved / rate.bandwidth;
  };
  const double slice = exchange.bytes / double(exchange.ranks), others = exchange.bytes - slice;
  double sum = exchange.sums ? seconds(machine.reduce, others) : 0;
  // A value that is not cut comes from one rank to all others.
  const bool isWhole = !exchange.sums && !exchange.fromSlices;
  if (gathers(exchange))
    sum += seconds(machine.gather, isWhole && exchange.ranks > 1 ? exchange.bytes : others);
  const double network = networkSeconds(machine, exchange);
  sum = hasRings(machine) ? std::max(sum, network) : sum + network;
  return exchange.fromSlices && !exchange.inPlace ? sum + copySeconds(machine, slice) : sum;
}

double collectiveLatency(const Machine &machine, const Exchange &exchange) {
  return (gathers(exchange) ? machine.gather.latency : 0) +
         (exchange.sums ? machine.reduce.latency : 0);
}

} // namespace zero::planning
