//===- CheckFlags.cpp - check flags and their combinations ----------------===//

#include "CommandLine.h"

#include "runtime/format/limits.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Optimizers/Optimizer.h"
#include "zero/Optimizers/Schedule.h"
#include "zero/Options/MeshAxes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace zero {

/// Of a plan that nothing runs: far beyond the machines that there are, and no size overflows.
static constexpr uint64_t kMostPlannedRanks = uint64_t(1) << 20;
/// In vertical order the step lists the commands of each.
static constexpr uint64_t kMostInterleaved = 1024;

namespace {

/// Runs checks until one finds something.
class Checker {
public:
  Checker(const CompilerOptions &options, const GivenFlags &given)
      : options(options), phases(options.phases), given(given) {}

  std::string run() {
    checkModel();
    checkEmitOnnx();
    checkConditions();
    checkValues();
    checkDevice();
    checkMesh();
    checkPlan();
    checkTiers();
    checkPrecision();
    checkLossScale();
    checkOptimizer();
    checkSchedule();
    checkForwardOnly();
    if (error.empty())
      error = checkOutput(options);
    return std::move(error);
  }

private:
  bool isGiven(StringRef flag) const { return given.contains(flag); }
  std::string keyOf(StringRef flag) const {
    auto it = given.find(flag);
    return it == given.end() ? ("--" + flag).str() : it->second.key;
  }

  void fail(const Twine &message) {
    if (error.empty())
      error = message.str();
  }
  void failAt(StringRef message);
  std::string inItsPlace(StringRef text) const;
  /// The value of `flag` is not what is expected.
  template <typename T>
  void refuse(StringRef flag, StringRef expected, const T &got) {
    fail(llvm::formatv("{0}: expected {1}, got {2}", keyOf(flag), expected, got).str());
  }
  /// Refuses `flag`, if given: it has no effect `with` another one.
  void expectAbsent(StringRef flag, const Twine &with) {
    if (auto it = given.find(flag); it != given.end())
      fail(it->second.key + (it->second.value.empty() ? "" : "=" + it->second.value) +
           " has no effect with " + with);
  }
  static std::string number(double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    return text;
  }

  void checkModel();
  void checkEmitOnnx();
  void checkConditions();
  void checkValues();
  void checkDevice();
  void checkMesh();
  void checkPlan();
  void checkShardParams();
  void checkMicroBatches();
  void checkBudget();
  void checkTiers();
  void checkPrecision();
  void checkLossScale();
  void checkOptimizer();
  void checkSchedule();
  void checkForwardOnly();

  const CompilerOptions &options;
  const PhaseOptions &phases;
  const GivenFlags &given;
  std::string error;
};

} // namespace

void Checker::checkModel() {
  if (options.input.empty())
    fail("expected a model: MODEL.onnx or MODEL.mlir");
  if (options.noCache && !options.cacheFolder.empty())
    fail("--no-cache: --cache-dir has no effect with it");
  if (options.planOnly && !options.output.empty())
    fail("--plan-only writes nothing, so -o has no effect");
  if (!options.dumpAfter.empty() &&
      llvm::none_of(allPhases(), [&](Phase p) { return phaseName(p) == options.dumpAfter; }))
    fail("--dump-after: unknown phase '" + options.dumpAfter + "'");
}

/// Whether a flag decides what the step computes; all others decide how an executable runs it.
static bool isOfStep(const PhaseOptions &phases, StringRef flag) {
  static constexpr StringLiteral ours[] = {
      "emit-onnx", "external-data", "lr", "config", "dump-after", "v", "clean-after-phases"};
  return llvm::is_contained(ours, flag) || isFrontendFlag(flag) || phases.isOfStep(flag);
}

void Checker::checkEmitOnnx() {
  if (options.emitOnnx.empty()) {
    if (options.externalData)
      fail("--external-data: expected --emit-onnx, whose tensors it moves to a file");
    return;
  }
  for (const auto &[name, flag] : given) {
    if (isOfStep(phases, name))
      continue;
    std::string text = name == "o" ? "-o " + flag.value : flag.key;
    if (name != "o" && flag.value != "true")
      text += "=" + flag.value;
    fail(text + " has no effect with --emit-onnx, which writes the step in f32 of one rank and one "
                "micro-batch, before it is planned");
  }
}

/// Options of phases say when they have an effect.
void Checker::checkConditions() {
  SmallVector<StringRef> names(given.keys());
  llvm::sort(names);
  for (StringRef name : names)
    if (std::string with = phases.idleWith(name); !with.empty())
      expectAbsent(name, inItsPlace(with));
}

