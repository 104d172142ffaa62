//===- weights_folder.cpp - write a folder of Hugging Face ----------------===//

#include "runtime/io/weights_folder.h"

#include "runtime/io/safetensors.h"
#include "runtime/support/json_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

namespace zero::rt {

namespace fs = std::filesystem;

static constexpr char kConfig[] = "config.json", kWeights[] = "model.safetensors",
                      kIndex[] = "model.safetensors.index.json", kAdapter[] = "adapter_config.json";

/// What is beside the weights, of which a folder has some: generation, the tokenizer, the template
/// of chats.
static constexpr const char *kCopied[] = {"generation_config.json",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "tokenizer.model",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "vocab.json",
                                          "vocab.txt",
                                          "merges.txt",
                                          "spiece.model",
                                          "chat_template.jinja",
                                          "chat_template.json"};

/// The keys of the type: of transformers 5, and before.
static constexpr const char *kTypeKeys[] = {"dtype", "torch_dtype"};

bool isFolderModel(const std::string &path) { return path.ends_with(".json"); }

//===----------------------------------------------------------------------===//
// Configuration
//===----------------------------------------------------------------------===//

static bool isThere(const std::string &path) {
  std::error_code error;
  return fs::exists(path, error);
}

Status readText(const std::string &path, std::string &text) {
  MappedFile file;
  ZERO_RT_TRY(MappedFile::open(path, file));
  text.assign(reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size());
  return {};
}

Status FolderConfig::read(const std::string &path, FolderConfig &config) {
  std::string text;
  ZERO_RT_TRY(readText(path, text));
  config.folder = path.substr(0, path.rfind('/') + 1);
  if (!JsonObject::parse(std::move(text), config.object))
    return fail(ZERO_RT_BAD_FILE,
                "'%s' is no JSON object; is it the configuration that was "
                "compiled?",
                escape(path).c_str());
  return {};
}

DType FolderConfig::dtype() const {
  for (const char *key : kTypeKeys)
    if (DType dtype = dtypeNamed(object.findString(key)); dtype != ZERO_RT_NO_DTYPE)
      return dtype;
  return ZERO_RT_NO_DTYPE;
}

std::string FolderConfig::textWith(DType dtype) const {
  const bool isOlder = object.has(kTypeKeys[1]) && !object.has(kTypeKeys[0]);
  return object.with(kTypeKeys[isOlder], std::string("\"") + nameOf(dtype) + "\"");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status removeUnless(const std::string &path, const std::string &text) {
  std::string found;
  if (!isThere(path) || (readText(path, found).ok() && found == text))
    return {};
  if (::unlink(path.c_str()) != 0)
    return fail(ZERO_RT_IO, "cannot remove '%s': %s", escape(path).c_str(), std::strerror(errno));
  return syncFolderOf(path);
}

Status WeightsFolder::createText(const std::string &name, std::string text, const Create &create) {
  texts.push_back({name, std::move(text), {}});
  ZERO_RT_TRY(create(folder + name, texts.back().file));
  return texts.back().file.write(texts.back().content);
}

Status WeightsFolder::copyFiles(const FolderConfig &config, const Create &create) {
  for (const char *name : kCopied) {
    std::string text;
    if (!isThere(config.beside(name)))
      continue;
    ZERO_RT_TRY(readText(config.beside(name), text));
    ZERO_RT_TRY(createText(name, text, create));
  }
  return {};
}

/// Fills one shard after the other, in the order of the model, as transformers does.
void WeightsFolder::divide(const std::vector<TensorEntry> &entries, uint64_t shardBytes) {
  uint64_t filled = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint64_t bytes = entries[i].bytes();
    if (shards.empty() || (filled > 0 && bytes > shardBytes - std::min(filled, shardBytes))) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().entries.push_back(i);
    filled += bytes;
  }
  if (shards.empty())
    shards.emplace_back();
}

/// Several shards get names that no file in the folder has: an index of older weights stays valid
/// until the new one replaces it.
void WeightsFolder::nameShards() {
  const size_t count = shards.size();
  auto isTaken = [&](const Shard &shard) { return isThere(folder + shard.name); };
  for (size_t version = 1; version == 1 || std::ranges::any_of(shards, isTaken); ++version) {
    const std::string suffix = version == 1 ? "" : format("-%zu", version);
    for (size_t i = 0; i < count; ++i)
      shards[i].name = format("model-%05zu-of-%05zu%s.safetensors", i + 1, count, suffix.c_str());
    if (count == 1) {
      shards[0].name = kWeights;
      return;
    }
  }
}

std::string WeightsFolder::indexOf(const std::vector<TensorEntry> &entries) const {
  std::map<std::string, const char *> homes;
  uint64_t elements = 0, bytes = 0;
  for (const Shard &shard : shards)
    for (size_t i : shard.entries) {
      homes[entries[i].name] = shard.name.c_str();
      elements += entries[i].elements();
      bytes += entries[i].bytes();
    }
  JsonWriter json;
  json.object(
      [&] {
        json.key("metadata").object([&] {
          json.member("total_parameters", elements);
          json.member("total_size", bytes);
        });
        json.key("weight_map")
            .object(
                [&] {
                  for (const auto &[name, home] : homes)
                    json.member(name, home);
                },
                JsonWriter::Lines);
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

Status WeightsFolder::create(const std::string &folder, const FolderConfig &config,
                             const std::vector<TensorEntry> &entries, uint64_t shardBytes,
                             const Create &create, WeightsFolder &made) {
  ZERO_RT_TRY(checkSafetensorsNames(entries));
  made.folder = folder;
  if (isThere(folder + kAdapter))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write a model to '%s': it has '%s', an adapter that transformers would add "
                "to the weights; name another folder",
                escape(folder).c_str(), kAdapter);
  ZERO_RT_TRY(makeFolders(folder));
  made.divide(entries, shardBytes);
  made.nameShards();
  for (Shard &shard : made.shards)
    ZERO_RT_TRY(create(folder + shard.name, shard.file));
  if (made.shards.size() > 1) {
    ZERO_RT_TRY(create(folder + kIndex, made.index));
    ZERO_RT_TRY(made.index.write(made.indexOf(entries)));
  }
  ZERO_RT_TRY(made.copyFiles(config, create));
  return made.createText(kConfig, config.textWith(mainType(entries)), create);
}

Status WeightsFolder::write(const std::vector<TensorEntry> &entries) {
  for (Shard &shard : shards) {
    std::vector<TensorEntry> own;
    for (size_t i : shard.entries)
      own.push_back(entries[i]);
    // transformers asks for this.
    ZERO_RT_TRY(writeSafetensors(shard.file, std::move(own), {{"format", "pt"}}));
  }
  return {};
}

Status WeightsFolder::sync() {
  for (Text &text : texts)
    ZERO_RT_TRY(text.file.sync());
  if (index.isOpen())
    ZERO_RT_TRY(index.sync());
  for (Shard &shard : shards)
    ZERO_RT_TRY(shard.file.sync());
  return {};
}

/// Whether a file of this name is one of several with weights.
static bool isShard(const std::string &name) {
  return name.starts_with("model-") && name.ends_with(".safetensors") &&
         name.find("-of-") != name.npos;
}

/// Removes the configuration of older weights if any of the files beside weights changes.
Status WeightsFolder::withdraw() const {
  const bool isSame = std::ranges::all_of(texts, [&](const Text &text) {
    std::string found;
    return isThere(folder + text.name) && readText(folder + text.name, found).ok() &&
           found == text.content;
  });
  return isSame ? Status() : removeUnless(folder + kConfig, "");
}

static Status removeOlder(const std::string &path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail(ZERO_RT_IO, "cannot remove older weights '%s': %s", escape(path).c_str(),
                std::strerror(errno));
  return {};
}

/// What names or replaces shards goes first.
Status WeightsFolder::removeOlderWeights() const {
  const bool isDivided = shards.size() > 1;
  ZERO_RT_TRY(removeOlder(folder + (isDivided ? kWeights : kIndex)));
  ZERO_RT_TRY(syncFolder(folder));
  std::set<std::string> kept;
  for (const Shard &shard : shards)
    kept.insert(shard.name);
  std::vector<std::string> older;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename(); isShard(name) && !kept.contains(name))
      older.push_back(it->path());
  if (error)
    return fail(ZERO_RT_IO, "cannot list '%s': %s", escape(folder).c_str(),
                error.message().c_str());
  for (const std::string &path : older)
    ZERO_RT_TRY(removeOlder(path));
  return syncFolder(folder);
}

/// All are on disk before the first one gets its name. One step replaces the older weights: the
/// index gets its name, model.safetensors gets it, or the older model.safetensors, which is read
/// before an index, is removed.
Status WeightsFolder::commit() {
  ZERO_RT_TRY(sync());
  ZERO_RT_TRY(withdraw());
  for (Shard &shard : shards)
    ZERO_RT_TRY(shard.file.commit());
  if (index.isOpen())
    ZERO_RT_TRY(index.commit());
  ZERO_RT_TRY(removeOlderWeights());
  for (Text &text : texts)
    ZERO_RT_TRY(text.file.commit());
  return {};
}

} // namespace zero::rt
