//===- matmul_test.cpp - products of both libraries against a plain loop ---===//

#include "allocations.h"
#include "matmul_case.h"
#include "runtime/device/cpu/matmul.h"
#include "runtime/device/cpu/openmp.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace zero::rt;

namespace {

/// Runs twice with the same initial C. The second run must allocate nothing above 4 KiB. Returns
/// the bytes of C.
std::vector<char> runKernel(const proto::Kernel &kernel, Case data, const Types &types,
                            ProductLibrary library, int threads) {
  std::unique_ptr<LibraryKernel> matmul;
  std::unique_ptr<LibraryCall> call;
  Status made = makeLibraryKernel(kernel, threads, matmul, library);
  EXPECT_TRUE(made.ok()) << made.getMessage();
  if (!made.ok() || !matmul->makeCall(call).ok())
    return {};
  std::array<std::vector<char>, 4> stored;
  std::array<std::vector<float> *, 4> values{&data.a, &data.b, &data.bias, &data.c};
  for (size_t i = 0; i < 4; ++i) {
    stored[i] = storedAs(types[i], *values[i]);
    *values[i] = loadedFrom(types[i], stored[i]);
  }
  std::vector<char> residual = storedAs(types[3], data.residual);
  data.residual = loadedFrom(types[3], residual);
  const std::vector<float> expected = expectedOf(data);

  auto *workspace = static_cast<char *>(std::aligned_alloc(64, matmul->getWorkspace() + 64));
  std::fill_n(workspace, matmul->getWorkspace() + 64, 0x5a);
  std::vector<char> c;
  for (int run = 0; run < 2; ++run) {
    c = stored[3];
    std::vector<void *> args{stored[0].data(), stored[1].data()};
    if (data.desc.bias())
      args.push_back(stored[2].data());
    if (data.desc.residual())
      args.push_back(residual.data());
    args.insert(args.end(), {c.data(), workspace});
    AllocationWatch watch;
    Status done = call->run(args.data());
    if (run == 1 && (library == ProductLibrary::Eigen ||
                     missingFeature("avx512f avx512bw avx512dq avx512vl").empty()))
      EXPECT_EQ(watch.largeAllocations(), 0u);
    EXPECT_TRUE(done.ok()) << done.getMessage();
    checkResult(data, types[3], stored[3], c, expected);
  }
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(workspace[matmul->getWorkspace() + i], 0x5a) << "wrote beyond its workspace";
  std::free(workspace);
  return c;
}

void checkKernel(const proto::Kernel &kernel, const Case &data, const Types &types) {
  runKernel(kernel, data, types, ProductLibrary::OneDnn, 1);
}

/// Results of Eigen do not depend on the number of threads.
void checkStored(const Case &data, const Types &types) {
  const proto::Kernel kernel = kernelOf(data, types);
  checkKernel(kernel, data, types);
  const auto alone = runKernel(kernel, data, types, ProductLibrary::Eigen, 1);
  EXPECT_EQ(alone, runKernel(kernel, data, types, ProductLibrary::Eigen, 3));
}

/// Checks in f32, with all arguments in 16 bits, with some of them in 16 bits, and with factors of
/// bf16 that are multiplied as they are stored.
void check(const Case &data) {
  constexpr DType F = ZERO_RT_F32, H = ZERO_RT_F16, B = ZERO_RT_BF16;
  for (const Types &types : {Types{F, F, F, F}, {B, B, B, B}, {H, F, B, H}, {F, B, F, F}})
    checkStored(data, types);
  // A bias along the contiguous dimension of C is not supported: the compiler uses f32.
  const int last = data.desc.c_strides_size() - 1;
  const bool isAcross = data.desc.bias() && data.desc.c_strides(last) != 1;
  if (missingForHalves().empty() && !isAcross)
    for (auto [bias, result] : {std::pair(B, B), {F, F}, {F, B}})
      checkKernel(halfKernelOf(data, bias, result), data, {B, B, bias, result});
}

/// Every transposition of A, B and C, with and without gaps between rows.
class Layouts : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(Layouts, MatchPlainLoop) {
  auto [ta, tb, tc] = GetParam();
  for (int64_t gap : {0, 5})
    for (auto [m, n, k] : {std::array{33, 47, 29}, std::array{64, 128, 64}, std::array{1, 40, 16},
                           std::array{40, 1, 16}, std::array{8, 9, 1}, std::array{1, 1, 1}}) {
      Case data({}, m, n, k, strides(ta, m, k, gap), strides(tb, k, n, gap),
                strides(tc, m, n, gap));
      check(data);
      check(Case(data).withBias());
      check(Case(data).accumulate());
      check(Case(data).withResidual());
      check(Case(data).alpha(0.125f).withBias().accumulate());
      check(Case(data).alpha(0.125f).withBias().withResidual().accumulate());
    }
}
INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Combine(testing::Values(0, 1), testing::Values(0, 1),
                                          testing::Values(0, 1)));

