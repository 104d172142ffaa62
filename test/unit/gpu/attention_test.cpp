//===- attention_test.cpp - attention on a GPU against plain loops --------===//
//
// The recording driver interprets the PTX of the kernels.
//
//===----------------------------------------------------------------------===//

#include "../runtime/attention_cases.h"
#include "on_gpu.h"
#include "runtime/device/cuda/attention.h"

#include <cmath>
#include <limits>

using namespace zero::rt;
using namespace zero::rt::cuda;
using Direction = proto::Attention::Direction;

namespace {

constexpr auto kForward = proto::Attention::FORWARD, kBackward = proto::Attention::BACKWARD;

class GpuAttentions : public OnGpu {
protected:
  void SetUp() override {
    OnGpu::SetUp();
    code.emplace(gpu);
  }

  std::vector<char> read(const char *from, size_t size) const {
    std::vector<char> bytes(size);
    expectOk(arena->read(uint64_t(from - arena->base()), size,
                         [&](const char *piece, uint64_t done, uint64_t count) {
                           std::memcpy(bytes.data() + done, piece, count);
                           return Status();
                         }));
    return bytes;
  }

  /// The results have other contents before.
  void run(const AttentionCase &data, Direction direction, double within) {
    SCOPED_TRACE(direction == kForward ? "forward" : "backward");
    size_t written;
    const auto arguments = data.arguments(direction, written);
    expectOk(reserveGpuMemory(gpu, 4 << 20, 30, arena));
    end = 0;
    std::vector<void *> args;
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::vector<char> bytes = arguments[i]->bytes();
      if (i + written >= arguments.size())
        std::fill(bytes.begin(), bytes.end(), '\xff');
      args.push_back(place(bytes));
    }
    proto::Kernel kernel = data.kernel(direction);
    AttentionPlan plan;
    expectOk(planAttention(kernel, plan, /*onGpu=*/true));
    int width = 0;
    uint64_t workspace = 0;
    expectOk(limitAttention(plan, width, workspace));
    kernel.set_workspace(workspace);
    args.push_back(arena->base() + end);
    std::unique_ptr<GpuAttention> attention;
    Status made = GpuAttention::create(*code, kernel, attention);
    ASSERT_TRUE(made.ok()) << made.getMessage();
    expectOk(attention->run(args.data(), *lanes));
    expectOk(lanes->finish());
    for (size_t i = arguments.size() - written; i < arguments.size(); ++i) {
      SCOPED_TRACE("argument " + std::to_string(i));
      expectClose(*arguments[i],
                  read(static_cast<const char *>(args[i]), arguments[i]->bytes().size()), within);
      if (HasFatalFailure())
        return;
    }
  }

  /// Factors are float32, however they are stored.
  void check(AttentionCase data, double within = 3e-5) {
    data.finish();
    run(data, kForward, within);
    if (!HasFatalFailure())
      run(data, kBackward, within);
  }
  /// Factors of 16 bits.
  void checkHalves(const AttentionCase &plain, double within = 1e-2) {
    for (auto [type, name] : {std::pair{ZERO_RT_BF16, proto::BF16}, {ZERO_RT_F16, proto::F16}}) {
      SCOPED_TRACE(nameOf(type));
      AttentionCase data = plain;
      data.in(type);
      data.desc.set_dtype(name);
      check(data, within);
    }
  }

  /// `halves`: the limit of errors with factors of 16 bits; 0: those are not checked.
  void checkAll(const Cases &cases, double halves = 0) {
    for (const ListedCase &each : cases) {
      SCOPED_TRACE(&each - cases.data());
      each.within > 0 ? check(each.data, each.within) : check(each.data);
      if (halves > 0 && !HasFatalFailure())
        checkHalves(each.data, halves);
      if (HasFatalFailure())
        return;
    }
  }

  std::optional<GpuAttentionCode> code;
};

TEST_F(GpuAttentions, Layouts) { checkAll(casesOfLayouts(70), 1e-2); }

TEST_F(GpuAttentions, Widths) { checkAll(casesOfWidths({1, 17, 40, 64, 80, 128}), 1e-2); }

TEST_F(GpuAttentions, QueriesAndKeysOfOtherLengths) {
  checkAll(casesOfLengths({{1, 1}, {1, 40}, {65, 7}, {8, 200}, {130, 113}, {63, 97}}), 2e-2);
}

