//===- ConfigOptimizer.cpp - optimizer and scheduler ----------------------===//

#include "ConfigParts.h"

#include "runtime/support/checked.h"
#include "zero/Optimizers/Definition.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace zero {

//===----------------------------------------------------------------------===//
// The optimizer
//===----------------------------------------------------------------------===//

/// Parameters of implementations, not of what they compute.
static void ignoreImplementation(ConfigBlock &params) {
  params.ignore("capturable differentiable foreach fp32_optimizer_states fused ns_method "
                "set_grad_none");
  params.expect("maximize", {"false"}, "the loss is minimized");
}

/// Sets a flag of an optimizer from its key.
static void readHyperparameter(ConfigBlock &params, const Hyperparameter &own) {
  if (own.isSwitch()) {
    if (params.readBool(own.key()).value_or(own.isNegation) != own.isNegation)
      params.set(own.key(), own.flag, "true");
  } else if (own.isWord()) {
    if (std::optional<std::string> word = params.readWord(own.key()))
      params.set(own.key(), own.flag, *word);
  } else if (own.defaults.size() == 1) {
    params.setNumber(own.key(), own.flag);
  } else if (std::optional<std::string> pair = params.readPair(own.key())) {
    params.set(own.key(), own.flag, *pair);
  }
  params.tie(own.key(), own.flag);
}

/// Sets the learning rates. Of an optimizer of matrices there are two, each with a key of its own.
static void readRates(ConfigBlock &params, const DeepSpeedNames &theirs) {
  const bool hasOwn = !theirs.matrixRate.empty() && params.has(theirs.matrixRate);
  const bool hasOther = !theirs.otherRate.empty() && params.has(theirs.otherRate);
  if (hasOwn)
    params.setNumber(theirs.matrixRate, "lr");
  else
    params.take("lr");
  if (hasOther)
    params.setNumber(theirs.otherRate, "other-lr");
  else if (hasOwn)
    params.setNumber("lr", "other-lr");
  if (hasOwn && hasOther)
    params.ignore("lr");
}

static bool isOfOther(const DeepSpeedNames &theirs, StringRef key) {
  return is_contained(make_first_range(theirs.ofOther), key);
}

/// Sets the optimizer of what is no matrix from the keys that DeepSpeed gives to it.
static void readOther(Config &config, ConfigBlock &params, const DeepSpeedNames &theirs) {
  const OptimizerDefinition &other = *findOptimizer(theirs.other);
  std::string text = theirs.other.str();
  for (auto [key, fallback] : theirs.ofOther) {
    const Hyperparameter &own = *other.find(key);
    std::optional<std::string> value;
    if (own.defaults.size() == 2)
      value = params.readPair(key);
    else if (std::optional<double> number = params.readNumber(key))
      value = exactNumber(*number);
    text += (":" + own.flag + "=" + value.value_or(fallback.str())).str();
  }
  config.setDefault("other-optimizer", text);
  params.setNumber(other.find(kWeightDecay)->key(), "other-weight-decay");
}

/// Reads the parameters of what DeepSpeed calls `named`; returns the optimizer that this is here.
static const OptimizerDefinition *readParameters(Config &config, ConfigBlock &params,
                                                 const OptimizerDefinition &named) {
  readRates(params, named.deepSpeed);
  readHyperparameter(params, *named.find(kWeightDecay));
  if (!named.deepSpeed.other.empty())
    readOther(config, params, named.deepSpeed);
  params.expect("max_grad_norm", {"0"}, "write gradient_clipping");
  ignoreImplementation(params);
  for (const Hyperparameter &own : named.hyperparameters)
    if (own.flag != kWeightDecay && !isOfOther(named.deepSpeed, own.key()))
      readHyperparameter(params, own);
  const DeepSpeedNames &theirs = named.deepSpeed;
  for (const NeutralKey &neutral : theirs.neutral)
    params.expect(neutral.key, {neutral.value}, neutral.reason);
  if (theirs.insteadBy.empty())
    return &named;
  bool isReplaced = params.readBool(theirs.unless).value_or(true) || named.name == theirs.insteadBy;
  if (params.readBool(theirs.when).value_or(false) && isReplaced)
    config.setDefault(theirs.flag, theirs.value);
  return isReplaced ? findOptimizer(theirs.insteadBy) : &named;
}

/// DeepSpeed's names: "Adam, AdamW or SGD".
static std::string typeNames() {
  SmallVector<StringRef> types;
  for (const OptimizerDefinition &definition : allOptimizers())
    types.push_back(definition.deepSpeed.type);
  return (join(ArrayRef(types).drop_back(), ", ") + " or " + types.back()).str();
}

/// The optimizer of this type; null if we have none.
static const OptimizerDefinition *findType(StringRef type) {
  auto found = find_if(allOptimizers(), [&](const OptimizerDefinition &definition) {
    return definition.deepSpeed.type.equals_insensitive(type);
  });
  return found == allOptimizers().end() ? nullptr : found;
}

/// The precision of states of an AdamW that Hugging Face's Trainer, bitsandbytes or torchao calls
/// `type`; empty if none of them does. What is paged there is what --offload-optimizer moves here.
static StringRef statePrecision(StringRef type) {
  return StringSwitch<StringRef>(type)
      .CasesLower({"adamw_8bit", "adamw8bit", "adamw_bnb_8bit", "adamw_torch_8bit",
                   "paged_adamw_8bit", "pagedadamw8bit"},
                  "8bit")
      .CasesLower({"adamw4bit", "adamw_torch_4bit"}, "4bit")
      .Default("");
}