TEST(Matmul, BatchesWithoutGaps) {
  Case data({6}, 17, 13, 8, {17 * 8, 8, 1}, {8 * 13, 13, 1}, {17 * 13, 13, 1});
  check(data);
  check(Case(data).alpha(0.5f).withBias().accumulate());
  check(Case(data).withBias().withResidual());
}

TEST(Matmul, HeadsInsideAProjection) {
  // Two sequences of 3 heads: queries and keys are stored side by side in rows of 120.
  int64_t S = 32, D = 20, row = 120;
  check(Case({2, 3}, S, S, D, {S * row, D, row, 1}, {S * row, D, 1, row}, {3 * S * S, S * S, S, 1})
            .alpha(0.25f));
  check(Case({2, 3}, S, D, S, {3 * S * S, S * S, S, 1}, {S * row, D, row, 1}, {S * 60, D, 60, 1}));
  check(Case({2, 3}, S, D, S, {3 * S * S, S * S, 1, S}, {S * row, D, row, 1}, {S * row, D, row, 1})
            .accumulate()
            .withResidual());
}

TEST(Matmul, RepeatedOperands) {
  check(Case({4, 3}, 10, 12, 8, {80, 0, 8, 1}, {3 * 96, 96, 12, 1}, {360, 120, 12, 1}));
  check(Case({4, 3}, 10, 12, 8, {240, 80, 8, 1}, {0, 0, 12, 1}, {360, 120, 12, 1}).withBias());
  check(Case({4, 3}, 10, 12, 8, {240, 80, 8, 1}, {0, 96, 1, 8}, {360, 120, 12, 1}));
  check(Case({5}, 1, 12, 8, {8, 8, 1}, {0, 12, 1}, {12, 12, 1}).accumulate());
}

TEST(Matmul, ColumnsThatShareSetsOfTheCache) {
  // One matrix, and three with one A for all and rows of A that are not used.
  Case one({}, 512, 64, 20, {1, 512}, {64, 1}, {64, 1});
  Case three({3}, 300, 70, 20, {0, 1, 1024}, {1400, 1, 20}, {21000, 70, 1});
  Case blocks({}, 512, 65, 260, {1, 512}, {65, 1}, {70, 1}); // of 256 rows
  for (const Case &data : {one, three, blocks}) {
    check(data);
    check(Case(data).alpha(0.5f).withBias().accumulate());
    check(Case(data).withBias().withResidual());
  }
}

TEST(Matmul, NoContiguousDirection) {
  check(Case({2}, 9, 7, 11, {500, 44, 2}, {400, 3, 50}, {300, 30, 4}).accumulate().withBias());
  check(Case({2}, 9, 7, 11, {500, 44, 2}, {400, 3, 50}, {300, 30, 4}).withResidual().withBias());
}

TEST(Matmul, UnitDimensionsWithOddStrides) {
  check(Case({1, 3, 1}, 1, 5, 4, {99, 4, 7, 1000, 1}, {0, 20, 3, 5, 1}, {1, 5, 2, 77, 1}));
  check(Case({}, 6, 1, 4, {4, 1}, {3, 999}, {9, 55}));
  check(Case({}, 6, 5, 1, {2, 31}, {17, 1}, {5, 1}));
}

TEST(Matmul, NothingToSum) {
  check(Case({2}, 3, 4, 0, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}).withBias());
  check(Case({2}, 3, 4, 0, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}).accumulate());
  check(Case({2}, 3, 4, 0, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}).withResidual().withBias());
  check(Case({0}, 3, 4, 5, {15, 5, 1}, {20, 4, 1}, {12, 4, 1}));
}

