//===- TensorKernelsTest.cpp - kernels that move and select elements ------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <cmath>

using text::fill;
using text::generic;

static std::string kernel(const std::string &signature, const std::string &body) {
  return "func.func private @" + signature + " attributes {zero.kernel} {\n" + body + "}\n";
}

static std::vector<int64_t> integers(size_t count, unsigned seed, int64_t low, int64_t high) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> uniform(low, high);
  std::vector<int64_t> values(count);
  for (int64_t &value : values)
    value = uniform(generator);
  return values;
}

/// For rows of logits with labels, some of which are ignored, computes the loss of each row, its
/// log-sum-exp, the summed loss and the number of labels that count.
TEST(TensorKernels, CrossEntropy) {
  const int64_t rows = 50, classes = 131;
  std::string x = " : tensor<50x131xf32> : d0, d1", row = " : tensor<50xf32> : d0";
  std::string body = fill("low", "tensor<50xf32>", "0xFF800000") +
                     fill("zero", "tensor<50xf32>", "0.0") + fill("none", "tensor<f32>", "0.0") +
                     "%e = tensor.empty() : tensor<50xf32>\n";
  body += generic("max", {"%x" + x}, "%low" + row, "pr",
                  "%s = arith.maximumf %out, %x0 : f32\nlinalg.yield %s : f32");
  body += generic("sum", {"%x" + x, "%max" + row}, "%zero" + row, "pr",
                  "%d = arith.subf %x0, %x1 : f32\n%q = math.exp %d : f32\n"
                  "%s = arith.addf %out, %q fastmath<reassoc> : f32\nlinalg.yield %s : f32");
  body += generic("lse", {"%sum" + row, "%max" + row}, "%e" + row, "p",
                  "%l = math.log %x0 : f32\n%s = arith.addf %l, %x1 : f32\nlinalg.yield %s : f32");
  std::string ignored = "%i = linalg.index 0 : index\n%ign = arith.constant -100 : i64\n"
                        "%c0 = arith.constant 0 : i64\n%z = arith.constant 0.0 : f32\n"
                        "%no = arith.cmpi eq, %x0, %ign : i64\n"
                        "%safe = arith.select %no, %c0, %x0 : i64\n"
                        "%at = arith.index_cast %safe : i64 to index\n";
  body += generic("loss", {"%label : tensor<50xi64> : d0", "%lse" + row}, "%e" + row, "p",
                  ignored + "%v = tensor.extract %x[%i, %at] : tensor<50x131xf32>\n"
                            "%d = arith.subf %x1, %v : f32\n"
                            "%r = arith.select %no, %z, %d : f32\nlinalg.yield %r : f32");
  body += generic("total", {"%loss" + row}, "%none : tensor<f32> : ", "r",
                  "%s = arith.addf %out, %x0 fastmath<reassoc> : f32\nlinalg.yield %s : f32");
  body += generic("valid", {"%label : tensor<50xi64> : d0"}, "%none : tensor<f32> : ", "r",
                  "%ign = arith.constant -100 : i64\n%yes = arith.cmpi ne, %x0, %ign : i64\n"
                  "%f = arith.uitofp %yes : i1 to f32\n"
                  "%s = arith.addf %out, %f fastmath<reassoc> : f32\nlinalg.yield %s : f32");
  body += "return %loss, %lse, %total, %valid : tensor<50xf32>, tensor<50xf32>, tensor<f32>, "
          "tensor<f32>\n";
  Kernels kernels(kernel("k(%x: tensor<50x131xf32>, %label: tensor<50xi64>) -> (tensor<50xf32>, "
                         "tensor<50xf32>, tensor<f32>, tensor<f32>)",
                         body));
  ASSERT_TRUE(kernels.ok());
  auto logits = numbers(rows * classes, 11, 6);
  auto labels = integers(rows, 12, 0, classes - 1);
  labels[3] = labels[17] = -100;
  std::vector<float> loss(rows), lse(rows), expectedLoss(rows), expectedLse(rows);
  float total = -1, valid = -1;
  kernels.call("k", {logits.data(), labels.data(), loss.data(), lse.data(), &total, &valid});
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) {
    double exps = 0;
    for (int64_t j = 0; j < classes; ++j)
      exps += std::exp(double(logits[i * classes + j]));
    expectedLse[i] = float(std::log(exps));
    expectedLoss[i] =
        labels[i] == -100 ? 0 : float(std::log(exps) - logits[i * classes + labels[i]]);
    sum += expectedLoss[i];
  }
  EXPECT_LT(relativeError(loss, expectedLoss), 1e-6);
  EXPECT_LT(relativeError(lse, expectedLse), 1e-6);
  EXPECT_NEAR(total, sum, 1e-5 * sum);
  EXPECT_EQ(valid, rows - 2);
}

