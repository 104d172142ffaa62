//===- checksum.h - checksums of bytes --------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_CHECKSUM_H
#define RUNTIME_SUPPORT_CHECKSUM_H

#include <cstdint>
#include <span>

namespace zero::rt {

/// 64-bit checksum of `bytes`, continuing from `seed`; not cryptographic. Every
/// change of one byte changes it.
uint64_t checksum(std::span<const uint8_t> bytes, uint64_t seed);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_CHECKSUM_H
