//===- WireScan.h - file ranges of tensors ----------------------*- C++ -*-===//

#ifndef LIB_IMPORT_WIRESCAN_H
#define LIB_IMPORT_WIRESCAN_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace zero::importer {

/// A range of bytes of the model's file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// The file ranges of the tensors of a graph, in the file's order; nothing for a tensor that is not
/// one block of little-endian elements.
struct TensorRanges {
  std::vector<std::optional<ByteRange>> initializers;
  /// One per node: those of its attribute `value`.
  std::vector<std::optional<ByteRange>> nodeValues;

  void append(TensorRanges other);
};

/// The tensors of the main graph, and of the graphs of one training info.
struct ModelRanges {
  TensorRanges main, initialization, algorithm;
};

/// Walks the wire format of the ModelProto `file`, whose parse has succeeded. Of its training infos
/// only that of number `training` is read. Protobuf's own classes copy the bytes and forget where
/// they came from.
ModelRanges scanTensors(llvm::StringRef file, std::optional<int> training);

/// The reason why `file` is not a complete ModelProto, according to its outermost fields.
std::string explainBadFile(llvm::StringRef file);

} // namespace zero::importer

#endif // LIB_IMPORT_WIRESCAN_H