TEST(TensorKernels, EmbeddingAndItsGradient) {
  const int64_t tokens = 24, width = 40, vocabulary = 17;
  std::string body = "%e = tensor.empty() : tensor<4x6x40xf32>\n";
  body += generic("y", {"%ids : tensor<4x6xi64> : d0, d1"}, "%e : tensor<4x6x40xf32> : d0, d1, d2",
                  "ppp",
                  "%j = linalg.index 2 : index\n%r = arith.index_cast %x0 : i64 to index\n"
                  "%v = tensor.extract %table[%r, %j] : tensor<17x40xf32>\nlinalg.yield %v : f32");
  body += "return %y : tensor<4x6x40xf32>\n";
  std::string scatter = fill("zero", "tensor<17x40xf32>", "0.0") + R"(
    %ids1 = tensor.collapse_shape %ids [[0, 1]] : tensor<4x6xi64> into tensor<24xi64>
    %dy1 = tensor.collapse_shape %dy [[0, 1], [2]] : tensor<4x6x40xf32> into tensor<24x40xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 24 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<17x40xf32>) {
      %id = tensor.extract %ids1[%i] : tensor<24xi64>
      %at = arith.index_cast %id : i64 to index
      %row = tensor.extract_slice %acc[%at, 0] [1, 40] [1, 1] : tensor<17x40xf32> to tensor<40xf32>
      %g = tensor.extract_slice %dy1[%i, 0] [1, 40] [1, 1] : tensor<24x40xf32> to tensor<40xf32>
)" +
                        generic("s", {"%g : tensor<40xf32> : d0"}, "%row : tensor<40xf32> : d0",
                                "p", "%t = arith.addf %out, %x0 : f32\nlinalg.yield %t : f32") +
                        R"(
      %next = tensor.insert_slice %s into %acc[%at, 0] [1, 40] [1, 1] : tensor<40xf32> into tensor<17x40xf32>
      scf.yield %next : tensor<17x40xf32>
    }
    return %r : tensor<17x40xf32>
)";
  Kernels kernels(
      kernel("gather(%ids: tensor<4x6xi64>, %table: tensor<17x40xf32>) -> tensor<4x6x40xf32>",
             body) +
      kernel("scatter(%ids: tensor<4x6xi64>, %dy: tensor<4x6x40xf32>) -> tensor<17x40xf32>",
             scatter));
  ASSERT_TRUE(kernels.ok());
  auto ids = integers(tokens, 13, 0, vocabulary - 1);
  auto table = numbers(vocabulary * width, 14);
  std::vector<float> y(tokens * width), gradient(table.size(), 7), expected(table.size());
  kernels.call("gather", {ids.data(), table.data(), y.data()});
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t j = 0; j < width; ++j) {
      ASSERT_EQ(y[t * width + j], table[ids[t] * width + j]);
      expected[ids[t] * width + j] += y[t * width + j];
    }
  kernels.call("scatter", {ids.data(), y.data(), gradient.data()});
  EXPECT_EQ(gradient, expected);
  EXPECT_FALSE(kernels.module().lookupSymbol("scatter")->hasAttr("zero.workspace"));
}

TEST(TensorKernels, TransposeAndReshape) {
  std::string body = R"(
    %x4 = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [2, 5, 3, 8] : tensor<2x5x24xf32> into tensor<2x5x3x8xf32>
    %e = tensor.empty() : tensor<2x3x8x5xf32>
    %t = linalg.transpose ins(%x4 : tensor<2x5x3x8xf32>) outs(%e : tensor<2x3x8x5xf32>) permutation = [0, 2, 3, 1]
    %y = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x3x8x5xf32> into tensor<6x8x5xf32>
    return %y : tensor<6x8x5xf32>
)";
  Kernels kernels(kernel("k(%x: tensor<2x5x24xf32>) -> tensor<6x8x5xf32>", body));
  ASSERT_TRUE(kernels.ok());
  auto x = numbers(240, 15);
  std::vector<float> y(240);
  kernels.call("k", {x.data(), y.data()});
  for (int b = 0; b < 2; ++b)
    for (int s = 0; s < 5; ++s)
      for (int h = 0; h < 3; ++h)
        for (int d = 0; d < 8; ++d)
          ASSERT_EQ(y[((b * 3 + h) * 8 + d) * 5 + s], x[(b * 5 + s) * 24 + h * 8 + d]);
  EXPECT_FALSE(kernels.module().lookupSymbol("k")->hasAttr("zero.workspace"));
}

