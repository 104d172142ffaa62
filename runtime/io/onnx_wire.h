//===- onnx_wire.h - the wire format of ONNX --------------------*- C++ -*-===//
// A model is rewritten as pieces: most are ranges of the old file, byte for byte, so that fields
// that this runtime does not know are unchanged.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_IO_ONNX_WIRE_H
#define RUNTIME_IO_ONNX_WIRE_H

#include "runtime/support/status.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace zero::rt {

/// A range of the old file.
struct WireRange {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

/// A field of a message: all of its bytes, including its tag, and the contents of a
/// length-delimited one.
struct WireField {
  int number = 0;
  bool isBlock = false;
  uint64_t value = 0; ///< of a varint
  WireRange whole, block;
};

/// Visits the fields of the message at `message` of `file` in order; stops at an error.
Status forEachField(std::span<const uint8_t> file, WireRange message,
                    const std::function<Status(const WireField &)> &visit);

/// The varints packed in `block`.
Status readVarints(std::span<const uint8_t> file, WireRange block, std::vector<uint64_t> &values);

/// The contents of one part of the new file.
struct WirePiece {
  enum Kind { Old, Text, Tensor } kind = Old;
  WireRange old;
  std::string text;
  size_t tensor = 0;  ///< index of an entry: its values
  uint64_t bytes = 0; ///< how many this piece writes
};

/// The pieces of a message in order, and their size.
class WirePieces {
public:
  void old(WireRange range);
  void text(std::string bytes);
  void tensor(size_t entry, uint64_t bytes);
  void append(WirePieces &&other);
  /// A length-delimited field.
  void field(int number, WirePieces &&block);
  void field(int number, const std::string &text);

  const std::vector<WirePiece> &list() const { return pieces; }
  uint64_t size() const { return total; }

private:
  void add(WirePiece piece);

  std::vector<WirePiece> pieces;
  uint64_t total = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_ONNX_WIRE_H
