//===- stripes_test.cpp - bytes that are spread over files ----------------===//

#include "runtime/io/stripes.h"
#include "runtime/support/file.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace zero::rt;

namespace {

constexpr uint64_t kPage = kDiskAlignment, kStripe = Stripes::kBytes;

/// Every page has a place of its own, no file has gaps, and files have as many bytes as is said.
TEST(Stripes, FillFilesEvenly) {
  const std::array<DiskFile, 5> files{};
  for (size_t count = 1; count <= files.size(); ++count)
    for (uint64_t bytes : {kPage, kStripe, kStripe + kPage, 7 * kStripe - kPage, 12 * kStripe}) {
      const Stripes stripes(std::span(files.data(), count), kPage);
      std::map<const DiskFile *, std::set<uint64_t>> places;
      for (uint64_t offset = 0; offset < bytes; offset += kPage) {
        const Stripes::Place place = stripes.at(offset);
        EXPECT_TRUE(places[place.file].insert(place.offset).second) << offset;
        EXPECT_GE(place.bytes, kPage);
      }
      uint64_t most = 0, least = bytes;
      for (size_t file = 0; file < count; ++file) {
        const uint64_t own = Stripes::bytesOf(file, count, bytes);
        most = std::max(most, own), least = std::min(least, own);
        const std::set<uint64_t> &pages = places[&files[file]];
        EXPECT_EQ(pages.size() * kPage, own);
        if (own > 0)
          EXPECT_EQ(*pages.rbegin(), own) << "the first page is at " << kPage;
      }
      EXPECT_LE(most - least, kStripe);
    }
}

/// Any range of as many stripes as there are files takes as many bytes from each.
TEST(Stripes, KeepAllFilesBusy) {
  const std::array<DiskFile, 3> files{};
  const Stripes stripes(files);
  for (uint64_t begin : {uint64_t(0), 5 * kPage, 4 * kStripe + kPage}) {
    std::map<const DiskFile *, uint64_t> bytes;
    for (uint64_t offset = begin; offset < begin + files.size() * kStripe; offset += kPage)
      bytes[stripes.at(offset).file] += kPage;
    for (const DiskFile &file : files)
      EXPECT_EQ(bytes[&file], kStripe) << begin;
  }
}

} // namespace
