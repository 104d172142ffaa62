//===- Config.cpp - config.json of a model --------------------------------===//
//
// Every key has a reader here or in Rope.cpp, or is in the list of those without an effect on the
// loss and its gradients. Any other key with a value is an error.
//
//===----------------------------------------------------------------------===//

#include "Config.h"

#include "Mlp.h"
#include "runtime/support/checked.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <cmath>

using namespace llvm;

namespace zero::hf {

/// Layers and experts are built one by one, so a wrong number of them must not run for hours.
static constexpr int64_t kMaxLayers = 10000;

/// Keys that all families have, and those of families that rotate queries and keys.
static constexpr StringLiteral kCommonKeys =
    R"({"tie_word_embeddings": false, "pad_token_id": null, "attention_dropout": 0.0})";
static constexpr StringLiteral kRopeKeys =
    R"({"rope_parameters": null, "rope_scaling": null, "rope_theta": 10000.0})";

/// Keys without an effect on training with labels in transformers: names, generation, other tasks
/// than language modelling, how weights were initialized, which type they were stored in, and what
/// released configurations have though their classes do not read it.
static constexpr StringLiteral kIdleKeys[] = {"_attn_implementation_autoset",
                                              "_name_or_path",
                                              "_num_labels",
                                              "_sliding_window_pattern",
                                              "architectures",
                                              "attention_probs_dropout_prob",
                                              "attn_implementation",
                                              "auto_map",
                                              "begin_suppress_tokens",
                                              "bos_token_id",
                                              "cache_implementation",
                                              "chunk_size_feed_forward",
                                              "classifier_dropout",
                                              "cls_token_id",
                                              "diversity_penalty",
                                              "do_sample",
                                              "dtype",
                                              "early_stopping",
                                              "encoder_no_repeat_ngram_size",
                                              "eos_token_id",
                                              "finetuning_task",
                                              "forced_bos_token_id",
                                              "forced_eos_token_id",
                                              "full_attn_mod",
                                              "gradient_checkpointing",
                                              "hidden_dropout_prob",
                                              "id2label",
                                              "initializer_range",
                                              "interpolate_factor",
                                              "is_decoder",
                                              "is_llama_config",
                                              "label2id",
                                              "length_penalty",
                                              "mask_token_id",
                                              "max_length",
                                              "max_sequence_length",
                                              "max_window_layers",
                                              "min_length",
                                              "model_type",
                                              "n_ctx",
                                              "n_special",
                                              "no_repeat_ngram_size",
                                              "num_beam_groups",
                                              "num_beams",
                                              "num_labels",
                                              "num_return_sequences",
                                              "output_attentions",
                                              "output_hidden_states",
                                              "output_scores",
                                              "predict_special_tokens",
                                              "prefix",
                                              "pretraining_tp",
                                              "problem_type",
                                              "remove_invalid_values",
                                              "reorder_and_upcast_attn",
                                              "repetition_penalty",
                                              "return_dict",
                                              "return_dict_in_generate",
                                              "sep_token_id",
                                              "summary_activation",
                                              "summary_first_dropout",
                                              "summary_proj_to_labels",
                                              "summary_type",
                                              "summary_use_proj",
                                              "task_specific_params",
                                              "temperature",
                                              "tokenizer_class",
                                              "top_k",
                                              "top_p",
                                              "torch_dtype",
                                              "torchscript",
                                              "transformers.js_config",
                                              "transformers_version",
                                              "typical_p",
                                              "unk_token_id",
                                              "unsloth_fixed",
                                              "unsloth_version",
                                              "use_cache"};

static json::Object parse(StringRef text) {
  return std::move(*cantFail(json::parse(text)).getAsObject());
}

namespace {
class ConfigReader {
public:
  ConfigReader(Keys &keys, BatchShape shape) : keys(keys), shape(shape) {}

