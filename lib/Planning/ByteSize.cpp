//===- ByteSize.cpp - parse and print numbers of bytes --------------------===//

#include "zero/Planning/ByteSize.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace zero::planning {

namespace {
struct Unit {
  std::string_view name;
  double bytes;
};
} // namespace

/// A letter alone counts in powers of 1024, as with docker, ulimit, du and nvidia-smi.
static constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                                 {"B", 1},
                                                 {"K", 1024.0},
                                                 {"M", 1024.0 * 1024},
                                                 {"G", 1024.0 * 1024 * 1024},
                                                 {"T", 1024.0 * 1024 * 1024 * 1024},
                                                 {"KB", 1e3},
                                                 {"MB", 1e6},
                                                 {"GB", 1e9},
                                                 {"TB", 1e12},
                                                 {"KiB", 1024.0},
                                                 {"MiB", 1024.0 * 1024},
                                                 {"GiB", 1024.0 * 1024 * 1024},
                                                 {"TiB", 1024.0 * 1024 * 1024 * 1024}}};

static std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

static bool equalsAnyCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return tolower(x) == tolower(y); });
}

std::optional<uint64_t> parseByteSize(std::string_view text) {
  text = trim(text);
  std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  std::string_view name = trim(text.substr(digits.size()));
  const double limit = std::ldexp(1.0, 63);
  for (const Unit &unit : kUnits) {
    if (!equalsAnyCase(unit.name, name))
      continue;
    if (unit.bytes == 1) {
      uint64_t bytes = 0;
      return parseInteger(digits, bytes) && bytes >> 63 == 0 ? std::optional(bytes) : std::nullopt;
    }
    double number = 0;
    if (!parseReal(digits, number) || number * unit.bytes >= limit)
      return std::nullopt;
    return static_cast<uint64_t>(number * unit.bytes);
  }
  return std::nullopt;
}

std::optional<uint64_t> parseBytesPerDay(std::string_view text) {
  static constexpr std::string_view kDay = "/day";
  text = trim(text);
  if (text.size() < kDay.size() || !equalsAnyCase(text.substr(text.size() - kDay.size()), kDay))
    return std::nullopt;
  return parseByteSize(text.substr(0, text.size() - kDay.size()));
}

std::string formatBytes(double bytes, int digits) {
  static constexpr std::array<const char *, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit)
    bytes /= 1024;
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", unit ? digits : 0, bytes, units[unit]);
  return text.data();
}

std::string formatByteFlag(uint64_t bytes) {
  Unit best = {"", 1};
  for (const Unit &unit : kUnits)
    if (unit.name.size() > 1 && unit.bytes > best.bytes && bytes &&
        bytes % uint64_t(unit.bytes) == 0)
      best = unit;
  return std::to_string(bytes / uint64_t(best.bytes)) + std::string(best.name);
}

uint64_t roundUpLike(uint64_t bytes, uint64_t like) {
  for (const uint64_t unit :
       {uint64_t(1) << 20, uint64_t(1000'000), uint64_t(1) << 10, uint64_t(1000)})
    if (like % unit == 0)
      return (bytes + unit - 1) / unit * unit;
  return bytes;
}

} // namespace zero::planning
