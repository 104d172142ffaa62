//===- gguf_model.cpp - a folder of Hugging Face as .gguf -----------------===//
//
// Names, keys and the order of rows are those of llama.cpp's convert_hf_to_gguf.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/io/gguf_model.h"

#include <cmath>
#include <map>
#include <memory>
#include <numbers>

namespace zero::rt {

namespace {
/// How llama.cpp computes a family.
struct Architecture {
  const char *family, *name;
  bool pairsNeighbours; ///< rotates elements 2i and 2i + 1 of a head, not i and i + width / 2
  const char *biased;   ///< the modules of a layer that may have a bias, each behind a space
};
} // namespace

static constexpr char kAllBiases[] = " attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down",
                      kQkvBiases[] = " attn_q attn_k attn_v";
static constexpr Architecture kArchitectures[] = {{"llama", "llama", true, kAllBiases},
                                                  {"mistral", "llama", true, ""},
                                                  {"qwen2", "qwen2", false, kQkvBiases},
                                                  {"qwen3", "qwen3", false, ""}};

/// The modules of a layer, and of the model.
static const std::map<std::string, std::string> kLayerNames = {
    {"input_layernorm", "attn_norm"},    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"}};
static const std::map<std::string, std::string> kModelNames = {
    {"model.embed_tokens", "token_embd"}, {"model.norm", "output_norm"}, {"lm_head", "output"}};

static Status unsupported(const std::string &what) {
  return fail(ZERO_RT_UNSUPPORTED, "cannot write a .gguf file: %s", what.c_str());
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The name of `name` in llama.cpp; empty if there is none.
static std::string nameOf(const std::string &name, const Architecture &architecture) {
  static constexpr std::string_view kLayers = "model.layers.";
  const size_t end = name.rfind('.');
  if (end == name.npos)
    return "";
  const std::string module = name.substr(0, end), kind = name.substr(end);
  if (!module.starts_with(kLayers)) {
    auto it = kModelNames.find(module);
    return it == kModelNames.end() || kind != ".weight" ? "" : it->second + kind;
  }
  const size_t dot = module.find('.', kLayers.size());
  auto it = kLayerNames.find(dot == module.npos ? "" : module.substr(dot + 1));
  if (it == kLayerNames.end())
    return "";
  const bool mayHave =
      kind == ".weight" ||
      (std::string(architecture.biased) + " ").find(" " + it->second + " ") != name.npos;
  return mayHave ? "blk." + module.substr(kLayers.size(), dot - kLayers.size()) + "." + it->second +
                       kind
                 : "";
}

/// `entry`, rows of heads, with the rows of each head as llama.cpp rotates them: first of the two
/// halves, then of their pairs. One head is in memory at a time.
static TensorEntry pairedRows(const TensorEntry &entry, uint64_t heads) {
  struct Head {
    uint64_t number = UINT64_MAX;
    std::vector<uint8_t> bytes;
  };
  TensorEntry made = entry;
  auto head = std::make_shared<Head>();
  const uint64_t height = entry.shape[0] / heads, row = entry.bytes() / entry.shape[0];
  made.read = [=](uint64_t offset, void *destination, uint64_t bytes) -> Status {
    for (uint64_t done = 0, count; done < bytes; done += count) {
      const uint64_t at = offset + done, number = at / (row * height);
      if (head->number != number) {
        head->bytes.resize(row * height);
        ZERO_RT_TRY(entry.read(number * row * height, head->bytes.data(), row * height));
        head->number = number;
      }
      const uint64_t to = at / row % height, from = to / 2 + to % 2 * (height / 2);
      count = std::min(row - at % row, bytes - done);
      std::copy_n(&head->bytes[from * row + at % row], count,
                  static_cast<uint8_t *>(destination) + done);
    }
    return {};
  };
  return made;
}

//===----------------------------------------------------------------------===//
// Configuration
//===----------------------------------------------------------------------===//

namespace {
/// Sizes of a model: those that keys may leave to the class follow from tensors.
struct Sizes {
  uint64_t heads = 0, groups = 0, headWidth = 0, vocabulary = 0;
};

class Converter {
public:
  Converter(const FolderConfig &config, std::vector<TensorEntry> &entries, GgufMetadata &metadata)
      : config(config), keys(config.keys()), entries(entries), metadata(metadata) {}

  Status run(uint32_t type);

private:
  Status measure();
  Status checkComputed() const;
  Status describe(uint32_t type);
  Status describeRope();
  Status rename();
  void addFactors(const JsonObject &rope, double base);
  template <typename T>
  void set(const char *key, T value) {
    metadata.set(std::string(architecture->name) + "." + key, value);
  }
  const TensorEntry *find(const std::string &name) const;

  const FolderConfig &config;
  const JsonObject &keys;
  std::vector<TensorEntry> &entries;
  GgufMetadata &metadata;
  const Architecture *architecture = nullptr;
  Sizes sizes;
};
} // namespace

const TensorEntry *Converter::find(const std::string &name) const {
  for (const TensorEntry &entry : entries)
    if (entry.name == name && !entry.shape.empty())
      return &entry;
  return nullptr;
}

Status Converter::measure() {
  const TensorEntry *query = find("model.layers.0.self_attn.q_proj.weight");
  const TensorEntry *key = find("model.layers.0.self_attn.k_proj.weight");
  const TensorEntry *table = find("model.embed_tokens.weight");
  sizes.heads = keys.findInteger("num_attention_heads").value_or(0);
  if (!query || !key || !table || sizes.heads == 0 || query->shape[0] % (2 * sizes.heads) != 0)
    return unsupported("expected tensors of layers, and the key 'num_attention_heads', which "
                       "divides the rows of q_proj");
  sizes.headWidth = query->shape[0] / sizes.heads;
  sizes.groups = key->shape[0] / sizes.headWidth;
  sizes.vocabulary = table->shape[0];
  return {};
}

/// Fails for keys whose effect llama.cpp does not have.
Status Converter::checkComputed() const {
  const std::string act = keys.has("hidden_act") ? keys.findString("hidden_act") : "silu";
  if (act != "silu" && act != "swish")
    return unsupported("llama.cpp computes 'silu', and hidden_act is '" + escape(act) + "'");
  if (keys.find("use_sliding_window") == "true")
    return unsupported("llama.cpp has no windows in this family, and use_sliding_window is true");
  return {};
}

Status Converter::describe(uint32_t type) {
  const std::string path = config.beside("");
  const size_t end = path.find_last_not_of('/');
  metadata.set("general.architecture", std::string_view(architecture->name));
  metadata.set("general.type", std::string_view("model"));
  if (end != path.npos)
    metadata.set("general.name",
                 std::string_view(path).substr(0, end + 1).substr(path.rfind('/', end) + 1));
  metadata.set("general.file_type", type);
  metadata.set("general.quantization_version", uint32_t(2));
  for (const auto &[from, to] : {std::pair{"num_hidden_layers", "block_count"},
                                 {"max_position_embeddings", "context_length"},
                                 {"hidden_size", "embedding_length"},
                                 {"intermediate_size", "feed_forward_length"}}) {
    std::optional<uint64_t> value = keys.findInteger(from);
    if (!value)
      return unsupported(format("config.json has no key '%s'", from));
    set(to, uint32_t(*value));
  }
  set("attention.head_count", uint32_t(sizes.heads));
  set("attention.head_count_kv", uint32_t(sizes.groups));
  set("attention.key_length", uint32_t(sizes.headWidth));
  set("attention.value_length", uint32_t(sizes.headWidth));
  set("attention.layer_norm_rms_epsilon", float(keys.findNumber("rms_norm_eps").value_or(1e-6)));
  set("vocab_size", uint32_t(sizes.vocabulary));
  set("rope.dimension_count", uint32_t(sizes.headWidth));
  return describeRope();
}

/// The factors by which llama.cpp divides frequencies, as a tensor: those of Llama 3.
void Converter::addFactors(const JsonObject &rope, double base) {
  const double factor = rope.findNumber("factor").value_or(8);
  const double low = rope.findNumber("low_freq_factor").value_or(1);
  const double high = rope.findNumber("high_freq_factor").value_or(4);
  const double before = rope.findNumber("original_max_position_embeddings").value_or(8192);
  auto factors = std::make_shared<std::vector<float>>();
  for (uint64_t i = 0; i < sizes.headWidth; i += 2) {
    const double length =
        2 * std::numbers::pi * std::pow(base, double(i) / double(sizes.headWidth));
    const double smooth = (before / length - low) / (high - low);
    factors->push_back(float(length < before / high  ? 1
                             : length > before / low ? factor
                                                     : 1 / ((1 - smooth) / factor + smooth)));
  }
  TensorEntry entry{"rope_freqs.weight", ZERO_RT_F32, {factors->size()}, {}};
  entry.read = [factors](uint64_t offset, void *destination, uint64_t bytes) {
    std::copy_n(reinterpret_cast<const uint8_t *>(factors->data()) + offset, bytes,
                static_cast<uint8_t *>(destination));
    return Status();
  };
  entries.push_back(std::move(entry));
}

Status Converter::describeRope() {
  const char *key = keys.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const JsonObject rope = keys.findObject(key);
  const double base =
      rope.findNumber("rope_theta").value_or(keys.findNumber("rope_theta").value_or(10000));
  set("rope.freq_base", float(base));
  std::string type = rope.findString("rope_type");
  if (type.empty())
    type = rope.findString("type");
  if (type.empty() || type == "default")
    return {};
  if (type == "llama3" && architecture->pairsNeighbours) {
    addFactors(rope, base);
    return {};
  }
  if (type != "linear")
    return unsupported("the rope type '" + escape(type) + "' is not supported");
  set("rope.scaling.type", std::string_view("linear"));
  set("rope.scaling.factor", float(rope.findNumber("factor").value_or(1)));
  return {};
}

/// Orders rows and gives tensors their names.
Status Converter::rename() {
  for (TensorEntry &entry : entries) {
    if (entry.name == "rope_freqs.weight")
      continue;
    const std::string name = nameOf(entry.name, *architecture);
    if (name.empty())
      return unsupported("llama.cpp has no tensor for '" + escape(entry.name) + "'");
    const bool isQuery = name.find(".attn_q.") != name.npos;
    if (architecture->pairsNeighbours && (isQuery || name.find(".attn_k.") != name.npos))
      entry = pairedRows(entry, isQuery ? sizes.heads : sizes.groups);
    entry.name = name;
  }
  return {};
}

Status Converter::run(uint32_t type) {
  const std::string family = keys.findString("model_type");
  for (const Architecture &each : kArchitectures)
    if (family == each.family)
      architecture = &each;
  if (!architecture)
    return unsupported("expected a model_type of llama, mistral, qwen2 or qwen3, got '" +
                       escape(family) + "'");
  ZERO_RT_TRY(measure());
  ZERO_RT_TRY(checkComputed());
  ZERO_RT_TRY(describe(type));
  ZERO_RT_TRY(rename());
  return describeTokenizer(config, sizes.vocabulary, metadata);
}

Status makeGguf(const FolderConfig &config, uint32_t type, std::vector<TensorEntry> &entries,
                GgufMetadata &metadata) {
  return Converter(config, entries, metadata).run(type);
}

} // namespace zero::rt