TEST(Matmul, RefusesByName) {
  std::unique_ptr<Matmul> matmul;
  Case wide({}, 2, 2, 2, {2, 1}, {2, 1}, {2, 1});
  wide.desc.set_dtype(proto::F64);
  EXPECT_NE(Matmul::create(wide.desc, {}, 1, matmul).getMessage().find("float64"),
            std::string::npos);
  Case shared({2}, 2, 2, 2, {4, 2, 1}, {4, 2, 1}, {0, 2, 1});
  EXPECT_EQ(Matmul::create(shared.desc, {}, 1, matmul).getCode(), ZERO_RT_UNSUPPORTED);
  Case strides({2}, 2, 2, 2, {4, 2, 1}, {4, 2, 1}, {4, 2, 1});
  strides.desc.mutable_a_strides()->RemoveLast();
  EXPECT_EQ(Matmul::create(strides.desc, {}, 1, matmul).getCode(), ZERO_RT_BAD_FILE);
}

TEST(Matmul, RefusesStoredTypesByName) {
  std::unique_ptr<LibraryKernel> made;
  Case data({}, 2, 2, 2, {2, 1}, {2, 1}, {2, 1});
  proto::Kernel kernel = kernelOf(data, {ZERO_RT_BF16, ZERO_RT_F64, ZERO_RT_F32, ZERO_RT_F32});
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "an argument of float64: expected float32, float16 or bfloat16");
  kernel.mutable_stored()->RemoveLast();
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "expected the types of 3 arguments, got 2");
  Case residual({}, 2, 2, 2, {2, 1}, {2, 1}, {2, 1});
  kernel = kernelOf(residual.withResidual(), {ZERO_RT_BF16, ZERO_RT_F32, ZERO_RT_F32, ZERO_RT_F32});
  kernel.set_stored(2, proto::BF16);
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "a product's residual is stored in another type than C");
  Case huge({}, 2, 2, 2, {2, 1}, {2, 1}, {2, 1});
  huge.desc.set_m(uint64_t(1) << 50);
  kernel = kernelOf(huge, {ZERO_RT_BF16, ZERO_RT_F32, ZERO_RT_F32, ZERO_RT_F32});
  EXPECT_FALSE(makeLibraryKernel(kernel, 1, made).ok());
}

TEST(Matmul, WorkspaceIsPlannedByTheSameFunction) {
  Case data({}, 64, 64, 64, {1, 64}, {64, 1}, {64, 1});
  std::unique_ptr<Matmul> matmul;
  ASSERT_TRUE(Matmul::create(data.desc, {}, 1, matmul).ok());
  uint64_t bytes = 1;
  proto::Kernel kernel;
  *kernel.mutable_matmul() = data.desc;
  EXPECT_EQ(zero_rt_library_workspace(kernel, bytes), "");
  EXPECT_EQ(bytes, matmul->getWorkspace());
}

TEST(Matmul, LargeOnesRunInBlocks) {
  constexpr DType F = ZERO_RT_F32, H = ZERO_RT_F16, B = ZERO_RT_BF16;
  auto workspace = [](const Case &data, const Types &types) {
    std::unique_ptr<LibraryKernel> made;
    EXPECT_TRUE(makeLibraryKernel(kernelOf(data, types), 1, made).ok());
    return made ? made->getWorkspace() : 0;
  };
  // Converts A and C in blocks of 256 rows, and all of B. The last block has 44 rows.
  Case rows({}, 556, 211, 200, {200, 1}, {211, 1}, {211, 1});
  EXPECT_LT(workspace(rows, {B, B, B, B}), 4u * (256 * 200 + 200 * 211 + 256 * 211) + 50000);
  checkStored(rows.withBias(), {B, B, B, B});
  checkStored(rows.accumulate(), {H, H, B, H});
  checkStored(rows.withResidual(), {H, B, B, B});
  // Converts blocks of columns, with C, B and A transposed and with gaps.
  Case columns({}, 210, 600, 190, {1, 275}, {1, 301}, {1, 290});
  EXPECT_LT(workspace(columns, {B, B, B, B}), 4u * (210 * 190 + 190 * 256 + 210 * 256) + 50000);
  checkStored(columns.withBias(), {B, B, B, B});
  checkStored(columns.accumulate(), {F, B, H, B});
  checkStored(columns.withResidual(), {F, B, H, F});
  // Converts one batch at a time. A is repeated over the batches.
  Case batches({8, 2}, 90, 100, 110, {0, 9900, 110, 1}, {22000, 11000, 100, 1},
               {18000, 9000, 100, 1});
  EXPECT_LT(workspace(batches, {B, B, B, B}), 4u * 2 * (9900 + 11000 + 9000) + 50000);
  checkStored(batches.withBias(), {B, B, B, B});
  checkStored(batches.accumulate().alpha(0.5f), {B, H, F, F});
  checkStored(batches.withResidual(), {B, H, F, H});
  // Arguments in f32 are not copied. Only B is converted, in blocks of columns.
  EXPECT_LT(workspace(Case({}, 4, 1000, 700, {700, 1}, {1000, 1}, {1000, 1}), {F, B, F, F}),
            4u * 700 * 256 + 50000);
}

