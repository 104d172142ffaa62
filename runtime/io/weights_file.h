//===- weights_file.h - named tensors of a file -----------------*- C++ -*-===//

#ifndef RUNTIME_IO_WEIGHTS_FILE_H
#define RUNTIME_IO_WEIGHTS_FILE_H

#include "runtime/io/array.h"

#include <functional>
#include <map>

namespace zero::rt {

/// The tensors of a .safetensors or .npz file by name. The file is mapped; only a compressed member
/// of an archive is unpacked, on request.
class WeightsFile {
public:
  static Status open(const std::string &path, WeightsFile &file);

  using Get = std::function<Status(Array &array)>;
  const std::map<std::string, Get> &tensors() const { return all; }

private:
  std::map<std::string, Get> all;
};

} // namespace zero::rt

#endif // RUNTIME_IO_WEIGHTS_FILE_H
