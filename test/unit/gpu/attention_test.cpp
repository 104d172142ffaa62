//===- attention_test.cpp - attention on a GPU against plain loops --------===//
//
// The recording driver interprets the PTX of the kernels.
//
//===----------------------------------------------------------------------===//

#include "../runtime/attention_case.h"
#include "on_gpu.h"
#include "runtime/device/cuda/attention.h"

#include <cmath>

using namespace zero::rt;
using namespace zero::rt::cuda;
using Direction = proto::Attention::Direction;

namespace {

constexpr auto kForward = proto::Attention::FORWARD, kBackward = proto::Attention::BACKWARD;
constexpr auto kShown = proto::Attention::SHOWN, kBias = proto::Attention::BIAS;
constexpr float kInfinity = INFINITY;

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
    expectOk(reserveGpuMemory(gpu, 16 << 20, 30, arena));
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

  std::optional<GpuAttentionCode> code;
};

TEST_F(GpuAttentions, Layouts) {
  for (Layout layout : {Layout::HeadsFirst, Layout::RowsFirst, Layout::Gaps, Layout::Packed}) {
    check(AttentionCase({2, 2, 2, 70, 70, 16, 16}, layout));
    check(AttentionCase({2, 4, 2, 40, 40, 16, 16}, layout).causal(-kInfinity));
    checkHalves(AttentionCase({2, 2, 2, 70, 70, 16, 16}, layout));
    checkHalves(AttentionCase({2, 4, 2, 71, 71, 32, 32}, layout).causal(-kInfinity));
  }
}

TEST_F(GpuAttentions, Widths) {
  for (uint64_t width : {1, 17, 40, 64, 80, 128})
    for (uint64_t valueWidth : {width, uint64_t(3), uint64_t(48)}) {
      check(AttentionCase({1, 2, 2, 19, 19, width, valueWidth}).causal(-kInfinity));
      checkHalves(AttentionCase({1, 2, 2, 19, 19, width, valueWidth}).causal(-kInfinity));
    }
}

TEST_F(GpuAttentions, QueriesAndKeysOfOtherLengths) {
  for (auto [queries, keys] :
       {std::array<uint64_t, 2>{1, 1}, {1, 40}, {65, 7}, {8, 200}, {130, 113}, {63, 97}}) {
    SCOPED_TRACE(queries);
    check(AttentionCase({1, 2, 1, queries, keys, 24, 24}));
    checkHalves(AttentionCase({1, 2, 1, queries, keys, 24, 24}));
    for (int64_t offset : {int64_t(keys) - int64_t(queries), int64_t(0), int64_t(5)})
      for (float fill : {-1e9f, -kInfinity}) {
        if (offset < 0 && fill == -kInfinity)
          continue; // rows without any key are not numbers
        check(AttentionCase({1, 2, 1, queries, keys, 24, 24}).causal(fill, offset));
        checkHalves(AttentionCase({1, 2, 1, queries, keys, 24, 24}).causal(fill, offset), 2e-2);
      }
  }
}

TEST_F(GpuAttentions, NothingToCompute) {
  check(AttentionCase({0, 2, 2, 4, 4, 8, 8}));
  check(AttentionCase({2, 0, 0, 4, 4, 8, 8}));
  check(AttentionCase({2, 2, 2, 0, 4, 8, 8}).causal(-kInfinity));
  check(AttentionCase({2, 2, 1, 5, 5, 0, 8}).causal(-kInfinity));
  check(AttentionCase({2, 2, 1, 5, 5, 8, 0}).causal(-kInfinity));
  check(AttentionCase({2, 2, 1, 5, 0, 8, 8}));
  check(AttentionCase({2, 2, 1, 5, 0, 8, 8}).guard());
}

TEST_F(GpuAttentions, Masks) {
  using Over = std::array<bool, 4>;
  for (Over over : {Over{true, true, true, true}, {true, false, false, true}, {}})
    for (auto kind : {kShown, kBias}) {
      AttentionCase plain({2, 2, 1, 35, 50, 16, 16});
      check(AttentionCase(plain).fill(-1e9f).addMask(kind, over));
      check(AttentionCase(plain).causal(-1e9f, 3).addMask(kind, over).addPadding(kShown));
      check(AttentionCase(plain).causal(-kInfinity).addMask(kind, over).addPadding(kBias).guard());
      checkHalves(AttentionCase(plain).causal(-1e9f, 3).addMask(kind, over).addPadding(kShown),
                  2e-2);
    }
}

TEST_F(GpuAttentions, RowsThatSeeNothing) {
  const uint64_t keys = 90;
  for (float fill : {-kInfinity, -3.4e38f, -1e9f, -1e4f, -20.0f}) {
    SCOPED_TRACE(fill);
    const double within = fill == -1e4f ? 4e-3 : 3e-5;
    AttentionCase padded({1, 2, 1, keys, keys, 16, 16});
    padded.causal(fill).addPadding(kShown);
    check(hide(padded, padded.padding, 0, 70), within);
    check(padded.guard(), within);
    AttentionCase late({1, 2, 1, keys, keys, 16, 16});
    check(late.causal(fill, -20), within);
    check(late.guard(), within);
    AttentionCase all({2, 1, 1, keys, keys, 16, 16});
    all.fill(fill).addPadding(kShown);
    check(hide(all, all.padding, 0, keys), within);
    check(all.guard(), within);
  }
}

TEST_F(GpuAttentions, HiddenKeysCountWhereTheNumbersSayIt) {
  check(AttentionCase({1, 2, 2, 70, 70, 16, 16}).causal(-3.0f));
  AttentionCase masked({1, 2, 2, 70, 70, 16, 16});
  masked.causal(-1024.0f).addMask(kBias, {false, false, true, true});
  check(hide(masked, masked.mask, 0, 70 * 70, 1022.0f), 4e-3);
  AttentionCase padded({1, 2, 2, 70, 70, 16, 16});
  padded.causal(-1e9f).addPadding(kBias);
  check(hide(padded, padded.padding, 0, 50, -1e9f));
}

TEST_F(GpuAttentions, StoredInSixteenBits) {
  for (DType type : {ZERO_RT_F16, ZERO_RT_BF16}) {
    const double within = type == ZERO_RT_F16 ? 1e-3 : 4e-3;
    check(AttentionCase({2, 4, 2, 40, 40, 20, 20}, Layout::Gaps).in(type), within);
    check(AttentionCase({2, 4, 2, 40, 40, 20, 20})
              .in(type)
              .causal(-kInfinity)
              .addPadding(kShown)
              .guard(),
          within);
  }
}

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
