//===- group_communicator_test.cpp - collectives in groups of a mesh ------===//
//
// Every rank of a mesh calls the same collectives, along one set of axes after the other. Expected
// are values that a plain loop over all ranks computes.
//
//===----------------------------------------------------------------------===//

#include "../gpu/host_ends.h"
#include "many_processes.h"
#include "runtime/comm/host/host_group.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace zero::rt;

namespace {

using Ends = std::vector<std::unique_ptr<Communicator>>;

struct Maker {
  const char *name;
  Ends (*make)(const GroupOptions &);
};
const Maker kMakers[] = {{"threads", makeThreadGroup}, {"gpu", makeSharedGpuGroup},
                         {"nccl", makeNcclGpuGroup},   {"processes", makeOneNode},
                         {"nodes", makeThreeNodes},    {"pairs", makePairs}};

/// The last one's nodes of two ranks have no ranks of a group along the last axis.
const std::vector<std::vector<int>> kMeshes = {{2, 2},    {2, 3},    {3, 2},
                                               {2, 1, 2}, {2, 2, 2}, {1, 4}};

std::vector<Status> onAll(Ends &ends, const std::function<Status(Communicator &)> &body) {
  std::vector<Status> results(ends.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ends.size(); ++rank)
    threads.emplace_back([&, rank] { results[rank] = body(*ends[rank]); });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

/// The bits of sums of these depend on the order of the additions.
float valueAt(int rank, uint64_t i) {
  return 1.0f / float(3 + rank * 7 + int(i % 101)) * (rank % 2 ? 1e4f : 1e-3f);
}

struct Case {
  Maker maker;
  std::vector<int> sizes;
  int ranksPerNode;
};

class Groups : public testing::TestWithParam<Case> {
protected:
  Groups() {
    for (AxisSet axes = 0; axes < AxisSet(1) << mesh.axes(); ++axes)
      sets.push_back(axes);
    ends = GetParam().maker.make({.ranks = mesh.ranks(),
                                  .timeoutSeconds = 60,
                                  .ranksPerNode = GetParam().ranksPerNode,
                                  .mesh = mesh,
                                  .groups = sets});
  }

  /// The ranks that have the coordinates of `rank` along all other axes.
  std::vector<int> membersOf(int rank, AxisSet axes) const {
    std::vector<int> members;
    for (int other = 0; other < mesh.ranks(); ++other) {
      bool isMember = true;
      for (int axis = 0; axis < mesh.axes(); ++axis)
        isMember &=
            (axes >> axis & 1) || mesh.coordinate(other, axis) == mesh.coordinate(rank, axis);
      if (isMember)
        members.push_back(other);
    }
    return members;
  }

  /// The sum or mean of the members' values; those of a node of the program are added first.
  float sumOf(const std::vector<int> &members, uint64_t i, bool mean) const {
    const int perNode = GetParam().ranksPerNode ? GetParam().ranksPerNode : mesh.ranks();
    float sum = 0;
    for (size_t at = 0; at < members.size();) {
      const size_t first = at;
      float part = valueAt(members[at++], i);
      for (; at < members.size() && members[at] / perNode == members[first] / perNode; ++at)
        part += valueAt(members[at], i);
      sum = first == 0 ? part : sum + part;
    }
    return mean ? sum / float(members.size()) : sum;
  }

  std::vector<float> valuesOf(int rank, uint64_t count) const {
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i)
      values[i] = valueAt(rank, i);
    return values;
  }

  /// All kinds of collectives of `size` elements along `axes`.
  Status exchange(Communicator &end, AxisSet axes, uint64_t size) {
    const std::vector<int> members = membersOf(end.rank(), axes);
    const auto own = uint64_t(std::ranges::find(members, end.rank()) - members.begin());
    const Call call{"group", axes, false, axes};
    std::vector<float> all(size * members.size());
    const std::vector<float> mine = valuesOf(end.rank(), size * members.size());
    ZERO_RT_TRY(end.allGather(call, ZERO_RT_F32, mine.data(), all.data(), size));
    for (uint64_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i], valueAt(members[i / size], i % size));
    const bool mean = size % 2 == 1;
    std::vector<float> slice(size), sums = mine;
    ZERO_RT_TRY(end.reduceScatter(call, {ZERO_RT_F32, mean}, mine.data(), slice.data(), size));
    for (uint64_t i = 0; i < size; ++i)
      EXPECT_EQ(slice[i], sumOf(members, own * size + i, mean));
    ZERO_RT_TRY(end.allReduce(call, {ZERO_RT_F32, mean}, sums.data(), sums.size()));
    for (uint64_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(sums[i], sumOf(members, i, mean));
    const int root = int(members.size()) - 1;
    ZERO_RT_TRY(end.broadcast(call, ZERO_RT_F32, mine.data(), slice.data(), size, root));
    for (uint64_t i = 0; i < size; ++i)
      EXPECT_EQ(slice[i], valueAt(members.back(), i));
    return {};
  }

  const Mesh mesh{GetParam().sizes};
  std::vector<AxisSet> sets;
  Ends ends;
};

TEST_P(Groups, ExchangeWithTheirMembersOnly) {
  for (const Status &result : onAll(ends, [&](Communicator &end) -> Status {
         for (uint64_t size : {0, 1, 64, 5001})
           for (AxisSet axes : sets)
             ZERO_RT_TRY(exchange(end, axes, size));
         return {};
       }))
    EXPECT_TRUE(result.ok()) << result.getMessage();
}

/// Slices in the order of other coordinates than ranks: member i has number reversed(i).
std::vector<int> reversedSlices(size_t members) {
  std::vector<int> numbers(members);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  return numbers;
}

/// Gathers and reduce-scatters place slices as they are numbered. Sums stay in the order of ranks,
/// but for those of NCCL, whose ranks are numbered like their slices.
TEST_P(Groups, PlaceSlicesByTheirNumbers) {
  GroupOptions options{.ranks = mesh.ranks(),
                       .timeoutSeconds = 60,
                       .ranksPerNode = GetParam().ranksPerNode,
                       .mesh = mesh,
                       .groups = sets};
  for (AxisSet axes : sets)
    options.slices[mesh.proper(axes)] = reversedSlices(membersOf(0, axes).size());
  ends.clear(); // those of the fixture hold the GPUs
  ends = GetParam().maker.make(options);
  for (const Status &result : onAll(ends, [&](Communicator &end) -> Status {
         for (AxisSet axes : sets) {
           const std::vector<int> members = membersOf(end.rank(), axes);
           const std::vector<int> numbers = reversedSlices(members.size());
           const auto index = size_t(std::ranges::find(members, end.rank()) - members.begin());
           const uint64_t size = 65, all = size * members.size();
           const Call call{"ordered", axes, false, axes, numbers};
           const std::vector<float> mine = valuesOf(end.rank(), all);
           std::vector<float> gathered(all), slice(size);
           ZERO_RT_TRY(end.allGather(call, ZERO_RT_F32, mine.data(), gathered.data(), size));
           for (size_t member = 0; member < members.size(); ++member)
             for (uint64_t i = 0; i < size; ++i)
               EXPECT_EQ(gathered[uint64_t(numbers[member]) * size + i],
                         valueAt(members[member], i));
           ZERO_RT_TRY(end.reduceScatter(call, {ZERO_RT_F32}, mine.data(), slice.data(), size));
           std::vector<int> summands = members;
           if (GetParam().maker.make == makeNcclGpuGroup)
             std::ranges::reverse(summands);
           for (uint64_t i = 0; i < size; ++i)
             EXPECT_EQ(slice[i], sumOf(summands, uint64_t(numbers[index]) * size + i, false));
           std::vector<float> first = mine;
           ZERO_RT_TRY(end.broadcast({"root", axes, false, axes}, ZERO_RT_F32, mine.data(),
                                     first.data(), size, 0));
           for (uint64_t i = 0; i < size; ++i)
             EXPECT_EQ(first[i], valueAt(members.front(), i));
         }
         return {};
       }))
    EXPECT_TRUE(result.ok()) << result.getMessage();
}

/// A fast group must not overwrite what a slow one still reads, in any order of groups.
TEST_P(Groups, FollowEachOtherOnTheSameBuffers) {
  for (const Status &result : onAll(ends, [&](Communicator &end) -> Status {
         std::vector<int64_t> data(size_t(mesh.ranks()) * 3);
         for (int64_t turn = 0; turn < 40; ++turn) {
           const AxisSet axes = sets[size_t(turn * 5 % int64_t(sets.size()))];
           const std::vector<int> members = membersOf(end.rank(), axes);
           std::fill(data.begin(), data.end(), turn * 100 + end.rank());
           ZERO_RT_TRY(end.allReduce({"turn", uint64_t(turn), true, axes}, {ZERO_RT_I64},
                                     data.data(), data.size()));
           const int64_t sum = turn * 100 * int64_t(members.size()) +
                               std::accumulate(members.begin(), members.end(), int64_t(0));
           EXPECT_EQ(data, std::vector<int64_t>(data.size(), sum));
         }
         return {};
       }))
    EXPECT_TRUE(result.ok()) << result.getMessage();
}

TEST_P(Groups, CountWhatTheyReceive) {
  for (const Status &result : onAll(ends, [&](Communicator &end) -> Status {
         std::vector<float> data(size_t(mesh.ranks()) * 6);
         std::map<AxisSet, uint64_t> expected;
         for (AxisSet axes : sets) {
           const uint64_t others = membersOf(end.rank(), axes).size() - 1;
           ZERO_RT_TRY(end.allGather({"a", 0, false, axes}, ZERO_RT_F32, data.data(),
                                     std::vector<float>(data.size()).data(), 6));
           ZERO_RT_TRY(end.allReduce({"b", 0, true, axes}, {ZERO_RT_F32}, data.data(), 6));
           if (others > 0)
             expected[mesh.proper(axes)] += 6 * others;
         }
         EXPECT_EQ(end.volumes(), expected);
         uint64_t all = 0;
         for (auto [axes, elements] : expected)
           all += elements;
         EXPECT_EQ(end.traffic().modelElements, all);
         return {};
       }))
    EXPECT_TRUE(result.ok()) << result.getMessage();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Maker &maker : kMakers)
    for (const std::vector<int> &sizes : kMeshes)
      for (int ranksPerNode : {0, 2}) {
        // A node of two is a part of the last axis, or has all of it.
        const bool isAligned = sizes.back() % 2 == 0;
        if (ranksPerNode == 0 || (isAligned && maker.make != makeNcclGpuGroup))
          all.push_back({maker, sizes, ranksPerNode});
      }
  return all;
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  std::string name = info.param.maker.name;
  for (int size : info.param.sizes)
    name += "_" + std::to_string(size);
  return name + (info.param.ranksPerNode ? "_byNode" : "");
}
INSTANTIATE_TEST_SUITE_P(All, Groups, testing::ValuesIn(cases()), nameOf);

