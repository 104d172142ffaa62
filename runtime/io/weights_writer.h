//===- weights_writer.h - write trained weights -----------------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_WRITER_H
#define RUNTIME_IO_WEIGHTS_WRITER_H

#include "runtime/io/onnx_model.h"

namespace zero::rt {

/// The sources of a program: its ONNX model, or empty, and all files from which its initial values
/// are read.
struct WeightsOrigin {
  std::string model;
  std::vector<std::string> files;
};

/// Writes weights as .safetensors or, where the file is called so, as .onnx: the model
/// that the program was made from, with new values. External data goes to a second
/// file, FILE.data. Files appear under their names at commit().
class WeightsWriter {
public:
  /// Creates the temporaries and, for .onnx, checks that the model has all `entries` (whose
  /// contents are not read), so that errors are found before training. A file of the origin is
  /// never overwritten.
  static Status create(const std::string &path, const WeightsOrigin &origin,
                       const std::vector<TensorEntry> &entries, WeightsWriter &writer);

  /// Writes the values of `entries`, those given to `create`.
  Status write(const std::vector<TensorEntry> &entries);
  /// Flushes to disk, so that errors occur before any file is renamed.
  Status sync();
  Status commit();

private:
  bool isOnnx = false;
  std::string dataName;
  OnnxModel model;
  OutputFile file, data;
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_WRITER_H
