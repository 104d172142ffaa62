//===- weights_file.h - named tensors of a file -----------------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_FILE_H
#define RUNTIME_IO_WEIGHTS_FILE_H

#include "runtime/io/array.h"

#include <functional>
#include <map>
#include <set>

namespace zero::rt {

/// The tensors of a .safetensors or .npz file, or of a checkpoint of onnxruntime-training, by name.
/// The file is mapped; only a compressed member of an archive is unpacked, on request.
class WeightsFile {
public:
  static Status open(const std::string &path, WeightsFile &file);
  /// The same for arrays in memory, which must outlive it.
  using Arrays = std::map<std::string, Array>;
  explicit WeightsFile(Arrays arrays);
  WeightsFile() = default;

  using Get = std::function<Status(Array &array)>;
  const std::map<std::string, Get> &tensors() const { return all; }
  /// Whether tensor `name` is state of an optimizer, which a model without that optimizer does not
  /// take.
  bool isOptimizerState(const std::string &name) const { return optimizer.contains(name); }

private:
  Status list(const std::string &path, const std::shared_ptr<const MappedFile> &file);
  Status listOrt(const std::string &path, const std::shared_ptr<const MappedFile> &file);

  std::map<std::string, Get> all;
  std::set<std::string> optimizer;
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_FILE_H
