//===- product_test.cpp - products through cuBLASLt's interface -----------===//
//
// Compares with a plain loop. The recording library computes each product as the documentation of
// cuBLASLt specifies it.
//
//===----------------------------------------------------------------------===//

#include "../runtime/matmul_case.h"
#include "on_gpu.h"
#include "runtime/device/cuda/product.h"

#include <set>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

constexpr uint64_t kWorkspace = 8192;

class Products : public OnGpu {
protected:
  void SetUp() override {
    OnGpu::SetUp();
    ::setenv("ZERO_CUBLASLT", ZERO_RECORDING_CUDA, 1);
    std::shared_ptr<const BlasLibrary> library;
    expectOk(BlasLibrary::open(library));
    expectOk(BlasContext::create(library, blas));
  }

  Status make(const Case &data, const Types &types, uint64_t workspace,
              std::unique_ptr<Product> &product) {
    proto::Kernel kernel = kernelOf(data, types);
    kernel.set_workspace(workspace);
    return Product::create(blas, kernel, 2, product);
  }

  void check(Case data, const Types &types) {
    std::unique_ptr<Product> product;
    std::unique_ptr<ProductCall> call;
    expectOk(make(data, types, kWorkspace, product));
    expectOk(product->makeCall(call));
    expectOk(reserveGpuMemory(gpu, 1 << 20, 30, arena));
    end = 64; // the workspace follows the others and is not aligned to 256 bytes
    std::array<std::vector<char>, 4> stored;
    std::array<std::vector<float> *, 4> values{&data.a, &data.b, &data.bias, &data.c};
    for (size_t i = 0; i < 4; ++i) {
      stored[i] = storedAs(types[i], *values[i]);
      *values[i] = loadedFrom(types[i], stored[i]);
    }
    const std::vector<char> residual = storedAs(types[3], data.residual);
    data.residual = loadedFrom(types[3], residual);
    std::vector<void *> args{place(stored[0]), place(stored[1])};
    if (data.desc.bias())
      args.push_back(place(stored[2]));
    if (data.desc.residual())
      args.push_back(place(residual));
    char *c = place(stored[3]);
    args.insert(args.end(), {c, arena->base() + end});
    const recording::Counts before = recording::counts();
    expectOk(call->run(*blas, args.data(), lanes->current()));
    EXPECT_EQ(recording::counts().made, before.made);
    expectOk(lanes->finish());
    std::vector<char> after(stored[3].size());
    expectOk(arena->read(uint64_t(c - arena->base()), after.size(),
                         [&](const char *piece, uint64_t done, uint64_t count) {
                           std::memcpy(after.data() + done, piece, count);
                           return Status();
                         }));
    checkResult(data, types[3], stored[3], after, expectedOf(data));
  }

  /// Checks products of one type, and products of narrow operands with a wide result.
  void check(const Case &data) {
    constexpr DType F = ZERO_RT_F32, H = ZERO_RT_F16, B = ZERO_RT_BF16;
    for (const Types &types : {Types{F, F, F, F}, {B, B, B, B}, {H, H, F, F}})
      check(data, types);
  }

  void expectRefused(const Case &data, const std::string &part,
                     const Types &types = {ZERO_RT_F32, ZERO_RT_F32, ZERO_RT_F32, ZERO_RT_F32},
                     uint64_t workspace = kWorkspace) {
    std::unique_ptr<Product> product;
    Status status = make(data, types, workspace, product);
    EXPECT_EQ(status.getCode(), ZERO_RT_UNSUPPORTED);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  }

  std::shared_ptr<const BlasContext> blas;
};

TEST_F(Products, OfAllLayouts) {
  for (int layout = 0; layout < 8; ++layout)
    for (int64_t gap : {0, 5})
      for (auto [m, n, k] : {std::array{13, 17, 9}, std::array{1, 10, 6}, std::array{10, 1, 6},
                             std::array{1, 1, 1}}) {
        const bool ta = layout & 1, tb = layout & 2, tc = layout & 4;
        Case data({}, m, n, k, strides(ta, m, k, gap), strides(tb, k, n, gap),
                  strides(tc, m, n, gap));
        check(data);
        check(Case(data).alpha(0.125f).accumulate());
        check(Case(data).withResidual());
        if (!tc) {
          check(Case(data).withBias());
          check(Case(data).alpha(0.125f).withBias().withResidual());
        }
      }
}

TEST_F(Products, OfBatches) {
  check(Case({6}, 7, 5, 8, {7 * 8, 8, 1}, {8 * 5, 5, 1}, {7 * 5, 5, 1}).withBias());
  // Two sequences of 3 heads: queries and keys are stored side by side in rows of 120.
  const int64_t S = 8, D = 20, row = 120;
  check(Case({2, 3}, S, S, D, {S * row, D, row, 1}, {S * row, D, 1, row}, {3 * S * S, S * S, S, 1})
            .alpha(0.25f));
  check(Case({2, 3}, S, D, S, {3 * S * S, S * S, S, 1}, {S * row, D, row, 1}, {S * 60, D, 60, 1}));
  check(Case({2, 3}, S, D, S, {3 * S * S, S * S, 1, S}, {S * row, D, row, 1}, {S * row, D, row, 1})
            .accumulate());
  check(Case({4, 3}, 10, 12, 8, {80, 0, 8, 1}, {3 * 96, 96, 12, 1}, {360, 120, 12, 1}));
  check(Case({4, 3}, 10, 12, 8, {240, 80, 8, 1}, {0, 0, 12, 1}, {360, 120, 12, 1}).withBias());
  check(Case({0}, 10, 12, 8, {80, 8, 1}, {96, 12, 1}, {120, 12, 1}));
}