TEST(Matmul, BFloatsAreMultipliedAsStored) {
  if (!missingForHalves().empty())
    GTEST_SKIP() << "this CPU does not multiply bf16";
  auto workspaceOf = [](const proto::Kernel &kernel) {
    std::unique_ptr<LibraryKernel> made;
    EXPECT_TRUE(makeLibraryKernel(kernel, 1, made).ok());
    return made ? made->getWorkspace() : 0;
  };
  // The large f32 copies are gone.
  Case data({}, 1024, 768, 512, {512, 1}, {768, 1}, {768, 1});
  constexpr DType B = ZERO_RT_BF16;
  EXPECT_LT(4 * workspaceOf(halfKernelOf(data, B, B)), workspaceOf(kernelOf(data, {B, B, B, B})));
}

TEST(Matmul, RefusesFactorsThatAreNotBFloats) {
  std::unique_ptr<LibraryKernel> made;
  Case data({}, 2, 2, 2, {2, 1}, {2, 1}, {2, 1});
  proto::Kernel kernel = halfKernelOf(data, ZERO_RT_F32, ZERO_RT_F32);
  kernel.set_stored(1, proto::F32);
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "a product of bfloat16: expected both operands in bfloat16");
  kernel.mutable_matmul()->set_dtype(proto::F16); // which only GPUs multiply
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "a product of bfloat16: expected both operands in bfloat16");
  kernel = halfKernelOf(data, ZERO_RT_F32, ZERO_RT_F16);
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "a product of bfloat16: expected no argument of float16");
  kernel.clear_stored();
  EXPECT_EQ(makeLibraryKernel(kernel, 1, made).getMessage(),
            "expected the types of 3 arguments, got 0");
}

/// The bound for any CPU must suffice on this one, whichever implementations oneDNN selects here.
void checkBound(const proto::Kernel &kernel) {
  for (int threads : {1, 2, 5}) {
    uint64_t needed = 0, bound = 0;
    ASSERT_EQ(zero_rt_library_workspace(kernel, needed, threads), "");
    ASSERT_EQ(zero_rt_portable_workspace(kernel, bound, threads), "");
    EXPECT_LE(needed, bound) << kernel.matmul().ShortDebugString() << ", " << threads;
  }
}

TEST(Matmul, PortableWorkspaceSuffices) {
  constexpr DType F = ZERO_RT_F32, B = ZERO_RT_BF16;
  for (auto [m, n, k] :
       {std::array{1, 1, 1}, std::array{33, 47, 29}, std::array{1024, 512, 2048},
        std::array{512, 2048, 1024}, std::array{1000, 30, 4000}, std::array{8, 3000, 100},
        std::array{70, 530, 9000}, std::array{4096, 256, 64}, std::array{2, 7, 20000},
        std::array{1024, 128, 700}})
    for (int layout = 0; layout < 16; ++layout) {
      const int64_t gap = layout & 8 ? 5 : 0;
      Case data({3}, m, n, k, {0, 0, 0}, {0, 0, 0}, {0, 0, 0});
      auto set = [&](auto *list, bool transposed, int64_t rows, int64_t columns) {
        const Strides matrix = strides(transposed, rows, columns, gap);
        list->Set(0, (rows + gap) * (columns + gap));
        list->Set(1, matrix[0]), list->Set(2, matrix[1]);
      };
      set(data.desc.mutable_a_strides(), layout & 1, m, k);
      set(data.desc.mutable_b_strides(), layout & 2, k, n);
      set(data.desc.mutable_c_strides(), layout & 4, m, n);
      std::vector<proto::Kernel> kernels{kernelOf(data, {F, F, F, F}),
                                         kernelOf(data, {B, B, F, B})};
      if (missingForHalves().empty())
        kernels.push_back(halfKernelOf(data, F, B));
      for (const proto::Kernel &kernel : kernels)
        checkBound(kernel);
    }
}

