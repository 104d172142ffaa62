//===- Rope.cpp - frequencies of rotary embeddings ------------------------===//
//
// In float32 and in the order of transformers' modeling_rope_utils.py, so that the tables are the
// same: Su et al., arXiv 2104.09864; linear: Chen et al., arXiv 2306.15595; yarn: Peng et al.,
// arXiv 2309.00071; longrope: Ding et al., arXiv 2402.13753; llama3: Grattafiori et al., arXiv
// 2407.21783.
//
//===----------------------------------------------------------------------===//

#include "Config.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <numbers>

using namespace llvm;

namespace zero::hf {

/// The keys that each type of rope reads besides rope_theta.
static constexpr std::pair<StringLiteral, StringLiteral> kTypes[] = {
    {"default", ""},
    {"linear", "factor"},
    {"llama3", "factor,low_freq_factor,high_freq_factor,original_max_position_embeddings"},
    {"yarn", "factor,attention_factor,beta_fast,beta_slow,mscale,mscale_all_dim,truncate,"
             "original_max_position_embeddings"},
    {"longrope",
     "factor,attention_factor,short_factor,long_factor,original_max_position_embeddings"}};

static bool isInList(StringRef list, StringRef word) {
  return is_contained(split(list, ','), word);
}

namespace {
/// One rope under construction.
struct Reader {
  Keys &keys;
  Rope rope;
  int64_t original; ///< positions of pretraining
  float base;

  /// The number of `key`, which has no default.
  double need(StringRef key) {
    if (!keys.has(key))
      keys.refuse(key, "a number");
    const double number = keys.number(key, 1);
    if (!(number > 0 && std::isfinite(number)))
      keys.refuse(key, "a number above 0");
    return number;
  }
  void divide(float factor) {
    for (float &frequency : rope.frequencies)
      frequency /= factor;
  }
  void llama3();
  void yarn();
  void longrope(int64_t sequence, int64_t limit);
  /// The pair of elements that turns `rotations` times over the positions of pretraining.
  double turning(double rotations) const {
    const double width = 2.0 * double(rope.frequencies.size());
    return width * std::log(double(original) / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(double(base)));
  }
};
} // namespace

void Reader::llama3() {
  const auto factor = float(need("factor")), low = float(need("low_freq_factor"));
  const auto high = float(need("high_freq_factor"));
  if (!(low < high))
    keys.refuse("high_freq_factor", "more than low_freq_factor");
  const auto positions = float(original);
  for (float &frequency : rope.frequencies) {
    const float wave = float(2 * std::numbers::pi) / frequency;
    const float slow = frequency / factor;
    const float smooth = (positions / wave - low) / (high - low);
    if (wave > positions / low)
      frequency = slow;
    else if (wave >= positions / high)
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
  }
}

void Reader::yarn() {
  const double factor = need("factor");
  auto scaleFor = [&](double weight) {
    return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1;
  };
  const double scale = keys.number("mscale", 0), all = keys.number("mscale_all_dim", 0);
  rope.factor =
      keys.number("attention_factor", scale && all ? scaleFor(scale) / scaleFor(all) : scaleFor(1));
  double low = turning(keys.number("beta_fast", 32)), high = turning(keys.number("beta_slow", 1));
  if (keys.flag("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, 2.0 * double(rope.frequencies.size()) - 1);
  if (low == high)
    high += 0.001;
  for (auto [index, frequency] : enumerate(rope.frequencies)) {
    const float ramp = std::clamp((float(index) - float(low)) / float(high - low), 0.0F, 1.0F);
    const float kept = 1 - ramp;
    frequency = frequency / float(factor) * (1 - kept) + frequency * kept;
  }
}

void Reader::longrope(int64_t sequence, int64_t limit) {
  const double factor = keys.number("factor", double(limit) / double(original));
  rope.factor =
      keys.number("attention_factor",
                  factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(double(original))));
  const StringRef key = sequence > original ? "long_factor" : "short_factor";
  const std::vector<double> factors = keys.numbers(key);
  if (factors.size() != rope.frequencies.size())
    return keys.refuse(key, Twine(rope.frequencies.size()) + " numbers, half the rotated width");
  for (auto [frequency, divisor] : zip_equal(rope.frequencies, factors))
    frequency /= float(divisor);
}

Rope readRope(Keys &keys, const Family &family, int64_t width, int64_t sequence, int64_t limit) {
  std::string type = keys.text("rope_type", keys.text("type", "default"));
  if (type == "su")
    type = "longrope";
  const auto *found = find_if(kTypes, [&](const auto &each) { return each.first == type; });
  if (found == std::end(kTypes) || !isInList(family.ropeTypes, type)) {
    keys.refuse(keys.has("rope_type") ? "rope_type" : "type",
                "one of " + family.ropeTypes + " in model_type '" + family.type + "'");
    return {};
  }
  const bool isPartial = family.keys.contains("\"partial_rotary_factor\"");
  keys.refuseOthers(
      [&](StringRef key) {
        return key == "type" || key == "rope_type" || key == "rope_theta" ||
               (key == "partial_rotary_factor" && isPartial) || isInList(found->second, key);
      },
      "a rope of type '" + type + "' in model_type '" + family.type.str() + "'");
  const double portion = isPartial ? keys.number("partial_rotary_factor", 1) : 1;
  const auto rotated = int64_t(double(width) * portion);
  if (!(portion > 0 && portion <= 1) || rotated < 2 || rotated % 2) {
    keys.refuse("partial_rotary_factor",
                "an even number of rotated elements of the " + Twine(width) + " of a head");
    return {};
  }
  Reader reader{keys, {}, 0, 0};
  reader.base = float(reader.need("rope_theta"));
  reader.original = keys.size("original_max_position_embeddings", limit);
  for (int64_t at = 0; at < rotated; at += 2)
    reader.rope.frequencies.push_back(1 / std::pow(reader.base, float(at) / float(rotated)));
  if (type == "linear")
    reader.divide(float(reader.need("factor")));
  else if (type == "llama3")
    reader.llama3();
  else if (type == "yarn")
    reader.yarn();
  else if (type == "longrope")
    reader.longrope(sequence, limit);
  return reader.rope;
}

} // namespace zero::hf
