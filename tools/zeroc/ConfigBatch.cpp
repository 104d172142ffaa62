//===- ConfigBatch.cpp - the global batch and its factors -----------------===//
//
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks:
// what is missing follows from the others.
//
//===----------------------------------------------------------------------===//

#include "ConfigParts.h"

#include "runtime/support/checked.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace zero {

namespace {
/// One of the numbers: unknown is 0.
struct Factor {
  uint64_t value = 0;
  std::string text; ///< "gradient_accumulation_steps=4"
};
} // namespace

static Factor readFactor(ConfigBlock &top, StringRef key) {
  std::optional<uint64_t> value = top.readCount(key);
  if (!value)
    return {};
  if (*value == 0)
    top.refuse(key, "at least 1");
  return {*value, (key + "=" + Twine(*value)).str()};
}

/// The number that the command line gives.
static Factor givenFactor(const Config &config, StringRef flag) {
  Factor factor;
  std::optional<StringRef> value = config.givenValue(flag);
  if (value && parseInteger(*value, factor.value))
    factor.text = ("--" + flag + "=" + *value).str();
  return factor;
}

/// `whole` over `part`, or an error.
static uint64_t divide(Config &config, const Factor &whole, uint64_t part, const Twine &text) {
  if (whole.value % part != 0)
    config.fail(whole.text + " is no multiple of " + text);
  return whole.value / part;
}

void readBatch(Config &config, ConfigBlock &top) {
  constexpr StringLiteral kAccumulation = "gradient_accumulation_steps";
  Factor whole = readFactor(top, "train_batch_size");
  Factor local = readFactor(top, "train_micro_batch_size_per_gpu");
  Factor count = readFactor(top, kAccumulation);
  Factor ranks = givenFactor(config, "ranks");
  top.take(kAccumulation);
  if (!count.value)
    count = givenFactor(config, "micro-batches");
  if (local.value)
    config.setLocalBatch(local.value, local.text);
  if (!whole.value)
    return;

  if (!ranks.value && local.value && count.value) {
    uint64_t sum = SaturatingMultiply(local.value, count.value);
    ranks.value = divide(config, whole, sum, local.text + " x " + count.text);
    config.set("ranks", std::to_string(ranks.value), "train_batch_size",
               std::to_string(whole.value));
    return;
  }
  if (!ranks.value)
    ranks = {1, "--ranks=1"};
  if (!local.value) {
    if (!count.value)
      count = {1, std::string(kAccumulation) + "=1"};
    std::string text = count.text + " x " + ranks.text;
    uint64_t part = SaturatingMultiply(count.value, ranks.value);
    config.setLocalBatch(divide(config, whole, part, text), whole.text + " over " + text);
  } else if (!count.value) {
    uint64_t part = SaturatingMultiply(local.value, ranks.value);
    count.value = divide(config, whole, part, local.text + " x " + ranks.text);
    config.set("micro-batches", std::to_string(count.value), "train_batch_size",
               std::to_string(whole.value));
  } else {
    uint64_t product =
        SaturatingMultiply(SaturatingMultiply(local.value, count.value), ranks.value);
    if (product != whole.value)
      config.fail(whole.text + ": expected " + local.text + " x " + count.text + " x " +
                  ranks.text + " = " + Twine(product));
  }
}

} // namespace zero
