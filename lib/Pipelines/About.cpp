//===- About.cpp - conditions and checks of options -----------------------===//

#include "zero/Codegen/TargetCpu.h"
#include "zero/Optimizers/Average.h"
#include "zero/Options/MeshAxes.h"
#include "zero/Pipelines/PrecisionChange.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace zero {

static std::string textIf(bool isInTheWay, const Twine &text) {
  return isInTheWay ? text.str() : "";
}

/// "--precision=fp32".
static std::string textOf(const auto &option) {
  return ("--" + option.ArgStr + "=" + option.text()).str();
}

namespace needs {

std::string training(const PhaseOptions &options, StringRef) {
  return textIf(options.import.forwardOnly, "--forward-only, which trains nothing");
}

std::string givenStage(const PhaseOptions &options, StringRef) {
  return textIf(options.plan.isAuto(), "--zero=auto, which chooses it");
}

std::string stage3(const PhaseOptions &options, StringRef) {
  return textIf(options.place.stage < 3 && !options.plan.isAuto(),
                textOf(options.place.stage) + ", which does not shard parameters");
}

std::string microBatches(const PhaseOptions &options, StringRef) {
  return textIf(options.step.microBatches == 1, textOf(options.step.microBatches));
}

std::string lateSums(const PhaseOptions &options, StringRef) {
  const bool isHorizontal = options.place.microBatchOrder.is(MicroBatchOrder::Horizontal);
  return textIf(options.place.stage >= 2 && isHorizontal,
                textOf(options.place.stage) + ", which reduces each micro-batch");
}

std::string recomputation(const PhaseOptions &options, StringRef) {
  return textIf(options.checkpointMode().is(Checkpoint::None) && options.place.checkpointSlots == 0,
                "no layer recomputed: expected --checkpoint");
}

std::string noSlots(const PhaseOptions &options, StringRef) {
  return textIf(options.place.checkpointSlots.hasValue(), "--checkpoint-slots");
}

std::string bits16(const PhaseOptions &options, StringRef) {
  return textIf(options.precision.stored == Precision::F32, textOf(options.precision.stored));
}

std::string narrowerFrozen(const PhaseOptions &options, StringRef) {
  const auto &precision = options.precision;
  return textIf(precision.stored != Precision::F32 && !isInBlocks(precision.frozen),
                textOf(options.precision.stored) + ", which stores all parameters in 16 bits");
}

std::string fp16(const PhaseOptions &options, StringRef) {
  return textIf(options.precision.stored != Precision::F16, textOf(options.precision.stored));
}

std::string dynamicScale(const PhaseOptions &options, StringRef) {
  return textIf(options.precision.lossScale != 0, textOf(options.precision.lossScale));
}

std::string frozenParameters(const PhaseOptions &options, StringRef) {
  const auto &import = options.import;
  return textIf(import.trainable.empty() && import.freeze.empty() && import.freezeAllBut.empty() &&
                    options.adapters.targets.empty(),
                "nothing frozen: none of --freeze, --freeze-all-but, --trainable and --lora is "
                "given");
}

std::string adapters(const PhaseOptions &options, StringRef) {
  return textIf(options.adapters.targets.empty(), "no adapter: expected --lora");
}

std::string trainedBase(const PhaseOptions &options, StringRef) {
  return textIf(options.freezesBase(), "--lora, which freezes the whole model");
}

std::string noList(const PhaseOptions &options, StringRef) {
  return textIf(!options.import.trainable.empty(),
                "--trainable, which lists the trained parameters");
}

std::string noMesh(const PhaseOptions &options, StringRef) {
  return textIf(!options.shard.mesh.empty(), "--mesh, whose axis data it is");
}

std::string cpuRanks(const PhaseOptions &options, StringRef) {
  return textIf(options.kernels.device != Device::Cpu, textOf(options.kernels.device));
}

std::string cpuKernels(const PhaseOptions &options, StringRef) {
  const auto &device = options.kernels.device;
  return textIf(device == Device::Cuda && !options.offload.any(),
                textOf(device) + ", unless something is offloaded to the host");
}

std::string ownBudgets(const PhaseOptions &options, StringRef) {
  return textIf(options.plan.sharesMemory(),
                "--ram-budget, which limits the device and the host together");
}

std::string budget(const PhaseOptions &options, StringRef) {
  const phase::PlanOptions &plan = options.plan;
  const bool isLimited = plan.limitsMemory() || plan.activationBudget != 0 ||
                         plan.hostBudget != 0 || plan.nvmeBudget != 0 || plan.driveWrites != 0;
  return textIf(!isLimited, "no budget: expected --memory-budget, --ram-budget or another one");
}

std::string timedPlan(const PhaseOptions &options, StringRef) {
  const phase::PlanOptions &plan = options.plan;
  const bool isPlanned = plan.limitsMemory() || plan.activationBudget != 0 || plan.isAuto() ||
                         options.offload.any() || plan.prefetchBytes.hasValue() ||
                         options.kernels.device == Device::Cuda;
  return textIf(!isPlanned, "no --memory-budget, --activation-budget, --zero=auto, --offload-... "
                            "or --prefetch-bytes");
}

std::string decay(const PhaseOptions &options, StringRef) {
  if (!findOptimizer(options.step.optimizer))
    return "";
  std::string wrong;
  for (const std::string &text : options.step.paramGroups)
    if (auto group = parseParameterGroup(text, wrong); group && group->weightDecay.value_or(0) != 0)
      return "";
  return textIf(Settings(options.step.optimizerOptions()).number(kWeightDecay) == 0,
                "--weight-decay=0");
}

std::string hyperparameter(const PhaseOptions &options, StringRef name) {
  const OptimizerDefinition *definition = findOptimizer(options.step.optimizer);
  return definition && !definition->find(name)
             ? textOf(options.step.optimizer) + ", which has " + definition->flags()
             : "";
}

std::string average(const PhaseOptions &options, StringRef) {
  return textIf(options.step.ema.empty(), "no --ema");
}

std::string matrixOptimizer(const PhaseOptions &options, StringRef) {
  std::string wrong;
  const auto optimizer = createOptimizer(options.step.optimizerOptions(), wrong);
  return textIf(optimizer && !optimizer->isOfMatrices(),
                textOf(options.step.optimizer) + ", which updates all parameters");
}

} // namespace needs

