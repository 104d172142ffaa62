//===- ort_checkpoint.h - checkpoints of onnxruntime-training ---*- C++ -*-===//
// A flatbuffer with the parameters, the state of the optimizer and properties of the user. Its
// schema is ort_checkpoint.fbs.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_IO_ORT_CHECKPOINT_H
#define RUNTIME_IO_ORT_CHECKPOINT_H

#include "runtime/io/tensor_entry.h"
#include "runtime/support/file.h"

#include <optional>

namespace zero::rt {

/// A tensor of a checkpoint and the place of its row-major bytes.
struct OrtTensor {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  bool hasValue = true;    ///< a nominal checkpoint has none
  bool isExternal = false; ///< the bytes are in the file with the suffix kOrtDataSuffix
  uint64_t offset = 0, bytes = 0;
};

/// The file of a checkpoint whose tensors are outside is called as it, with this suffix.
inline constexpr char kOrtDataSuffix[] = ".data";
/// The only group of parameters that onnxruntime-training has, and the name by which Zero calls its
/// count of updates. The moments of a parameter are PARAMETER.momentum0 and 1.
inline constexpr char kOrtGroup[] = "group0", kOrtStep[] = "group0.step";

struct OrtCheckpoint {
  std::vector<OrtTensor> trained, frozen;
  std::vector<OrtTensor> moments; ///< of the optimizer, named PARAMETER.MOMENT
  std::optional<int64_t> step;    ///< of the optimizer, if it has run
  std::optional<float> learningRate;
};

/// Whether `file` says that it is such a checkpoint.
bool isOrtCheckpoint(std::span<const uint8_t> file);

/// Lists what `file` has. No byte outside of it is read. Errors: another version, tables outside of
/// the file, tensors without name, of types that the runtime does not have, or whose shape does not
/// match their bytes, names that two tensors have, and several groups of parameters.
Status parseOrtCheckpoint(std::span<const uint8_t> file, OrtCheckpoint &checkpoint);

/// Writes the checkpoint `original` to `file` with the values of `entries`, as onnxruntime-training
/// would after training: parameters by name, states as PARAMETER.MOMENT, and the count of updates
/// as kOrtStep. Frozen parameters and properties are kept. Errors: an entry that is none of these,
/// and more than 2 GiB, the limit of the format. The file is built in memory: flatbuffers have no
/// writer that streams.
Status writeOrtCheckpoint(OutputFile &file, const std::string &original, float learningRate,
                          const std::vector<TensorEntry> &entries);

} // namespace zero::rt

#endif // RUNTIME_IO_ORT_CHECKPOINT_H
