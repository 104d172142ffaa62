//===- weights_writer.h - write trained weights -----------------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_WRITER_H
#define RUNTIME_IO_WEIGHTS_WRITER_H

#include "runtime/io/onnx_model.h"

namespace zero::rt {

/// The sources of a program: its ONNX model, or empty, a checkpoint of onnxruntime-training, or
/// empty, the configuration of its adapters, or empty, and all files from which its initial values
/// are read.
struct WeightsOrigin {
  std::string model, ortCheckpoint, adapterConfig;
  int trainingInfo = -1; ///< of the model: that the program is, or -1
  std::vector<std::string> files;
  float learningRate = 0; ///< with which a run that continues starts
};

/// Whether a file of weights with this name is a model.
bool writesModel(const std::string &path);
/// Whether a tensor has the name of a matrix of an adapter.
bool isOfAdapter(std::string_view name);
/// The module to which the tensor `name`, the first matrix of an adapter, belongs; else empty.
std::string moduleOfAdapter(std::string_view name);

/// Writes weights in the format that the name of the file says:
/// - .safetensors;
/// - .onnx: the model that the program was made from, with new values. External data goes to a
///   second file, FILE.data;
/// - no suffix, if the program begins with a checkpoint of onnxruntime-training: one with new
///   values;
/// - a folder, a name that ends with a slash, if the program trains adapters: one that PEFT loads.
/// All other names are those of .safetensors. Files appear under their names at commit().
class WeightsWriter {
public:
  /// Creates the temporaries and, for .onnx, checks that the model has all `entries` (whose
  /// contents are not read), so that errors are found before training. A file of the origin is
  /// never overwritten.
  static Status create(const std::string &path, const WeightsOrigin &origin,
                       const std::vector<TensorEntry> &entries, WeightsWriter &writer);

  /// Writes the values of `entries`, those given to `create`. Fails with ZERO_RT_NOT_FINITE at one
  /// that is not finite but must be.
  Status write(const std::vector<TensorEntry> &entries);
  /// Flushes to disk, so that errors occur before any file is renamed.
  Status sync();
  Status commit();

private:
  enum class Format { Safetensors, Onnx, OrtCheckpoint, Adapter };
  static Format formatOf(const std::string &path, const WeightsOrigin &origin);
  Status createAdapter(const std::string &folder);
  Status writeChecked(const std::vector<TensorEntry> &entries);

  Format format = Format::Safetensors;
  std::string dataName;
  WeightsOrigin origin;
  OnnxModel model;
  OutputFile file, data;
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_WRITER_H
