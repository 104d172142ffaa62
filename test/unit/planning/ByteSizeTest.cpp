#include "zero/Planning/ByteSize.h"

#include <gtest/gtest.h>

using namespace zero::planning;

TEST(ByteSize, UnderstandsUnits) {
  EXPECT_EQ(parseByteSize("25000000"), 25000000u);
  EXPECT_EQ(parseByteSize("64B"), 64u);
  EXPECT_EQ(parseByteSize("2KB"), 2000u);
  EXPECT_EQ(parseByteSize("2kib"), 2048u);
  EXPECT_EQ(parseByteSize(" 1.5 GiB "), 3u << 29);
  EXPECT_EQ(parseByteSize("0.25MB"), 250000u);
  EXPECT_EQ(parseByteSize("3TiB"), 3ull << 40);
  EXPECT_EQ(parseByteSize("64K"), 64u << 10);
  EXPECT_EQ(parseByteSize("2m"), 2u << 20);
  EXPECT_EQ(parseByteSize("3G"), 3ull << 30);
  EXPECT_EQ(parseByteSize("3g"), 3ull << 30);
  EXPECT_EQ(parseByteSize("1.5T"), 3ull << 39);
}

TEST(ByteSize, RefusesTheRest) {
  for (const char *text : {"", "GB", "5 parsecs", "1.5", "-1", "1e9", "1..5KB", "5 GB GB", ".MB",
                           "9223372036854775808", "8388608TiB", "8388608T", "3GiG", "0x10", "5GB!"})
    EXPECT_EQ(parseByteSize(text), std::nullopt) << text;
}

TEST(ByteSize, UnderstandsBytesOfADay) {
  EXPECT_EQ(parseBytesPerDay("2TB/day"), 2000000000000u);
  EXPECT_EQ(parseBytesPerDay(" 1.5 GiB/Day "), 3u << 29);
  EXPECT_EQ(parseBytesPerDay("512/day"), 512u);
  for (const char *text : {"", "/day", "2TB", "2TB/hour", "2TB/day/day", "2 parsecs/day", "-1/day"})
    EXPECT_EQ(parseBytesPerDay(text), std::nullopt) << text;
}

TEST(ByteSize, IsWrittenForFlags) {
  EXPECT_EQ(formatByteFlag(0), "0");
  EXPECT_EQ(formatByteFlag(5666400769), "5666400769");
  EXPECT_EQ(formatByteFlag(700ull << 20), "700MiB");
  EXPECT_EQ(formatByteFlag(60'000'000), "60MB");
  EXPECT_EQ(formatByteFlag(2'000'000'000'000), "2TB"); // whole KiB, too
  EXPECT_EQ(formatByteFlag(32'000'000'000), "32GB");
}

TEST(ByteSize, IsWrittenForPeople) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatBytes(3.0 * (1ull << 30)), "3.00 GiB");
  EXPECT_EQ(formatBytes(1023, 1), "1023 B");
  EXPECT_EQ(formatBytes(1536, 1), "1.5 KiB");
}
