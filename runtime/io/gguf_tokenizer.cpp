//===- gguf_tokenizer.cpp - a tokenizer as metadata of .gguf --------------===//
//
// Byte-level BPE of tokenizer.json. llama.cpp splits texts by rules of its own, which it knows by
// names; they are recognized by the regular expressions of the tokenizer.
//
//===----------------------------------------------------------------------===//

#include "runtime/io/gguf_model.h"

#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"

namespace zero::rt {

static constexpr char kFile[] = "tokenizer.json";

/// The kinds of tokens.
enum TokenKind : int32_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

/// How texts are split before merges: llama.cpp's name, and the regular expression.
static constexpr std::pair<const char *, std::string_view> kSplits[] = {
    {"llama-bpe", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                  R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"qwen2", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
              R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"tekken", R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
               R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
               R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};

static Status unsupported(const std::string &what) {
  return fail(ZERO_RT_UNSUPPORTED, "cannot write a .gguf file: '%s': %s", kFile, what.c_str());
}

/// Whether `path` is a JSON object.
static bool readJson(const std::string &path, JsonObject &object) {
  std::string text;
  return readText(path, text).ok() && JsonObject::parse(std::move(text), object);
}

static JsonObject objectOf(std::string_view text) {
  JsonObject object;
  JsonObject::parse(std::string(text), object);
  return object;
}

static std::string stringOf(std::string_view text) {
  std::string value;
  JsonReader json(text);
  return json.takeString(value) ? value : std::string();
}

namespace {
class Tokenizer {
public:
  Tokenizer(const FolderConfig &config, uint64_t vocabulary, GgufMetadata &metadata)
      : config(config), tokens(vocabulary), kinds(vocabulary, kUnused), metadata(metadata) {}

  Status run();

private:
  Status readTokens(const JsonObject &model);
  Status readAdded(const JsonObject &file);
  Status addToken(const std::string &text, uint64_t number, TokenKind kind);
  Status nameSplit(const JsonObject &file, std::string &name) const;
  void describeSpecial(const JsonObject &file);
  void describeTemplate(const JsonObject &settings);

  const FolderConfig &config;
  std::vector<std::string> tokens;
  std::vector<int32_t> kinds;
  std::map<std::string, uint64_t> added; ///< special and other tokens beside those of the model
  GgufMetadata &metadata;
};
} // namespace

Status Tokenizer::addToken(const std::string &text, uint64_t number, TokenKind kind) {
  if (number >= tokens.size())
    return unsupported(format("token '%s' has number %llu, and the model has %zu tokens",
                              escape(text).c_str(), (unsigned long long)number, tokens.size()));
  tokens[number] = text;
  kinds[number] = kind;
  return {};
}

Status Tokenizer::readTokens(const JsonObject &model) {
  if (model.findString("type") != "BPE" || model.find("byte_fallback") == "true")
    return unsupported("expected byte-level BPE; tokenizers of SentencePiece are not supported");
  Status status;
  JsonReader json(model.find("vocab"));
  const bool isRead = json.takeObject([&](const std::string &text) {
    uint64_t number;
    if (!json.takeInteger(number))
      return false;
    status = addToken(text, number, kNormal);
    return status.ok();
  });
  return isRead || !status.ok() ? status : unsupported("expected a vocabulary of numbers");
}

static bool looksSpecial(const std::string &text) {
  return text.starts_with("<|") && text.ends_with("|>");
}

Status Tokenizer::readAdded(const JsonObject &file) {
  for (std::string_view element : file.findList("added_tokens")) {
    const JsonObject token = objectOf(element);
    const std::string text = token.findString("content");
    const uint64_t number = token.findInteger("id").value_or(tokens.size());
    const bool isSpecial = token.find("special") == "true" || looksSpecial(text);
    ZERO_RT_TRY(addToken(text, number, isSpecial ? kControl : kUserDefined));
    added[text] = number;
  }
  for (size_t i = 0; i < tokens.size(); ++i)
    if (kinds[i] == kUnused)
      tokens[i] = format("[PAD%zu]", i);
  return {};
}

/// The pairs of `model`: "a b", or ["a", "b"], whose spaces are written as that of bytes.
static std::vector<std::string> mergesOf(const JsonObject &model) {
  std::vector<std::string> merges;
  for (std::string_view element : model.findList("merges")) {
    if (!element.starts_with('[')) {
      merges.push_back(stringOf(element));
      continue;
    }
    std::string pair;
    JsonReader json(element);
    json.takeList([&] {
      std::string part;
      if (!json.takeString(part))
        return false;
      for (size_t at; (at = part.find(' ')) != part.npos;)
        part.replace(at, 1, "\u0120");
      pair += (pair.empty() ? "" : " ") + part;
      return true;
    });
    merges.push_back(std::move(pair));
  }
  return merges;
}

/// llama.cpp's name of how the tokenizer splits texts.
Status Tokenizer::nameSplit(const JsonObject &file, std::string &name) const {
  const JsonObject first = file.findObject("pre_tokenizer");
  std::vector<std::string_view> steps = first.findList("pretokenizers");
  if (steps.empty())
    steps.push_back(first.text());
  for (std::string_view text : steps) {
    const JsonObject step = objectOf(text);
    const std::string type = step.findString("type");
    const std::string pattern = step.findObject("pattern").findString("Regex");
    for (const auto &[split, expression] : kSplits)
      if (type == "Split" && pattern == expression)
        name = split;
    if (type == "ByteLevel" && name.empty() && step.find("use_regex") != "false")
      name = "gpt-2";
    if (type != "ByteLevel" && name.empty())
      return unsupported("llama.cpp has no name for how it splits texts, by '" + escape(type) +
                         "' of '" + escape(pattern) + "'");
  }
  return name.empty() ? unsupported("expected a pre_tokenizer that is byte-level") : Status();
}

/// The text of an added token that a key of tokenizer_config.json names, as it is or as an object.
static std::string tokenOf(const JsonObject &settings, const std::string &key) {
  const std::string text = settings.findString(key);
  return text.empty() ? settings.findObject(key).findString("content") : text;
}

/// Whether texts begin with the token `bos`: what the settings or the template of texts say.
static std::optional<bool> beginsWith(const JsonObject &file, const JsonObject &settings,
                                      const std::string &bos) {
  if (settings.has("add_bos_token"))
    return settings.find("add_bos_token") == "true";
  const JsonObject post = file.findObject("post_processor");
  std::vector<std::string_view> steps = post.findList("processors");
  if (steps.empty())
    steps.push_back(post.text());
  for (std::string_view text : steps) {
    const JsonObject step = objectOf(text);
    std::vector<std::string_view> pieces = step.findList("single");
    if (step.findString("type") != "TemplateProcessing" || pieces.size() < 2)
      continue;
    const JsonObject first = objectOf(pieces.front());
    if (first.has("SpecialToken"))
      return first.findObject("SpecialToken").findString("id") == bos;
  }
  return std::nullopt;
}

void Tokenizer::describeSpecial(const JsonObject &file) {
  JsonObject settings;
  readJson(config.beside("tokenizer_config.json"), settings);
  for (const auto &[key, name] : {std::pair{"bos", "bos"},
                                  {"eos", "eos"},
                                  {"unk", "unknown"},
                                  {"sep", "seperator"},
                                  {"pad", "padding"}}) {
    auto it = added.find(tokenOf(settings, std::string(key) + "_token"));
    std::optional<uint64_t> number = config.keys().findInteger(std::string(key) + "_token_id");
    if (it != added.end())
      number = it->second;
    if (number && *number < tokens.size())
      metadata.set(std::string("tokenizer.ggml.") + name + "_token_id", uint32_t(*number));
  }
  if (std::optional<bool> adds = beginsWith(file, settings, tokenOf(settings, "bos_token")))
    metadata.set("tokenizer.ggml.add_bos_token", *adds);
  describeTemplate(settings);
}

void Tokenizer::describeTemplate(const JsonObject &settings) {
  std::string text = settings.findString("chat_template");
  if (text.empty())
    (void)readText(config.beside("chat_template.jinja"), text);
  if (!text.empty())
    metadata.set("tokenizer.chat_template", std::string_view(text));
}

Status Tokenizer::run() {
  JsonObject file;
  if (!readJson(config.beside(kFile), file))
    return unsupported(
        "expected this file, whose tokenizer becomes a part of the .gguf file, in '" +
        escape(config.beside("")) + "'");
  const JsonObject model = file.findObject("model");
  std::string split;
  ZERO_RT_TRY(readTokens(model));
  ZERO_RT_TRY(readAdded(file));
  ZERO_RT_TRY(nameSplit(file, split));
  metadata.set("tokenizer.ggml.model", std::string_view("gpt2"));
  metadata.set("tokenizer.ggml.pre", std::string_view(split));
  metadata.set("tokenizer.ggml.tokens", tokens);
  metadata.set("tokenizer.ggml.token_type", kinds);
  metadata.set("tokenizer.ggml.merges", mergesOf(model));
  describeSpecial(file);
  return {};
}

Status describeTokenizer(const FolderConfig &config, uint64_t vocabulary, GgufMetadata &metadata) {
  return Tokenizer(config, vocabulary, metadata).run();
}

} // namespace zero::rt
