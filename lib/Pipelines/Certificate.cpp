//===- Certificate.cpp - what a run will take, before it runs -------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Codegen/Passes.h"
#include "zero/Pipelines/Compiler.h"
#include "zero/Planning/ByteSize.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace zero {

namespace {

/// The sizes that ZeRO's arithmetic is about.
struct ModelSize {
  int64_t elements = 0; ///< trained and frozen
  int64_t trained = 0;
  int64_t bytes = 0;      ///< of parameters
  int64_t stateBytes = 0; ///< of optimizer states
};

} // namespace

static ModelSize measure(ModuleOp module) {
  ModelSize size;
  for (auto parameter : module.getOps<ParameterOp>()) {
    int64_t elements = parameter.getTensorType().getNumElements();
    size.elements += elements;
    size.trained += parameter.getFrozen() ? 0 : elements;
    size.bytes += tensorBytes(parameter.getTensorType());
  }
  for (auto state : module.getOps<StateOp>())
    if (state.getOf())
      size.stateBytes += tensorBytes(state.getTensorType());
  return size;
}

/// Model state of one rank from all bytes of parameters, gradients and optimizer states,
/// by the paper's arithmetic (ZeRO, arXiv 1910.02054, figure 1).
static double dividedBytes(int64_t stage, double ranks, double parameters, double gradients,
                           double optimizer) {
  return parameters / (stage >= 3 ? ranks : 1) + gradients / (stage >= 2 ? ranks : 1) +
         optimizer / (stage >= 1 ? ranks : 1);
}

/// Bytes of an element of the summed gradients: accumulators are f32.
static int64_t gradientBytes(ModuleOp module, int64_t microBatches) {
  auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr);
  return precision && microBatches == 1 ? precision.getValue().getIntOrFloatBitWidth() / 8 : 4;
}

namespace {

/// Whole buckets that a step moves, in elements; a rank receives (N-1)/N of each.
struct Volume {
  int64_t forward = 0;   ///< gathered for forward
  int64_t backward = 0;  ///< gathered for backward
  int64_t again = 0;     ///< of it, only for layers that are run again
  int64_t update = 0;    ///< gathered after the update
  int64_t gradients = 0; ///< reduced
};

} // namespace

/// How often a step runs `op`.
static int64_t turnsOf(Operation *op, int64_t microBatches) {
  return op->hasAttr(kEpilogueAttr) || op->hasAttr(kWhenAttr) ? 1 : microBatches;
}

/// Elements of `gathered` that nothing reads but layers that are run again.
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

/// Collectives of parameters and gradients; values of the program are not counted.
static Volume measureVolume(func::FuncOp step, int64_t microBatches) {
  Volume volume;
  llvm::DenseSet<Operation *> forward = findForwardOps(step);
  auto count = [&](Operation *op, Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements() * turnsOf(op, microBatches);
  };
  for (Operation &op : step.getBody().front()) {
    if (auto gather = dyn_cast<AllGatherOp>(op); gather && !gather.getControl()) {
      int64_t &sum = op.hasAttr(kEpilogueAttr) ? volume.update
                     : forward.contains(&op)   ? volume.forward
                                               : volume.backward;
      sum += count(&op, gather.getResult());
      if (&sum == &volume.backward)
        volume.again += readAgain(gather.getResult()) * turnsOf(&op, microBatches);
    } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      volume.gradients += count(&op, scatter.getInput());
    } else if (auto reduce = dyn_cast<AllReduceOp>(op); reduce && !reduce.getMean()) {
      // A reduction to slices and a gather of them.
      volume.gradients += count(&op, reduce.getInput());
      volume.update += count(&op, reduce.getInput());
    }
  }
  return volume;
}

