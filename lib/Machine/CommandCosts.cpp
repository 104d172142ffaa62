//===- CommandCosts.cpp - estimated times of commands ---------------------===//

#include "zero/Machine/CommandCosts.h"

#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"

#include <algorithm>

using namespace zero::rt;
using namespace zero::planning;

namespace zero {

/// Whether a matrix is stored by columns: adjacent elements of a column are adjacent in memory.
static bool isTransposed(const google::protobuf::RepeatedField<int64_t> &strides) {
  const int last = strides.size() - 1;
  return strides[last] != 1 && strides[last - 1] == 1;
}

static void describeProduct(const proto::Matmul &matmul, KernelCost &cost) {
  cost.kind = KernelKind::Product;
  cost.m = double(matmul.m());
  cost.n = double(matmul.n());
  cost.k = double(matmul.k());
  cost.transposedA = isTransposed(matmul.a_strides());
  cost.transposedB = isTransposed(matmul.b_strides());
}

KernelCost costOf(const proto::Kernel &kernel, int64_t length) {
  const double times = double(std::max<int64_t>(length, 1));
  KernelCost cost;
  cost.flops = times * double(kernel.flops());
  cost.bytes = times * double(kernel.bytes());
  cost.half = multipliesHalves(kernel);
  if (kernel.has_matmul()) {
    describeProduct(kernel.matmul(), cost);
  } else if (kernel.has_convolution()) {
    cost.kind = KernelKind::Convolution;
  } else if (kernel.has_attention()) {
    cost.kind = KernelKind::Attention;
    cost.m = double(kernel.attention().queries());
    cost.n = double(kernel.attention().keys());
    cost.backward = kernel.attention().direction() == proto::Attention::BACKWARD;
  }
  return cost;
}

/// Whether the source of a gather, of `bytes` bytes, is the own slice of its destination.
static bool isOwnSlice(const Mesh &mesh, const proto::Collective &collective, uint64_t bytes) {
  PerAxis strides = stridesOf(mesh, collective.dst());
  const PerAxis slices = sliceStrides(mesh, collective, bytes);
  for (size_t axis = 0; axis < strides.size(); ++axis)
    strides[axis] += slices[axis];
  return collective.src().offset() == collective.dst().offset() &&
         stridesOf(mesh, collective.src()) == strides;
}

/// Of the group of the first rank, how many members are among the first `ranks` ranks: those that
/// share a node with it. Ranks are numbered with the innermost axis first.
static int64_t membersAmong(const Mesh &mesh, const proto::Collective &collective, int64_t ranks) {
  if (ranks <= 0)
    return 0;
  const RankGroup group(mesh, groupAxes(mesh, collective), 0);
  return std::ranges::count_if(group.ranks(), [&](int rank) { return rank < ranks; });
}

static Exchange exchangeOf(const Machine &machine, const proto::Collective &collective,
                           const proto::Program &program) {
  const Mesh mesh = meshOf(program);
  const uint64_t ranks = groupSize(mesh, collective);
  const uint64_t size = sizeOf(toDType(collective.dtype()));
  const uint64_t source = sourceElements(collective, ranks) * size;
  const uint64_t destination = destinationElements(collective, ranks) * size;
  const CollectiveForm &form = *formOf(collective.kind());
  Exchange exchange;
  exchange.bytes = double(std::max(source, destination));
  exchange.ranks = int64_t(ranks);
  exchange.sums = form.sums;
  exchange.ranksPerNode = membersAmong(mesh, collective, program.ranks_per_node());
  exchange.perNode = membersAmong(mesh, collective, machine.network.ranksPerNode);
  if (const uint64_t sum = sizeOf(toDType(collective.arithmetic())); sum > size)
    exchange.sumRatio = double(sum) / double(size);
  exchange.fromSlices = form.source < form.destination;
  exchange.toSlices = form.source > form.destination;
  exchange.inPlace = isOwnSlice(mesh, collective, source);
  return exchange;
}

static constexpr std::pair<proto::Lane, Link> kLinkLanes[] = {{proto::H2D, Link::HostToDevice},
                                                              {proto::D2H, Link::DeviceToHost},
                                                              {proto::NVME_READ, Link::DiskRead},
                                                              {proto::NVME_WRITE, Link::DiskWrite}};

/// A copy inside a tier, or a transfer on the lane of its link.
static double secondsOf(const Machine &machine, const proto::Copy &copy, proto::Lane lane,
                        int64_t ranks) {
  const auto bytes = double(copy.bytes());
  for (auto [own, link] : kLinkLanes)
    if (own == lane)
      return transferSeconds(machine, link, bytes, ranks);
  return copySeconds(machine, bytes);
}

static double secondsOf(const Machine &machine, const KernelCost &cost, proto::Lane lane,
                        int64_t ranks) {
  return lane == proto::HOST_COMPUTE ? hostKernelSeconds(machine, cost, ranks)
                                     : kernelSeconds(machine, cost);
}

double commandSeconds(const Machine &machine, const proto::Program &program,
                      const proto::Command &command) {
  switch (command.body_case()) {
  case proto::Command::kLaunch:
    return secondsOf(
        machine, costOf(program.kernels(int(command.launch().kernel())), command.launch().length()),
        command.lane(), program.ranks());
  case proto::Command::kCollective:
    return collectiveSeconds(machine, exchangeOf(machine, command.collective(), program));
  case proto::Command::kCopy:
    return secondsOf(machine, command.copy(), command.lane(), program.ranks());
  default:
    return 0; // a check looks at two numbers
  }
}

/// Where ranks compute on the host, lanes share the cores that a rank has. Disks need next to none.
static void shareCores(const Machine &machine, const Ranks &ranks, LaneShares &shares) {
  const double here = double(ranksOnNode(machine, ranks.count));
  const double cores = std::max(1.0, double(machine.cores) / here);
  const auto threads = double(ranks.threads);
  const auto core = size_t(Resource::Cores);
  shares[proto::COMPUTE][core] = shares[proto::COLLECTIVE][core] = std::min(1.0, threads / cores);
  for (proto::Lane lane : {proto::H2D, proto::D2H, proto::HOST_COMPUTE})
    shares[size_t(lane)][core] = 1 / cores;
}

Ranks ranksOf(const proto::Program &program) {
  return {int64_t(program.ranks()), std::max<int64_t>(program.threads(), 1), program.prefetches()};
}

LaneShares laneShares(const Machine &machine, const Ranks &ranks) {
  LaneShares shares = {};
  for (auto [lane, link] : kLinkLanes)
    shares[size_t(lane)][size_t(Resource::HostMemory)] =
        hostMemoryShare(machine, link, ranks.count);
  for (proto::Lane lane : {proto::NVME_READ, proto::NVME_WRITE}) {
    const Link link = lane == proto::NVME_READ ? Link::DiskRead : Link::DiskWrite;
    const DriveShare drives = driveShare(machine, link);
    shares[size_t(lane)][size_t(Resource::Drives)] = drives.time;
    shares[size_t(lane)][size_t(Resource::DriveBus)] = drives.bus;
  }
  if (machine.host.memoryBandwidth > 0)
    shares[proto::HOST_COMPUTE][size_t(Resource::HostMemory)] = 1;
  else
    shareCores(machine, ranks, shares);
  return shares;
}

bool overlapsCollectives(const Machine &machine, const Ranks &ranks) {
  const int64_t busy = ranks.count * ranks.threads;
  return machine.overlaps || (ranks.prefetches && machine.cores > busy);
}

} // namespace zero
