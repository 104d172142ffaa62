//===- UpdateKernelsTest.cpp - optimizer kernels, bitwise -----------------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

/// AdamW in place on weight, m and v. Its scalars are decay, step and correction.
static std::string adamw() {
  std::string text = "func.func private @adamw("
                     "%w: tensor<?xf32> {zero.inplace = 0 : i64}, "
                     "%m: tensor<?xf32> {zero.inplace = 1 : i64}, "
                     "%v: tensor<?xf32> {zero.inplace = 2 : i64}, %g: tensor<?xf32>, "
                     "%decay: tensor<f32>, %step: tensor<f32>, %corr: tensor<f32>) -> "
                     "(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel} {\n";
  text += R"(
    %r:3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
        affine_map<(d0) -> ()>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>,
        affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%g, %decay, %step, %corr : tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
        outs(%w, %m, %v : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    ^bb0(%gg: f32, %d: f32, %s: f32, %c: f32, %ww: f32, %mm: f32, %vv: f32):
      %c1 = arith.constant 0.1 : f32
      %c2 = arith.constant 0.001 : f32
      %b2 = arith.constant 0.999 : f32
      %eps = arith.constant 1.0e-8 : f32
      %w1 = arith.mulf %ww, %d : f32
      %dm = arith.subf %gg, %mm : f32
      %m1 = math.fma %c1, %dm, %mm : f32
      %sq = arith.mulf %gg, %gg : f32
      %vb = arith.mulf %vv, %b2 : f32
      %v1 = math.fma %c2, %sq, %vb : f32
      %rt = math.sqrt %v1 : f32
      %dn = arith.divf %rt, %c : f32
      %de = arith.addf %dn, %eps : f32
      %q = arith.divf %m1, %de : f32
      %w2 = math.fma %s, %q, %w1 : f32
      linalg.yield %w2, %m1, %v1 : f32, f32, f32
    } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  })";
  return text;
}

namespace {
struct State {
  std::vector<float> w, m, v, g;
  float decay = 0.99f, step = -0.0123f, correction = 0.7f;

  explicit State(int64_t count)
      : w(numbers(count, 1)), m(numbers(count, 2)), v(numbers(count, 3)), g(numbers(count, 4)) {
    for (float &value : v)
      value = std::abs(value);
  }
  void run(Kernels &kernels, int64_t start, int64_t count) {
    kernels.call("adamw", {&w[start], &m[start], &v[start], &g[start], &decay, &step, &correction},
                 count);
  }
};
} // namespace

TEST(UpdateKernels, AdamWMatchesScalarCode) {
  Kernels kernels(adamw());
  ASSERT_TRUE(kernels.ok());
  State state(1000), expected(1000);
  state.run(kernels, 0, 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    float &w = expected.w[i], &m = expected.m[i], &v = expected.v[i], g = expected.g[i];
    float decayed = w * expected.decay;
    m = std::fma(0.1f, g - m, m);
    volatile float square = g * g, kept = v * 0.999f;
    v = std::fma(0.001f, square, kept);
    volatile float denominator = std::sqrt(v) / expected.correction;
    w = std::fma(expected.step, m / (denominator + 1e-8f), decayed);
  }
  EXPECT_EQ(state.w, expected.w);
  EXPECT_EQ(state.m, expected.m);
  EXPECT_EQ(state.v, expected.v);
}

TEST(UpdateKernels, EverySplitGivesTheSameBits) {
  Kernels kernels(adamw());
  ASSERT_TRUE(kernels.ok());
  const int64_t count = 1031;
  State whole(count);
  whole.run(kernels, 0, count);
  for (int64_t shard = 1; shard <= 130; ++shard) {
    State cut(count);
    for (int64_t start = 0; start < count; start += shard)
      cut.run(kernels, start, std::min(shard, count - start));
    for (auto [a, b] : {std::pair(&whole.w, &cut.w), {&whole.m, &cut.m}, {&whole.v, &cut.v}})
      ASSERT_EQ(std::memcmp(a->data(), b->data(), count * sizeof(float)), 0) << "shard " << shard;
  }
}

TEST(UpdateKernels, NoTemporaryIsNeeded) {
  Kernels kernels(adamw());
  ASSERT_TRUE(kernels.ok());
  EXPECT_FALSE(kernels.module().lookupSymbol("adamw")->hasAttr("zero.workspace"));
}
