//===- Certificate.cpp - print the memory of a run before it runs ---------===//

#include "zero/Planning/ByteSize.h"
#include "zero/Report/PlanSummary.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace zero {

static auto withSign(int64_t value) { return llvm::format("%+lld", (long long)value); }

static void printPlan(const PlanSummary &plan, llvm::raw_ostream &os) {
  os << "ZeRO stage " << plan.stage << " on ";
  const int64_t dataRanks = plan.ranks / plan.contextRanks;
  if (plan.nodes)
    os << plan.nodes << " x " << dataRanks / plan.nodes;
  else
    os << dataRanks;
  std::string names = plan.nodes ? "node x local" : "data";
  auto addAxis = [&](StringRef name, int64_t ranks) {
    if (ranks == 1)
      return;
    os << " x " << ranks;
    names += (" x " + name).str();
  };
  addAxis("context", plan.contextRanks);
  addAxis("tensor", plan.tensorRanks);
  os << (plan.ranks * plan.tensorRanks == 1 ? " rank" : " ranks");
  if (plan.nodes || plan.contextRanks > 1 || plan.tensorRanks > 1)
    os << " (" << names << ")";
  os << ", " << plan.parameters << " parameters";
  if (plan.trained != plan.parameters)
    os << " (" << plan.trained << " trained"
       << (plan.frozenPrecision.empty() ? "" : ", the others in " + plan.frozenPrecision) << ")";
  if (!plan.precision.empty())
    os << " in " << plan.precision;
  if (plan.microBatches > 1)
    os << ", " << plan.microBatches << " micro-batches"
       << (plan.iterations == 1 ? " in vertical order" : "");
  if (!plan.gradPrecision.empty())
    os << ", their gradients summed in " << plan.gradPrecision;
  if (!plan.optimizer.empty())
    os << ", " << plan.optimizer;
  os << "\n";
}

/// The size of the arena, and its distance from the lower bound.
static void printArena(const ArenaSummary &plan, llvm::raw_ostream &os) {
  os << "  " << llvm::left_justify("arena", 16) << llvm::format("%39lld", (long long)plan.arena)
     << "  = " << planning::formatBytes(double(plan.arena)) << ", ";
  if (plan.arena > plan.lowerBound)
    os << llvm::format("%.2f",
                       100.0 * double(plan.arena - plan.lowerBound) / double(plan.lowerBound))
       << " % above ";
  os << "the peak of live bytes, at " << plan.peakAt;
  if (plan.isOptimal)
    os << "; minimal";
  os << "\n";
}

static void printMemory(const ArenaSummary &plan, llvm::raw_ostream &os) {
  os << (plan.tier == Tier::Device ? StringRef("memory") : stringifyTier(plan.tier))
     << " of each rank, bytes:\n                              maximum         at the peak\n";
  for (auto [index, role] : llvm::enumerate(plan.roles))
    os << "  " << llvm::left_justify(usageName(Usage(index)), 16)
       << llvm::format("%19lld", (long long)role.most)
       << llvm::format("%20lld", (long long)role.atPeak) << "\n";
  printArena(plan, os);
}

/// Prints the arenas of the programs for all shapes if there are several.
static void printShapes(const PlanSummary &plan, llvm::raw_ostream &os) {
  if (plan.shapes.empty())
    return;
  SmallVector<Tier> used;
  llvm::copy_if(kTiers, std::back_inserter(used),
                [&](Tier tier) { return largestArena(plan, tier) > 0; });
  constexpr unsigned kWidth = 40;
  os << llvm::left_justify("arena of each rank by shape, bytes:", kWidth);
  for (Tier tier : used)
    os << llvm::right_justify(stringifyTier(tier), 15);
  const auto print = [&](StringRef name, function_ref<int64_t(Tier)> bytesOf) {
    os << "\n  " << llvm::left_justify(name, kWidth - 2);
    for (Tier tier : used)
      os << llvm::format("%15lld", (long long)bytesOf(tier));
  };
  for (const ShapeArenas &shape : plan.shapes)
    print(shape.shape, [&](Tier tier) { return shape.bytes[unsigned(tier)]; });
  print("the largest, which a rank has", [&](Tier tier) { return largestArena(plan, tier); });
  os << "\n";
}

/// Prints nothing for a program without parameters.
static void printStored(ArrayRef<StoredBytes> stored, llvm::raw_ostream &os) {
  if (stored.empty())
    return;
  os << "stored by each rank throughout the step, bytes by type:\n";
  for (const StoredBytes &row : stored)
    os << "  " << llvm::left_justify((usageName(row.usage) + ", " + row.type).str(), 40)
       << llvm::format("%15lld", (long long)row.bytes) << "\n";
}

static void printState(const PlanSummary &plan, llvm::raw_ostream &os) {
  os << "model state by the ZeRO formula, before padding: "
     << planning::formatBytes(plan.stateBytes) << " per rank; in the paper's 16 bits with Adam "
     << planning::formatBytes(plan.paperStateBytes) << "\n";
}

static void printAxisVolume(StringRef axis, const AxisVolume &volume, int64_t ranks,
                            llvm::raw_ostream &os) {
  const int64_t total = volume.total();
  os << "along " << axis << ", each rank receives " << total / ranks * (ranks - 1)
     << " elements per step, " << ranks - 1 << "/" << ranks << " of " << total << ": forward "
     << volume.forward << ", backward " << volume.backward;
  if (volume.again)
    os << ", recomputed layers " << volume.again;
  if (volume.regathered)
    os << ", gathered again " << volume.regathered;
  if (volume.saved)
    os << ", saved activations " << volume.saved;
  if (volume.update)
    os << ", update " << volume.update;
  os << "\n";
}

