//===- PrefetchTest.cpp - in time and within the budget -------------------===//

#include "zero/Planning/Prefetch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>

using namespace zero::planning;

static constexpr int64_t kAmple = std::numeric_limits<int64_t>::max() / 2;

namespace {

/// The seconds of the step if links serve fetches in the order in which they begin. Each command
/// waits for the fetches that it needs.
double play(const Timeline &timeline, const std::vector<Fetch> &fetches,
            const std::vector<int64_t> &begins) {
  std::vector<size_t> order(fetches.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(begins[a], fetches[a].needed) < std::pair(begins[b], fetches[b].needed);
  });
  std::map<int, double> free;
  std::map<int64_t, double> arrival; // by the command that needs the fetch
  double now = 0;
  size_t next = 0;
  for (int64_t command = 0; command < int64_t(timeline.seconds.size()); ++command) {
    for (; next < order.size() && begins[order[next]] == command; ++next) {
      const Fetch &fetch = fetches[order[next]];
      double &link = free[fetch.link];
      link = std::max(link, now) + fetch.seconds;
      arrival[fetch.needed] = std::max(arrival[fetch.needed], link);
    }
    now = std::max(now, arrival[command]) + timeline.seconds[command];
  }
  return now;
}

int64_t peakOf(const Timeline &timeline, const std::vector<Fetch> &fetches,
               const std::vector<int64_t> &begins) {
  std::vector<int64_t> live = timeline.live;
  for (size_t i = 0; i < fetches.size(); ++i)
    for (int64_t at = begins[i]; at < fetches[i].needed; ++at)
      live[at] += fetches[i].bytes;
  return *std::max_element(live.begin(), live.end());
}

} // namespace

TEST(Prefetch, BeginsAsLateAsItIsInTime) {
  Timeline timeline{{1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(placeFetches(timeline, {{5, 0, 0, 2.5, 8}}, kAmple), std::vector<int64_t>{2});
  EXPECT_EQ(placeFetches(timeline, {{5, 0, 0, 2, 8}}, kAmple), std::vector<int64_t>{3});
  EXPECT_EQ(placeFetches(timeline, {{5, 4, 0, 2, 8}}, kAmple), std::vector<int64_t>{4});
  EXPECT_EQ(placeFetches(timeline, {{5, 0, 0, 99, 8}}, kAmple), std::vector<int64_t>{0});
}

TEST(Prefetch, AMarginTakesNoTimeOfTheLink) {
  Timeline timeline{std::vector<double>(8, 1), std::vector<int64_t>(8, 0)};
  EXPECT_EQ(placeFetches(timeline, {{6, 0, 0, 1, 8, 2}}, kAmple), std::vector<int64_t>{3});
  EXPECT_EQ(placeFetches(timeline, {{6, 0, 0, 1, 8, 2}, {5, 0, 0, 1, 8, 2}}, kAmple),
            (std::vector<int64_t>{3, 2}));
}

TEST(Prefetch, ALinkServesOneAfterTheOther) {
  Timeline timeline{std::vector<double>(8, 1), std::vector<int64_t>(8, 0)};
  EXPECT_EQ(placeFetches(timeline, {{6, 0, 0, 2, 8}, {6, 0, 0, 2, 8}}, kAmple),
            (std::vector<int64_t>{2, 4}));
  // Another link does not delay the fetch.
  EXPECT_EQ(placeFetches(timeline, {{6, 0, 0, 2, 8}, {6, 0, 1, 2, 8}}, kAmple),
            (std::vector<int64_t>{4, 4}));
}

TEST(Prefetch, TheBudgetHolds) {
  Timeline timeline{{1, 1, 1, 1, 1, 1}, {0, 0, 50, 0, 0, 60}};
  std::vector<Fetch> fetches{{5, 0, 0, 4, 60}};
  EXPECT_EQ(placeFetches(timeline, fetches, 110), std::vector<int64_t>{1});
  EXPECT_EQ(placeFetches(timeline, fetches, 109), std::vector<int64_t>{3});
  EXPECT_EQ(placeFetches(timeline, fetches, 59), std::vector<int64_t>{5});
}

TEST(Prefetch, ScarceMemoryGoesToWhatIsNeededFirst) {
  // Both wish to start at once, and at command 1 only one of them fits.
  Timeline timeline{{1, 1, 1, 1}, {0, 50, 50, 0}};
  std::vector<Fetch> fetches{{2, 0, 0, 9, 10}, {3, 0, 0, 9, 10}};
  EXPECT_EQ(placeFetches(timeline, fetches, 60), (std::vector<int64_t>{0, 2}));
}

TEST(Prefetch, RandomStepsKeepTheBudgetAndLoseNothing) {
  double planned = 0, waiting = 0, bound = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    Timeline timeline;
    for (int i = 0; i < 60; ++i) {
      timeline.seconds.push_back(pick(1, 9));
      timeline.live.push_back(pick(0, 50));
    }
    std::vector<Fetch> fetches;
    double busy[2] = {0, 0};
    for (int i = 0; i < 25; ++i) {
      Fetch fetch{pick(1, 59), 0, pick(0, 1), double(pick(1, 20)), pick(1, 30)};
      busy[fetch.link] += fetch.seconds;
      fetches.push_back(fetch);
    }
    std::vector<int64_t> never;
    for (const Fetch &fetch : fetches)
      never.push_back(fetch.needed);
    std::vector<int64_t> begins = placeFetches(timeline, fetches, 120);
    ASSERT_LE(peakOf(timeline, fetches, begins), 120) << seed;
    double mine = play(timeline, fetches, begins);
    ASSERT_LE(mine, play(timeline, fetches, never)) << seed;
    planned += mine;
    waiting += play(timeline, fetches, never);
    bound += std::max(
        {std::accumulate(timeline.seconds.begin(), timeline.seconds.end(), 0.0), busy[0], busy[1]});
  }
  std::printf("%.3f times the longest of commands and links; %.3f without prefetch\n",
              planned / bound, waiting / bound);
  EXPECT_LE(planned, 1.08 * bound);
}

/// Writes of a drive that reads and writes in turns: each fetch starts earlier by the writes that
/// begin after it, unless the link would be idle.
TEST(Prefetch, OccupationsDisplaceFetches) {
  Timeline timeline;
  timeline.seconds.assign(10, 1);
  timeline.live.assign(10, 0);
  std::vector<Fetch> fetches;
  for (int64_t command = 6; command < 10; ++command) {
    fetches.push_back({command, 0, 0, 1, 1});
    timeline.occupations.push_back({command, 0, 1});
  }
  EXPECT_EQ(placeFetches(timeline, fetches, kAmple), (std::vector<int64_t>{2, 4, 6, 8}));
  // Fetches of half a second leave the other half to the writes.
  for (Fetch &fetch : fetches)
    fetch.seconds = 0.5;
  for (Occupation &write : timeline.occupations)
    write.seconds = 0.5;
  EXPECT_EQ(placeFetches(timeline, fetches, kAmple), (std::vector<int64_t>{5, 6, 7, 8}));
}