TEST(Matmul, PortableWorkspaceSufficesForReorderedB) {
  for (auto [m, n, k] : {std::array{1024, 512, 512}, std::array{2048, 1000, 3000},
                         std::array{70, 530, 33}, std::array{8, 48, 1}}) {
    Case data({}, m, n, k, {k, 1}, {n, 1}, {n, 1});
    proto::Kernel kernel;
    *kernel.mutable_matmul() = data.reorderB().desc;
    checkBound(kernel);
  }
}

/// Returns C after one run of `data` in f32.
std::vector<float> resultOf(Case data, int threads = 1) {
  TeamSize team(threads);
  std::unique_ptr<Matmul> matmul;
  std::unique_ptr<LibraryCall> call;
  EXPECT_TRUE(Matmul::create(data.desc, {}, threads, matmul).ok());
  EXPECT_TRUE(matmul->makeCall(call).ok());
  std::vector<char> workspace(matmul->getWorkspace() + 64);
  std::vector<void *> args{data.a.data(), data.b.data()};
  if (data.desc.bias())
    args.push_back(data.bias.data());
  if (data.desc.residual())
    args.push_back(data.residual.data());
  args.insert(args.end(), {data.c.data(), workspace.data()});
  EXPECT_TRUE(call->run(args.data()).ok());
  return data.c;
}

TEST(Matmul, ResidualsGiveTheSameBitsInPlace) {
  for (bool swapped : {false, true})
    for (int64_t gap : {0, 3})
      for (auto [m, n, k] : {std::array{33, 47, 29}, std::array{64, 96, 3000}}) {
        Case plain({}, m, n, k, {k, 1}, {n, 1}, strides(swapped, m, n, gap));
        plain.c = plain.residual;
        EXPECT_EQ(resultOf(Case(plain).withBias().withResidual()),
                  resultOf(Case(plain).withBias().accumulate()));
      }
}

/// The workspace bytes that `data` needs in f32.
uint64_t workspaceOf(const Case &data) {
  std::unique_ptr<Matmul> matmul;
  EXPECT_TRUE(Matmul::create(data.desc, {}, 1, matmul).ok());
  return matmul->getWorkspace();
}

TEST(Matmul, ReordersBFirst) {
  // The sizes leave tails in rows, columns and sums. A is dense or transposed.
  for (bool transposed : {false, true})
    for (auto [m, n, k] : {std::array{300, 512, 70}, std::array{70, 530, 33}, std::array{1, 40, 16},
                           std::array{64, 1, 16}, std::array{8, 48, 1}}) {
      Case data({}, m, n, k, strides(transposed, m, k, 0), {n, 1}, {n, 1});
      data.reorderB();
      check(data);
      check(Case(data).withBias().withResidual());
      check(Case(data).accumulate());
      check(Case(data).alpha(0.125f).withBias().withResidual().accumulate());
    }
}

TEST(Matmul, ReordersWhereItCan) {
  // B is copied, so it may have gaps. The product is not reordered if A has gaps, if there are
  // batches, or if C is transposed.
  check(Case({}, 33, 47, 29, {29, 1}, {52, 1}, {47, 1}).reorderB());
  check(Case({}, 33, 47, 29, {29, 1}, {1, 30}, {47, 1}).reorderB().withBias());
  check(Case({}, 33, 47, 29, {34, 1}, {47, 1}, {47, 1}).reorderB());
  check(Case({}, 33, 47, 29, {29, 1}, {47, 1}, {1, 33}).reorderB());
  check(Case({6}, 17, 13, 8, {17 * 8, 8, 1}, {8 * 13, 13, 1}, {17 * 13, 13, 1}).reorderB());
  check(Case({2}, 3, 4, 0, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}).reorderB().withBias());
}

