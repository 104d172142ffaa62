//===- PlanSummary.cpp - the numbers of a plan ----------------------------===//

#include "zero/Report/PlanSummary.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Import/Diagnostics.h"
#include "zero/Planning/ProcessMemory.h"

using namespace mlir;

namespace zero {

namespace {

/// The sizes that ZeRO's arithmetic is about.
struct ModelSize {
  int64_t elements = 0; ///< trained and frozen
  int64_t trained = 0;
  int64_t own = 0, ownTrained = 0; ///< the same in the shards of a rank along tensor
  int64_t bytes = 0;               ///< of parameters
  int64_t stateBytes = 0;          ///< of optimizer states
};

} // namespace

static ModelSize measure(ModuleOp module) {
  ModelSize size;
  for (auto parameter : module.getOps<ParameterOp>()) {
    size.bytes += tensorBytes(parameter.getTensorType());
    if (parameter.getOf()) // scales of another one
      continue;
    const int64_t own = parameter.getValueType().getNumElements();
    const int64_t elements =
        ShapedType::getNumElements(wholeShape(parameter, parameter.getValueType()));
    size.elements += elements;
    size.trained += parameter.getFrozen() ? 0 : elements;
    size.own += own;
    size.ownTrained += parameter.getFrozen() ? 0 : own;
  }
  for (auto state : module.getOps<StateOp>())
    if (state.getOf())
      size.stateBytes += tensorBytes(state.getTensorType());
  return size;
}

/// How frozen parameters are stored, "nf4 and bf16", if the others are wider; else "".
static std::string findNarrowType(ModuleOp module) {
  std::string name, map;
  for (auto parameter : module.getOps<ParameterOp>())
    if (parameter.getBlocks() && !parameter.getOf())
      map = stringifyCodeMap(parameter.getBlocksAttr().getMap());
    else if (Type type = parameter.getTensorType().getElementType();
             name.empty() && type.getIntOrFloatBitWidth() == 16)
      llvm::raw_string_ostream(name) << type;
  return map.empty() || name.empty() ? map + name : map + " and " + name;
}

/// Model state of one rank from all bytes of parameters, gradients and optimizer states,
/// by the paper's arithmetic (ZeRO, arXiv 1910.02054, figure 1).
static double dividedBytes(const PlanSummary &plan, double parameters, double gradients,
                           double optimizer) {
  const auto ranks = double(plan.ranks), sharing = ranks / double(std::max<int64_t>(plan.nodes, 1));
  return parameters / (plan.stage >= 3 ? sharing : 1) + gradients / (plan.stage >= 2 ? ranks : 1) +
         optimizer / (plan.stage >= 1 ? ranks : 1);
}

/// Bytes of an element of the summed gradients.
static int64_t gradientBytes(ModuleOp module, int64_t microBatches) {
  auto precision =
      module->getAttrOfType<TypeAttr>(microBatches == 1 ? kPrecisionAttr : kGradPrecisionAttr);
  return precision ? precision.getValue().getIntOrFloatBitWidth() / 8 : 4;
}

/// Elements of `gathered` that only recomputed layers read.
static int64_t readAgain(Value gathered) {
  auto isAgain = [](Operation *op) {
    return isa_and_nonnull<IntegerAttr>(op->getAttr(kRecomputeAttr));
  };
  auto onlyAgain = [&](auto &&self, Value value) -> bool {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return isReshape(user) ? self(self, user->getResult(0)) : isAgain(user);
    });
  };
  int64_t elements = 0;
  bool all = true;
  for (Operation *user : gathered.getUsers()) {
    auto member = cast<MemberOp>(user);
    bool counts = onlyAgain(onlyAgain, member.getResult());
    all &= counts;
    elements += counts ? member.getResult().getType().getNumElements() : 0;
  }
  return all ? cast<RankedTensorType>(gathered.getType()).getNumElements() : elements;
}

/// Whether one rank of each node takes part in `op`, or only ranks of a node do.
static bool isAcrossNodes(const Mesh &mesh, CollectiveOpInterface op) {
  const GroupAttr group = op.getCollectiveGroup();
  return mesh.isAlong(group, kNodeAxis) && !mesh.isAlong(group, kLocalAxis);
}
static bool isWithinNode(const Mesh &mesh, CollectiveOpInterface op) {
  const GroupAttr group = op.getCollectiveGroup();
  return mesh.isAlong(group, kLocalAxis) && !mesh.isAlong(group, kNodeAxis);
}