/// Options of phases say which values they may have.
void Checker::checkValues() {
  SmallVector<StringRef> names(given.keys());
  llvm::sort(names);
  for (StringRef name : names)
    if (std::string wrong = phases.wrongValue(name); !wrong.empty())
      fail(keyOf(name) + wrong);
}

/// "--zero-stage=1, which ..." as "ds.json: zero_optimization.stage=1, which ...", if that sets it.
std::string Checker::inItsPlace(StringRef text) const {
  const StringRef flag = text.take_until([](char c) { return c == '=' || c == ','; });
  auto it = given.find(flag.ltrim('-'));
  if (it == given.end() || it->second.key == flag || !text.starts_with((flag + "=").str()))
    return text.str();
  return it->second.key + "=" + it->second.value + text.substr(text.find_first_of(", ")).str();
}

void Checker::checkDevice() {
  const auto &device = phases.kernels.device;
  if (device != Device::Cuda)
    expectAbsent("gpu-arch", "--device=" + device.text());
  if (options.planOnly)
    expectAbsent("gpu-arch", "--plan-only, which compiles no kernel");
}

/// Ranks along the axis tensor hold shards; not everything can be sharded.
void Checker::checkMesh() {
  if (options.takesMesh) // The flags are checked again when the model has said its ranks.
    return;
  if (phases.ranks() == phases.dataRanks()) {
    for (StringRef flag : {"tensor-plan", "sequence-parallel"})
      expectAbsent(flag, "one rank along tensor: expected --mesh=...,tensor=N");
    return;
  }
  const std::string sharded = keyOf("mesh") + "=" + phases.shard.mesh.getValue();
  if (phases.differentiate.tileParamsOver.getValue() != 0)
    expectAbsent("tile-params-over", sharded + ", which does not tile what it shards");
}

void Checker::checkPlan() {
  const uint64_t ranks = phases.ranks();
  const uint64_t most = options.planOnly ? kMostPlannedRanks : rt::kMostRanks;
  if (ranks < 1 || ranks > most)
    refuse(isGiven("mesh") ? "mesh" : "ranks", "1 to " + std::to_string(most), ranks);
  if (const unsigned each = phases.place.ranksPerNode;
      each && ranks % each != 0 && !options.takesMesh)
    refuse("ranks-per-node",
           isGiven("mesh") ? ("a divisor of " + Twine(ranks) + " ranks").str()
                           : ("a divisor of --ranks=" + Twine(ranks)).str(),
           each);
  checkShardParams();
  checkMicroBatches();
  checkBudget();
}

/// Parameters of stage 3 may be sharded within nodes.
void Checker::checkShardParams() {
  if (phases.place.shardParams != ShardParams::Node)
    return;
  const std::string key = keyOf("shard-params") + "=node";
  const uint64_t each = phases.place.ranksPerNode,
                 tensorRanks = phases.ranks() / phases.dataRanks();
  if (each == 0)
    return fail(key + ": expected --ranks-per-node=N, the number of ranks of a node");
  if (each % tensorRanks != 0)
    return refuse(
        "ranks-per-node",
        ("a multiple of the " + Twine(tensorRanks) + " ranks along tensor with " + key).str(),
        each);
  if (!phases.offload.params.is(Tier::Device))
    fail(key + ": expected parameters on the device, got " + keyOf("offload-params") + "=" +
         given.lookup("offload-params").value);
}

void Checker::checkMicroBatches() {
  const auto &order = phases.place.microBatchOrder;
  const uint64_t count = phases.step.microBatches;
  if (!order.is(MicroBatchOrder::Horizontal) && count > kMostInterleaved)
    refuse("micro-batches",
           "at most " + std::to_string(kMostInterleaved) + " with --micro-batch-order=" +
               (order.isAuto() ? "auto" : "vertical") + ", which lists the commands of each",
           count);
}

void Checker::checkBudget() {
  const bool isAuto = phases.plan.isAuto();
  if (isGiven("ram-budget") && phases.kernels.device == Device::Cuda)
    refuse("ram-budget", "--device=cpu, whose ranks have one memory for device and host",
           "--device=cuda");
  const bool hasBudget = phases.plan.limitsMemory() || isGiven("activation-budget");
  if (phases.place.microBatchOrder.isAuto() && !hasBudget && !isAuto)
    fail(keyOf("micro-batch-order") + "=auto: expected --memory-budget or --activation-budget, "
                                      "which determine how many activations can be saved");
  if (phases.place.checkpoint.hasValue() && phases.place.checkpoint.isAuto() && !hasBudget &&
      !isAuto)
    fail(keyOf("checkpoint") + "=auto: expected --memory-budget or --activation-budget, which "
                               "determine how much is recomputed");
}

