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
  const AxisSet axes = groupAxes(mesh, collective);
  for (int axis = mesh.axes(); axis-- > 0;)
    if (axes >> axis & 1) {
      strides[size_t(axis)] += int64_t(bytes);
      bytes *= uint64_t(mesh.size(axis));
    }
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

/// A copy inside a tier, or a transfer on the lane of its link.
static double secondsOf(const Machine &machine, const proto::Copy &copy, proto::Lane lane) {
  const auto bytes = double(copy.bytes());
  switch (lane) {
  case proto::H2D:
    return transferSeconds(machine, Link::HostToDevice, bytes);
  case proto::D2H:
    return transferSeconds(machine, Link::DeviceToHost, bytes);
  case proto::NVME_READ:
    return transferSeconds(machine, Link::DiskRead, bytes);
  case proto::NVME_WRITE:
    return transferSeconds(machine, Link::DiskWrite, bytes);
  default:
    return copySeconds(machine, bytes);
  }
}

double commandSeconds(const Machine &machine, const proto::Program &program,
                      const proto::Command &command) {
  switch (command.body_case()) {
  case proto::Command::kLaunch:
    return kernelSeconds(machine, costOf(program.kernels(int(command.launch().kernel())),
                                         command.launch().length()));
  case proto::Command::kCollective:
    return collectiveSeconds(machine, exchangeOf(machine, command.collective(), program));
  case proto::Command::kCopy:
    return secondsOf(machine, command.copy(), command.lane());
  default:
    return 0; // a check looks at two numbers
  }
}

bool overlapsCollectives(const Machine &machine, const proto::Program &program) {
  const int64_t busy = int64_t(program.ranks()) * std::max<int64_t>(program.threads(), 1);
  return machine.overlaps || (program.prefetches() && machine.cores > busy);
}

} // namespace zero