TEST(Matmul, ReorderedBIsInTheWorkspace) {
  if (!missingFeature("avx512f avx512bw avx512dq avx512vl").empty())
    GTEST_SKIP() << "here oneDNN takes B as it lies";
  Case data({}, 300, 512, 70, {70, 1}, {512, 1}, {512, 1});
  const uint64_t plain = workspaceOf(data);
  const uint64_t reordered = workspaceOf(data.reorderB());
  EXPECT_GE(reordered, 4u * 512 * 70);
  EXPECT_LT(reordered, plain + 4u * 512 * 80); // the copy has blocks of columns; n leaves no tail
}

TEST(Matmul, ReorderedGivesTheSameBitsWithMoreThreads) {
  for (bool transposed : {false, true}) {
    Case data({}, 1030, 512, 300, strides(transposed, 1030, 300, 0), {512, 1}, {512, 1});
    data.reorderB().withBias().withResidual();
    const std::vector<float> once = resultOf(data);
    for (int threads : {2, 3})
      EXPECT_EQ(once, resultOf(data, threads)) << threads << " threads";
  }
}

TEST(Matmul, CopiesAreInTheWorkspace) {
  // B is repeated over the batch and copied once. A has gaps, which the copy does not have.
  Case data({4}, 16, 16, 16, {100 * 16, 100, 1}, {0, 16, 1}, {256, 16, 1});
  std::unique_ptr<LibraryKernel> plain, mixed;
  Case dense({4}, 16, 16, 16, {256, 16, 1}, {0, 16, 1}, {256, 16, 1});
  constexpr DType F = ZERO_RT_F32, B = ZERO_RT_BF16;
  ASSERT_TRUE(makeLibraryKernel(kernelOf(dense, {F, F, F, F}), 1, plain).ok());
  ASSERT_TRUE(makeLibraryKernel(kernelOf(data, {B, B, F, F}), 1, mixed).ok());
  EXPECT_EQ(mixed->getWorkspace(), alignUp(plain->getWorkspace()) + 4 * (4 * 256 + 256));
}

/// Returns the answer to zeroc about a dense product of `batch` times [m, k] by [k, n], with one B
/// for all.
std::string answerFor(uint64_t batch, uint64_t m, uint64_t n, uint64_t k) {
  proto::Kernel kernel;
  proto::Matmul &desc = *kernel.mutable_matmul();
  desc.set_dtype(proto::F32);
  desc.set_alpha(1);
  desc.add_batch(batch);
  desc.set_m(m), desc.set_n(n), desc.set_k(k);
  for (uint64_t stride : {m * k, k, uint64_t(1)})
    desc.add_a_strides(int64_t(stride));
  for (uint64_t stride : {uint64_t(0), n, uint64_t(1)})
    desc.add_b_strides(int64_t(stride));
  for (uint64_t stride : {m * n, n, uint64_t(1)})
    desc.add_c_strides(int64_t(stride));
  uint64_t bytes;
  return zero_rt_library_workspace(kernel, bytes);
}

// oneDNN divides by zero for 2^32 rows, so such a product never reaches it.
TEST(Matmul, SidesAreBoundedBeforeTheLibrary) {
  const uint64_t most = uint64_t(1) << 30, much = uint64_t(1) << 32;
  EXPECT_EQ(answerFor(1, most, 8, 8), "");
  const std::string bound = "expected at most 1073741824 rows, columns and matrices, got ";
  for (uint64_t size : {most + 1, much})
    for (const std::string &answer : {answerFor(1, size, 8, 8), answerFor(1, 8, size, 8),
                                      answerFor(1, 8, 8, size), answerFor(size, 8, 8, 8)})
      EXPECT_EQ(answer, "a matrix product: " + bound + std::to_string(size));
  // The rows of all matrices together are too many, so the matrices remain separate.
  EXPECT_EQ(answerFor(uint64_t(1) << 16, uint64_t(1) << 16, 8, 8), "");
}

} // namespace
