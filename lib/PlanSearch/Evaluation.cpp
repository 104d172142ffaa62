//===- Evaluation.cpp - the memory of a plan ------------------------------===//

#include "Evaluation.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Plan.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace zero {

static NearerState nearerOf(PlanAttr plan) {
  const NearerStateAttr nearer = plan.getNearer();
  return {int64_t(nearer.getDevice()), int64_t(nearer.getHost()), nearer.getOrder()};
}

PlanAttr attributeOf(MLIRContext *context, const PlanChoice &choice) {
  const auto nearer = NearerStateAttr::get(context, uint64_t(choice.nearer.device),
                                           uint64_t(choice.nearer.host), choice.nearer.order);
  return PlanAttr::get(context, choice.stage, choice.ranks, choice.persistUnder, choice.bucketBytes,
                       choice.params, choice.gradients, choice.optimizer, nearer,
                       uint64_t(choice.swapHost), uint64_t(choice.swapNvme), choice.nodeRanks,
                       choice.interleave);
}

PlanChoice choiceOf(PlanAttr plan) {
  PlanChoice choice;
  choice.stage = unsigned(plan.getStage());
  choice.ranks = unsigned(plan.getRanks());
  choice.persistUnder = plan.getPersistUnder();
  choice.bucketBytes = plan.getBucketBytes();
  choice.params = plan.getParams();
  choice.gradients = plan.getGradients();
  choice.optimizer = plan.getOptimizer();
  choice.nearer = nearerOf(plan);
  choice.swapHost = int64_t(plan.getActivationsHost());
  choice.swapNvme = int64_t(plan.getActivationsNvme());
  choice.nodeRanks = unsigned(plan.getNodeRanks());
  choice.interleave = plan.getInterleave();
  return choice;
}

LogicalResult writePlan(ModuleOp module, const PlanChoice &choice) {
  module->setAttr(kPlanAttr, attributeOf(module.getContext(), choice));
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  if (choice.activations)
    writeActivationPlan(*step, Layers(module, *step), *choice.activations);
  return success();
}

/// The maximum of the live bytes, and the command at which it occurs.
static std::pair<int64_t, int64_t> mostLive(const std::vector<planning::Lifetime> &lifetimes,
                                            int64_t alignment) {
  std::pair<int64_t, int64_t> most;
  for (auto [command, bytes] : planning::liveBytes(lifetimes, alignment))
    if (bytes > most.first)
      most = {bytes, command};
  return most;
}

TierBytes::TierBytes(std::vector<planning::Lifetime> given, int64_t alignment)
    : lifetimes(std::move(given)), alignment(alignment),
      live(mostLive(lifetimes, alignment).first) {}

int64_t TierBytes::packed() {
  if (!bytes) {
    bytes = planning::pack(lifetimes, alignment).bytes;
    lifetimes = {};
  }
  return *bytes;
}

int64_t TierBytes::roughly() const {
  return bytes ? *bytes : planning::firstFitBytes(lifetimes, alignment);
}

bool TierBytes::fits(uint64_t limit) {
  if (!limit)
    return true;
  const auto most = int64_t(std::min<uint64_t>(limit, INT64_MAX));
  if (least() > most || bytes)
    return least() <= most;
  if (!atMost || *atMost > most)
    atMost = planning::pack(lifetimes, alignment, most).bytes;
  return *atMost <= most;
}

bool TierBytes::fitsWith(TierBytes &other, int64_t limit) {
  // First an arena of the other that is small enough if this one has no gaps.
  if (limit < least() + other.least() || !other.fits(uint64_t(limit - least())))
    return false;
  const int64_t rest = limit - other.bytes.value_or(other.atMost.value_or(0));
  if (rest > 0 && fits(uint64_t(rest)))
    return true;
  return limit > other.packed() && fits(uint64_t(limit - other.packed()));
}

/// Whether `root` is live during the entire step.
static bool isPersistent(const Root &root, int64_t positions) {
  return root.begin == 0 && root.end == positions - 1;
}

/// Bytes of parameters and optimizer state by tier.
static std::array<int64_t, 3> stateByTier(const Storage &storage) {
  std::array<int64_t, 3> bytes{};
  for (const Root &root : storage.roots())
    if ((root.usage == Usage::Parameter || root.usage == Usage::Optimizer) &&
        isPersistent(root, storage.numPositions()))
      bytes[size_t(root.tier)] += root.bytes;
  return bytes;
}