  std::optional<Config> read();

private:
  bool findFamily();
  void addDefaults();
  void readSizes();
  void readExperts();
  void readSwitches();
  void readFactors();
  void readScales();
  void readLayers();
  std::vector<bool> slidingLayers(int64_t count, const std::vector<double> &rotated);
  int addRope(const json::Object &rope, StringRef prefix, StringRef thetaKey);
  /// The ropes of layers that see all keys and of those with a window.
  std::pair<int, int> readRopes();

  Keys &keys;
  BatchShape shape;
  Config config;
  json::Object known; ///< the keys of the family, and their defaults
};
} // namespace

bool ConfigReader::findFamily() {
  const std::string type = keys.text("model_type");
  config.family = hf::findFamily(type);
  if (!config.family)
    keys.refuse(
        "model_type",
        "one of " +
            join(map_range(allFamilies(), [](const Family &each) { return each.type; }), ", "));
  return config.family != nullptr;
}

void ConfigReader::addDefaults() {
  const Family &family = *config.family;
  for (StringRef pair : split(family.renaming, ',')) {
    auto [own, common] = pair.split('=');
    if (!own.empty())
      keys.rename(own, common);
  }
  known = parse(family.keys);
  const bool rotates = family.names.positions.empty();
  for (StringRef more : {StringRef(kCommonKeys), rotates ? StringRef(kRopeKeys) : StringRef("{}")})
    for (auto &[key, value] : parse(more))
      known.try_emplace(key, std::move(value));
  keys.refuseOthers([&](StringRef key) { return known.get(key) || is_contained(kIdleKeys, key); },
                    ("model_type '" + family.type + "'").str());
  for (const std::string &name : keys.texts("architectures"))
    if (!StringRef(name).ends_with("ForCausalLM") && !StringRef(name).ends_with("LMHeadModel"))
      keys.refuse("architectures", "a model for causal language modelling");
  for (const auto &[key, value] : known)
    keys.addDefault(key, value);
}

void ConfigReader::readSizes() {
  config.vocabulary = keys.size("vocab_size");
  config.width = keys.size("hidden_size");
  config.inner = keys.size("intermediate_size", 4 * config.width);
  config.heads = keys.size("num_attention_heads");
  config.groups = keys.size("num_key_value_heads", config.heads);
  config.positions = keys.size("max_position_embeddings");
  if (config.heads % config.groups)
    keys.refuse("num_key_value_heads",
                "a divisor of num_attention_heads, which is " + Twine(config.heads));
  if (!keys.has("head_dim") && config.width % config.heads)
    keys.refuse("hidden_size",
                "a multiple of num_attention_heads, which is " + Twine(config.heads));
  config.headWidth = keys.size("head_dim", std::max<int64_t>(config.width / config.heads, 1));
  // Scores of all heads are the largest tensor there may be.
  int64_t joined = 1, scores = 1;
  if (!checkedProduct(std::array{config.heads + 2 * config.groups, config.headWidth}, kMaxSize,
                      joined))
    keys.refuse("num_attention_heads", "heads of together fewer than 2^28 elements");
  if (!checkedProduct(std::array{shape.batch, config.heads, shape.sequence, shape.sequence},
                      int64_t(1) << 58, scores))
    keys.refuse("num_attention_heads", "fewer than 2^58 scores of queries by keys with --shape");
  if (!config.family->names.positions.empty() && shape.sequence > config.positions)
    keys.refuse("max_position_embeddings", "at least the " + Twine(shape.sequence) +
                                               " positions of --shape: the table of positions has "
                                               "no more rows");
}

void ConfigReader::readExperts() {
  config.experts = keys.size("num_local_experts");
  config.expertsPerToken = keys.size("num_experts_per_tok");
  if (config.experts * int64_t(config.layers.size()) > kMaxLayers)
    keys.refuse("num_local_experts", "at most " + Twine(kMaxLayers) + " in all layers");
  if (config.expertsPerToken > config.experts)
    keys.refuse("num_experts_per_tok", "at most num_local_experts");
  if (keys.flag("output_router_logits"))
    keys.refuse("output_router_logits", "false: the loss that balances experts is not built");
  if (keys.number("router_jitter_noise", 0) != 0)
    keys.refuse("router_jitter_noise", "0: noise on the input of experts is not built");
}

void ConfigReader::readSwitches() {
  const Family &family = *config.family;
  config.isTied = keys.flag("tie_word_embeddings");
  config.isParallel = keys.flag("use_parallel_residual");
  const bool attention = keys.flag("attention_bias");
  config.qkvBias = family.qkvBias || attention;
  config.outputBias = family.outputBias || attention;
  config.mlpBias = family.mlpBias || keys.flag("mlp_bias");
  config.activation = keys.text("hidden_act");
  if (!isActivation(config.activation))
    keys.refuse("hidden_act", "one of " + listActivations());
  if (family.padsEmbedding && keys.has("pad_token_id")) {
    int64_t token = keys.integer("pad_token_id", 0);
    if (token < -config.vocabulary || token >= config.vocabulary)
      return keys.refuse("pad_token_id", "a token below vocab_size");
    config.padding = token < 0 ? token + config.vocabulary : token;
  }
}

void ConfigReader::readFactors() {
  config.epsilon =
      keys.number(config.family->norm == Norm::Layer ? "layer_norm_eps" : "rms_norm_eps", 0);
  if (!(config.epsilon >= 0 && config.epsilon < 1))
    keys.refuse("rms_norm_eps", "a number from 0 to 1");
  auto dropout = [&](StringRef key) {
    const double ratio = keys.number(key, 0);
    if (!(ratio >= 0 && ratio < 1))
      keys.refuse(key, "a number from 0 to below 1");
    return ratio;
  };
  if (StringRef key = config.family->embeddingDropout; !key.empty())
    config.embeddingDropout = dropout(key);
  config.residualDropout = dropout("resid_pdrop");
  config.attentionDropout = dropout("attention_dropout");
  config.embeddingScale = config.family->scalesEmbedding ? std::sqrt(double(config.width)) : 1;
  config.embeddingScale *= keys.number("embedding_multiplier", 1);
  config.residualScale = keys.number("residual_multiplier", 1);
  config.logitScale = keys.number("logits_scaling", 1);
  config.scoreCap = keys.number("attn_logit_softcapping", 0);
  config.logitCap = keys.number("final_logit_softcapping", 0);
}

/// The factor of scores.
void ConfigReader::readScales() {
  double scale = 1 / std::sqrt(double(config.headWidth));
  if (keys.has("query_pre_attn_scalar"))
    scale = 1 / std::sqrt(keys.number("query_pre_attn_scalar", 1));
  scale = keys.number("attention_multiplier", scale);
  if (!keys.flag("scale_attn_weights", true))
    scale = 1;
  const bool byLayer = keys.flag("scale_attn_by_inverse_layer_idx");
  for (auto [index, layer] : enumerate(config.layers))
    layer.scale = byLayer ? scale / double(index + 1) : scale;
}

/// The index of the rope that the dictionary describes, with the defaults that other keys say.
int ConfigReader::addRope(const json::Object &rope, StringRef prefix, StringRef thetaKey) {
  Keys inner(rope, keys.getLoc(), prefix.str());
  inner.addDefault("rope_theta", keys.number(thetaKey, 10000));
  if (keys.has("partial_rotary_factor"))
    inner.addDefault("partial_rotary_factor", keys.number("partial_rotary_factor", 1));
  if (keys.has("original_max_position_embeddings") &&
      inner.text("rope_type", inner.text("type", "default")) != "default")
    inner.addDefault("original_max_position_embeddings",
                     keys.size("original_max_position_embeddings", config.positions));
  Rope made = readRope(inner, *config.family, config.headWidth, shape.sequence, config.positions);
  keys.addErrors(inner);
  auto found = find(config.ropes, made);
  if (found != config.ropes.end())
    return int(found - config.ropes.begin());
  config.ropes.push_back(std::move(made));
  return int(config.ropes.size()) - 1;
}

std::pair<int, int> ConfigReader::readRopes() {
  const StringRef key = keys.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  static const json::Object none;
  const json::Object *rope = keys.dictionary(key);
  rope = rope ? rope : &none;
  const std::string prefix = (key + ".").str();
  if (!known.get("rope_local_base_freq")) {
    const int only = addRope(*rope, prefix, "rope_theta");
    return {only, only};
  }
  // One for each kind of layer; a flat dictionary is that of layers that see all keys.
  const json::Object *full = rope->getObject("full_attention");
  const json::Object *sliding = rope->getObject("sliding_attention");
  const bool isNested = full || sliding;
  return {addRope(full       ? *full
                  : isNested ? none
                             : *rope,
                  prefix, "rope_theta"),
          addRope(sliding ? *sliding : none, prefix, "rope_local_base_freq")};
}

/// Which layers have a window.
std::vector<bool> ConfigReader::slidingLayers(int64_t count, const std::vector<double> &rotated) {
  std::vector<bool> slides(count, true);
  const std::vector<std::string> types = keys.texts("layer_types");
  if (!types.empty() && int64_t(types.size()) != count)
    keys.refuse("layer_types", Twine(count) + " of them, as num_hidden_layers says");
  for (const std::string &type : types)
    if (type != "full_attention" && type != "sliding_attention") {
      keys.refuse("layer_types", "full_attention or sliding_attention");
      return slides;
    }
  const int64_t pattern =
      keys.has("sliding_window_pattern") ? keys.size("sliding_window_pattern") : 0;
  if (config.family->fixesSlidingPattern && known.getInteger("sliding_window_pattern") != pattern)
    keys.refuse("sliding_window_pattern", "no value: model_type '" + config.family->type +
                                              "' of transformers does not read it; layer_types "
                                              "says which layers have a window");
  const int64_t first = keys.integer("max_window_layers", 0);
  for (int64_t index = 0; index < count; ++index) {
    if (int64_t(types.size()) == count)
      slides[index] = types[index] == "sliding_attention";
    else if (pattern)
      slides[index] = (index + 1) % pattern != 0;
    else if (!rotated.empty())
      slides[index] = rotated[index] == 0;
    else
      slides[index] = index >= first;
  }
  return slides;
}

void ConfigReader::readLayers() {
  const int64_t count = keys.size("num_hidden_layers");
  if (count > kMaxLayers)
    return keys.refuse("num_hidden_layers", "at most " + Twine(kMaxLayers));
  config.layers.resize(count);
  std::vector<double> rotated = keys.numbers("no_rope_layers");
  if (rotated.empty() && keys.has("no_rope_layer_interval"))
    for (int64_t every = keys.size("no_rope_layer_interval"), index = 0; index < count; ++index)
      rotated.push_back((index + 1) % every != 0);
  if (!rotated.empty() && int64_t(rotated.size()) != count)
    return keys.refuse("no_rope_layers", Twine(count) + " of them, as num_hidden_layers says");
  const int64_t window = keys.has("sliding_window") && keys.flag("use_sliding_window", true)
                             ? keys.size("sliding_window")
                             : 0;
  if (window == 0 && is_contained(keys.texts("layer_types"), "sliding_attention"))
    keys.refuse("sliding_window", "the window of the layers that layer_types calls "
                                  "sliding_attention; use_sliding_window = false takes it away");
  const std::vector<bool> slides = slidingLayers(count, rotated);
  const bool rotates = config.family->names.positions.empty();
  const std::pair<int, int> ropes = rotates ? readRopes() : std::pair(-1, -1);
  for (auto [index, layer] : enumerate(config.layers)) {
    layer.window = slides[index] ? window : 0;
    if (rotated.empty() || rotated[index] != 0)
      layer.rope = slides[index] ? ropes.second : ropes.first;
  }
}

std::optional<Config> ConfigReader::read() {
  if (!findFamily())
    return std::nullopt;
  addDefaults();
  readSizes();
  readSwitches();
  readFactors();
  readLayers();
  if (!config.family->names.experts.empty())
    readExperts();
  readScales();
  if (keys.hasErrors())
    return std::nullopt;
  return std::move(config);
}

std::optional<Config> readConfig(Keys &keys, BatchShape shape) {
  return ConfigReader(keys, shape).read();
}

} // namespace zero::hf
