//===- weights_folder.h - write a folder of Hugging Face --------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_FOLDER_H
#define RUNTIME_IO_WEIGHTS_FOLDER_H

#include "runtime/io/tensor_entry.h"
#include "runtime/support/file.h"
#include "runtime/support/json_object.h"

namespace zero::rt {

/// Reads all of the file at `path`.
Status readText(const std::string &path, std::string &text);

/// Removes the file at `path`, if there is one, unless its content is `text`. Whoever publishes
/// weights for a configuration takes an older one away first: a folder is then not loaded instead
/// of weights of one run with the configuration of another.
Status removeUnless(const std::string &path, const std::string &text);

/// Whether the model at `path` is the configuration of a folder of Hugging Face.
bool isFolderModel(const std::string &path);

/// The configuration of a folder, its config.json.
class FolderConfig {
public:
  static Status read(const std::string &path, FolderConfig &config);

  /// The type that it says weights have; ZERO_RT_NO_DTYPE if it says none.
  DType dtype() const;
  /// Its text, with `dtype` as the type of weights.
  std::string textWith(DType dtype) const;
  const JsonObject &keys() const { return object; }
  /// The path of `file` beside it.
  std::string beside(const std::string &file) const { return folder + file; }

private:
  std::string folder; ///< with a slash at the end
  JsonObject object;
};

/// A folder that from_pretrained() of transformers loads: the configuration of the folder that a
/// model was read from, new weights in safetensors, and copies of the files of its tokenizer and
/// of generation. Files of other names that the folder has stay; those of older weights, which
/// would be loaded beside or instead of the new ones, are removed. A process that is killed leaves
/// the older weights, the new ones, or, if the configuration is another one, a folder without
/// config.json.
class WeightsFolder {
public:
  /// Creates the file of a path, unless it must not be written.
  using Create = std::function<Status(const std::string &path, OutputFile &file)>;

  /// Creates the temporaries of all files in `folder`, which ends with a slash. Weights that take
  /// more than `shardBytes` are divided into files of at most so many bytes, or of one tensor.
  static Status create(const std::string &folder, const FolderConfig &config,
                       const std::vector<TensorEntry> &entries, uint64_t shardBytes,
                       const Create &create, WeightsFolder &made);

  /// Writes the values of `entries`, those given to `create`.
  Status write(const std::vector<TensorEntry> &entries);
  Status sync();
  Status commit();

private:
  struct Shard {
    std::string name;
    std::vector<size_t> entries;
    OutputFile file;
  };
  struct Text {
    std::string name, content;
    OutputFile file;
  };
  Status createText(const std::string &name, std::string text, const Create &create);
  Status copyFiles(const FolderConfig &config, const Create &create);
  void divide(const std::vector<TensorEntry> &entries, uint64_t shardBytes);
  void nameShards();
  std::string indexOf(const std::vector<TensorEntry> &entries) const;
  Status withdraw() const;
  Status removeOlderWeights() const;

  std::string folder;
  std::vector<Shard> shards;
  OutputFile index;        ///< open if there are several shards
  std::vector<Text> texts; ///< the other files, the configuration last
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_FOLDER_H