/// The maximum of the live bytes of inputs and saved values.
static int64_t mostActivations(const Storage &storage) {
  return mostLive(lifetimesOf(storage.roots(), Tier::Device, Usage::Activation), kArenaAlignment)
      .first;
}

/// Whether a phase may look into the body of `op`, besides its attributes: the step, and kernels
/// that work in place, of which one may not read what it overwrites.
static bool needsBody(Operation &op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !function->hasAttr(kKernelAttr))
    return true;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, kInplaceAttr))
      return true;
  return false;
}

/// A copy of `original` in which most kernels are declarations: their bodies are most of a program.
static OwningOpRef<ModuleOp> cloneForTrial(ModuleOp original) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(original->cloneWithoutRegions());
  Block &block = copy->getBodyRegion().emplaceBlock();
  for (Operation &op : *original.getBody())
    block.push_back(needsBody(op) ? op.clone() : op.cloneWithoutRegions());
  return copy;
}

FailureOr<Evaluation> Evaluation::create(ModuleOp original, const PlanChoice &choice,
                                         const PhaseOptions &options,
                                         const planning::Machine &machine) {
  Evaluation result;
  result.module = cloneForTrial(original);
  ModuleOp module = *result.module;
  if (failed(writePlan(module, choice)))
    return failure();
  PhaseOptions chosen;
  chosen.copyOptionValuesFrom(options);
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  addPlacement(pm, chosen, /*isTrial=*/true);
  addPartition(pm, chosen);
  addTransfers(pm, chosen, machine, /*isTrial=*/true);
  FailureOr<func::FuncOp> step = failure();
  if (failed(pm.run(module)) || failed(step = findStep(module)))
    return failure();
  result.step = *step;
  result.storage = std::make_unique<Storage>(module, *step);
  for (Operation &op : result.step.getBody().front())
    result.ops.push_back(&op);
  std::vector<planning::Lifetime> lifetimes = lifetimesOf(result.storage->roots(), Tier::Device);
  result.peak = mostLive(lifetimes, kArenaAlignment).second;
  result.cost.device = {std::move(lifetimes), kArenaAlignment};
  result.cost.host = {lifetimesOf(result.storage->roots(), Tier::Host), kPageAlignment};
  result.cost.nvme = {lifetimesOf(result.storage->roots(), Tier::Nvme), kPageAlignment};
  result.cost.state = stateByTier(*result.storage);
  result.cost.nearer = nearerOf(planOf(module));
  result.cost.activations = mostActivations(*result.storage);
  result.cost.written = bytesMoved(*step, iterationsOf(module))[size_t(planning::Link::DiskWrite)];
  result.cost.time = measureStep(module, *step, machine, options.kernels.threadsPerRank);
  return result;
}

void Evaluation::simulatePacked(PlanCost &cost, const planning::Machine &machine,
                                int64_t threads) const {
  std::vector<int64_t> offsets(storage->roots().size());
  for (auto [tier, bytes] :
       {std::pair{Tier::Device, &cost.device}, {Tier::Host, &cost.host}, {Tier::Nvme, &cost.nvme}})
    bytes->setPacked(packRoots(storage->roots(), tier, offsets).bytes);
  const StepAddresses addresses(*storage, offsets);
  cost.time.seconds = simulateStep(*module, step, machine, threads, &addresses);
  cost.isExact = true;
}

bool Evaluation::comesAndGoes(int64_t root) const {
  return root >= 0 && storage->roots()[root].tier == Tier::Device &&
         !isPersistent(storage->roots()[root], storage->numPositions());
}

/// Calls `touch(place, bytes)` for what `launch` reads, writes and uses as workspace, besides
/// state.
void Evaluation::forEachTouched(LaunchOp launch,
                                function_ref<void(const Place &place, int64_t bytes)> touch) const {
  for (Value value : llvm::concat<Value>(launch->getOperands(), launch->getResults()))
    if (Place place = storage->place(value); comesAndGoes(place.root))
      touch(place, tensorBytes(value.getType()));
  if (int64_t workspace = storage->workspaceOf(launch); workspace >= 0)
    touch({workspace}, storage->roots()[workspace].bytes);
}