static void readOptimizerBlock(Config &config, ConfigBlock &block) {
  std::optional<std::string> type = block.readWord("type");
  if (StringRef precision = statePrecision(type.value_or("")); !precision.empty()) {
    block.set("type", "state-precision", precision);
    type = "AdamW";
  }
  // Without a type the command line's holds, or the default.
  const OptimizerDefinition *named =
      type ? findType(*type) : findOptimizer(config.givenValue("optimizer").value_or("adamw"));
  if (!named) {
    if (type)
      block.refuse("type", typeNames());
    return;
  }
  ConfigBlock params = block.readBlock("params");
  const OptimizerDefinition &ours = *readParameters(config, params, *named);
  if (type)
    block.set("type", "optimizer", ours.name);
  params.finish();
  block.ignore("legacy_fusion");
  block.finish();
}

//===----------------------------------------------------------------------===//
// The scheduler
//===----------------------------------------------------------------------===//

/// The highest learning rate, which the optimizer may name, too.
static void readPeak(Config &config, ConfigBlock &params) {
  std::optional<double> peak = params.readNumber("warmup_max_lr");
  params.tie("warmup_max_lr", "lr");
  if (!peak)
    return;
  auto named = find_if(config.getSettings(), [](const ConfigSetting &s) { return s.flag == "lr"; });
  if (named == config.getSettings().end())
    return params.set("warmup_max_lr", "lr", exactNumber(*peak));
  if (named->value != exactNumber(*peak))
    config.fail(params.pathOf("warmup_max_lr") + "=" + params.show("warmup_max_lr") +
                " contradicts " + named->key + "=" + named->shown);
}

/// What the warm-up begins with: a rate, which is a part of the highest one, or this part.
static void readLeast(Config &config, ConfigBlock &params, bool isRatio) {
  const StringRef key = isRatio ? "warmup_min_ratio" : "warmup_min_lr";
  std::optional<double> least = params.readNumber(key);
  params.tie(key, "warmup-ratio");
  if (!least || *least == 0)
    return;
  double peak = 1;
  if (!isRatio && (!parseReal(config.valueOf("lr").value_or(""), peak) || peak <= 0))
    return params.refuse(key, "0 without a learning rate, here, in the optimizer or as --lr");
  params.set(key, "warmup-ratio", exactNumber(*least / peak));
}

/// What all three have. DeepSpeed's defaults are a warm-up of 1,000 steps along a logarithm; where
/// the number is "auto", it is that of the flag, and without the flag 0, as in transformers.
static void readWarmup(Config &config, ConfigBlock &params) {
  params.take("warmup_num_steps");
  if (!params.isAuto("warmup_num_steps"))
    config.setDefault("warmup-steps", "1000");
  std::optional<std::string> type = params.readWord("warmup_type");
  if (type && *type != "linear" && *type != "log")
    params.refuse("warmup_type", "'log' or 'linear'");
  else if (type)
    params.set("warmup_type", "warmup-form", *type);
  params.tie("warmup_type", "warmup-form");
  if (config.valueOf("warmup-steps").value_or("0") != "0")
    config.setDefault("warmup-form", "log");
  params.expect("last_batch_iteration", {"-1"}, "steps always start at 0");
}

/// The end of the schedule; where it is "auto", that of the run.
static void readEnd(Config &config, ConfigBlock &params, StringRef type) {
  std::optional<StringRef> steps = config.givenValue("run-steps");
  if (params.isAuto("total_num_steps") && !config.givenValue("total-steps") && steps)
    params.set("total_num_steps", "total-steps", *steps);
  params.take("total_num_steps");
  if (!config.valueOf("total-steps"))
    params.refuse("total_num_steps",
                  "the number of steps of " + type + ", here or as --total-steps");
}

static void readScheduler(Config &config, ConfigBlock &block) {
  std::optional<std::string> type = block.readWord("type");
  ConfigBlock params = block.readBlock("params");
  if (!type)
    return block.refuse("type", "WarmupLR, WarmupDecayLR or WarmupCosineLR");
  StringRef kind = StringSwitch<StringRef>(*type)
                       .Case("WarmupLR", "constant")
                       .Case("WarmupDecayLR", "linear")
                       .Case("WarmupCosineLR", "cosine")
                       .Default("");
  if (kind.empty())
    return block.refuse("type", "WarmupLR, WarmupDecayLR or WarmupCosineLR");
  block.set("type", "lr-schedule", kind);
  readWarmup(config, params);
  if (kind != "constant")
    readEnd(config, params, *type);
  if (kind == "cosine") {
    params.take("cos_min_ratio");
    config.setDefault("min-lr-ratio", "0.0001");
  } else {
    readPeak(config, params);
  }
  readLeast(config, params, /*isRatio=*/kind == "cosine");
  params.finish();
  block.finish();
}

void readOptimizer(Config &config, ConfigBlock &top) {
  if (top.has("optimizer")) {
    ConfigBlock optimizer = top.readBlock("optimizer");
    readOptimizerBlock(config, optimizer);
  }
  if (top.has("scheduler")) {
    ConfigBlock scheduler = top.readBlock("scheduler");
    readScheduler(config, scheduler);
  }
}

} // namespace zero