/// Whether `op` gathers a saved activation that ranks have divided.
static bool joinsSaved(CollectiveOpInterface op) {
  return op.getSource().getDefiningOp<CopyOp>() != nullptr ||
         op.getSource().getDefiningOp<TransferOp>() != nullptr;
}

/// Whether `op` gathers what launches of whole matrices or tensors compute steps from.
static bool gathersDirections(CollectiveOpInterface op) {
  Value source = op.getSource();
  for (auto gather = dyn_cast<AllGatherOp>(op.getOperation()); gather;
       gather = source.getDefiningOp<AllGatherOp>())
    source = throughReshapes(throughTransfers(gather.getShard()));
  auto launch = source.getDefiningOp<LaunchOp>();
  return launch && launch.getUpdates();
}

/// Counts the exchanges of activations along `axis`.
static AxisVolume countAxisVolume(const Storage &storage, StringRef axis, int64_t microBatches) {
  const Mesh mesh(storage.getStep()->getParentOfType<ModuleOp>());
  AxisVolume volume;
  for (auto op : storage.getStep().getBody().getOps<CollectiveOpInterface>()) {
    const GroupAttr group = op.getCollectiveGroup();
    if (op.isControl() || !mesh.exchangesActivations(group) || !mesh.isAlong(group, axis))
      continue;
    const bool isWhole = op.getCollectiveKind() == CollectiveKind::AllReduce;
    int64_t &sum = storage.forwardOps().contains(op)                           ? volume.forward
                   : isa_and_nonnull<IntegerAttr>(op->getAttr(kRecomputeAttr)) ? volume.again
                   : op->hasAttr(kRecomputeAttr)                               ? volume.regathered
                   : gathersDirections(op)                                     ? volume.update
                   : joinsSaved(op)                                            ? volume.saved
                                                                               : volume.backward;
    sum += op.getWholeType().getNumElements() * (isWhole ? 2 : 1) *
           scheduleOf(op).countIterations(microBatches);
  }
  return volume;
}

/// Counts collectives of parameters and gradients, but not of values of the program. Adds to
/// `wholeGradients` the elements that are exchanged for optimizers that update full tensors.
/// `reductions` becomes the largest number of times that a gradient is reduced, if it is larger.
static CollectiveVolume countCollectives(func::FuncOp step,
                                         const llvm::DenseSet<Operation *> &forward,
                                         int64_t microBatches, int64_t &reductions,
                                         int64_t &wholeGradients) {
  const Mesh mesh(step->getParentOfType<ModuleOp>());
  CollectiveVolume volume;
  llvm::StringMap<int64_t> reduced;
  for (auto op : step.getBody().getOps<CollectiveOpInterface>()) {
    if (op.isControl() || mesh.exchangesActivations(op.getCollectiveGroup()))
      continue;
    const int64_t iterations = scheduleOf(op).countIterations(microBatches);
    const int64_t elements = op.getWholeType().getNumElements() * iterations;
    const int64_t members = mesh.sizeOf(op.getCollectiveGroup());
    const int64_t times = op.getCollectiveKind() == CollectiveKind::AllReduce ? 2 : 1;
    const int64_t received = elements / members * (members - 1) * times;
    volume.received += received;
    volume.withinNode += isWithinNode(mesh, op) ? received : 0;
    volume.acrossNodes += isAcrossNodes(mesh, op) ? received : 0;
    // Takes steps of matrices from their owners to slices.
    const bool isOfSteps = isa<ReduceScatterOp>(op) && isIn(op, Segment::Epilogue);
    if (isReduction(op.getCollectiveKind()) && !isOfSteps) {
      volume.gradients += elements;
      int64_t &number = reduced[displayName(op)];
      reductions = std::max(reductions, number += iterations);
      // A reduction to slices and a gather of them.
      if (op.getCollectiveKind() == CollectiveKind::AllReduce)
        volume.update += elements;
      continue;
    }
    if (isOfSteps || (op.isFetch() && isIn(op, Segment::Epilogue)))
      wholeGradients += elements;
    if (isAcrossNodes(mesh, op))
      volume.shared += elements;
    const bool isUpdate = op.getDestination() || isIn(op, Segment::Epilogue);
    int64_t &sum = isUpdate               ? volume.update
                   : forward.contains(op) ? volume.forward
                                          : volume.backward;
    sum += elements;
    if (&sum == &volume.backward)
      volume.again += readAgain(op.getExchanged()) * iterations;
  }
  return volume;
}

