//===- attention_test.cpp - tiled attention against plain loops -----------===//

#include "allocations.h"
#include "attention_case.h"
#include "runtime/device/cpu/attention.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace zero::rt;
using Direction = proto::Attention::Direction;

namespace {

constexpr auto kForward = proto::Attention::FORWARD, kBackward = proto::Attention::BACKWARD;
constexpr auto kShown = proto::Attention::SHOWN, kBias = proto::Attention::BIAS;
constexpr float kInfinity = INFINITY;

/// The results of one direction, in the order of its arguments.
using Results = std::vector<std::vector<char>>;

/// Runs twice. The second run must allocate nothing above 4 KiB and be bitwise identical. Results
/// and workspace have other contents before.
Results run(const AttentionCase &data, Direction direction, int threads,
            const AttentionCode *code) {
  std::unique_ptr<Attention> attention;
  std::unique_ptr<LibraryCall> call;
  Status made = Attention::create(data.kernel(direction), threads, attention, code);
  EXPECT_TRUE(made.ok()) << made.getMessage();
  if (!made.ok() || !attention->makeCall(call).ok())
    return {};
  size_t written;
  Results stored, results;
  for (const Operand *operand : data.arguments(direction, written))
    stored.push_back(operand->bytes());
  const uint64_t bytes = attention->getWorkspace();
  auto *workspace = static_cast<unsigned char *>(std::aligned_alloc(64, bytes + 64));
  for (int turn = 0; turn < 2; ++turn) {
    std::fill_n(workspace, bytes + 64, 0xff); // a NaN in every float
    std::vector<void *> args;
    for (size_t i = 0; i < stored.size(); ++i) {
      if (i + written >= stored.size())
        std::fill(stored[i].begin(), stored[i].end(), '\xff');
      args.push_back(stored[i].data());
    }
    args.push_back(workspace);
    AllocationWatch watch;
    EXPECT_TRUE(call->run(args.data()).ok());
    EXPECT_TRUE(turn == 0 || watch.largeAllocations() == 0);
    Results now(stored.end() - long(written), stored.end());
    EXPECT_TRUE(turn == 0 || results == now) << "another result in the second run";
    results = now;
  }
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(workspace[bytes + uint64_t(i)], 0xff) << "wrote beyond its workspace";
  std::free(workspace);
  return results;
}

/// Checks one direction with `code`; see Attention::create.
void checkDirection(const AttentionCase &data, Direction direction, const AttentionCode *code,
                    bool withThreads, double within) {
  SCOPED_TRACE(direction == kForward ? "forward" : "backward");
  size_t written;
  const auto arguments = data.arguments(direction, written);
  const Results results = run(data, direction, 1, code);
  ASSERT_EQ(results.size(), written);
  for (size_t i = 0; i < written; ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expectClose(*arguments[arguments.size() - written + i], results[i], within);
    if (testing::Test::HasFatalFailure())
      return;
  }
  if (withThreads)
    EXPECT_EQ(run(data, direction, 3, code), results) << "bits depend on threads";
}

/// Checks both directions with the code of each CPU. One thread and three threads must be bitwise
/// identical.
void check(AttentionCase data, double within = 2e-5) {
  data.finish();
  const AttentionCode *fastest = attentionCodes().front();
  for (Direction direction : {kForward, kBackward})
    for (const AttentionCode *code : attentionCodes()) {
      SCOPED_TRACE(code - fastest);
      checkDirection(data, direction, code, code == fastest, within);
      if (testing::Test::HasFatalFailure())
        return;
    }
}

/// Checks both directions with factors of bf16, where this CPU multiplies them.
void checkHalves(AttentionCase data, double within = 1e-2) {
  if (!missingForHalves().empty())
    return;
  data.in(ZERO_RT_BF16).finish();
  data.desc.set_dtype(proto::BF16);
  for (Direction direction : {kForward, kBackward})
    checkDirection(data, direction, nullptr, true, within);
}

//===----------------------------------------------------------------------===//
// Sizes and layouts
//===----------------------------------------------------------------------===//

TEST(Attention, Layouts) {
  for (Layout layout : {Layout::HeadsFirst, Layout::RowsFirst, Layout::Gaps, Layout::Packed}) {
    check(AttentionCase({2, 3, 3, 70, 70, 16, 16}, layout));
    check(AttentionCase({2, 4, 2, 70, 70, 16, 16}, layout).causal(-kInfinity));
  }
}

TEST(Attention, WidthsThatAreNoVectors) {
  for (uint64_t width : {1, 5, 17, 40, 64, 80})
    for (uint64_t valueWidth : {width, uint64_t(3), uint64_t(48)})
      check(AttentionCase({1, 2, 2, 19, 19, width, valueWidth}).causal(-kInfinity));
  check(AttentionCase({1, 2, 1, 9, 9, 20, 13}, Layout::Packed).causal(-kInfinity));
}

TEST(Attention, QueriesAndKeysOfOtherLengths) {
  for (auto [queries, keys] : {std::array<uint64_t, 2>{1, 1},
                               {1, 40},
                               {65, 7},
                               {300, 280},
                               {8, 600},
                               {130, 513},
                               {63, 257}}) {
    check(AttentionCase({1, 2, 1, queries, keys, 24, 24}));
    // Aligns the last query with the last key, the first query with the first key, or hides
    // nothing.
    for (int64_t offset :
         {int64_t(keys) - int64_t(queries), int64_t(0), int64_t(5), int64_t(1) << 62})
      check(AttentionCase({1, 2, 1, queries, keys, 24, 24}).causal(-1e9f, offset));
  }
}

TEST(Attention, GroupsOfHeads) {
  check(AttentionCase({2, 6, 2, 40, 40, 16, 24}).causal(-kInfinity));
  check(AttentionCase({2, 6, 1, 40, 40, 16, 24}, Layout::RowsFirst));
  check(AttentionCase({3, 8, 4, 33, 33, 8, 8}, Layout::Packed).causal(-1e9f));
}

TEST(Attention, NothingToCompute) {
  check(AttentionCase({0, 2, 2, 4, 4, 8, 8}));
  check(AttentionCase({2, 0, 0, 4, 4, 8, 8}));
  check(AttentionCase({2, 2, 2, 0, 4, 8, 8}).causal(-kInfinity));
  check(AttentionCase({2, 2, 1, 5, 5, 0, 8}).causal(-kInfinity));
  check(AttentionCase({2, 2, 1, 5, 5, 8, 0}).causal(-kInfinity));
  // Without keys, O is an empty sum.
  check(AttentionCase({2, 2, 1, 5, 0, 8, 8}));
  check(AttentionCase({2, 2, 1, 5, 0, 8, 8}).guard());
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

TEST(Attention, Paddings) {
  for (bool perBatch : {true, false})
    for (Layout layout : {Layout::RowsFirst, Layout::Packed})
      for (bool causal : {false, true}) {
        AttentionCase plain({2, 2, 2, 75, 75, 16, 16}, layout);
        if (causal)
          plain.causal(-1e9f);
        check(AttentionCase(plain).fill(-1e9f).addPadding(kShown, perBatch));
        check(AttentionCase(plain).addPadding(kBias, perBatch));
      }
}

TEST(Attention, Masks) {
  using Over = std::array<bool, 4>;
  for (Over over : {Over{true, true, true, true},
                    {false, false, true, true},
                    {true, false, false, true},
                    {false, true, true, false},
                    {}})
    for (auto kind : {kShown, kBias})
      for (auto [queries, keys] : {std::array<uint64_t, 2>{75, 75}, {20, 290}}) {
        AttentionCase plain({2, 2, 1, queries, keys, 16, 16});
        check(AttentionCase(plain).fill(-1e9f).addMask(kind, over));
        check(AttentionCase(plain).causal(-1e9f, 3).addMask(kind, over).addPadding(kShown));
        check(
            AttentionCase(plain).causal(-kInfinity).addMask(kind, over).addPadding(kBias).guard());
      }
}

TEST(Attention, MasksMayLieInAnyOrder) {
  // Keys are the outer dimension of the mask.
  AttentionCase data({1, 2, 2, 30, 40, 16, 16});
  data.fill(-1e9f).addMask(kShown, {false, false, true, true});
  data.desc.set_mask_strides(2, 1), data.desc.set_mask_strides(3, 30);
  check(data);
}

TEST(Attention, RowsThatSeeNothing) {
  for (uint64_t keys : {90, 300})
    for (float fill : {-kInfinity, -3.4e38f, -1e9f, -1e4f, -20.0f}) {
      SCOPED_TRACE(fill);
      // Next to a fill of 1e4, scores have few significant bits left.
      const double within = fill == -1e4f ? 4e-3 : 3e-5;
      // Hides keys from the left: early queries see no key, later ones some keys.
      AttentionCase padded({1, 2, 1, keys, keys, 16, 16});
      padded.causal(fill).addPadding(kShown);
      check(hide(padded, padded.padding, 0, 70), within);
      check(padded.guard(), within);
      // The same by causality alone.
      AttentionCase late({1, 2, 1, keys, keys, 16, 16});
      check(late.causal(fill, -20), within);
      check(late.guard(), within);
      // Hides all keys of a batch.
      AttentionCase all({2, 1, 1, keys, keys, 16, 16});
      all.fill(fill).addPadding(kShown);
      check(hide(all, all.padding, 0, keys), within);
      check(all.guard(), within);
    }
}

TEST(Attention, HiddenKeysCountWhereTheNumbersSayIt) {
  // The fill is too small to hide keys: alone, and with a mask that cancels it.
  check(AttentionCase({1, 2, 2, 150, 150, 16, 16}).causal(-3.0f));
  AttentionCase masked({1, 2, 2, 150, 150, 16, 16});
  masked.causal(-1024.0f).addMask(kBias, {false, false, true, true});
  check(hide(masked, masked.mask, 0, 150 * 150, 1022.0f), 4e-3);
  // The padding hides with a number keys that causality shows, as left padding does.
  AttentionCase padded({1, 2, 2, 150, 150, 16, 16});
  padded.causal(-1e9f).addPadding(kBias);
  check(hide(padded, padded.padding, 0, 100, -1e9f));
  // Large scores with a fill of a few thousand.
  AttentionCase large({1, 1, 1, 100, 100, 16, 16});
  large.desc.set_scale(100);
  check(large.causal(-1500.0f), 5e-2);
}

TEST(Attention, NumbersThatAreNone) {
  AttentionCase data({1, 1, 1, 80, 80, 16, 16});
  data.causal(-kInfinity);
  data.k.values[40 * 16 + 3] = NAN;
  data.finish();
  for (const AttentionCode *code : attentionCodes()) {
    const Results results = run(data, kForward, 1, code);
    Operand o;
    o.take(results[0]);
    EXPECT_TRUE(std::isnan(o.values[50 * 16]));
  }
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

TEST(Attention, StoredInSixteenBits) {
  for (DType type : {ZERO_RT_F16, ZERO_RT_BF16})
    for (Layout layout : {Layout::HeadsFirst, Layout::Gaps, Layout::Packed}) {
      const double within = type == ZERO_RT_F16 ? 1e-3 : 4e-3;
      AttentionCase plain({2, 4, 2, 70, 70, 20, 20}, layout);
      check(AttentionCase(plain).in(type), within);
      check(AttentionCase(plain).in(type).causal(-kInfinity).addPadding(kShown).guard(), within);
      check(AttentionCase(plain).in(type).addMask(kBias, {true, false, true, true}), within);
    }
}

TEST(Attention, FactorsOfBFloats) {
  for (Layout layout : {Layout::HeadsFirst, Layout::RowsFirst, Layout::Gaps, Layout::Packed}) {
    checkHalves(AttentionCase({2, 3, 3, 70, 70, 16, 16}, layout));
    checkHalves(AttentionCase({2, 4, 2, 71, 71, 32, 32}, layout).causal(-kInfinity));
  }
  for (uint64_t width : {1, 5, 17, 40, 64, 80})
    for (uint64_t valueWidth : {width, uint64_t(3), uint64_t(48)})
      checkHalves(AttentionCase({1, 2, 2, 19, 19, width, valueWidth}).causal(-kInfinity));
  for (auto [queries, keys] : {std::array<uint64_t, 2>{1, 1},
                               {1, 40},
                               {65, 7},
                               {300, 280},
                               {8, 600},
                               {130, 513},
                               {63, 257}}) {
    checkHalves(AttentionCase({1, 2, 1, queries, keys, 24, 24}));
    for (int64_t offset : {int64_t(keys) - int64_t(queries), int64_t(0), int64_t(5)})
      checkHalves(AttentionCase({1, 2, 1, queries, keys, 24, 24}).causal(-1e9f, offset));
  }
  checkHalves(AttentionCase({3, 8, 4, 33, 33, 8, 8}, Layout::Packed).causal(-1e9f));
  checkHalves(
      AttentionCase({2, 4, 2, 70, 70, 20, 20}).causal(-kInfinity).addPadding(kShown).guard());
  checkHalves(AttentionCase({2, 4, 2, 70, 70, 20, 20}).addMask(kBias, {true, false, true, true}));
}

TEST(Attention, RefusesFactorsThatAreNotBFloats) {
  AttentionCase data({1, 1, 1, 4, 4, 8, 8});
  data.finish();
  data.desc.set_dtype(proto::BF16);
  std::unique_ptr<Attention> made;
  EXPECT_EQ(Attention::create(data.kernel(kForward), 1, made).getMessage(),
            "an attention of bfloat16: expected all factors in bfloat16");
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

uint64_t workspaceOf(const proto::Kernel &kernel, int threads = 1) {
  uint64_t bytes = 0;
  EXPECT_EQ(zero_rt_library_workspace(kernel, bytes, threads), "");
  return bytes;
}

TEST(Attention, WorkspaceIsLinearInTheLength) {
  for (Direction direction : {kForward, kBackward}) {
    AttentionCase data({1, 8, 8, 1, 1, 64, 64}, Layout::RowsFirst);
    auto workspace = [&](uint64_t length, int threads = 1) {
      data.desc.set_queries(length), data.desc.set_keys(length);
      return workspaceOf(data.kernel(direction), threads);
    };
    const uint64_t step = workspace(2048) - workspace(1024);
    EXPECT_EQ(workspace(4096) - workspace(2048), 2 * step);
    EXPECT_EQ(step, 1024u * 64 * 4 * (direction == kForward ? 2 : 5));
    EXPECT_EQ(workspace(1024, 4), 4 * workspace(1024));
    EXPECT_EQ(workspace(1024, 100), 8 * workspace(1024)) << "more threads than heads";
  }
}

} // namespace