MemoryFloor Evaluation::findFloor() const {
  MemoryFloor floor;
  const int64_t positions = storage->numPositions();
  for (const Root &root : storage->roots())
    if (root.tier == Tier::Device && isPersistent(root, positions))
      floor.state += planning::alignUp(root.bytes, kArenaAlignment);
  for (Operation *op : ops) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      continue;
    // Counted by place, because a result in an operand's bytes counts once.
    llvm::SmallDenseMap<std::pair<int64_t, int64_t>, int64_t> touched;
    forEachTouched(launch, [&](const Place &place, int64_t size) {
      int64_t &bytes = touched[{place.root, place.offset}];
      bytes = std::max(bytes, size);
    });
    int64_t bytes = 0;
    for (auto [place, size] : touched)
      bytes += size;
    if (bytes > floor.launch) {
      floor.launch = bytes;
      floor.launchAt = displayName(op);
    }
  }
  return floor;
}

/// The maximum of the live bytes of the roots that `counts` holds for, from the first to the last
/// of those `launches` that touch them: a transfer may begin earlier or end later.
int64_t Evaluation::mostTouched(function_ref<bool(Operation *launch)> launches,
                                function_ref<bool(const Root &root)> counts) const {
  ArrayRef<Root> roots = storage->roots();
  std::vector<planning::Lifetime> touched(roots.size());
  for (Operation *op : ops)
    if (auto launch = dyn_cast<LaunchOp>(op); launch && launches(op))
      forEachTouched(launch, [&, at = storage->position(op)](const Place &place, int64_t) {
        planning::Lifetime &lifetime = touched[place.root];
        if (!lifetime.bytes)
          lifetime.begin = at;
        lifetime.end = at;
        lifetime.bytes = counts(roots[place.root]) ? roots[place.root].bytes : 0;
      });
  return mostLive(touched, kArenaAlignment).first;
}

int64_t Evaluation::leastWorking() const {
  return mostTouched([](Operation *) { return true; },
                     [](const Root &root) { return root.usage != Usage::Activation; });
}

int64_t Evaluation::leastOnOtherTiers() const {
  return mostTouched([](Operation *launch) { return isIn(launch, Segment::MicroBatch); },
                     [](const Root &root) {
                       return root.usage != Usage::Gradient &&
                              !(root.value && root.value.getDefiningOp<TransferOp>());
                     });
}

int64_t Evaluation::leastOn(Tier tier) const {
  ArrayRef<Root> roots = storage->roots();
  int64_t state = 0, most = 0;
  for (const Root &root : roots)
    if (root.tier == tier && root.symbol)
      state += root.bytes;
  for (Operation *op : ops) {
    llvm::SmallDenseSet<int64_t> touched;
    int64_t bytes = 0;
    for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
      if (const int64_t root = storage->place(value).root;
          root >= 0 && roots[root].tier == tier && !roots[root].symbol &&
          roots[root].usage != Usage::Activation && touched.insert(root).second)
        bytes += roots[root].bytes;
    most = std::max(most, bytes);
  }
  return state + most;
}

size_t Evaluation::hashProgram() const {
  llvm::DenseMap<Value, size_t> numbers;
  auto number = [&](Value value) {
    return llvm::hash_code(numbers.try_emplace(value, numbers.size()).first->second);
  };
  llvm::hash_code hash = 0;
  auto add = [&](Operation *op) {
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                        op, number, number, OperationEquivalence::IgnoreLocations));
  };
  for (auto buffer : ModuleOp(*module).getOps<BufferOp>())
    add(buffer);
  for (Operation *op : ops)
    add(op);
  return hash;
}

std::string Evaluation::peakAt() const { return displayName(ops[peak]); }

static std::string nameOf(const Root &root, func::FuncOp step) {
  if (root.symbol)
    return cast<SymbolOpInterface>(root.symbol).getName().str();
  if (root.workspace)
    return "scratch of " + displayName(root.workspace);
  if (auto argument = dyn_cast<BlockArgument>(root.value))
    return argumentBinding(step, argument.getArgNumber()).str();
  Operation *producer = root.value.getDefiningOp();
  if (auto bucket = dyn_cast<BucketOp>(producer); bucket && !bucket->hasAttr(kNameAttr))
    for (Operation *user : bucket->getUsers())
      if (user->hasAttr(kNameAttr))
        return displayName(user);
  return displayName(producer);
}

std::vector<LiveValue> Evaluation::liveAtPeak() const {
  std::vector<LiveValue> live;
  for (const Root &root : storage->roots())
    if (root.tier == Tier::Device && root.begin <= peak && peak <= root.end)
      live.push_back({nameOf(root, step), root.usage, root.bytes});
  llvm::stable_sort(live, [](const LiveValue &a, const LiveValue &b) { return a.bytes > b.bytes; });
  return live;
}

} // namespace zero