/// What a rank receives in a step, and by which causes it differs from the paper's
/// 2P at stages 0 to 2 and 3P at stage 3 (ZeRO, arXiv 1910.02054, section 7). With k
/// micro-batches gathers and reductions come k times: (k + 1)P at stage 2, 3kP at stage 3.
static void printVolume(ModuleOp module, int64_t stage, int64_t ranks, int64_t microBatches,
                        int64_t parameters, llvm::raw_ostream &os) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepName);
  if (!step || ranks == 1)
    return;
  Volume v = measureVolume(step, microBatches);
  int64_t padded = 0, kept = 0; // kept whole by each rank, though the stage shards
  for (int64_t elements : module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr).asArrayRef())
    padded += elements;
  for (auto buffer : module.getOps<BufferOp>())
    if (buffer.getRole() == Role::Parameter && buffer.getShards() == 1)
      kept += buffer.getTensorType().getNumElements() * microBatches;
  int64_t total = v.forward + v.backward + v.update + v.gradients;
  int64_t times = stage == 3 ? 3 * microBatches : stage == 2 ? microBatches + 1 : 2;
  os << "each rank receives " << total / ranks * (ranks - 1) << " elements a step, " << ranks - 1
     << "/" << ranks << " of " << total << ": forward " << v.forward << ", backward " << v.backward
     << ", update " << v.update << ", gradients " << v.gradients << "\n"
     << "  the paper's " << times << "P is " << times * parameters << "; here "
     << llvm::format("%+lld", (long long)(total - times * parameters));
  if (stage == 3) {
    int64_t whole = padded * microBatches;
    os << llvm::format(
        ": gathered again where used far apart %+lld, not read in backward %+lld, "
        "not trained %+lld, padding %+lld",
        (long long)(v.forward + kept - whole), (long long)(v.backward + kept - v.again - whole),
        (long long)(v.gradients - whole), (long long)(times * (padded - parameters)));
    if (kept)
      os << llvm::format(", kept whole %+lld", (long long)(v.update - 2 * kept));
    if (v.again)
      os << llvm::format(", read by what runs again %+lld", (long long)v.again);
  }
  os << "\n";
}

/// How many products of a step first reorder their B, and how many bytes these are.
static void printReorders(ModuleOp module, int64_t microBatches, llvm::raw_ostream &os) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepName);
  if (!step)
    return;
  SymbolTable kernels(module);
  int64_t count = 0, bytes = 0;
  for (auto launch : step.getOps<LaunchOp>()) {
    auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
    auto call = kernel ? kernel->getAttrOfType<DictionaryAttr>(kLibraryAttr) : nullptr;
    if (!call || !call.contains(kReorderAttr))
      continue;
    int64_t turns = turnsOf(launch, microBatches);
    auto size = [&](StringRef name) { return call.getAs<IntegerAttr>(name).getInt(); };
    count += turns;
    bytes += turns * size("k") * size("n") * int64_t(sizeof(float));
  }
  if (count > 0)
    os << count << " products a step first reorder B, " << planning::formatBytes(bytes)
       << " in all\n";
}

void printCertificate(ModuleOp module, llvm::raw_ostream &os) {
  auto certificate = module->getAttrOfType<DictionaryAttr>(kCertificateAttr);
  auto integer = [&](StringRef name) { return module->getAttrOfType<IntegerAttr>(name).getInt(); };
  int64_t stage = integer(kStageAttr), ranks = integer(kRanksAttr);
  ModelSize size = measure(module);
  os << "ZeRO stage " << stage << " on " << ranks << (ranks == 1 ? " rank, " : " ranks, ")
     << size.elements << " parameters";
  if (size.trained != size.elements)
    os << " (" << size.trained << " trained)";
  if (auto precision = module->getAttrOfType<TypeAttr>(kPrecisionAttr))
    os << " in " << precision.getValue();
  int64_t microBatches = microBatchesOf(module);
  if (microBatches > 1)
    os << ", " << microBatches << " micro-batches";
  if (auto optimizer = module->getAttrOfType<StringAttr>(kOptimizerAttr))
    os << ", " << optimizer.getValue();
  os << "\nmemory of each rank, bytes:\n";
  os << "                         most at once         at the peak\n";
  for (unsigned i = 0; i < kNumUsages; ++i) {
    auto bytes = certificate.getAs<DenseI64ArrayAttr>(usageName(Usage(i))).asArrayRef();
    os << "  " << llvm::left_justify(usageName(Usage(i)), 16)
       << llvm::format("%19lld", (long long)bytes[0]) << llvm::format("%20lld", (long long)bytes[1])
       << "\n";
  }
  int64_t peak = certificate.getAs<IntegerAttr>("peak").getInt();
  int64_t bound = certificate.getAs<IntegerAttr>("lower_bound").getInt();
  os << "  " << llvm::left_justify("arena", 16) << llvm::format("%39lld", (long long)peak) << "  = "
     << planning::formatBytes(peak) << ", the most live at once is "
     << llvm::format("%.1f", 100.0 * bound / std::max<int64_t>(peak, 1)) << " % of it, at "
     << certificate.getAs<StringAttr>("peak_at").getValue() << "\n";
  double here = dividedBytes(stage, ranks, size.bytes,
                             size.trained * gradientBytes(module, microBatches), size.stateBytes);
  double paper = dividedBytes(stage, ranks, 2 * size.elements, 2 * size.trained, 12 * size.trained);
  os << "model state by ZeRO's arithmetic, before padding: " << planning::formatBytes(here)
     << " a rank here; in the paper's 16 bits with Adam " << planning::formatBytes(paper) << "\n";
  printVolume(module, stage, ranks, microBatches, size.elements, os);
  printReorders(module, microBatches, os);
}

} // namespace zero
