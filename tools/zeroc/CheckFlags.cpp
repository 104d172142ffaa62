//===- CheckFlags.cpp - values out of range, flags without effect ---------===//

#include "CommandLine.h"

#include "runtime/format/limits.h"
#include "zero/Optimizers/Schedule.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;

namespace zero {

/// Of a plan that nothing runs: far beyond the machines that there are, and no size overflows.
static constexpr uint64_t kMostPlannedRanks = uint64_t(1) << 20;
/// As many as a model may have nodes.
static constexpr uint64_t kMostSlots = 1'000'000;

namespace {

/// Runs checks until one finds something.
class Checker {
public:
  Checker(const CompilerOptions &options, const GivenFlags &given)
      : options(options), step(options.step), given(given) {}

  std::string run() {
    checkModel();
    checkSelection();
    checkDevice();
    checkPlan();
    checkTiers();
    checkPrecision();
    checkLossScale();
    checkOptimizer();
    checkGroups();
    checkSchedule();
    checkReduction();
    checkForwardOnly();
    if (error.empty())
      error = checkOutput(options);
    return std::move(error);
  }

private:
  bool isGiven(StringRef flag) const { return given.contains(flag); }
  bool isOffloaded() const;
  std::string keyOf(StringRef flag) const {
    auto it = given.find(flag);
    return it == given.end() ? ("--" + flag).str() : it->second.key;
  }

  void fail(const Twine &message) {
    if (error.empty())
      error = message.str();
  }
  void failAt(StringRef message);
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
  void expectAtLeastOne(StringRef flag, uint64_t value) {
    if (value == 0)
      refuse(flag, "at least 1", value);
  }
  void expectFrom1To(StringRef flag, uint64_t most, uint64_t value) {
    if (value < 1 || value > most)
      refuse(flag, "1 to " + std::to_string(most), value);
  }
  void expectNotNegative(StringRef flag, double value) {
    if (!std::isfinite(value) || value < 0)
      refuse(flag, "a finite number >= 0", number(value));
  }
  void expectPositive(StringRef flag, double value) {
    if (!std::isfinite(static_cast<float>(value)) || value <= 0)
      refuse(flag, "a positive number", number(value));
  }
  void expectWord(StringRef flag, StringRef value, ArrayRef<StringRef> words) {
    if (llvm::is_contained(words, value))
      return;
    std::string last = (" or " + words.back()).str();
    refuse(flag, llvm::join(words.drop_back(), ", ") + last, ("'" + value + "'").str());
  }
  static std::string number(double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    return text;
  }

  void checkModel();
  void checkSelection();
  void checkDevice();
  void checkPlan();
  void checkBudget();
  void checkTiers();
  void checkPrecision();
  void checkLossScale();
  void checkOptimizer();
  void checkGroups();
  void checkSchedule();
  void checkReduction();
  void checkForwardOnly();

