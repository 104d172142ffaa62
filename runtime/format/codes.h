//===- codes.h - elements that are stored as codes --------------*- C++ -*-===//
// A tensor of codes has one of 8 or 4 bits for each element; an element is a number of its table
// times the scale of its block (see Tensor.Blocks in runtime/format/executable.proto).
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_FORMAT_CODES_H
#define RUNTIME_FORMAT_CODES_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace zero::rt {

/// How the codes of a tensor stand for its elements; without any, elements are stored as they are.
struct Codes {
  uint64_t bits = 0;          ///< 8 or 4; 0: no codes
  uint64_t size = 1;          ///< elements of a block, which have one scale
  std::vector<float> numbers; ///< by code

  bool any() const { return bits != 0; }
  /// Elements of each byte.
  uint64_t perByte() const { return bits == 0 ? 1 : 8 / bits; }
  /// Bytes of a block.
  uint64_t blockBytes() const { return size / perByte(); }
  /// Blocks of `elements` elements, the last of which may be shorter if codes have 8 bits.
  uint64_t blocksOf(uint64_t elements) const { return (elements + size - 1) / size; }
  bool operator==(const Codes &) const = default;
};

/// Those of a tensor.
Codes codesOf(const proto::Tensor &tensor);

/// Writes `count` elements, from the first one of a block on, to `elements`. `mean` is added to
/// each.
void decodeBlocks(const Codes &codes, const uint8_t *bytes, const float *scales, float mean,
                  uint64_t count, float *elements);

/// Reads bytes of codes, and decoded scales, of which the one behind all blocks is the mean.
using ReadCodes = std::function<Status(uint64_t begin, uint64_t count, uint8_t *bytes)>;
using ReadScales = std::function<Status(uint64_t begin, uint64_t count, std::vector<float> &)>;

/// Decodes elements [begin, begin + count) of `all`. Of these, whole blocks are read.
Status decodeRange(const Codes &codes, uint64_t all, bool hasMean, uint64_t begin, uint64_t count,
                   const ReadCodes &readCodes, const ReadScales &readScales,
                   std::vector<float> &elements);

/// Encodes elements.
class BlockEncoder {
public:
  explicit BlockEncoder(Codes codes);

  const Codes &codes() const { return made; }
  /// Writes the codes of the numbers nearest to `count` elements, from the first one of a block on,
  /// and the largest magnitude of each block as its scale. NaN has some code.
  void encode(const float *elements, uint64_t count, uint8_t *bytes, float *scales) const;
  /// Writes the scales only.
  void findScales(const float *elements, uint64_t count, float *scales) const;

private:
  void findNearest(const float *values, uint64_t count, uint8_t *found) const;

  Codes made;
  std::vector<uint8_t> order; ///< codes, by their numbers
  std::vector<float> middles; ///< between these; an element in the middle gets the smaller number
};

} // namespace zero::rt

#endif // RUNTIME_FORMAT_CODES_H
