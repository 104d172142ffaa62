//===- event_file.h - figures of a run for TensorBoard ----------*- C++ -*-===//

#ifndef RUNTIME_IO_EVENT_FILE_H
#define RUNTIME_IO_EVENT_FILE_H

#include "runtime/support/status.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace zero::rt {

/// A number at a step: "train/loss".
struct Scalar {
  std::string tag;
  double value;
};

/// A file that TensorBoard reads: records of Event (tensorflow/core/util/event.proto)
/// as in TFRecord files, each with its length and the CRC-32C of both. Each record is complete once
/// it is written, so a run that is killed leaves a file that can be read.
class EventFile {
public:
  /// Creates a file in `folder`. A run that begins at step `first` hides what earlier files there
  /// say of this step and later ones.
  Status open(const std::string &folder, uint64_t first);
  bool isOpen() const { return file.is_open(); }
  Status add(uint64_t step, const std::vector<Scalar> &scalars);

private:
  Status write(const std::string &event);

  std::string path;
  std::ofstream file;
};

} // namespace zero::rt

#endif // RUNTIME_IO_EVENT_FILE_H
