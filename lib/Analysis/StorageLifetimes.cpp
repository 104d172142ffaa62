//===- StorageLifetimes.cpp - lifetimes and usages of roots ---------------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Analysis/Storage.h"

#include "zero/Analysis/StepFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero {

StringRef usageName(Usage usage) {
  static constexpr std::array<StringLiteral, kNumUsages> names = {
      "parameters", "gradients", "optimizer state", "activations", "working"};
  return names[unsigned(usage)];
}

std::vector<planning::Lifetime> lifetimesOf(ArrayRef<Root> roots, Tier tier,
                                            std::optional<Usage> only) {
  std::vector<planning::Lifetime> lifetimes;
  for (const Root &root : roots)
    if (root.tier == tier && (!only || root.usage == *only))
      lifetimes.push_back({root.begin, root.end, root.bytes});
  return lifetimes;
}

planning::Packing packRoots(ArrayRef<Root> roots, Tier tier, MutableArrayRef<int64_t> offsets,
                            int64_t enough) {
  planning::Packing packing = planning::pack(lifetimesOf(roots, tier), alignmentOf(tier), enough);
  const int64_t *next = packing.offsets.data();
  for (auto [offset, root] : llvm::zip_equal(offsets, roots))
    if (root.tier == tier)
      offset = *next++;
  return packing;
}

/// The first op of the step that reads `value`, under any shape; null if there is none.
static Operation *firstReader(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *reader = isReshape(user) ? firstReader(user->getResult(0)) : user;
    if (reader && (!first || reader->isBeforeInBlock(first)))
      first = reader;
  }
  return first;
}

/// The exchanges of activations that run beside the kernels behind them. If one of these took the
/// bytes of what is exchanged, it would have to wait.
static SmallVector<CollectiveOpInterface> overlappedExchanges(func::FuncOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  SmallVector<CollectiveOpInterface> exchanges;
  if (module->hasAttr(kPrefetchAttr))
    llvm::copy_if(step.getBody().getOps<CollectiveOpInterface>(), std::back_inserter(exchanges),
                  [mesh = Mesh(module)](CollectiveOpInterface op) {
                    return mesh.exchangesActivations(op.getCollectiveGroup());
                  });
  return exchanges;
}

void Storage::extendLifetimes() {
  // the last op that runs for each micro-batch
  const int64_t last = position(findEpilogue(step)) - 1;
  for (auto [index, op] : llvm::enumerate(step.getBody().front())) {
    const bool isPrologue = isIn(&op, Segment::Prologue);
    for (Value operand : op.getOperands()) {
      auto it = places.find(operand);
      if (it == places.end())
        continue;
      Root &root = allRoots[it->second.root];
      root.end = std::max(root.end, int64_t(index));
      // Made once, read in each micro-batch.
      Operation *producer = operand.getDefiningOp();
      if (!isPrologue && producer && isIn(producer, Segment::Prologue))
        root.end = std::max(root.end, last);
    }
  }
  for (CollectiveOpInterface exchange : overlappedExchanges(step))
    if (Operation *reader = firstReader(exchange.getExchanged())) {
      Root &source = allRoots[place(exchange.getSource()).root];
      source.end = std::max(source.end, position(reader));
    }
  // A constant is loaded once and read in every step.
  for (Root &root : allRoots)
    if (root.value && root.value.getDefiningOp<arith::ConstantOp>()) {
      root.begin = 0;
      root.end = numPositions() - 1;
    }
}

/// Whether `transfer` brings its operand where it waits, not only past there.
static bool isLastHop(TransferOp transfer) {
  return transfer.getTier() > transfer.getFrom() &&
         !llvm::all_of(transfer->getUsers(), [&](Operation *user) {
           auto next = dyn_cast<TransferOp>(user);
           return next && next.getTier() > transfer.getTier();
         });
}

/// A value that waits on another tier has the same usage as on the tier of its source.
void Storage::classifyTransfers() {
  for (auto transfer : step.getBody().getOps<TransferOp>()) {
    if (transfer.getInto() || !isLastHop(transfer))
      continue;
    Value from = throughTransfers(transfer.getInput());
    Operation *producer = throughReshapes(from).getDefiningOp();
    const Usage usage = producer && forward.contains(producer) ? Usage::Activation
                                                               : allRoots[place(from).root].usage;
    if (usage == Usage::Activation || usage == Usage::Gradient)
      allRoots[place(transfer.getResult()).root].usage = usage;
  }
}

/// The op of which `op` keeps the result, or a slice of it, until backward.
static Operation *keptBy(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  auto slice = copy ? copy.getInput().getDefiningOp<OwnSliceOp>() : OwnSliceOp();
  return slice ? throughReshapes(slice->getOperand(0)).getDefiningOp() : op;
}

/// Gradients are buckets that are reduced in place, reduced shards, and sums over micro-batches.
/// Activations are values of forward that are still read after forward, wherever they reside then;
/// what ranks along the axis tensor exchange is never a gradient of parameters.
void Storage::classify() {
  const Mesh mesh(step->getParentOfType<ModuleOp>());
  llvm::DenseSet<int64_t> saved, updating; // roots that updates read gradients of
  for (auto launch : step.getBody().getOps<LaunchOp>())
    if (std::optional<uint64_t> gradient = launch.getGradient())
      updating.insert(place(launch.getInputs()[*gradient]).root);
  for (Operation &op : step.getBody().front()) {
    if (forward.contains(&op) || isa<TransferOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    for (Value operand : op.getOperands())
      if (auto it = places.find(operand); it != places.end())
        saved.insert(it->second.root);
  }
  for (auto [index, root] : llvm::enumerate(allRoots)) {
    Operation *producer = root.value ? root.value.getDefiningOp() : nullptr;
    if (!producer)
      continue;
    auto collective = dyn_cast<CollectiveOpInterface>(producer);
    const bool isExchange =
        collective && mesh.exchangesActivations(collective.getCollectiveGroup());
    Operation *kept = keptBy(producer);
    const bool isReduced = collective && !isExchange &&
                           collective.getCollectiveKind() == CollectiveKind::ReduceScatter;
    if (isReduced || (isa<ReserveOp>(producer) && updating.contains(index)))
      root.usage = Usage::Gradient;
    else if ((isa_and_nonnull<LaunchOp>(kept) || isExchange) && forward.contains(kept) &&
             saved.contains(index))
      root.usage = Usage::Activation;
    else if (isa<BucketOp>(producer) && !isIn(producer, Segment::Epilogue))
      for (Operation *user : root.value.getUsers()) {
        auto reduce = dyn_cast<CollectiveOpInterface>(user);
        if (isa<UpdateOp, LaunchOp>(user) ||
            (reduce && reduce.reducesInPlace() && !reduce.isControl()))
          root.usage = Usage::Gradient;
      }
  }
  classifyTransfers();
}

} // namespace zero