TEST_F(Products, AreRefusedByName) {
  const Case plain({}, 4, 5, 6, {6, 1}, {5, 1}, {5, 1});
  constexpr DType F = ZERO_RT_F32, B = ZERO_RT_BF16;
  expectRefused(Case(plain), "A and B of different types, float32 and bfloat16", {F, B, F, F});
  expectRefused(Case(plain), "of float32 with a result of bfloat16", {F, F, F, B});
  expectRefused(Case(plain).withBias(), "adds float32 to a result of bfloat16", {B, B, F, B});
  expectRefused(Case(plain).withResidual().accumulate(), "two matrices to add to it");
  expectRefused(Case({}, 4, 5, 6, {12, 2}, {5, 1}, {5, 1}),
                "neither rows nor columns of an operand are contiguous");
  expectRefused(Case({}, 4, 5, 6, {3, 1}, {5, 1}, {5, 1}), "rows of an operand overlap");
  expectRefused(Case({}, 4, 5, 6, {6, 1}, {5, 1}, {1, 4}).withBias(), "a bias where the columns");
  expectRefused(Case({}, 4, 5, 0, {6, 1}, {5, 1}, {5, 1}), "it sums nothing");
  expectRefused(Case({}, 2, 2, 2000, {2000, 1}, {2, 1}, {2, 1}),
                "has no algorithm for it within 4096 bytes of workspace", {F, F, F, F}, 4096);
}

TEST_F(Products, HaveAlgorithmsThatKeepTheWorkspace) {
  const Case plain({}, 4, 5, 6, {6, 1}, {5, 1}, {5, 1});
  constexpr DType F = ZERO_RT_F32;
  std::unique_ptr<Product> wide, narrow;
  expectOk(make(plain, {F, F, F, F}, kWorkspace, wide));
  expectOk(make(plain, {F, F, F, F}, 4096, narrow)); // less, once aligned
  std::vector<BlasAlgorithm> all, few, first;
  expectOk(wide->findAlgorithms(16, all));
  expectOk(narrow->findAlgorithms(16, few));
  expectOk(narrow->findAlgorithms(1, first));
  ASSERT_EQ(all.size(), size_t(recording::kAlgorithms));
  ASSERT_EQ(few.size(), size_t(recording::kAlgorithms) - 1);
  EXPECT_EQ(first.size(), 1u);
  for (const BlasAlgorithm &each : all)
    expectOk(wide->check(*blas, each));
  expectOk(narrow->check(*blas, few.back()));
  const Status status = narrow->check(*blas, all[recording::kByHalves]);
  EXPECT_EQ(status.getMessage(), "the algorithm needs 4096 bytes of workspace, planned are 3904");
  all[0].data[7] ^= 1;  // of no meaning here
  all[1].data[1] ^= 64; // of meaning
  expectOk(wide->check(*blas, all[0]));
  EXPECT_NE(wide->check(*blas, all[1]).getMessage().find("cublasLtMatmulAlgoCheck"),
            std::string::npos);
}

/// Each of these changes what the library may choose, or how long it takes.
TEST_F(Products, AreDescribedByAllThatMatters) {
  const Case plain({3}, 4, 5, 6, {24, 6, 1}, {30, 5, 1}, {20, 5, 1});
  constexpr DType F = ZERO_RT_F32, B = ZERO_RT_BF16;
  std::set<std::string> texts;
  auto add = [&](const Case &data, const Types &types = {F, F, F, F}, uint64_t bytes = kWorkspace) {
    std::unique_ptr<Product> product;
    expectOk(make(data, types, bytes, product));
    EXPECT_TRUE(texts.insert(product->describe()).second) << product->describe();
  };
  add(plain);
  add(plain, {B, B, F, F});
  add(plain, {B, B, B, B});
  add(plain, {F, F, F, F}, 4096);
  add(Case(plain).withBias());
  add(Case(plain).withResidual());
  add(Case(plain).accumulate());
  add(Case({2}, 4, 5, 6, {24, 6, 1}, {30, 5, 1}, {20, 5, 1}));
  add(Case({3}, 4, 5, 6, {0, 6, 1}, {30, 5, 1}, {20, 5, 1}));
  add(Case({3}, 4, 5, 6, {24, 1, 4}, {30, 5, 1}, {20, 5, 1}));
  add(Case({3}, 4, 5, 6, {28, 7, 1}, {30, 5, 1}, {20, 5, 1}));
  add(Case({3}, 4, 5, 7, {28, 7, 1}, {35, 5, 1}, {20, 5, 1}));
  proto::Kernel kernel = kernelOf(plain, {F, F, F, F});
  kernel.set_workspace(kWorkspace);
  std::unique_ptr<Product> aligned;
  expectOk(Product::create(blas, kernel, 16, aligned));
  EXPECT_EQ(texts.count(aligned->describe()), 0u);
  EXPECT_EQ(aligned->describe(),
            "float32 5x4 ld 5 by 20 = float32 5x6 ld 5 by 30 * float32 6x4 ld 6 by 24, batch 3, "
            "aligned to 16, workspace 8000");
}

TEST(ProductAlignment, IsThatOfAllLaunches) {
  proto::Program program;
  program.add_kernels()->mutable_matmul()->set_m(1);
  proto::Launch &launch = *program.add_segments()->add_commands()->mutable_launch();
  launch.add_args()->set_offset(4096);
  EXPECT_EQ(alignmentOf(program, 0), 16u);
  launch.add_args()->set_offset(64 + 8);
  EXPECT_EQ(alignmentOf(program, 0), 8u);
  launch.mutable_args(0)->add_rank_strides(36);
  EXPECT_EQ(alignmentOf(program, 0), 4u);
}

} // namespace
