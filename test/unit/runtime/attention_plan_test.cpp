//===- attention_plan_test.cpp - attentions that are not supported --------===//

#include "attention_case.h"
#include "runtime/device/cpu/attention_plan.h"
#include "runtime/device/cpu/library.h"

#include <gtest/gtest.h>

using namespace zero::rt;

namespace {

constexpr auto kForward = proto::Attention::FORWARD, kBackward = proto::Attention::BACKWARD;

proto::Kernel kernelOf(Layout layout = Layout::RowsFirst,
                       proto::Attention::Direction direction = kForward) {
  AttentionCase data({2, 4, 2, 10, 10, 6, 6}, layout);
  data.addPadding(proto::Attention::SHOWN);
  data.addMask(proto::Attention::BIAS, {true, true, true, true});
  return data.kernel(direction);
}

/// Expects that the plan rejects the kernel, as do the library and the runtime.
template <typename Edit>
void expectRefused(Edit edit, zero_rt_code code, const char *message,
                   Layout layout = Layout::RowsFirst) {
  for (auto direction : {kForward, kBackward}) {
    proto::Kernel kernel = kernelOf(layout, direction);
    edit(kernel, *kernel.mutable_attention());
    AttentionPlan plan;
    Status status = planAttention(kernel, plan);
    EXPECT_EQ(status.getMessage(), message);
    EXPECT_EQ(status.getCode(), code) << message;
    std::unique_ptr<LibraryKernel> made;
    EXPECT_FALSE(makeLibraryKernel(kernel, 1, made).ok());
  }
}

TEST(AttentionPlan, KnowsHowFarArgumentsReach) {
  AttentionPlan plan;
  ASSERT_TRUE(planAttention(kernelOf(), plan).ok());
  auto bytes = [&] {
    std::vector<uint64_t> result;
    for (const auto &argument : plan.arguments)
      result.push_back(argument.bytes);
    return result;
  };
  const uint64_t q = 4 * 2 * 4 * 10 * 6, k = q / 2, padding = 20, mask = 4 * 2 * 4 * 100, lse = 320;
  EXPECT_EQ(bytes(), (std::vector<uint64_t>{q, k, k, padding, mask, q, lse}));
  ASSERT_TRUE(planAttention(kernelOf(Layout::RowsFirst, kBackward), plan).ok());
  EXPECT_EQ(bytes(), (std::vector<uint64_t>{q, q, k, k, q, lse, padding, mask, q, k, k}));
  // The packed tensor has 3 unused elements after the last head.
  const uint64_t packed = 4 * (2 * 10 * 53 - 3);
  ASSERT_TRUE(planAttention(kernelOf(Layout::Packed, kBackward), plan).ok());
  EXPECT_EQ(bytes(), (std::vector<uint64_t>{q, packed, q, lse, padding, mask, packed}));
}

TEST(AttentionPlan, DimensionsOfOneCarryAnyStride) {
  AttentionCase data({1, 1, 1, 1, 1, 6, 6});
  AttentionPlan plan;
  for (int dim = 0; dim < 3; ++dim)
    data.desc.set_q_strides(dim, INT64_MIN), data.desc.set_o_strides(dim, INT64_MAX);
  ASSERT_TRUE(planAttention(data.kernel(kForward), plan).ok());
  EXPECT_EQ(plan.arguments[0].bytes, 24u);
  EXPECT_EQ(plan.q.row, 0);
}

TEST(AttentionPlan, RefusesSizesByName) {
  const uint64_t huge = uint64_t(1) << 31;
  auto refuse = [](auto edit, const char *message) {
    expectRefused([&](auto &, auto &attention) { edit(attention); }, ZERO_RT_BAD_FILE, message);
  };
  const char *overflow = "an attention: its size overflows";
  refuse([&](auto &a) { a.set_batch(huge); }, overflow);
  refuse([&](auto &a) { a.set_keys(UINT64_MAX); }, overflow);
  refuse([&](auto &a) { a.set_keys(huge - 1), a.set_value_width(huge - 1); }, overflow);
  refuse([&](auto &a) { a.set_groups(0); }, "an attention: 0 heads of keys for 4 heads");
  refuse([&](auto &a) { a.set_groups(3); }, "an attention: 3 heads of keys for 4 heads");
  refuse([&](auto &a) { a.set_heads(0); }, "an attention: 2 heads of keys for 0 heads");
}

TEST(AttentionPlan, RefusesStridesByName) {
  auto refuse = [](zero_rt_code code, auto edit, const char *message) {
    expectRefused([&](auto &, auto &attention) { edit(attention); }, code, message);
  };
  refuse(
      ZERO_RT_BAD_FILE, [](auto &a) { a.mutable_q_strides()->RemoveLast(); },
      "an attention: expected 3 strides of Q, got 2");
  refuse(
      ZERO_RT_BAD_FILE, [](auto &a) { a.add_padding_strides(1); },
      "an attention: expected 2 strides of the padding, got 3");
  refuse(
      ZERO_RT_BAD_FILE, [](auto &a) { a.clear_mask_strides(); },
      "an attention: expected 4 strides of the mask, got 0");
  refuse(
      ZERO_RT_UNSUPPORTED, [](auto &a) { a.set_v_strides(2, -1); },
      "an attention: expected strides of V >= 0, got -1");
  refuse(
      ZERO_RT_UNSUPPORTED, [](auto &a) { a.set_mask_strides(3, -1); },
      "an attention: expected strides of mask >= 0, got -1");
  refuse(
      ZERO_RT_BAD_FILE, [](auto &a) { a.set_k_strides(0, INT64_MAX); },
      "an attention: the strides of K overflow");
  refuse(
      ZERO_RT_BAD_FILE, [](auto &a) { a.set_padding_strides(1, INT64_MAX); },
      "an attention: the strides of padding overflow");
  auto offset = [](auto &, auto &a) { a.set_offsets(2, UINT64_MAX); };
  expectRefused(offset, ZERO_RT_BAD_FILE, "an attention: the strides of V overflow",
                Layout::Packed);
  auto offsets = [](auto &, auto &a) { a.add_offsets(1); };
  expectRefused(offsets, ZERO_RT_BAD_FILE, "an attention: expected 3 offsets, got 4",
                Layout::Packed);
}

TEST(AttentionPlan, RefusesResultsThatOverlap) {
  AttentionPlan plan;
  proto::Kernel forward = kernelOf(), backward = kernelOf(Layout::RowsFirst, kBackward);
  forward.mutable_attention()->set_o_strides(1, 5);
  EXPECT_EQ(planAttention(forward, plan).getMessage(), "an attention: elements of O overlap");
  // Keys that are read may be broadcast; their gradients may not.
  for (proto::Kernel *kernel : {&forward, &backward})
    *kernel->mutable_attention() = kernelOf().attention();
  forward.mutable_attention()->set_k_strides(0, 0);
  EXPECT_TRUE(planAttention(forward, plan).ok());
  *backward.mutable_attention() = forward.attention();
  backward.mutable_attention()->set_direction(kBackward);
  EXPECT_EQ(planAttention(backward, plan).getMessage(), "an attention: elements of K overlap");
}

TEST(AttentionPlan, RefusesTypesByName) {
  auto refuse = [](zero_rt_code code, auto edit, const char *message) {
    expectRefused(edit, code, message);
  };
  refuse(
      ZERO_RT_UNSUPPORTED, [](auto &, auto &a) { a.set_dtype(proto::F16); },
      "an attention of float16: expected float32 or bfloat16");
  const char *kind = "an attention of a kind that this runtime does not know";
  refuse(ZERO_RT_BAD_FILE, [](auto &, auto &a) { a.set_mask(proto::Attention::Mask(3)); }, kind);
  refuse(
      ZERO_RT_BAD_FILE, [](auto &, auto &a) { a.set_direction(proto::Attention::Direction(2)); },
      kind);
  proto::Kernel kernel = kernelOf();
  AttentionPlan plan;
  auto message = [&](std::initializer_list<proto::DType> stored) {
    kernel.clear_stored();
    for (proto::DType type : stored)
      kernel.add_stored(type);
    return planAttention(kernel, plan).getMessage();
  };
  using namespace proto;
  EXPECT_EQ(message({BF16, BF16, F16, I1, BF16, BF16, F32}), "");
  EXPECT_EQ(plan.arguments[4].stored, ZERO_RT_BF16);
  EXPECT_EQ(message({BF16, BF16, F16, I1, BF16, BF16, BF16}),
            "an attention: LSE of bfloat16: expected float32");
  EXPECT_EQ(message({BF16, BF16, F16, F32, BF16, BF16, F32}),
            "an attention: padding of float32: expected bool");
  EXPECT_EQ(message({F64, BF16, F16, I1, BF16, BF16, F32}),
            "an attention: Q of float64: expected float32, float16 or bfloat16");
  EXPECT_EQ(message({BF16, BF16}), "expected the types of 7 arguments, got 2");
}

} // namespace