/// The elements that a step communicates, and the causes of differences from the paper's 2P at
/// stages 0 to 2 and 3P at stage 3 (ZeRO, arXiv 1910.02054, section 7). With k micro-batches,
/// gathers and reductions are repeated k times: (k + 1)P at stage 2, 3kP at stage 3. In vertical
/// order gathers are not repeated, and reductions only if they are requested for each.
static std::optional<CollectiveVolume> measureVolume(ModuleOp module, const Storage &storage,
                                                     const PlanSummary &plan) {
  if (plan.ranks == 1)
    return std::nullopt;
  int64_t wholeGradients = 0, reductions = plan.iterations;
  CollectiveVolume volume = countCollectives(storage.getStep(), storage.forwardOps(),
                                             plan.iterations, reductions, wholeGradients);
  volume.paperTimes = plan.stage == 3   ? 2 * plan.iterations + reductions
                      : plan.stage == 2 ? reductions + 1
                                        : 2;
  volume.paper = volume.paperTimes * plan.ownParameters;
  if (plan.stage != 3)
    return volume;
  int64_t padded = 0, kept = 0; // kept: replicated on each rank, although the stage shards
  for (int64_t elements : module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr).asArrayRef())
    padded += elements;
  for (auto buffer : module.getOps<BufferOp>())
    if (buffer.getRole() == Role::Parameter && buffer.getShards() == 1)
      kept += buffer.getTensorType().getNumElements() * plan.iterations;
  int64_t stored = 0; // what buckets have of parameters
  for (auto parameter : module.getOps<ParameterOp>())
    stored += parameter.getTensorType().getNumElements();
  const int64_t whole = padded * plan.iterations;
  volume.causes = {.regathered = volume.forward + kept - whole,
                   .notReadInBackward = volume.backward + kept - volume.again - whole,
                   .notTrained = volume.gradients - padded * reductions,
                   .unsharded = volume.update - volume.shared - wholeGradients - 2 * kept,
                   .padding = volume.paperTimes * (padded - stored),
                   .inBlocks = volume.paperTimes * (stored - plan.ownParameters),
                   .acrossNodes = volume.shared,
                   .wholeGradients = wholeGradients};
  return volume;
}

/// Reads the result of `zero-pack-arena` for one tier.
static void readCertificate(ArenaAttr arena, ArenaSummary &plan) {
  const std::array<int64_t, kNumUsages> most = bytesByUsage(arena.getMost());
  const std::array<int64_t, kNumUsages> atPeak = bytesByUsage(arena.getAtPeak());
  for (unsigned i = 0; i < kNumUsages; ++i)
    plan.roles[i] = {most[i], atPeak[i]};
  plan.tier = arena.getTier();
  plan.arena = arena.getPeak();
  plan.lowerBound = arena.getLowerBound();
  plan.peakAt = printable(arena.getPeakAt());
  plan.isOptimal = arena.getOptimal();
}

static void readCertificates(ModuleOp module, PlanSummary &plan) {
  readCertificate(certificateOf(module, Tier::Device), plan);
  for (Tier tier : {Tier::Host, Tier::Nvme})
    if (ArenaAttr other = certificateOf(module, tier))
      readCertificate(other, plan.others.emplace_back());
}

int64_t largestArena(const PlanSummary &plan, Tier tier) {
  int64_t largest = tier == Tier::Device ? plan.arena : 0;
  for (const ArenaSummary &other : plan.others)
    largest = std::max(largest, other.tier == tier ? other.arena : 0);
  for (const ShapeArenas &shape : plan.shapes)
    largest = std::max(largest, shape.bytes[unsigned(tier)]);
  return largest;
}

/// Adds up the memory of a process that runs all ranks on a CPU.
static void addProcess(ModuleOp module, PlanSummary &plan) {
  if (module->hasAttr(kDeviceAttr))
    return;
  const int64_t arena = largestArena(plan, Tier::Device) + largestArena(plan, Tier::Host);
  const int64_t ranks = plan.ranks * plan.tensorRanks;
  plan.processArenas = ranks * arena;
  plan.processBeside =
      int64_t(planning::processBytes(uint64_t(arena), uint64_t(ranks))) - plan.processArenas;
}

void addShape(ModuleOp module, StringRef shape, PlanSummary &plan) {
  ShapeArenas &arenas = plan.shapes.emplace_back(ShapeArenas{shape.str()});
  for (Tier tier : kTiers)
    if (ArenaAttr arena = certificateOf(module, tier))
      arenas.bytes[unsigned(tier)] = arena.getPeak();
  addProcess(module, plan);
}

