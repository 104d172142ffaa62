//===- onnx_model.h - rewrite initial values of an ONNX file ----*- C++ -*-===//

#ifndef RUNTIME_IO_ONNX_MODEL_H
#define RUNTIME_IO_ONNX_MODEL_H

#include "runtime/io/onnx_wire.h"
#include "runtime/io/tensor_entry.h"
#include "runtime/support/file.h"

namespace zero::rt {

/// An ONNX file and the positions of the values of some of its initializers. It is rewritten with
/// new values for these. Every other byte is unchanged, except that tensors in separate files move
/// to the one file of external data of the new model.
class OnnxModel {
public:
  /// Maps the model at `path` and finds its initializers and Constant nodes with the names of the
  /// entries, also those in the algorithm of training info `trainingInfo` (-1: none). An entry that
  /// the model lacks, or has in another shape or in a type without conversion, is an error.
  /// `dataFiles` are files of external data that may be read from any place; others only inside the
  /// model's folder.
  static Status open(const std::string &path, int trainingInfo,
                     const std::vector<std::string> &dataFiles,
                     const std::vector<TensorEntry> &entries, OnnxModel &model);

  /// Whether the model has external data: then `write` needs a second file.
  bool hasExternalData() const { return isExternal; }

  /// Writes the model to `file` and its external data to `data`, which the model will
  /// refer to as `dataName`, a piece of a tensor in memory at a time. `entries` are those given to
  /// `open`. Values are rounded to the type that the model has them in.
  Status write(OutputFile &file, OutputFile &data, const std::string &dataName,
               const std::vector<TensorEntry> &entries) const;

private:
  friend class OnnxRewriter;

  /// One tensor in the new file of external data: an entry's values, or old bytes.
  struct External {
    bool isEntry = false;
    size_t entry = 0;
    std::string file;
    uint64_t offset = 0, bytes = 0;
    uint64_t place = 0; ///< in the new file
  };

  Status writeExternal(OutputFile &data, const std::vector<External> &tensors,
                       const std::vector<TensorEntry> &entries) const;

  std::string path;
  int trainingInfo = -1;
  std::vector<std::string> dataFiles;
  MappedFile file;
  bool isExternal = false;
  std::vector<DType> stored; ///< by index of an entry: its type in the model
};

} // namespace zero::rt

#endif // RUNTIME_IO_ONNX_MODEL_H
