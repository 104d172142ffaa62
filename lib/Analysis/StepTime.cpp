//===- StepTime.cpp - estimated time of a step on a machine ---------------===//

#include "zero/Analysis/StepTime.h"
#include "dialects/Zero/Schedule.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Kernels/KernelMessage.h"

using namespace mlir;
using namespace zero::planning;

namespace zero {

OpTimes::Kernel OpTimes::describe(func::FuncOp kernel) const {
  rt::proto::Kernel message;
  describeKernel(kernel, message);
  Kernel described;
  described.cost = costOf(message, /*length=*/0);
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || shaped.hasStaticShape())
      continue;
    const auto *dynamic = llvm::find(shaped.getShape(), ShapedType::kDynamic);
    described.argument = int(index);
    described.dimension = unsigned(dynamic - shaped.getShape().begin());
    break;
  }
  return described;
}

OpTimes::OpTimes(ModuleOp module, const Machine &machine) : machine(machine), mesh(module) {
  for (const auto &axis : mesh.axes())
    ranks *= axis.second;
  if (auto attr = module->getAttrOfType<IntegerAttr>(kRanksPerNodeAttr))
    ranksPerNode = attr.getInt();
  for (auto kernel : module.getOps<func::FuncOp>())
    if (kernel->hasAttr(kKernelAttr))
      kernels[kernel.getSymNameAttr()] = describe(kernel);
}

std::pair<size_t, size_t> OpTimes::countMeasured() const {
  const size_t known = llvm::count_if(kernels, [&](const auto &kernel) {
    return machine.measured.contains(
        kernelWork(kernel.second.cost.flops, kernel.second.cost.bytes));
  });
  return {known, kernels.size()};
}

double OpTimes::launchSeconds(LaunchOp launch) const {
  auto it = kernels.find(launch.getKernelAttr().getAttr());
  if (it == kernels.end())
    return machine.launchSeconds;
  KernelCost cost = it->second.cost;
  if (it->second.argument >= 0) {
    auto type = cast<RankedTensorType>(launch.getInputs()[it->second.argument].getType());
    cost.flops *= double(type.getDimSize(it->second.dimension));
    cost.bytes *= double(type.getDimSize(it->second.dimension));
  }
  return launch.getLane() == Lane::HostCompute ? hostKernelSeconds(machine, cost, ranks)
                                               : kernelSeconds(machine, cost);
}

Link linkOf(TransferOp transfer) {
  switch (transfer.getLane()) {
  case Lane::HostToDevice:
    return Link::HostToDevice;
  case Lane::DeviceToHost:
    return Link::DeviceToHost;
  case Lane::DiskRead:
    return Link::DiskRead;
  case Lane::DiskWrite:
    return Link::DiskWrite;
  default:
    llvm_unreachable("a transfer has a lane of its own");
  }
}

/// How many ranks of `group` are among `count` consecutive ranks of the program; 0: no such ranks.
static int64_t membersAmong(const Mesh &mesh, GroupAttr group, int64_t count) {
  if (count == 0)
    return 0;
  const SmallVector<int64_t> own = mesh.stridesIn(group);
  int64_t inner = 1,
          members = 1; // ranks of the axes inside the current one, and those in the group
  for (size_t axis = own.size(); axis-- > 0 && inner < count;) {
    const int64_t size = mesh.axes()[axis].second;
    if (own[axis] != 0)
      members *= std::clamp<int64_t>(count / inner, 1, size);
    inner *= size;
  }
  return members;
}

Exchange OpTimes::exchangeOf(CollectiveOpInterface op) const {
  const int64_t source = tensorBytes(op.getSource().getType());
  const int64_t result = tensorBytes(op.getExchanged().getType());
  Exchange exchange;
  exchange.bytes = double(std::max(source, result));
  const GroupAttr group = op.getCollectiveGroup();
  exchange.ranks = mesh.sizeOf(group);
  exchange.ranksPerNode = membersAmong(mesh, group, ranksPerNode);
  exchange.perNode = membersAmong(mesh, group, machine.network.ranksPerNode);
  exchange.sums = isReduction(op.getCollectiveKind());
  const Type element = getElementTypeOrSelf(op.getSource().getType());
  if (TypeAttr sum = op.getSumType())
    exchange.sumRatio =
        double(sum.getValue().getIntOrFloatBitWidth()) / double(element.getIntOrFloatBitWidth());
  exchange.fromSlices = source < result;
  exchange.toSlices = source > result;
  return exchange;
}

double OpTimes::seconds(Operation *op) const {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launchSeconds(launch);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return collectiveSeconds(machine, exchangeOf(collective));
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transferSeconds(machine, linkOf(transfer),
                           double(tensorBytes(transfer.getInput().getType())), ranks);
  return 0;
}

double OpTimes::latency(Operation *op) const {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && mesh.sizeOf(collective.getCollectiveGroup()) > 1
             ? collectiveLatency(machine, exchangeOf(collective))
             : 0;
}

double OpTimes::networkBytes(CollectiveOpInterface op) const {
  return planning::networkBytes(machine, exchangeOf(op));
}

Ranks ranksOf(ModuleOp module, int64_t threads) {
  auto prefetch = module->getAttrOfType<IntegerAttr>(kPrefetchAttr);
  return {Mesh(module).ranks(), threads, prefetch && prefetch.getInt() > 0};
}

std::array<int64_t, kNumLinks> bytesMoved(func::FuncOp step, int64_t iterations) {
  std::array<int64_t, kNumLinks> moved{};
  for (auto transfer : step.getOps<TransferOp>())
    moved[size_t(linkOf(transfer))] += tensorBytes(transfer.getInput().getType()) *
                                       scheduleOf(transfer).countIterations(iterations);
  return moved;
}

StepTime measureStep(ModuleOp module, func::FuncOp step, const Machine &machine, int64_t threads) {
  OpTimes times(module, machine);
  StepTime sum;
  sum.overlaps = overlapsCollectives(machine, ranksOf(module, threads));
  sum.seconds = simulateStep(module, step, machine, threads);
  const int64_t microBatches = iterationsOf(module);
  for (Operation &op : step.getBody().front()) {
    const double iterations = double(scheduleOf(&op).countIterations(microBatches));
    const double seconds = times.seconds(&op) * iterations;
    if (auto transfer = dyn_cast<TransferOp>(op))
      sum.transfer[size_t(linkOf(transfer))] += seconds;
    else if (auto launch = dyn_cast<LaunchOp>(op))
      (launch.getLane() == Lane::HostCompute ? sum.host : sum.compute) += seconds;
    else
      sum.collective += seconds;
    sum.latency += times.latency(&op) * iterations;
    if (op.hasAttr(kRecomputeAttr))
      sum.recomputed += seconds;
    if (isa<LaunchOp>(op) && isIn(&op, Segment::Epilogue))
      sum.update += seconds;
  }
  return sum;
}

} // namespace zero
