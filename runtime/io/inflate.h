//===- inflate.h - decompress deflated bytes --------------------*- C++ -*-===//

#ifndef RUNTIME_IO_INFLATE_H
#define RUNTIME_IO_INFLATE_H

#include "runtime/support/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace zero::rt {

/// The most that is unpacked into memory.
inline constexpr uint64_t kLargestInflated = uint64_t(1) << 30;

/// Unpacks raw deflate into `plain`, which must come out exactly `size` bytes long and
/// with checksum `crc`. Sizes above kLargestInflated or that deflate cannot reach are
/// refused before anything is allocated.
Status inflateExactly(std::span<const uint8_t> packed, uint64_t size, uint32_t crc,
                      std::vector<uint8_t> &plain);

} // namespace zero::rt

#endif // RUNTIME_IO_INFLATE_H
