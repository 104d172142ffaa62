//===- ByteSize.h - parse and print numbers of bytes ------------*- C++ -*-===//

#ifndef ZERO_PLANNING_BYTESIZE_H
#define ZERO_PLANNING_BYTESIZE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zero::planning {

/// The expected form, for error messages.
inline constexpr std::string_view kByteSizeForm =
    "a number of bytes, or of K, M, G, T or KiB, MiB, GiB, TiB (1024), or of KB, MB, GB, TB (1000)";

/// Parses bytes: "25000000", "512MiB", "3G", "1.5 GB", in upper or lower case. A fraction of a byte
/// is truncated. Nothing if the text is not a number, has another unit, or exceeds 2^63 bytes.
std::optional<uint64_t> parseByteSize(std::string_view text);

inline constexpr std::string_view kBytesPerDayForm = "bytes a day, for example 2TB/day";

/// Parses "2TB/day": what parseByteSize() reads, and "/day" in upper or lower case.
std::optional<uint64_t> parseBytesPerDay(std::string_view text);

/// "327.40 MiB": `digits` digits after the point, whole bytes below 1024.
std::string formatBytes(double bytes, int digits = 2);

/// "700MiB", "60MB", "5666400768": exactly so many bytes as the value of a flag, in the largest
/// unit that needs no fraction.
std::string formatByteFlag(uint64_t bytes);

/// `bytes` rounded up to whole MiB, KiB, MB or KB if `like`, the value that a user gave, has whole
/// ones.
uint64_t roundUpLike(uint64_t bytes, uint64_t like);

} // namespace zero::planning

#endif // ZERO_PLANNING_BYTESIZE_H