namespace valid {

std::string allowPrecision(const PhaseOptions &options) {
  for (const std::string &text : options.plan.allowPrecision)
    if (!parsePrecisionChange(text)) {
      auto words = llvm::map_range(precisionChanges(), [](const PrecisionChange &change) {
        return (change.subject + ":" + change.value).str();
      });
      return ": expected one of " + llvm::join(words, ", ") + ", got '" + text + "'";
    }
  return "";
}

std::string dataRoot(const PhaseOptions &options) {
  const std::string &path = options.import.dataRoot;
  return textIf(!llvm::sys::fs::is_directory(path), ": '" + path + "' is not a directory");
}

std::string mesh(const PhaseOptions &options) {
  MeshAxes axes;
  const std::string wrong = parseMesh(options.shard.mesh, axes);
  return textIf(!wrong.empty(), ": " + wrong);
}

std::string noDecay(const PhaseOptions &options) {
  for (const std::string &text : options.step.noDecay)
    if (auto pattern = llvm::GlobPattern::create(text); !pattern)
      return ": '" + text + "': " + llvm::toString(pattern.takeError());
  return "";
}

std::string otherOptimizer(const PhaseOptions &options) {
  OptimizerOptions other;
  std::string wrong = parseOtherOptimizer(options.step.otherOptimizer, other);
  return textIf(!wrong.empty(), ": " + wrong);
}

std::string ema(const PhaseOptions &options) {
  std::string wrong;
  return parseAverage(options.step.ema, wrong) ? "" : ": " + wrong;
}

std::string lrPoints(const PhaseOptions &options) {
  std::string wrong;
  return parsePoints(options.step.lrPoints, wrong) ? "" : ": " + wrong;
}

std::string paramGroups(const PhaseOptions &options) {
  std::string wrong;
  for (const std::string &text : options.step.paramGroups)
    if (!parseParameterGroup(text, wrong))
      return ": " + wrong;
  return "";
}

std::string targetCpu(const PhaseOptions &options) {
  const std::string &cpu = options.kernels.targetCpu, expected = checkTargetCpu(cpu);
  return textIf(!expected.empty(), ": expected " + expected + ", got '" + cpu + "'");
}

} // namespace valid

} // namespace zero
