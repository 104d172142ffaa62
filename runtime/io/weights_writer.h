//===- weights_writer.h - write trained weights -----------------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_WRITER_H
#define RUNTIME_IO_WEIGHTS_WRITER_H

#include "runtime/io/gguf.h"
#include "runtime/io/onnx_model.h"
#include "runtime/io/weights_folder.h"

namespace zero::rt {

/// The sources of a program: its ONNX model or the configuration of its folder, or empty, a
/// checkpoint of onnxruntime-training, or empty, the configuration of its adapters, or empty, and
/// all files from which its initial values are read.
struct WeightsOrigin {
  std::string model, ortCheckpoint, adapterConfig;
  int trainingInfo = -1; ///< of the model: that the program is, or -1
  std::vector<std::string> files;
  float learningRate = 0;   ///< with which a run that continues starts
  std::string weights = {}; ///< a file that this run starts from in place of them, or empty
};

/// How weights are written, where their format leaves it open.
struct WeightsForm {
  /// Of a file of a folder. 0: what transformers has.
  uint64_t shardBytes = 0;
  /// Of elements. ZERO_RT_NO_DTYPE: in a folder, as in the folder of the model; else, as the
  /// program stores them.
  DType dtype = ZERO_RT_NO_DTYPE;
  bool inBlocks = false;       ///< of a .gguf file: matrices are Q8_0
  bool mergesAdapters = false; ///< writes the matrices that adapters make of the adapted ones
};

/// Whether a file of weights with this name is a model.
bool writesModel(const std::string &path);

/// Writes weights in the format that the name of the file says:
/// - .safetensors;
/// - .onnx: the model that the program was made from, with new values. External data goes to a
///   second file, FILE.data;
/// - .gguf: the model of a folder of Hugging Face, for llama.cpp;
/// - no suffix, if the program begins with a checkpoint of onnxruntime-training: one with new
///   values;
/// - a folder, a name that ends with a slash: one that PEFT loads if the program trains adapters
///   that are not merged, else, if the model was a folder of Hugging Face, one that transformers
///   loads.
/// All other names are those of .safetensors. Files appear under their names at commit().
class WeightsWriter {
public:
  /// Creates the temporaries and, for .onnx, checks that the model has all `entries` (whose
  /// contents are not read), so that errors are found before training. A file of the origin is
  /// never overwritten.
  static Status create(const std::string &path, const WeightsOrigin &origin,
                       const WeightsForm &form, std::vector<TensorEntry> entries,
                       WeightsWriter &writer);

  /// Writes the values of `entries`, those given to `create`. Fails with ZERO_RT_NOT_FINITE at one
  /// that is not finite but must be.
  Status write(std::vector<TensorEntry> entries);
  /// Flushes to disk, so that errors occur before any file is renamed.
  Status sync();
  Status commit();
  /// Whether it writes a folder whose weights may be in several files.
  bool mayDivide() const { return format == Format::Folder; }

private:
  enum class Format { Safetensors, Onnx, OrtCheckpoint, Adapter, Folder, Gguf };
  Format formatOf(const std::string &path) const;
  Status createOutput(const std::string &path, OutputFile &output) const;
  Status createAdapter(const std::string &path);
  Status createFolder(const std::string &path, const std::vector<TensorEntry> &entries);
  Status readConfig(const std::string &path);
  Status createOnnx(const std::string &path, const std::vector<TensorEntry> &entries);
  DType typeOf(const TensorEntry &entry) const;
  bool keepsTypes() const { return format == Format::Onnx || format == Format::OrtCheckpoint; }
  bool makesTypes() const { return format == Format::Folder || format == Format::Gguf; }
  Status makeWritten(std::vector<TensorEntry> &entries);
  Status writeChecked(const std::vector<TensorEntry> &entries);

  Format format = Format::Safetensors;
  std::string dataName, adapterConfig; ///< of external data, and the path of a configuration
  WeightsOrigin origin;
  WeightsForm form;
  OnnxModel model;
  FolderConfig config;
  GgufMetadata metadata;
  WeightsFolder folder;
  OutputFile file, data;
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_WRITER_H