TEST(TensorKernels, ConcatSlicePad) {
  std::string body = R"(
    %z = arith.constant 2.5 : f32
    %c = tensor.concat dim(1) %a, %b : (tensor<3x4xf32>, tensor<3x6xf32>) -> tensor<3x10xf32>
    %s = tensor.extract_slice %c[0, 1] [3, 4] [1, 2] : tensor<3x10xf32> to tensor<3x4xf32>
    %p = tensor.pad %s low[1, 2] high[0, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<3x4xf32> to tensor<4x7xf32>
    return %c, %p : tensor<3x10xf32>, tensor<4x7xf32>
)";
  Kernels kernels(kernel(
      "k(%a: tensor<3x4xf32>, %b: tensor<3x6xf32>) -> (tensor<3x10xf32>, tensor<4x7xf32>)", body));
  ASSERT_TRUE(kernels.ok());
  auto a = numbers(12, 16), b = numbers(18, 17);
  std::vector<float> c(30), p(28);
  kernels.call("k", {a.data(), b.data(), c.data(), p.data()});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 10; ++j)
      ASSERT_EQ(c[i * 10 + j], j < 4 ? a[i * 4 + j] : b[i * 6 + j - 4]);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 7; ++j) {
      bool inside = i >= 1 && j >= 2 && j < 6;
      ASSERT_EQ(p[i * 7 + j], inside ? c[(i - 1) * 10 + 1 + 2 * (j - 2)] : 2.5f);
    }
}

TEST(TensorKernels, BooleansAreBytes) {
  std::string i1 = "tensor<9x7xi1>", i64 = " : tensor<9x7xi64> : d0, d1";
  std::string body = "%eb = tensor.empty() : " + i1 +
                     "\n%ei = tensor.empty() : tensor<9x7xi64>\n"
                     "%mask = arith.constant dense<[true, false, true, true, false, false, true]>"
                     " : tensor<7xi1>\n";
  body += generic("less", {"%a" + i64, "%b" + i64}, "%eb : " + i1 + " : d0, d1", "pp",
                  "%c = arith.cmpi slt, %x0, %x1 : i64\nlinalg.yield %c : i1");
  body += generic(
      "both",
      {"%less : " + i1 + " : d0, d1", "%k : " + i1 + " : d0, d1", "%mask : tensor<7xi1> : d1"},
      "%eb : " + i1 + " : d0, d1", "pp",
      "%c = arith.andi %x0, %x1 : i1\n%d = arith.andi %c, %x2 : i1\n"
      "linalg.yield %d : i1");
  body += generic("pick", {"%both : " + i1 + " : d0, d1", "%a" + i64, "%b" + i64}, "%ei" + i64,
                  "pp", "%s = arith.select %x0, %x1, %x2 : i64\nlinalg.yield %s : i64");
  body += "return %less, %both, %pick : " + i1 + ", " + i1 + ", tensor<9x7xi64>\n";
  Kernels kernels(kernel("k(%a: tensor<9x7xi64>, %b: tensor<9x7xi64>, %k: " + i1 + ") -> (" + i1 +
                             ", " + i1 + ", tensor<9x7xi64>)",
                         body));
  ASSERT_TRUE(kernels.ok());
  auto a = integers(63, 18, -5, 5), b = integers(63, 19, -5, 5), bits = integers(63, 20, 0, 1);
  std::vector<uint8_t> k(bits.begin(), bits.end()), less(63, 99), both(63, 99);
  std::vector<int64_t> pick(63);
  const bool mask[] = {true, false, true, true, false, false, true};
  kernels.call("k", {a.data(), b.data(), k.data(), less.data(), both.data(), pick.data()});
  for (int i = 0; i < 63; ++i) {
    ASSERT_EQ(less[i], a[i] < b[i] ? 1 : 0);
    ASSERT_EQ(both[i], a[i] < b[i] && k[i] && mask[i % 7] ? 1 : 0);
    ASSERT_EQ(pick[i], both[i] ? a[i] : b[i]);
  }
}

