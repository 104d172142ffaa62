//===- coded_parameter.cpp - parameters in blocks of codes ----------------===//

#include "runtime/format/coded_parameter.h"

#include "runtime/format/codes.h"
#include "runtime/support/floats.h"
#include "runtime/support/half.h"

#include <cstring>
#include <memory>

namespace zero::rt {

const proto::Tensor &parameterOf(const proto::Program &program, const std::string &name) {
  return *std::find_if(program.tensors().begin(), program.tensors().end(), [&](auto &tensor) {
    return tensor.role() == proto::PARAMETER && tensor.name() == name;
  });
}

/// Elements that are read and encoded at a time; a multiple of the sizes of blocks.
static constexpr uint64_t kElementsAtOnce = uint64_t(1) << 18;

/// Calls `make(target, begin, bytes)` for the bytes of a tensor of bytes that `rank` holds.
template <typename Make>
static Status writeOwn(const proto::Program &program, const proto::Tensor &tensor, int rank,
                       const MemoryByTier &memory, Make make) {
  const uint64_t size = sizeOf(toDType(tensor.dtype()));
  for (const Block &block : blocksOf(program, tensor))
    ZERO_RT_TRY(forEachPart(block, rank, [&](const Part &part) {
      return memory.at(block.buffer->tier())
          .write(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size, part.count * size,
                 [&](char *target, uint64_t done, uint64_t bytes) {
                   return make(target, part.inTensor * size + done, bytes);
                 });
    }));
  return {};
}

/// Elements of `tensor` that `rank` holds.
static uint64_t countHeld(const proto::Program &program, const proto::Tensor &tensor, int rank) {
  uint64_t count = 0;
  for (const Block &block : blocksOf(program, tensor))
    count += block.partOf(rank).count;
  return count;
}

/// Whether `rank` holds any of the scales of `tensor`.
static bool holdsScales(const proto::Program &program, const proto::Tensor &tensor, int rank) {
  if (!tensor.has_blocks())
    return false;
  const proto::Tensor &scales = parameterOf(program, tensor.blocks().scales());
  return countHeld(program, scales, rank) > 0 || holdsScales(program, scales, rank);
}

namespace {
class ParameterEncoder {
public:
  ParameterEncoder(const proto::Program &program, const proto::Tensor &tensor, ReadElements read)
      : program(program), tensor(tensor), scales(parameterOf(program, tensor.blocks().scales())),
        read(std::move(read)), encoder(codesOf(tensor)), count(countOf(tensor)) {}

  Status writeCodes(int rank, const MemoryByTier &memory) const;
  Status writeScales(int rank, const MemoryByTier &memory) const;
  /// What the codes of `elements`, from element `begin` on, stand for. The first call finds the
  /// scales.
  Status decode(uint64_t begin, std::span<float> elements);

private:
  /// The scales, encoded: codes, and their scales with the mean behind them.
  struct EncodedScales {
    std::vector<uint8_t> bytes;
    std::vector<float> scales;
  };
  EncodedScales encodeScales(std::vector<float> found) const;
  Status findStoredScales();
  static uint64_t countOf(const proto::Tensor &tensor) {
    return elementsOf(tensor.blocks().shape());
  }
  Status encodePiece(uint64_t first, uint64_t blocks, std::vector<uint8_t> &bytes,
                     std::vector<float> &found) const;
  Status findScales(std::vector<float> &found) const;
  template <typename Value>
  Status writeAll(const proto::Tensor &to, int rank, const MemoryByTier &memory,
                  const std::vector<Value> &values) const;

