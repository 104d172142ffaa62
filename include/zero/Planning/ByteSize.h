//===- ByteSize.h - numbers of bytes that people write ----------*- C++ -*-===//

#ifndef ZERO_PLANNING_BYTESIZE_H
#define ZERO_PLANNING_BYTESIZE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zero::planning {

/// What a reader of an error message should have written.
inline constexpr std::string_view kByteSizeForm =
    "a number of bytes, or of K, M, G, T or KiB, MiB, GiB, TiB (1024), or of KB, MB, GB, TB (1000)";

/// Bytes from text: "25000000", "512MiB", "3G", "1.5 GB", in letters of any case. A fraction of a
/// byte is cut off. Nothing when the text is no number, has another unit, or is beyond 2^63 bytes.
std::optional<uint64_t> parseByteSize(std::string_view text);

/// "327.40 MiB": so many digits after the point, whole bytes below 1024.
std::string formatBytes(double bytes, int digits = 2);

} // namespace zero::planning

#endif // ZERO_PLANNING_BYTESIZE_H