TEST(TensorKernels, ReductionsOfIntegersAndToScalars) {
  std::string x = " : tensor<6x11x5xi64> : d0, d1, d2";
  std::string body = fill("low", "tensor<6x5xi64>", "-9223372036854775808") +
                     fill("high", "tensor<11xi64>", "9223372036854775807") +
                     fill("zero", "tensor<f32>", "0.0");
  body += generic("max", {"%x" + x}, "%low : tensor<6x5xi64> : d0, d2", "prp",
                  "%s = arith.maxsi %out, %x0 : i64\nlinalg.yield %s : i64");
  body += generic("min", {"%x" + x}, "%high : tensor<11xi64> : d1", "rpr",
                  "%s = arith.minsi %out, %x0 : i64\nlinalg.yield %s : i64");
  body += generic("sum", {"%x" + x}, "%zero : tensor<f32> : ", "rrr",
                  "%f = arith.sitofp %x0 : i64 to f32\n"
                  "%s = arith.addf %out, %f fastmath<reassoc> : f32\nlinalg.yield %s : f32");
  body += "return %max, %min, %sum : tensor<6x5xi64>, tensor<11xi64>, tensor<f32>\n";
  Kernels kernels(
      kernel("k(%x: tensor<6x11x5xi64>) -> (tensor<6x5xi64>, tensor<11xi64>, tensor<f32>)", body));
  ASSERT_TRUE(kernels.ok());
  auto data = integers(330, 21, -1000, 1000);
  std::vector<int64_t> max(30), min(11), expectedMax(30, INT64_MIN), expectedMin(11, INT64_MAX);
  float sum = 0;
  kernels.call("k", {data.data(), max.data(), min.data(), &sum});
  double expected = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 11; ++j)
      for (int k = 0; k < 5; ++k) {
        int64_t value = data[(i * 11 + j) * 5 + k];
        expectedMax[i * 5 + k] = std::max(expectedMax[i * 5 + k], value);
        expectedMin[j] = std::min(expectedMin[j], value);
        expected += value;
      }
  EXPECT_EQ(max, expectedMax);
  EXPECT_EQ(min, expectedMin);
  EXPECT_EQ(sum, float(expected));
}

/// Products that no library supports are slow but correct: integer products, and a product added to
/// a sum.
TEST(TensorKernels, NativeProduct) {
  std::string body =
      generic("p", {"%a : tensor<7x9xi64> : d0, d2", "%b : tensor<9x6xi64> : d2, d1"},
              "%c : tensor<7x6xi64> : d0, d1", "ppr",
              "%m = arith.muli %x0, %x1 : i64\n%s = arith.addi %out, %m : i64\n"
              "linalg.yield %s : i64") +
      "return %p : tensor<7x6xi64>\n";
  Kernels kernels(kernel("k(%a: tensor<7x9xi64>, %b: tensor<9x6xi64>, %c: tensor<7x6xi64>) -> "
                         "tensor<7x6xi64>",
                         body));
  ASSERT_TRUE(kernels.ok());
  auto a = integers(63, 22, -9, 9), b = integers(54, 23, -9, 9), c = integers(42, 24, -9, 9);
  std::vector<int64_t> y(42), expected = c;
  kernels.call("k", {a.data(), b.data(), c.data(), y.data()});
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 9; ++k)
        expected[i * 6 + j] += a[i * 9 + k] * b[k * 6 + j];
  EXPECT_EQ(y, expected);
}

/// A full intermediate that no loop can keep in registers resides in the workspace.
TEST(TensorKernels, LargeTemporariesLieInTheWorkspace) {
  std::string x = "tensor<160x170xf32>", t = "tensor<170x160xf32>";
  std::string body = "%ex = tensor.empty() : " + x + "\n";
  body += generic("y", {"%x : " + x + " : d0, d1"}, "%ex : " + x + " : d0, d1", "pp",
                  "%e = math.exp %x0 : f32\nlinalg.yield %e : f32");
  body += "%r = tensor.collapse_shape %y [[0, 1]] : " + x + " into tensor<27200xf32>\n";
  body += "%s = tensor.expand_shape %r [[0, 1]] output_shape [170, 160] : tensor<27200xf32> into " +
          t + "\n%et = tensor.empty() : " + t + "\n";
  body += generic("z", {"%s : " + t + " : d0, d1", "%x2 : " + t + " : d0, d1"},
                  "%et : " + t + " : d0, d1", "pp",
                  "%e = arith.addf %x0, %x1 : f32\nlinalg.yield %e : f32");
  body += "return %z : " + t + "\n";
  Kernels kernels(kernel("k(%x: " + x + ", %x2: " + t + ") -> " + t, body));
  ASSERT_TRUE(kernels.ok());
  EXPECT_TRUE(kernels.module().lookupSymbol("k")->hasAttr("zero.workspace"));
  auto a = numbers(27200, 25), b = numbers(27200, 26);
  std::vector<float> z(27200), expected(27200);
  kernels.call("k", {a.data(), b.data(), z.data()});
  for (int i = 0; i < 27200; ++i)
    expected[i] = std::exp(a[i]) + b[i];
  EXPECT_LT(relativeError(z, expected), 1e-6);
}