static void printVolume(const CollectiveVolume &volume, const PlanSummary &plan,
                        llvm::raw_ostream &os) {
  const int64_t total = volume.total(), ranks = plan.ranks;
  const StringRef along = plan.contextVolume  ? "along data and context, "
                          : plan.tensorVolume ? "along data, "
                                              : "";
  os << along << "each rank receives " << volume.received << " elements per step, ";
  if (plan.nodes)
    os << volume.withinNode << " within its node, " << volume.acrossNodes << " across nodes and "
       << volume.received - volume.withinNode - volume.acrossNodes << " among all ranks, of "
       << total;
  else
    os << ranks - 1 << "/" << ranks << " of " << total;
  os << ": forward " << volume.forward << ", backward " << volume.backward << ", update "
     << volume.update << ", gradients " << volume.gradients << "\n  the ZeRO paper's "
     << volume.paperTimes << "P is " << volume.paper << "; here " << withSign(total - volume.paper);
  if (const auto &causes = volume.causes)
    os << ": gathered again for distant uses " << withSign(causes->regathered)
       << ", not read in backward " << withSign(causes->notReadInBackward) << ", not trained "
       << withSign(causes->notTrained) << ", padding " << withSign(causes->padding);
  if (volume.causes && volume.causes->inBlocks)
    os << ", stored in blocks " << withSign(volume.causes->inBlocks);
  if (volume.causes && volume.causes->unsharded)
    os << ", not sharded " << withSign(volume.causes->unsharded);
  if (volume.causes && volume.causes->acrossNodes)
    os << ", gathered across nodes " << withSign(volume.causes->acrossNodes);
  if (volume.causes && volume.causes->wholeGradients)
    os << ", unsharded gradients for the update " << withSign(volume.causes->wholeGradients);
  if (volume.causes && volume.again)
    os << ", gathered for recomputation " << withSign(volume.again);
  os << "\n";
}

/// Prints nothing for a program without nodes.
static void printNodeBytes(const PlanSummary &plan, llvm::raw_ostream &os) {
  if (plan.ranksPerNode)
    os << "each node of " << plan.ranksPerNode << (plan.ranksPerNode == 1 ? " rank" : " ranks")
       << " receives " << plan.nodeBytes << " bytes per step from other nodes\n";
}

/// Prints nothing for a step without transfers.
static void printTransfers(const PlanSummary &plan, llvm::raw_ostream &os) {
  using planning::Link;
  const int64_t toHost = plan.movedOver(Link::DeviceToHost);
  const int64_t toDevice = plan.movedOver(Link::HostToDevice);
  const int64_t read = plan.movedOver(Link::DiskRead), written = plan.movedOver(Link::DiskWrite);
  if (toHost || toDevice)
    os << "each rank copies " << toHost << " bytes per step from device to host and " << toDevice
       << " back\n";
  if (read || written)
    os << "each rank reads " << read << " bytes per step from nvme and writes " << written << "\n";
  if (plan.drives && written)
    os << "drives of a node: " << planning::wearText(*plan.drives) << " at "
       << llvm::format("%.4g", plan.drives->seconds) << " s a step, simulated\n";
}

/// Prints nothing for GPUs.
static void printProcess(const PlanSummary &plan, llvm::raw_ostream &os) {
  if (plan.processArenas == 0)
    return;
  const int64_t ranks = plan.ranks * plan.tensorRanks;
  os << "a process with " << (ranks == 1 ? "this rank" : "all " + std::to_string(ranks) + " ranks")
     << " takes at most " << planning::formatBytes(double(plan.processArenas + plan.processBeside))
     << " of memory: " << planning::formatBytes(double(plan.processBeside))
     << " beside arenas, for the runtime and its libraries\n";
}

/// Prints nothing without owners.
static void printOwners(const PlanSummary &plan, llvm::raw_ostream &os) {
  const auto &owners = plan.owners;
  if (!owners)
    return;
  os << owners->tensors << " tensors have owners: the rank with most does "
     << llvm::format("%.2f x the mean of operations and %.1f %% of all",
                     owners->imbalance(plan.ranks), 100 * owners->most / owners->operations);
  if (owners->tensors)
    os << llvm::format("; their buckets take %.2f x their elements",
                       double(owners->stored) / double(owners->elements));
  if (owners->ofAllRanks)
    os << "; every rank computes the steps of " << owners->ofAllRanks << " others";
  os << "\n";
}

void printCertificate(const PlanSummary &plan, llvm::raw_ostream &os) {
  printPlan(plan, os);
  printMemory(plan, os);
  for (const ArenaSummary &other : plan.others)
    printMemory(other, os);
  printShapes(plan, os);
  printStored(plan.stored, os);
  printProcess(plan, os);
  printState(plan, os);
  printTransfers(plan, os);
  if (plan.volume)
    printVolume(*plan.volume, plan, os);
  if (plan.tensorVolume)
    printAxisVolume("tensor", *plan.tensorVolume, plan.tensorRanks, os);
  if (plan.contextVolume)
    printAxisVolume("context", *plan.contextVolume, plan.contextRanks, os);
  printOwners(plan, os);
  printNodeBytes(plan, os);
  if (plan.halfProducts)
    os << plan.halfProducts << " of " << plan.products
       << " library calls per step multiply 16-bit elements as they are stored\n";
  if (plan.reorders)
    os << plan.reorders << " products per step reorder B first, "
       << planning::formatBytes(double(plan.reorderedBytes)) << " in all\n";
}

} // namespace zero
