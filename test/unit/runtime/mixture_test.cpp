//===- mixture_test.cpp - samples of parts by weight ----------------------===//

#include "runtime/io/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

using namespace zero::rt;

namespace {

constexpr std::array<Mixture::Part, 3> kParts = {{{100, 0.7}, {5, 0.2}, {1000, 0.1}}};

TEST(Mixture, EveryStretchHasTheShares) {
  const Mixture mixture(kParts, std::nullopt, 0);
  std::array<uint64_t, 3> counts{};
  for (uint64_t position = 0; position < 20'000; ++position) {
    ++counts[mixture.at(position).part];
    for (size_t part = 0; part < kParts.size(); ++part)
      ASSERT_NEAR(double(counts[part]), kParts[part].weight * double(position + 1), 2.0)
          << part << " of " << position;
  }
}

TEST(Mixture, PartsBeginAgainInAnotherOrder) {
  for (const auto seed : {std::optional<uint64_t>(), std::optional<uint64_t>(3)}) {
    const Mixture mixture(kParts, seed, 0);
    std::array<std::vector<uint64_t>, 3> seen;
    for (uint64_t position = 0; position < 30'000; ++position) {
      const Mixture::Place place = mixture.at(position);
      seen[place.part].push_back(place.sample);
    }
    for (size_t part = 0; part < kParts.size(); ++part) {
      const uint64_t size = kParts[part].samples;
      std::set<std::vector<uint64_t>> orders;
      for (auto begin = seen[part].begin(); uint64_t(seen[part].end() - begin) >= size;
           begin += int64_t(size)) {
        std::vector<uint64_t> epoch(begin, begin + int64_t(size));
        orders.insert(epoch);
        std::ranges::sort(epoch);
        for (uint64_t i = 0; i < size; ++i)
          ASSERT_EQ(epoch[i], i) << "part " << part;
      }
      EXPECT_EQ(orders.size() > 1, seed.has_value()) << "part " << part;
    }
  }
}

/// Also a share that is smaller than one position of a cycle.
TEST(Mixture, NoPartIsLeftOut) {
  const std::array<Mixture::Part, 2> parts = {{{10, 1e9}, {10, 1e-9}}};
  const Mixture mixture(parts, std::nullopt, 0);
  std::set<size_t> seen;
  for (uint64_t position = 0; position < 20'000; ++position)
    seen.insert(mixture.at(position).part);
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Order, WindowsKeepTheirSamples) {
  constexpr uint64_t kSamples = 25, kWindow = 10;
  const SampleOrder order(kSamples, 1, 7, 0, kWindow);
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t epoch = 0; epoch < 3; ++epoch)
    for (uint64_t begin = 0; begin < kSamples; begin += kWindow) {
      const uint64_t size = std::min(kWindow, kSamples - begin);
      std::vector<uint64_t> seen;
      for (uint64_t i = 0; i < size; ++i)
        seen.push_back(order.sample(epoch * kSamples + begin + i, 0) - begin);
      orders.insert(seen);
      std::ranges::sort(seen);
      for (uint64_t i = 0; i < size; ++i)
        ASSERT_EQ(seen[i], i) << epoch << ", " << begin;
    }
  EXPECT_GE(orders.size(), 8u) << "windows and epochs have orders of their own";
  for (uint64_t i = 0; i < kSamples; ++i)
    EXPECT_EQ(SampleOrder(kSamples, 1, 7, 0, 100).sample(i, 0),
              SampleOrder(kSamples, 1, 7).sample(i, 0));
}

} // namespace
