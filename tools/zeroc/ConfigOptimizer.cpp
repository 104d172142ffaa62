//===- ConfigOptimizer.cpp - optimizer and scheduler ----------------------===//

#include "ConfigParts.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace zero {

//===----------------------------------------------------------------------===//
// The optimizer
//===----------------------------------------------------------------------===//

/// Parameters of implementations, not of what they compute.
static void ignoreImplementation(ConfigBlock &params) {
  params.ignore({"capturable", "differentiable", "foreach", "fp32_optimizer_states", "fused",
                 "set_grad_none"});
  params.expect("maximize", {"false"}, "the loss is made small");
}

static void readMoments(ConfigBlock &params) {
  if (std::optional<std::string> betas = params.readPair("betas"))
    params.set("betas", "betas", *betas);
}

/// What Adam's and LAMB's implementations offer in common.
static void readAdaptive(ConfigBlock &params) {
  readMoments(params);
  params.setNumber("eps", "eps");
  params.expect("amsgrad", {"false"}, "moments are as in the paper");
  params.expect("bias_correction", {"true"}, "moments are as in the paper");
}

/// Reads the type's own parameters; returns our name of the optimizer.
static StringRef readAdam(Config &config, ConfigBlock &params, bool isAdamW) {
  readAdaptive(params);
  // DeepSpeed's Adam is AdamW unless told otherwise, and so is torch's when it runs it,
  // with a weight decay of its own.
  bool isTorch = params.readBool("torch_adam").value_or(false);
  isAdamW |= params.readBool("adam_w_mode").value_or(true);
  if (isTorch && isAdamW)
    config.setDefault("weight-decay", "0.01");
  return isAdamW ? "adamw" : "adam";
}

static StringRef readLamb(ConfigBlock &params) {
  readAdaptive(params);
  params.expect("eps_inside_sqrt", {"false"}, "moments are as in the paper");
  for (StringRef key : {"max_coeff", "min_coeff"})
    params.expect(key, {"null"}, "the trust ratio has no bounds, as in the paper");
  return "lamb";
}

static StringRef readSgd(ConfigBlock &params) {
  params.setNumber("momentum", "momentum");
  params.setNumber("dampening", "dampening");
  if (params.readBool("nesterov").value_or(false))
    params.set("nesterov", "nesterov", "true");
  return "sgd";
}

/// The kind of optimizer that DeepSpeed calls `type`; empty if we have none.
static StringRef kindOf(StringRef type) {
  return StringSwitch<StringRef>(type.lower())
      .Cases({"adam", "adamw"}, "adam")
      .Case("lamb", "lamb")
      .Case("lion", "lion")
      .Case("sgd", "sgd")
      .Default("");
}

static void readOptimizerBlock(Config &config, ConfigBlock &block) {
  std::optional<std::string> type = block.readWord("type");
  // Without a type the command line's holds, or the default.
  std::string name = type.value_or(config.givenValue("optimizer").value_or("adamw").str());
  StringRef kind = kindOf(name);
  if (kind.empty()) {
    if (type)
      block.refuse("type", "Adam, AdamW, Lamb, Lion or SGD");
    return;
  }
  ConfigBlock params = block.readBlock("params");
  params.setNumber("lr", "lr");
  params.setNumber("weight_decay", "weight-decay");
  params.expect("max_grad_norm", {"0"}, "write gradient_clipping");
  ignoreImplementation(params);
  StringRef ours = kind;
  if (kind == "adam")
    ours = readAdam(config, params, /*isAdamW=*/StringRef(name).lower() == "adamw");
  else if (kind == "lamb")
    readLamb(params);
  else if (kind == "lion")
    readMoments(params);
  else
    readSgd(params);
  if (type)
    block.set("type", "optimizer", ours);
  params.finish();
  block.ignore({"legacy_fusion"});
  block.finish();
}

//===----------------------------------------------------------------------===//
// The scheduler
//===----------------------------------------------------------------------===//

/// The highest learning rate, which the optimizer may name, too.
static void readPeak(Config &config, ConfigBlock &params) {
  std::optional<double> peak = params.readNumber("warmup_max_lr");
  if (!peak)
    return;
  auto named = find_if(config.getSettings(), [](const ConfigSetting &s) { return s.flag == "lr"; });
  if (named == config.getSettings().end())
    return params.set("warmup_max_lr", "lr", exactNumber(*peak));
  if (named->value != exactNumber(*peak))
    config.fail(params.pathOf("warmup_max_lr") + "=" + params.show("warmup_max_lr") +
                " contradicts " + named->key + "=" + named->shown);
}

/// What all three have: DeepSpeed's defaults are a warm-up of 1,000 steps along a
/// logarithm, which we have not.
static void readWarmup(Config &config, ConfigBlock &params, StringRef leastKey) {
  params.expect(leastKey, {"0"}, "the warm-up starts at 0");
  params.setCount("warmup_num_steps", "warmup-steps");
  config.setDefault("warmup-steps", "1000");
  std::optional<std::string> type = params.readWord("warmup_type");
  if (type != "linear")
    params.refuse("warmup_type", "'linear' (DeepSpeed's default, 'log', is not there)");
  params.expect("last_batch_iteration", {"-1"}, "steps are counted from the start");
}

static void readEnd(Config &config, ConfigBlock &params, StringRef type) {
  params.setCount("total_num_steps", "total-steps");
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
  readWarmup(config, params, kind == "cosine" ? "warmup_min_ratio" : "warmup_min_lr");
  if (kind != "constant")
    readEnd(config, params, *type);
  if (kind == "cosine") {
    params.setNumber("cos_min_ratio", "min-lr-ratio");
    config.setDefault("min-lr-ratio", "0.0001");
  } else {
    readPeak(config, params);
  }
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