/// Counts the bytes that cross between nodes of the size that sums or parameters are divided by.
static void countNodeBytes(ModuleOp module, func::FuncOp step, PlanSummary &plan) {
  const int64_t ranks = plan.ranks * plan.tensorRanks;
  auto attr = module->getAttrOfType<IntegerAttr>(kRanksPerNodeAttr);
  const int64_t each = attr ? attr.getInt() : plan.nodes ? ranks / plan.nodes : ranks;
  if (each >= ranks)
    return;
  plan.ranksPerNode = each;
  planning::Machine machine;
  machine.network.ranksPerNode = plan.ranksPerNode;
  const OpTimes times(module, machine);
  double bytes = 0;
  for (auto op : step.getBody().getOps<CollectiveOpInterface>())
    if (!op.isControl())
      bytes += times.networkBytes(op) * double(scheduleOf(op).countIterations(plan.iterations));
  plan.nodeBytes = int64_t(bytes);
}

/// Counts the products by how they are computed.
static void countProducts(ModuleOp module, func::FuncOp step, PlanSummary &plan) {
  SymbolTable kernels(module);
  for (auto launch : step.getOps<LaunchOp>()) {
    auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
    auto library = kernel ? kernel->getAttrOfType<LibraryAttr>(kLibraryAttr) : LibraryAttr();
    if (!library)
      continue;
    const int64_t iterations = scheduleOf(launch).countIterations(plan.iterations);
    plan.products += iterations;
    plan.halfProducts += library.getOperands() ? iterations : 0;
    auto product = dyn_cast<MatmulAttr>(library.getCall());
    if (!product || !product.getReorderB())
      continue;
    plan.reorders += iterations;
    plan.reorderedBytes += iterations * product.getK() * product.getN() * int64_t(sizeof(float));
  }
}

void addDrives(ModuleOp module, const Storage &storage, const planning::Machine &machine,
               int64_t threads, PlanSummary &plan) {
  using planning::Link;
  const int64_t read = plan.movedOver(Link::DiskRead), written = plan.movedOver(Link::DiskWrite);
  if (read || written)
    plan.drives = planning::nodeDriveWear(machine, double(read), double(written),
                                          plan.ranks * plan.tensorRanks,
                                          simulatePackedStep(module, storage, machine, threads));
}

PlanSummary summarisePlan(ModuleOp module, const Storage &storage) {
  PlanSummary plan;
  plan.stage = module->getAttrOfType<IntegerAttr>(kStageAttr).getInt();
  plan.ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr).getInt();
  const Mesh mesh(module);
  plan.contextRanks = mesh.contextRanks();
  plan.tensorRanks = mesh.tensorRanks();
  plan.nodes = mesh.hasNodes() ? mesh.sizeOf(kNodeAxis) : 0;
  plan.microBatches = microBatchesOf(module);
  plan.iterations = iterationsOf(module);
  if (auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr))
    llvm::raw_string_ostream(plan.precision) << precision.getValue();
  else
    plan.frozenPrecision = findNarrowType(module);
  if (auto precision = module->getAttrOfType<TypeAttr>(kGradPrecisionAttr))
    llvm::raw_string_ostream(plan.gradPrecision) << precision.getValue();
  if (auto optimizer = module->getAttrOfType<StringAttr>(kOptimizerAttr))
    plan.optimizer = optimizer.str();
  readCertificates(module, plan);
  plan.stored = bytesByStoredType(module, storage);
  addProcess(module, plan);
  plan.moved = bytesMoved(storage.getStep(), plan.iterations);
  countNodeBytes(module, storage.getStep(), plan);
  ModelSize size = measure(module);
  plan.parameters = size.elements;
  plan.ownParameters = size.own;
  plan.trained = size.trained;
  plan.stateBytes =
      dividedBytes(plan, size.bytes, size.ownTrained * gradientBytes(module, plan.microBatches),
                   size.stateBytes);
  plan.paperStateBytes =
      dividedBytes(plan, 2 * size.own, 2 * size.ownTrained, 12 * size.ownTrained);
  plan.volume = measureVolume(module, storage, plan);
  plan.owners = measureOwners(module, plan.stage, plan.ranks);
  if (plan.tensorRanks > 1)
    plan.tensorVolume = countAxisVolume(storage, kTensorAxis, plan.iterations);
  if (plan.contextRanks > 1)
    plan.contextVolume = countAxisVolume(storage, kContextAxis, plan.iterations);
  countProducts(module, storage.getStep(), plan);
  return plan;
}

} // namespace zero
