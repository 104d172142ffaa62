//===- StepTime.cpp - how long a step takes on a machine ------------------===//

#include "zero/Analysis/StepTime.h"
#include "dialects/Zero/Schedule.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"

using namespace mlir;
using namespace zero::planning;

namespace zero {

/// The number that `call`, a library's, has under `name`; 1 without it.
static double numberOf(DictionaryAttr call, StringRef name) {
  auto number = call.getAs<IntegerAttr>(name);
  return number ? double(number.getInt()) : 1.0;
}

/// Whether a matrix is stored by columns: neighbours of a column lie side by side.
static bool isTransposed(DictionaryAttr call, StringRef name) {
  ArrayRef<int64_t> strides = call.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  return strides.back() != 1 && strides.drop_back().back() == 1;
}

static void describeCall(DictionaryAttr call, KernelCost &cost) {
  StringRef kind = call.getAs<StringAttr>("kind").getValue();
  if (kind == "convolution") {
    cost.kind = KernelKind::Convolution;
  } else if (kind == "attention") {
    cost.kind = KernelKind::Attention;
    cost.m = numberOf(call, "queries");
    cost.n = numberOf(call, "keys");
    cost.backward = call.getAs<StringAttr>("direction").getValue() == "backward";
  } else {
    cost.kind = KernelKind::Product;
    cost.m = numberOf(call, "m");
    cost.n = numberOf(call, "n");
    cost.k = numberOf(call, "k");
    cost.transposedA = isTransposed(call, "a_strides");
    cost.transposedB = isTransposed(call, "b_strides");
    if (auto stored = call.getAs<ArrayAttr>("stored"))
      cost.half = llvm::any_of(stored.getAsValueRange<TypeAttr>(), [](Type type) {
        return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16;
      });
  }
}

OpTimes::Kernel OpTimes::describe(func::FuncOp kernel) const {
  Kernel described;
  if (auto flops = kernel->getAttrOfType<IntegerAttr>(kFlopsAttr))
    described.cost.flops = double(flops.getInt());
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kBytesAttr))
    described.cost.bytes = double(bytes.getInt());
  if (auto call = kernel->getAttrOfType<DictionaryAttr>(kLibraryAttr))
    describeCall(call, described.cost);
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

OpTimes::OpTimes(ModuleOp module, const Machine &machine) : machine(machine) {
  if (auto attr = module->getAttrOfType<IntegerAttr>(kRanksAttr))
    ranks = attr.getInt();
  for (auto kernel : module.getOps<func::FuncOp>())
    if (kernel->hasAttr(kKernelAttr))
      kernels[kernel.getSymNameAttr()] = describe(kernel);
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
  return kernelSeconds(machine, cost);
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

static planning::CollectiveKind kindOf(CollectiveOpInterface op) {
  switch (op.getCollectiveKind()) {
  case zero::CollectiveKind::AllGather:
    return planning::CollectiveKind::AllGather;
  case zero::CollectiveKind::ReduceScatter:
    return planning::CollectiveKind::ReduceScatter;
  case zero::CollectiveKind::AllReduce:
    return planning::CollectiveKind::AllReduce;
  }
  llvm_unreachable("all kinds are listed");
}

double OpTimes::seconds(Operation *op) const {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launchSeconds(launch);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return collectiveSeconds(machine, kindOf(collective),
                             double(tensorBytes(collective.getWholeType())), ranks);
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transferSeconds(machine, linkOf(transfer),
                           double(tensorBytes(transfer.getInput().getType())));
  return 0;
}

double OpTimes::latency(Operation *op) const {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && ranks > 1 ? collectiveLatency(machine, kindOf(collective)) : 0;
}

StepTime measureStep(ModuleOp module, func::FuncOp step, const Machine &machine) {
  OpTimes times(module, machine);
  StepTime sum;
  const int64_t microBatches = microBatchesOf(module);
  for (Operation &op : step.getBody().front()) {
    const double turns = double(scheduleOf(&op).countTurns(microBatches));
    const double seconds = times.seconds(&op) * turns;
    if (auto transfer = dyn_cast<TransferOp>(op))
      sum.transfer[size_t(linkOf(transfer))] += seconds;
    else
      (isa<LaunchOp>(op) ? sum.compute : sum.collective) += seconds;
    sum.latency += times.latency(&op) * turns;
    if (op.hasAttr(kRecomputeAttr))
      sum.recomputed += seconds;
    if (isa<LaunchOp>(op) && isIn(&op, Segment::Epilogue))
      sum.update += seconds;
  }
  return sum;
}

} // namespace zero