void Checker::checkTiers() {
  const phase::OffloadOptions &offload = phases.offload;
  const bool isAuto = phases.plan.isAuto(), isPlanned = isAuto || phases.plan.limitsMemory();
  auto expectPlan = [&](StringRef flag) {
    if (!isPlanned)
      fail(keyOf(flag) + "=auto: expected --memory-budget, which determines how much is offloaded");
  };
  if (isGiven("offload"))
    expectPlan("offload");
  for (const phase::TierOption *tier : offload.chosen())
    if (tier->isAuto())
      expectPlan(tier->ArgStr);
  if (isGiven("host-budget") && !offload.any())
    fail(keyOf("host-budget") + ": expected one of --offload-... with a tier other than device");
  for (const StringRef flag : {"nvme-budget", "drive-writes"})
    if (isGiven(flag) && !offload.mayUse(Tier::Nvme))
      fail(keyOf(flag) + ": expected one of --offload-... with nvme or auto");
  if (offload.delayUpdates && offload.optimizer.is(Tier::Device))
    fail(keyOf("delay-updates") + ": expected --offload-optimizer with host, nvme or auto, whose "
                                  "updates run on the host");
  if (!offload.params.is(Tier::Device) && phases.place.stage != 3 &&
      !(isAuto && offload.params.isAuto()))
    refuse("offload-params", "--zero-stage=3 with it: offloaded parameters are sharded over ranks",
           isAuto ? "--zero=auto" : "stage " + std::to_string(phases.place.stage));
  // The gradient of a tensor is a part of a bucket, which does not begin at a block of a disk.
  std::string wrong;
  const auto optimizer = createOptimizer(phases.step.optimizerOptions(), wrong);
  if (optimizer && optimizer->isOfTensors() && offload.gradients.is(Tier::Nvme) && !isAuto &&
      (phases.place.stage < 2 || phases.place.ranks == 1))
    refuse("offload-gradients",
           "device or host with " + phases.step.optimizer.getValue() +
               " below stage 2 or on one rank, which reads gradients of single tensors",
           "nvme");
}

void Checker::checkPrecision() {
  const auto &stored = phases.precision.stored, &reduced = phases.partition.reduceDtype;
  if (stored != Precision::F32 && reduced != Precision::F32 && reduced != stored)
    refuse("reduce-dtype",
           listWords(std::array{wordOf(Precision::F32), wordOf(stored.getValue())}) + " with " +
               keyOf("precision") + "=" + wordOf(stored.getValue()).str(),
           ("'" + wordOf(reduced.getValue()) + "'").str());
}

void Checker::checkLossScale() {
  if (phases.precision.stored != Precision::F16 || phases.precision.lossScale != 0)
    return;
  if (phases.precision.initialLossScale < phases.precision.minLossScale)
    refuse("initial-loss-scale",
           "at least " + keyOf("min-loss-scale") + "=" + phases.precision.minLossScale.text(),
           phases.precision.initialLossScale.text());
}

/// A message begins with the flag that it is about.
void Checker::failAt(StringRef message) {
  size_t end = std::min(message.find(':'), message.find('='));
  fail(keyOf(message.take_front(end)) + message.substr(end));
}

void Checker::checkOptimizer() {
  if (!std::isfinite(static_cast<float>(options.learningRate)) || options.learningRate < 0)
    refuse("lr", "a finite number >= 0", number(options.learningRate));
  if (std::string wrong = phases.step.optimizerOptions().check(); !wrong.empty())
    failAt(wrong);
}

void Checker::checkSchedule() {
  std::string wrong = zero::checkSchedule(phases.step.scheduleOptions());
  if (!wrong.empty())
    failAt(wrong);
}

void Checker::checkForwardOnly() {
  const phase::ImportOptions &import = phases.import;
  const bool selects =
      !import.trainable.empty() || !import.freeze.empty() || !import.freezeAllBut.empty();
  if (import.forwardOnly && (selects || options.frontendFlags.contains("loss")))
    fail("--forward-only trains nothing, so --loss, --trainable, --freeze and --freeze-all-but "
         "have no effect");
}

std::string checkFlags(const CompilerOptions &options, const GivenFlags &given) {
  return Checker(options, given).run();
}

} // namespace zero
