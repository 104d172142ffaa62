//===- Price.cpp - what a plan takes, and what a machine has --------------===//

#include "zero/Prices/PriceTable.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Planning/ProcessMemory.h"
#include "zero/Report/PlanSummary.h"

using namespace mlir;

namespace zero::prices {

const char *memoryName(Memory memory) {
  static constexpr const char *names[] = {"device memory", "host memory", "disk"};
  return names[size_t(memory)];
}

/// Tokens of all ranks in a step: those of the first input of numbers of embeddings.
static int64_t tokensOf(func::FuncOp step, const PlanSummary &plan) {
  for (BlockArgument input : step.getArguments())
    if (step.getArgAttr(input.getArgNumber(), kTokensAttr))
      return cast<RankedTensorType>(input.getType()).getNumElements() * plan.microBatches *
             plan.ranks;
  return 0;
}

Price priceOf(ModuleOp module, const planning::Machine &machine, int64_t threads) {
  const Storage storage(module);
  const PlanSummary plan = summarisePlan(module, storage);
  Price price;
  price.bytes[size_t(plan.tier)] = plan.arena;
  for (const ArenaSummary &other : plan.others)
    price.bytes[size_t(other.tier)] = other.arena;
  price.parameters = plan.parameters;
  price.trained = plan.trained;
  price.seconds = simulatePackedStep(module, storage, machine, threads);
  price.tokens = tokensOf(storage.getStep(), plan);
  const int64_t ranks = plan.ranks * plan.tensorRanks;
  const int64_t read = plan.movedOver(planning::Link::DiskRead);
  const int64_t written = plan.movedOver(planning::Link::DiskWrite);
  price.written = written * ranks;
  price.drives =
      planning::nodeDriveWear(machine, double(read), double(written), ranks, price.seconds);
  return price;
}

Capacity capacityOf(const planning::Machine &machine, int64_t ranks) {
  Capacity capacity;
  capacity.machine = machine.name;
  capacity.ranksOnNode = planning::ranksOnNode(machine, ranks);
  capacity.isShared = machine.host.memoryBandwidth == 0;
  capacity.bytes = {machine.memoryBytes * double(capacity.isShared ? machine.ranks : 1),
                    machine.host.memoryBytes, machine.disk.bytes * machine.disk.count};
  return capacity;
}

double neededOf(const Capacity &capacity, const Price &price, Memory memory) {
  auto bytes = [&](Memory of) { return uint64_t(price.bytes[size_t(of)]); };
  const auto ranks = uint64_t(capacity.ranksOnNode);
  if (memory == Memory::Device)
    return capacity.isShared
               ? double(planning::processBytes(bytes(Memory::Device) + bytes(Memory::Host), ranks))
               : double(bytes(memory));
  return memory == Memory::Host && capacity.isShared ? 0 : double(bytes(memory) * ranks);
}

void PriceTable::compare() {
  fastest.reset();
  for (auto [index, row] : llvm::enumerate(rows)) {
    if (!row.hasPlan())
      continue;
    for (Memory memory : kMemories)
      if (const double has = capacity.bytes[size_t(memory)]; has > 0)
        row.missing[size_t(memory)] = std::max(0.0, neededOf(capacity, row.price, memory) - has);
    if (row.fits() && (!fastest || row.price.seconds < rows[*fastest].price.seconds))
      fastest = index;
  }
}

std::optional<double> stepsOf(const Price &price, double tokens) {
  return price.tokens > 0 ? std::optional(tokens / double(price.tokens)) : std::nullopt;
}

std::optional<double> hoursOf(const Price &price, double tokens) {
  const std::optional<double> steps = stepsOf(price, tokens);
  return steps ? std::optional(*steps * price.seconds / 3600) : std::nullopt;
}

std::optional<double> writtenOf(const Price &price, double tokens) {
  const std::optional<double> steps = stepsOf(price, tokens);
  return steps ? std::optional(*steps * double(price.written)) : std::nullopt;
}

std::optional<double> yearsOf(const Price &price) {
  const double years = price.drives.years();
  return years > 0 ? std::optional(years) : std::nullopt;
}

} // namespace zero::prices
