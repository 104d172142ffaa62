//===- attention_test.cpp - tiled attention against plain loops -----------===//

#include "allocations.h"
#include "attention_cases.h"
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

void checkAll(const Cases &cases) {
  for (const ListedCase &each : cases) {
    SCOPED_TRACE(&each - cases.data());
    each.within > 0 ? check(each.data, each.within) : check(each.data);
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

TEST(Attention, Layouts) { checkAll(casesOfLayouts(70)); }

TEST(Attention, WidthsThatAreNoVectors) { checkAll(casesOfWidths({1, 5, 17, 40, 64, 80})); }

TEST(Attention, QueriesAndKeysOfOtherLengths) {
  checkAll(casesOfLengths({{1, 1}, {1, 40}, {65, 7}, {300, 280}, {8, 600}, {130, 513}, {63, 257}}));
}

TEST(Attention, NothingToCompute) { checkAll(casesOfNothing()); }

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
  checkAll(casesOfMasks({{true, true, true, true},
                         {false, false, true, true},
                         {true, false, false, true},
                         {false, true, true, false},
                         {}},
                        {{75, 75}, {20, 290}}));
}

TEST(Attention, MasksMayLieInAnyOrder) {
  // Keys are the outer dimension of the mask.
  AttentionCase data({1, 2, 2, 30, 40, 16, 16});
  data.fill(-1e9f).addMask(kShown, {false, false, true, true});
  data.desc.set_mask_strides(2, 1), data.desc.set_mask_strides(3, 30);
  check(data);
}

TEST(Attention, WindowsAndPrefixes) { checkAll(casesOfWindows({{150, 150}, {40, 300}, {90, 50}})); }

TEST(Attention, Segments) { checkAll(casesOfSegments({{150, 150}, {40, 300}, {290, 290}})); }

/// Queries and keys that do not know each other, in any order.
TEST(Attention, SegmentsInAnyOrder) {
  AttentionCase data({1, 2, 2, 140, 330, 16, 16});
  data.fill(-kInfinity).guard().addSegments({});
  for (Operand *segments : {&data.querySegments, &data.keySegments})
    for (size_t i = 0; i < segments->values.size(); ++i)
      segments->values[i] = float(i * i % 7) - (segments == &data.keySegments ? 2 : 0);
  check(data);
}

TEST(Attention, RowsThatSeeNothing) {
  for (uint64_t keys : {90, 300})
    checkAll(casesOfBlindRows(keys));
}

TEST(Attention, HiddenKeysCountWhereTheNumbersSayIt) { checkAll(casesOfSmallFills(150)); }

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
  checkAll(casesOfShortTypes(70, {Layout::HeadsFirst, Layout::Gaps, Layout::Packed}));
}

TEST(Attention, FactorsOfBFloats) {
  const Lengths lengths = {{1, 1}, {1, 40}, {65, 7}, {300, 280}, {8, 600}, {130, 513}, {63, 257}};
  for (const Cases &cases :
       {casesOfLayouts(70), casesOfWidths({1, 5, 17, 40, 64, 80}), casesOfLengths(lengths)})
    for (const ListedCase &each : cases)
      checkHalves(each.data);
  checkHalves(
      AttentionCase({2, 4, 2, 70, 70, 20, 20}).causal(-kInfinity).addPadding(kShown).guard());
  checkHalves(AttentionCase({2, 4, 2, 70, 70, 20, 20}).addMask(kBias, {true, false, true, true}));
  for (const Cases &cases : {casesOfWindows({{150, 301}}), casesOfSegments({{151, 150}})})
    for (const ListedCase &each : cases)
      checkHalves(each.data, 2e-2);
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