TEST_F(GpuAttentions, NothingToCompute) { checkAll(casesOfNothing(), 1e-2); }

TEST_F(GpuAttentions, Masks) {
  checkAll(casesOfMasks({{true, true, true, true}, {true, false, false, true}, {}}, {{35, 50}}),
           2e-2);
}

TEST_F(GpuAttentions, WindowsAndPrefixes) { checkAll(casesOfWindows({{70, 90}}), 2e-2); }

TEST_F(GpuAttentions, Segments) { checkAll(casesOfSegments({{70, 70}}), 2e-2); }

/// A NaN in one document of a row does not reach the other: the tiles of both are not multiplied.
TEST_F(GpuAttentions, SkipsTilesOfOtherDocuments) {
  for (const uint64_t begin : {0, 64}) {
    SCOPED_TRACE(begin);
    AttentionCase data({1, 1, 1, 128, 128, 16, 16});
    data.causal(-std::numeric_limits<float>::infinity()).guard().addSegments({64, 64});
    data.finish();
    auto spoil = [&](Operand &rows) {
      const size_t width = rows.values.size() / 128;
      std::fill_n(rows.values.begin() + ptrdiff_t(begin * width), 64 * width, NAN);
    };
    for (Operand *rows : {&data.k, &data.v, &data.o, &data.lse, &data.dQ, &data.dK, &data.dV})
      spoil(*rows);
    run(data, kForward, 3e-5);
    run(data, kBackward, 3e-5);
  }
}

TEST_F(GpuAttentions, RowsThatSeeNothing) { checkAll(casesOfBlindRows(90)); }

TEST_F(GpuAttentions, HiddenKeysCountWhereTheNumbersSayIt) { checkAll(casesOfSmallFills(70)); }

TEST_F(GpuAttentions, StoredInSixteenBits) { checkAll(casesOfShortTypes(40, {Layout::Gaps})); }

/// The widest kernels need the most shared memory. Generations of GPUs have different amounts.
TEST_F(GpuAttentions, RunsOnEachGeneration) {
  for (int capability : {80, 86, 89, 90, 100, 120}) {
    SCOPED_TRACE(capability);
    code.reset();
    open({.capability = capability});
    code.emplace(gpu);
    check(AttentionCase({1, 1, 1, 3, 3, 128, 128}));
    checkHalves(AttentionCase({1, 1, 1, 3, 3, 128, 128}));
  }
}

TEST_F(GpuAttentions, AFaultNamesTheKernelsBeforeIt) {
  AttentionCase data({1, 1, 1, 4, 4, 8, 8});
  data.finish();
  std::unique_ptr<GpuAttention> attention;
  expectOk(GpuAttention::create(*code, data.kernel(kForward), attention));
  std::vector<void *> nowhere(6, reinterpret_cast<void *>(uint64_t(1) << 40));
  const std::string first = "attention.0", last = "attention.1";
  lanes->announce(first);
  expectOk(attention->run(nowhere.data(), *lanes));
  EXPECT_FALSE(lanes->finish().ok());
  lanes->announce(last);
  const std::string message = attention->run(nowhere.data(), *lanes).getMessage();
  EXPECT_NE(message.find("GPU 0: cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"), std::string::npos)
      << message;
  EXPECT_NE(message.find("by one of the kernels from 'attention.0' to 'attention.1'"),
            std::string::npos)
      << message;
  EXPECT_EQ(recording::problems().size(), 1u);
  code.reset();
  open({}); // without this problem
}

TEST_F(GpuAttentions, RefusesWhatItHasNot) {
  std::unique_ptr<GpuAttention> attention;
  AttentionCase wide({1, 1, 1, 4, 4, 129, 8});
  wide.finish();
  EXPECT_EQ(GpuAttention::create(*code, wide.kernel(kForward), attention).getMessage(),
            "an attention on a GPU: heads wider than 128");
  AttentionCase data({1, 2, 2, 4, 4, 8, 8});
  data.finish();
  EXPECT_EQ(GpuAttention::create(*code, data.kernel(kBackward), attention).getMessage(),
            "an attention on a GPU needs 64 bytes of workspace, got 0");
}

} // namespace