class GroupFailure : public testing::TestWithParam<Maker> {};

/// Rank 3 does not come to its group along the second axis. Rank 2 waits for it there, and rank 0
/// for rank 2 in the next group: all name rank 3, and the collective that it is missing in.
TEST_P(GroupFailure, NamesTheRankThatOthersWaitFor) {
  Ends ends = GetParam().make({.ranks = 4,
                               .timeoutSeconds = 1,
                               .stallRank = 3,
                               .stallCollective = 2,
                               .mesh = Mesh(std::vector<int>{2, 2}),
                               .groups = {1, 2}});
  for (const Status &result : onAll(ends, [](Communicator &end) {
         for (uint64_t index = 0;; ++index) {
           float value = 1;
           ZERO_RT_TRY(end.allReduce(
               {index % 2 ? "data" : "tensor", index, false, AxisSet(index % 2 ? 1 : 2)},
               {ZERO_RT_F32}, &value, 1));
         }
       })) {
    EXPECT_EQ(result.getCode(), ZERO_RT_TIMEOUT);
    EXPECT_EQ(result.getMessage(), "rank 3 did not arrive at collective 2 ('tensor') within 1 s");
  }
}

TEST_P(GroupFailure, AbortEndsTheWaitsOfAllGroups) {
  Ends ends = GetParam().make(
      {.ranks = 4, .timeoutSeconds = 600, .mesh = Mesh(std::vector<int>{2, 2}), .groups = {1, 2}});
  for (const Status &result : onAll(ends, [](Communicator &end) {
         const Status reason = fail(ZERO_RT_CHECK_FAILED, "rank 1 has had enough");
         if (end.rank() == 1) {
           end.abort(reason);
           return reason;
         }
         float value = 1; // ranks 2 and 3 are in another group than rank 1
         ZERO_RT_TRY(end.allReduce({"x", 0, false, 2}, {ZERO_RT_F32}, &value, 1));
         return end.allReduce({"y", 1, false, 1}, {ZERO_RT_F32}, &value, 1);
       }))
    EXPECT_EQ(result.getMessage(), "rank 1 has had enough");
}

TEST_P(GroupFailure, RanksThatNameOtherAxesDisagree) {
  Ends ends = GetParam().make(
      {.ranks = 4, .timeoutSeconds = 60, .mesh = Mesh(std::vector<int>{2, 2}), .groups = {1, 2}});
  for (const Status &result : onAll(ends, [](Communicator &end) {
         float value = 1;
         const AxisSet axes = end.rank() == 3 ? 1 : 2;
         ZERO_RT_TRY(end.allReduce({"x", 0, false, axes}, {ZERO_RT_F32}, &value, 1));
         return end.allReduce({"y", 1}, {ZERO_RT_F32}, &value, 1);
       }))
    EXPECT_NE(result.getMessage().find("ranks disagree"), std::string::npos) << result.getMessage();
}

INSTANTIATE_TEST_SUITE_P(OneNode, GroupFailure, testing::Values(kMakers[0], kMakers[1], kMakers[3]),
                         [](const auto &info) { return info.param.name; });

} // namespace
