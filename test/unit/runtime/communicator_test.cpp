//===- communicator_test.cpp - conformance tests for communicators --------===//

#include "../gpu/host_ends.h"
#include "many_processes.h"
#include "runtime/comm/host/host_group.h"
#include "runtime/support/floats.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <thread>

using namespace zero::rt;

namespace {

using Group = std::vector<std::unique_ptr<Communicator>>;

/// One way to make a group. To test a new communicator, add a line to kMakers.
struct Maker {
  const char *name;
  Group (*make)(const GroupOptions &);
};
const Maker kMakers[] = {{"threads", makeThreadGroup},
                         {"gpu", makeSharedGpuGroup},
                         {"processes", makeOneNode},
                         {"nodes", makeThreeNodes},
                         {"pairs", makePairs}};
/// Those whose ranks all meet at one rendezvous.
const std::span<const Maker> kOneNode = std::span(kMakers).first(3);

/// Runs body(end of the rank) on one thread per rank.
std::vector<Status> onAll(Group &group, const std::function<Status(Communicator &)> &body) {
  std::vector<Status> results(group.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < group.size(); ++rank)
    threads.emplace_back([&, rank] { results[rank] = body(*group[rank]); });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

void expectAllOk(const std::vector<Status> &results) {
  for (const Status &result : results)
    EXPECT_TRUE(result.ok()) << result.getMessage();
}

template <typename T>
constexpr DType kDType = std::is_same_v<T, float>      ? ZERO_RT_F32
                         : std::is_same_v<T, double>   ? ZERO_RT_F64
                         : std::is_same_v<T, _Float16> ? ZERO_RT_F16
                         : std::is_same_v<T, BFloat16> ? ZERO_RT_BF16
                                                       : ZERO_RT_I64;

/// The value of rank `rank` at index `i`. For floats, the order of summation affects the bits of
/// the sum.
template <typename T>
T valueAt(int rank, uint64_t i) {
  if constexpr (std::is_same_v<T, int64_t>)
    return T(rank + 1) * 1000 + T(i);
  else if constexpr (sizeof(T) == 2)
    return T(valueAt<float>(rank, i));
  else
    return T(1) / T(3 + rank * 7 + int(i % 101)) * T(rank % 2 ? 1e4 : 1e-3);
}

/// The sum or mean, computed in Arithmetic and rounded to T once. Each `group` ranks are added
/// first.
template <typename T, typename Arithmetic = T>
T sumAt(int ranks, int group, uint64_t i, bool mean = false) {
  auto sum = Arithmetic(T());
  for (int first = 0; first < ranks; first += group) {
    auto part = Arithmetic(valueAt<T>(first, i));
    for (int rank = first + 1; rank < std::min(ranks, first + group); ++rank)
      part = Arithmetic(part + Arithmetic(valueAt<T>(rank, i)));
    sum = first == 0 ? part : Arithmetic(sum + part);
  }
  return T(mean ? Arithmetic(sum / Arithmetic(ranks)) : sum);
}

class Conformance : public testing::TestWithParam<std::tuple<Maker, int, uint64_t, int>> {
protected:
  int ranks = std::get<1>(GetParam());
  uint64_t size = std::get<2>(GetParam());
  int ranksPerNode = std::get<3>(GetParam());
  Group group = std::get<0>(GetParam())
                    .make({.ranks = ranks, .timeoutSeconds = 60, .ranksPerNode = ranksPerNode});
  const Call call{"test"};

  template <typename T>
  std::vector<T> input(int rank, uint64_t count) {
    std::vector<T> data(count);
    for (uint64_t i = 0; i < count; ++i)
      data[i] = valueAt<T>(rank, i);
    return data;
  }

  template <typename T>
  void gather(bool inPlace) {
    expectAllOk(onAll(group, [&](Communicator &end) {
      int rank = end.rank();
      std::vector<T> all(size * ranks, T(-1)), own = input<T>(rank, size);
      T *slice = all.data() + rank * size;
      if (inPlace)
        std::copy(own.begin(), own.end(), slice);
      ZERO_RT_TRY(end.allGather(call, kDType<T>, inPlace ? slice : own.data(), all.data(), size));
      for (int peer = 0; peer < ranks; ++peer)
        for (uint64_t i = 0; i < size; ++i)
          EXPECT_EQ(all[peer * size + i], valueAt<T>(peer, i));
      return Status();
    }));
  }

  template <typename T, typename Arithmetic = T>
  void scatter(bool inPlace, bool mean) {
    const Reduction how{kDType<T>, mean, kDType<Arithmetic>};
    expectAllOk(onAll(group, [&](Communicator &end) {
      std::vector<T> data = input<T>(end.rank(), size * ranks), own(size);
      T *slice = inPlace ? data.data() + end.rank() * size : own.data();
      ZERO_RT_TRY(end.reduceScatter(call, how, data.data(), slice, size));
      for (uint64_t i = 0; i < size; ++i)
        EXPECT_EQ(slice[i], (sumAt<T, Arithmetic>(ranks, ranksPerNode ? ranksPerNode : ranks,
                                                  end.rank() * size + i, mean)));
      return Status();
    }));
  }

  template <typename T, typename Arithmetic = T>
  void reduce(bool mean) {
    const Reduction how{kDType<T>, mean, kDType<Arithmetic>};
    expectAllOk(onAll(group, [&](Communicator &end) {
      std::vector<T> data = input<T>(end.rank(), size);
      ZERO_RT_TRY(end.allReduce(call, how, data.data(), size));
      for (uint64_t i = 0; i < size; ++i)
        EXPECT_EQ(data[i],
                  (sumAt<T, Arithmetic>(ranks, ranksPerNode ? ranksPerNode : ranks, i, mean)));
      return Status();
    }));
  }
};

TEST_P(Conformance, AllGather) {
  for (bool inPlace : {false, true}) {
    gather<float>(inPlace);
    gather<double>(inPlace);
    gather<int64_t>(inPlace);
    gather<_Float16>(inPlace);
  }
}

TEST_P(Conformance, Broadcast) {
  for (int root : {0, ranks - 1, ranks / 2})
    for (bool inPlace : {false, true}) {
      expectAllOk(onAll(group, [&](Communicator &end) {
        std::vector<int64_t> own = input<int64_t>(end.rank(), size), other(size, -1);
        std::vector<int64_t> &got = inPlace ? own : other;
        const uint64_t before = end.traffic().modelElements;
        ZERO_RT_TRY(end.broadcast(call, ZERO_RT_I64, own.data(), got.data(), size, root));
        for (uint64_t i = 0; i < size; ++i)
          EXPECT_EQ(got[i], valueAt<int64_t>(root, i));
        EXPECT_EQ(end.traffic().modelElements - before, end.rank() == root ? 0 : size);
        return Status();
      }));
    }
}

TEST_P(Conformance, ReduceScatterSumsInRankOrder) {
  for (bool inPlace : {false, true})
    for (bool mean : {false, true}) {
      scatter<float>(inPlace, mean);
      scatter<double>(inPlace, mean);
      scatter<int64_t>(inPlace, mean);
      scatter<_Float16>(inPlace, mean);
      scatter<BFloat16>(inPlace, mean);
      scatter<_Float16, float>(inPlace, mean);
      scatter<BFloat16, float>(inPlace, mean);
    }
}

TEST_P(Conformance, AllReduceHasTheBitsOfReduceScatter) {
  for (bool mean : {false, true}) {
    reduce<float>(mean);
    reduce<double>(mean);
    reduce<int64_t>(mean);
    reduce<_Float16>(mean);
    reduce<BFloat16>(mean);
    reduce<_Float16, float>(mean);
    reduce<BFloat16, float>(mean);
  }
}

/// One rank has 1, and each other rank has an eighth of the distance to the next number. Added in
/// 16 bits, these summands are lost one by one. Added in float32, they are exact until the end.
TEST_P(Conformance, Float32ArithmeticRoundsOnce) {
  for (DType dtype : {ZERO_RT_F16, ZERO_RT_BF16}) {
    const float small = dtype == ZERO_RT_F16 ? 0x1p-13f : 0x1p-10f;
    for (DType arithmetic : {ZERO_RT_F32, ZERO_RT_NO_DTYPE})
      expectAllOk(onAll(group, [&](Communicator &end) {
        std::vector<uint16_t> data(size), expected(size);
        fill(dtype, end.rank() == 0 ? 1 : small, data.data(), size);
        fill(dtype, arithmetic == ZERO_RT_F32 ? 1 + (ranks - 1) * double(small) : 1.0,
             expected.data(), size);
        ZERO_RT_TRY(end.allReduce(call, {dtype, false, arithmetic}, data.data(), size));
        EXPECT_EQ(data, expected);
        return Status();
      }));
  }
}

TEST_P(Conformance, CountsElementsReceived) {
  expectAllOk(onAll(group, [&](Communicator &end) {
    std::vector<float> data(size * ranks);
    float *slice = data.data() + end.rank() * size;
    Call control{"control", 1, true};
    ZERO_RT_TRY(end.allGather(call, ZERO_RT_F32, slice, data.data(), size));
    ZERO_RT_TRY(end.reduceScatter(call, {ZERO_RT_F32}, data.data(), slice, size));
    ZERO_RT_TRY(end.allReduce(control, {ZERO_RT_F32}, data.data(), size * ranks));
    EXPECT_EQ(end.traffic().modelElements, 2 * (ranks - 1) * size);
    EXPECT_EQ(end.traffic().controlElements, 2 * (ranks - 1) * size);
    EXPECT_EQ(end.traffic().controlBytes, 8 * (ranks - 1) * size);
    return Status();
  }));
}

TEST_P(Conformance, ManyInARowOnTheSameBuffers) {
  // A fast rank must not overwrite data that a slower rank still reads.
  expectAllOk(onAll(group, [&](Communicator &end) {
    std::vector<int64_t> data(size * ranks);
    int64_t *slice = data.data() + end.rank() * size;
    for (int64_t turn = 0; turn < 50; ++turn) {
      std::fill_n(slice, size, turn * 100 + end.rank());
      ZERO_RT_TRY(end.allGather(call, ZERO_RT_I64, slice, data.data(), size));
      ZERO_RT_TRY(end.reduceScatter(call, {ZERO_RT_I64}, data.data(), slice, size));
      for (uint64_t i = 0; i < size; ++i)
        EXPECT_EQ(slice[i], ranks * (turn * 100 + end.rank()));
    }
    return Status();
  }));
}

std::string nameOf(const testing::TestParamInfo<Conformance::ParamType> &info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::to_string(std::get<1>(info.param)) +
         "_" + std::to_string(std::get<2>(info.param)) + (std::get<3>(info.param) ? "_byNode" : "");
}
INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         testing::Combine(testing::ValuesIn(kMakers), testing::Values(1, 2, 4, 7),
                                          testing::Values(0, 1, 5001), testing::Values(0, 2)),
                         nameOf);
/// More than a rank reads or sends at a time.
INSTANTIATE_TEST_SUITE_P(Large, Conformance,
                         testing::Combine(testing::ValuesIn(std::span(kMakers).last(3)),
                                          testing::Values(4), testing::Values(70001),
                                          testing::Values(0, 2)),
                         nameOf);

class Waiting : public testing::TestWithParam<Maker> {};

TEST_P(Waiting, IsCountedByThoseWhoWait) {
  constexpr int kRanks = 3, kLate = 1;
  std::atomic<int> others = 0; // ranks that are about to wait
  Group group = GetParam().make({.ranks = kRanks, .timeoutSeconds = 60});
  expectAllOk(onAll(group, [&](Communicator &end) {
    EXPECT_EQ(end.waited(), 0u);
    if (end.rank() != kLate)
      ++others;
    while (end.rank() == kLate && others < kRanks - 1)
      std::this_thread::yield();
    if (end.rank() == kLate)
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    float value = 1;
    return end.allReduce({"x"}, {ZERO_RT_F32}, &value, 1);
  }));
  // A late rank waits only for the other ranks' parts of the collective.
  for (int rank = 0; rank < kRanks; ++rank)
    if (rank != kLate)
      EXPECT_GT(group[rank]->waited(), group[kLate]->waited());
}

INSTANTIATE_TEST_SUITE_P(All, Waiting, testing::ValuesIn(kOneNode),
                         [](const auto &info) { return info.param.name; });

class Failure : public testing::TestWithParam<Maker> {};

TEST_P(Failure, StalledRankIsNamedOnAllRanks) {
  for (int ranks : {2, 4}) {
    Group group = GetParam().make(
        {.ranks = ranks, .timeoutSeconds = 1, .stallRank = 1, .stallCollective = 3});
    std::vector<Status> results = onAll(group, [](Communicator &end) {
      for (uint64_t index = 0;; ++index) {
        float value = 1;
        ZERO_RT_TRY(end.allReduce({"layer.7", index}, {ZERO_RT_F32}, &value, 1));
        EXPECT_LT(index, 3u);
      }
    });
    for (const Status &result : results) {
      EXPECT_EQ(result.getCode(), ZERO_RT_TIMEOUT);
      EXPECT_EQ(result.getMessage(),
                "rank 1 did not arrive at collective 3 ('layer.7') within 1 s");
    }
  }
}

TEST_P(Failure, AbortEndsWaits) {
  Group group = GetParam().make({.ranks = 3, .timeoutSeconds = 600});
  std::vector<Status> results = onAll(group, [](Communicator &end) {
    Status reason = fail(ZERO_RT_CHECK_FAILED, "rank 2 has had enough");
    if (end.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      end.abort(reason);
      return reason;
    }
    float value = 1;
    return end.allReduce({"x"}, {ZERO_RT_F32}, &value, 1);
  });
  for (const Status &result : results) // the error is not a timeout
    EXPECT_EQ(result.getMessage(), "rank 2 has had enough");
}

TEST_P(Failure, DisagreementIsNoticed) {
  Group group = GetParam().make({.ranks = 2, .timeoutSeconds = 60});
  std::vector<Status> results = onAll(group, [](Communicator &end) {
    float values[4] = {};
    return end.rank() == 0 ? end.allReduce({"a"}, {ZERO_RT_F32}, values, 3)
                           : end.allReduce({"b"}, {ZERO_RT_F32}, values, 4);
  });
  for (const Status &result : results)
    EXPECT_NE(result.getMessage().find("ranks disagree"), std::string::npos);
}

TEST_P(Failure, NoSumOfOtherTypes) {
  Group group = GetParam().make({.ranks = 1, .timeoutSeconds = 60});
  bool value = true;
  Status status = group[0]->allReduce({"x"}, {ZERO_RT_BOOL}, &value, 1);
  EXPECT_EQ(status.getMessage(), "a sum over ranks of bool");
  float number = 1;
  status = group[0]->allReduce({"x"}, {ZERO_RT_F32, false, ZERO_RT_F64}, &number, 1);
  EXPECT_EQ(status.getMessage(), "a sum over ranks of float32 in float64");
  status = group[0]->reduceScatter({"x"}, {ZERO_RT_BF16, false, ZERO_RT_F16}, &number, &number, 1);
  EXPECT_EQ(status.getMessage(), "a sum over ranks of bfloat16 in float16");
}

INSTANTIATE_TEST_SUITE_P(All, Failure, testing::ValuesIn(kOneNode),
                         [](const auto &info) { return info.param.name; });

} // namespace