  const proto::Program &program;
  const proto::Tensor &tensor, &scales;
  ReadElements read;
  BlockEncoder encoder;
  uint64_t count;                  ///< elements
  std::vector<float> storedScales; ///< as they are decoded; empty: not found yet
};
} // namespace

/// Encodes `blocks` blocks from block `first` on.
Status ParameterEncoder::encodePiece(uint64_t first, uint64_t blocks, std::vector<uint8_t> &bytes,
                                     std::vector<float> &found) const {
  const Codes &codes = encoder.codes();
  const uint64_t begin = first * codes.size, now = std::min(blocks * codes.size, count - begin);
  std::vector<float> elements(now);
  ZERO_RT_TRY(read(begin, now, elements.data()));
  bytes.resize(blocks * codes.blockBytes());
  found.resize(blocks);
  encoder.encode(elements.data(), now, bytes.data(), found.data());
  return {};
}

Status ParameterEncoder::writeCodes(int rank, const MemoryByTier &memory) const {
  const uint64_t each = encoder.codes().blockBytes(), most = kElementsAtOnce / encoder.codes().size;
  std::vector<uint8_t> bytes;
  std::vector<float> found;
  return writeOwn(program, tensor, rank, memory, [&](char *target, uint64_t begin, uint64_t size) {
    const uint64_t end = begin + size;
    for (uint64_t block = begin / each; block * each < end; block += most) {
      const uint64_t blocks = std::min(most, (end + each - 1) / each - block);
      ZERO_RT_TRY(encodePiece(block, blocks, bytes, found));
      const uint64_t low = std::max(begin, block * each);
      const uint64_t high = std::min(end, (block + blocks) * each);
      std::memcpy(target + low - begin, bytes.data() + low - block * each, high - low);
    }
    return Status();
  });
}

/// The scale of each block.
Status ParameterEncoder::findScales(std::vector<float> &found) const {
  const uint64_t all = encoder.codes().blocksOf(count);
  const uint64_t most = kElementsAtOnce / encoder.codes().size;
  std::vector<float> elements, piece;
  found.resize(all);
  for (uint64_t block = 0; block < all; block += most) {
    const uint64_t begin = block * encoder.codes().size;
    elements.resize(std::min(most * encoder.codes().size, count - begin));
    ZERO_RT_TRY(read(begin, elements.size(), elements.data()));
    encoder.findScales(elements.data(), elements.size(), found.data() + block);
  }
  return {};
}

template <typename Value>
Status ParameterEncoder::writeAll(const proto::Tensor &to, int rank, const MemoryByTier &memory,
                                  const std::vector<Value> &values) const {
  return writeOwn(program, to, rank, memory, [&](char *target, uint64_t begin, uint64_t size) {
    std::memcpy(target, reinterpret_cast<const char *>(values.data()) + begin, size);
    return Status();
  });
}

ParameterEncoder::EncodedScales ParameterEncoder::encodeScales(std::vector<float> found) const {
  double sum = 0;
  for (const float scale : found)
    sum += scale;
  const auto mean = float(sum / double(found.size()));
  for (float &scale : found)
    scale -= mean;
  const BlockEncoder second(codesOf(scales));
  EncodedScales made;
  made.bytes.resize(found.size());
  made.scales.resize(second.codes().blocksOf(found.size()));
  second.encode(found.data(), found.size(), made.bytes.data(), made.scales.data());
  made.scales.push_back(mean);
  return made;
}

Status ParameterEncoder::writeScales(int rank, const MemoryByTier &memory) const {
  if (!holdsScales(program, tensor, rank))
    return {};
  std::vector<float> found;
  ZERO_RT_TRY(findScales(found));
  if (!scales.has_blocks())
    return writeAll(scales, rank, memory, found);
  const EncodedScales encoded = encodeScales(std::move(found));
  ZERO_RT_TRY(writeAll(scales, rank, memory, encoded.bytes));
  return writeAll(parameterOf(program, scales.blocks().scales()), rank, memory, encoded.scales);
}

Status ParameterEncoder::findStoredScales() {
  ZERO_RT_TRY(findScales(storedScales));
  if (!scales.has_blocks())
    return {};
  const EncodedScales encoded = encodeScales(storedScales);
  decodeBlocks(codesOf(scales), encoded.bytes.data(), encoded.scales.data(), encoded.scales.back(),
               storedScales.size(), storedScales.data());
  return {};
}

Status ParameterEncoder::decode(uint64_t begin, std::span<float> elements) {
  if (storedScales.empty())
    ZERO_RT_TRY(findStoredScales());
  std::vector<float> found, decoded;
  ZERO_RT_TRY(decodeRange(
      encoder.codes(), count, /*hasMean=*/false, begin, elements.size(),
      [&](uint64_t from, uint64_t number, uint8_t *bytes) -> Status {
        std::vector<uint8_t> made;
        const uint64_t each = encoder.codes().blockBytes();
        ZERO_RT_TRY(encodePiece(from / each, (number + each - 1) / each, made, found));
        std::copy_n(made.begin(), number, bytes);
        return {};
      },
      [&](uint64_t from, uint64_t number, std::vector<float> &values) {
        values.assign(storedScales.begin() + std::ptrdiff_t(from),
                      storedScales.begin() + std::ptrdiff_t(from + number));
        return Status();
      },
      decoded));
  std::copy(decoded.begin(), decoded.end(), elements.begin());
  return {};
}

uint64_t elementsToEncode(const proto::Program &program, const proto::Tensor &tensor, int rank) {
  const uint64_t own = countHeld(program, tensor, rank) * codesOf(tensor).perByte();
  return own + (holdsScales(program, tensor, rank) ? elementsOf(tensor.blocks().shape()) : 0);
}

Status encodeParameter(const proto::Program &program, const proto::Tensor &tensor, int rank,
                       const MemoryByTier &memory, const ReadElements &read) {
  const ParameterEncoder encoder(program, tensor, read);
  ZERO_RT_TRY(encoder.writeCodes(rank, memory));
  return encoder.writeScales(rank, memory);
}

ReadElements readAsStored(const proto::Program &program, const proto::Tensor &parameter,
                          ReadElements read) {
  if (isCoded(parameter)) {
    auto encoder = std::make_shared<ParameterEncoder>(program, parameter, std::move(read));
    return [=](uint64_t begin, uint64_t count, float *target) {
      return encoder->decode(begin, std::span<float>(target, count));
    };
  }
  const DType dtype = toDType(parameter.dtype());
  if (!isHalf(dtype))
    return read;
  return [=, read = std::move(read)](uint64_t begin, uint64_t count, float *target) -> Status {
    ZERO_RT_TRY(read(begin, count, target));
    std::vector<char> rounded(count * sizeOf(dtype));
    convertFloats(ZERO_RT_F32, target, dtype, rounded.data(), count);
    convertFloats(dtype, rounded.data(), ZERO_RT_F32, target, count);
    return {};
  };
}

} // namespace zero::rt
