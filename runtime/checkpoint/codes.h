//===- codes.h - elements that are stored as codes --------------*- C++ -*-===//
// A tensor of codes has one of 8 or 4 bits for each element of a parameter; an element is a number
// of its table times the scale of its block (see Tensor.Blocks in runtime/format/executable.proto).
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_CODES_H
#define RUNTIME_CHECKPOINT_CODES_H

#include <cstdint>
#include <vector>

namespace zero::rt {

/// How the codes of a tensor stand for its elements; without any, elements are stored as they are.
struct Codes {
  uint64_t bits = 0;          ///< 8 or 4; 0: no codes
  uint64_t size = 1;          ///< elements of a block, which have one scale
  std::vector<float> numbers; ///< by code, ascending

  bool any() const { return bits != 0; }
  /// Elements of each byte.
  uint64_t perByte() const { return bits == 0 ? 1 : 8 / bits; }
  bool operator==(const Codes &) const = default;
};

/// Writes the elements of `blocks` whole blocks to `elements`.
void decodeBlocks(const Codes &codes, const uint8_t *bytes, const float *scales, uint64_t blocks,
                  float *elements);
/// Writes the codes of the nearest numbers, and the largest magnitude of each block as its scale.
void encodeBlocks(const Codes &codes, const float *elements, uint64_t blocks, uint8_t *bytes,
                  float *scales);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_CODES_H