  const CompilerOptions &options;
  const StepOptions &step;
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
  if (!step.dataRoot.empty() && !llvm::sys::fs::is_directory(step.dataRoot))
    fail("--data-root: '" + step.dataRoot.getValue() + "' is no folder");
  if (!options.dumpAfter.empty() &&
      llvm::none_of(allPhases(), [&](Phase p) { return phaseName(p) == options.dumpAfter; }))
    fail("--dump-after: unknown phase '" + options.dumpAfter + "'");
}

void Checker::checkSelection() {
  if (isGiven("trainable"))
    expectAbsent("freeze-all-but", "--trainable, which lists what is trained");
  if (!isGiven("frozen-precision"))
    return;
  expectWord("frozen-precision", step.frozenPrecision, {"bf16", "fp16"});
  if (step.precision != "fp32")
    expectAbsent("frozen-precision", "--precision=" + step.precision.getValue() +
                                         ", which stores all parameters in 16 bits");
  if (!isGiven("trainable") && !isGiven("freeze") && !isGiven("freeze-all-but"))
    expectAbsent("frozen-precision", "nothing frozen: none of --freeze, --freeze-all-but and "
                                     "--trainable is given");
}

void Checker::checkDevice() {
  expectWord("device", step.device, {"cpu", "cuda", "simulated"});
  if (step.device != "cpu")
    expectAbsent("threads-per-rank", "--device=" + step.device.getValue());
  if (step.device != "cuda")
    expectAbsent("gpu-arch", "--device=" + step.device.getValue());
  if (options.planOnly)
    expectAbsent("gpu-arch", "--plan-only, which compiles no kernel");
}

void Checker::checkPlan() {
  if (step.stage > 3)
    refuse("zero-stage", "0, 1, 2 or 3", step.stage.getValue());
  expectFrom1To("ranks", options.planOnly ? kMostPlannedRanks : rt::kMostRanks, step.ranks);
  expectFrom1To("threads-per-rank", rt::kMostThreads, step.threadsPerRank);
  expectAtLeastOne("bucket-bytes", step.bucketBytes.getValue());
  if (step.stage < 3)
    expectAbsent("persist-under", "--zero-stage=" + Twine(step.stage.getValue()) +
                                      ", which keeps all parameters whole");
  expectFrom1To("micro-batches", rt::kMostMicroBatches, step.microBatches);
  expectNotNegative("clip-norm", step.clipNorm);
  expectWord("loss-mean", step.lossMean, {"global", "local"});
  checkBudget();
  if (isGiven("checkpoint-slots")) {
    expectFrom1To("checkpoint-slots", kMostSlots, step.checkpointSlots);
    expectAbsent("checkpoint", keyOf("checkpoint-slots"));
  }
}

void Checker::checkBudget() {
  if (isGiven("checkpoint"))
    expectWord("checkpoint", step.checkpoint, {"none", "layer", "sqrt", "auto"});
  if (isGiven("zero"))
    expectWord("zero", step.zero, {"auto"});
  const bool isAuto = step.zero == "auto";
  for (StringRef flag : {"zero-stage", "persist-under"})
    if (isAuto)
      expectAbsent(flag, "--zero=auto, which chooses it");
  if (isGiven("memory-budget"))
    expectAtLeastOne("memory-budget", step.memoryBudget.getValue());
  if (isGiven("activation-budget"))
    expectAtLeastOne("activation-budget", step.activationBudget.getValue());
  const bool hasBudget = isGiven("memory-budget") || isGiven("activation-budget");
  if (step.checkpoint == "auto" && !hasBudget && !isAuto)
    fail(keyOf("checkpoint") + "=auto: expected --memory-budget or --activation-budget, which say "
                               "how much is to be computed again");
  if (!hasBudget && !isAuto && !isOffloaded())
    expectAbsent("machine",
                 "no --memory-budget, --activation-budget, --zero=auto or --offload-...");
}

bool Checker::isOffloaded() const {
  return step.offloadParams != "device" || step.offloadGradients != "device" ||
         step.offloadOptimizer != "device" || step.offloadActivations != "device";
}

void Checker::checkTiers() {
  const bool isAuto = step.zero == "auto", isPlanned = isAuto || isGiven("memory-budget");
  for (auto &[flag, tier] : {std::pair<StringRef, StringRef>{"offload-params", step.offloadParams},
                             {"offload-optimizer", step.offloadOptimizer},
                             {"offload-activations", step.offloadActivations}}) {
    expectWord(flag, tier, {"device", "host", "nvme", "auto"});
    if (tier == "auto" && !isPlanned)
      fail(keyOf(flag) + "=auto: expected --memory-budget, which says how much has to leave");
  }
  expectWord("offload-gradients", step.offloadGradients, {"device", "host", "nvme"});
  if (isGiven("host-budget")) {
    expectAtLeastOne("host-budget", step.hostBudget.getValue());
    if (!isOffloaded())
      fail(keyOf("host-budget") +
           ": expected one of --offload-... that lets something leave the device");
  }
  if (step.offloadParams != "device" && step.stage != 3 &&
      !(isAuto && step.offloadParams == "auto"))
    refuse("offload-params", "--zero-stage=3 with it: what is moved away is sharded over ranks",
           step.zero == "auto" ? "--zero=auto" : "stage " + std::to_string(step.stage));
  if (isOffloaded() && step.device == "cuda")
    fail("--device=cuda: expected everything on the device, as --offload-params, "
         "--offload-gradients, --offload-optimizer and --offload-activations are only for programs "
         "of the cpu yet");
}

void Checker::checkPrecision() {
  expectWord("precision", step.precision, {"fp32", "bf16", "fp16"});
  expectWord("reduce-dtype", step.reduceDtype, {"fp32", "bf16", "fp16"});
  if (step.precision == "fp32")
    expectAbsent("reduce-dtype", "--precision=fp32");
  else if (step.reduceDtype != "fp32" && step.reduceDtype != step.precision)
    refuse("reduce-dtype",
           "fp32 or " + step.precision.getValue() + " with " + keyOf("precision") + "=" +
               step.precision.getValue(),
           "'" + step.reduceDtype.getValue() + "'");
}

void Checker::checkLossScale() {
  const StringRef adapting[] = {"initial-loss-scale", "min-loss-scale", "loss-scale-window",
                                "loss-scale-hysteresis"};
  if (step.precision != "fp16") {
    expectAbsent("loss-scale", "--precision=" + step.precision.getValue());
    for (StringRef flag : adapting)
      expectAbsent(flag, "--precision=" + step.precision.getValue());
    return;
  }
  if (step.lossScale != 0) {
    expectPositive("loss-scale", step.lossScale);
    for (StringRef flag : adapting)
      expectAbsent(flag, keyOf("loss-scale") + "=" + number(step.lossScale));
    return;
  }
  expectPositive("initial-loss-scale", step.initialLossScale);
  expectPositive("min-loss-scale", step.minLossScale);
  expectAtLeastOne("loss-scale-window", step.lossScaleWindow);
  expectAtLeastOne("loss-scale-hysteresis", step.lossScaleHysteresis);
  if (step.initialLossScale < step.minLossScale)
    refuse("initial-loss-scale",
           "at least " + keyOf("min-loss-scale") + "=" + number(step.minLossScale),
           number(step.initialLossScale));
}

/// A message begins with the flag that it is about.
void Checker::failAt(StringRef message) {
  size_t end = std::min(message.find(':'), message.find('='));
  fail(keyOf(message.take_front(end)) + message.substr(end));
}

void Checker::checkOptimizer() {
  const OptimizerDefinition *definition = findOptimizer(step.optimizer);
  for (const OptimizerFlag &flag : optimizerFlags())
    if (definition && !definition->find(flag.name))
      expectAbsent(flag.name, "--optimizer=" + step.optimizer.getValue() + ", which has " +
                                  definition->flags());
  if (!std::isfinite(static_cast<float>(options.learningRate)) || options.learningRate < 0)
    refuse("lr", "a finite number >= 0", number(options.learningRate));
  if (std::string wrong = step.optimizerOptions().check(); !wrong.empty())
    failAt(wrong);
}

void Checker::checkGroups() {
  if (!error.empty())
    return;
  bool decays = Settings(step.optimizerOptions()).number(kWeightDecay) != 0;
  for (const std::string &text : step.paramGroups) {
    std::string wrong;
    std::optional<ParameterGroup> group = parseParameterGroup(text, wrong);
    if (!group)
      return fail(keyOf("param-group") + ": " + wrong);
    decays |= group->weightDecay.value_or(0) != 0;
  }
  for (const std::string &text : step.noDecay)
    if (auto pattern = llvm::GlobPattern::create(text); !pattern)
      return fail(keyOf("no-decay") + ": '" + text + "': " + llvm::toString(pattern.takeError()));
  if (!decays)
    expectAbsent("no-decay", keyOf("weight-decay") + "=0");
}

void Checker::checkSchedule() {
  ScheduleOptions schedule{step.schedule, step.warmupSteps, step.totalSteps, step.minLearningRate};
  std::string wrong = zero::checkSchedule(schedule);
  if (!wrong.empty())
    failAt(wrong);
}

void Checker::checkReduction() {
  expectWord("grad-reduce", step.gradReduce, {"last", "each"});
  if (step.stage >= 2)
    expectAbsent("grad-reduce", "--zero-stage=" + Twine(step.stage.getValue()) +
                                    ", which reduces each micro-batch");
  if (step.microBatches == 1)
    expectAbsent("grad-reduce", "--micro-batches=1");
}

void Checker::checkForwardOnly() {
  if (!step.forwardOnly)
    return;
  if (!(options.loss.empty() && step.trainable.empty() && step.freeze.empty() &&
        step.freezeAllBut.empty()))
    fail("--forward-only trains nothing, so --loss, --trainable, --freeze and --freeze-all-but "
         "have no effect");
  for (StringRef flag :
       {"precision",   "loss-scale",        "micro-batches",         "clip-norm",
        "lr-schedule", "warmup-steps",      "total-steps",           "min-lr-ratio",
        "no-decay",    "param-group",       "grad-reduce",           "reduce-dtype",
        "checkpoint",  "checkpoint-slots",  "partition-activations", "activation-budget",
        "zero",        "offload-gradients", "offload-optimizer",     "offload-activations"})
    expectAbsent(flag, "--forward-only, which trains nothing");
}

std::string checkFlags(const CompilerOptions &options, const GivenFlags &given) {
  return Checker(options, given).run();
}

} // namespace zero
