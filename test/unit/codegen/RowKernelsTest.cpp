//===- RowKernelsTest.cpp - kernels that work row by row ------------------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <cmath>

using text::fill;
using text::generic;

static const std::string kSum = "%s = arith.addf %out, %x0 fastmath<reassoc> : f32\n"
                                "linalg.yield %s : f32";

static std::string kernel(const std::string &signature, const std::string &body) {
  return "func.func private @" + signature + " attributes {zero.kernel} {\n" + body + "}\n";
}

TEST(RowKernels, BiasAndGelu) {
  std::string matrix = "tensor<37x130xf32>";
  std::string body = "%e = tensor.empty() : " + matrix + "\n";
  body += generic("h", {"%x : " + matrix + " : d0, d1", "%b : tensor<130xf32> : d1"},
                  "%e : " + matrix + " : d0, d1", "pp",
                  "%s = arith.addf %x0, %x1 : f32\nlinalg.yield %s : f32");
  body += generic("y", {"%h : " + matrix + " : d0, d1"}, "%e : " + matrix + " : d0, d1", "pp", R"(
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.constant 0.044715 : f32
    %r = arith.constant 0.7978845608 : f32
    %x2 = arith.mulf %x0, %x0 : f32
    %p = math.fma %c, %x2, %one : f32
    %q = arith.mulf %x0, %p : f32
    %a = arith.mulf %q, %r : f32
    %t = math.tanh %a : f32
    %u = arith.addf %t, %one : f32
    %v = arith.mulf %x0, %half : f32
    %w = arith.mulf %u, %v : f32
    linalg.yield %w : f32)");
  body += "return %y : " + matrix + "\n";
  Kernels kernels(kernel("k(%x: " + matrix + ", %b: tensor<130xf32>) -> " + matrix, body));
  ASSERT_TRUE(kernels.ok());

  auto x = numbers(37 * 130, 1, 4), b = numbers(130, 2);
  std::vector<float> y(x.size()), expected(x.size());
  kernels.call("k", {x.data(), b.data(), y.data()});
  for (size_t i = 0; i < x.size(); ++i) {
    double h = x[i] + b[i % 130];
    expected[i] = 0.5 * h * (1 + std::tanh(0.7978845608 * (h + 0.044715 * h * h * h)));
  }
  EXPECT_LT(relativeError(y, expected), 1e-6);
}

/// Mean and variance of the rows of %x: R x C; defines %mean, %xc, %rstd.
static std::string moments(int64_t rows, int64_t columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string vector = "tensor<" + r + "xf32>", matrix = "tensor<" + r + "x" + c + "xf32>";
  std::string count = "%n = arith.constant " + c + ".0 : f32\n";
  std::string text = fill("zero", vector, "0.0") + "%ev = tensor.empty() : " + vector +
                     "\n%em = tensor.empty() : " + matrix + "\n";
  text +=
      generic("sum", {"%x : " + matrix + " : d0, d1"}, "%zero : " + vector + " : d0", "pr", kSum);
  text += generic("mean", {"%sum : " + vector + " : d0"}, "%ev : " + vector + " : d0", "p",
                  count + "%m = arith.divf %x0, %n : f32\nlinalg.yield %m : f32");
  text += generic("xc", {"%x : " + matrix + " : d0, d1", "%mean : " + vector + " : d0"},
                  "%em : " + matrix + " : d0, d1", "pp",
                  "%d = arith.subf %x0, %x1 : f32\nlinalg.yield %d : f32");
  text += generic("sq", {"%xc : " + matrix + " : d0, d1"}, "%zero : " + vector + " : d0", "pr",
                  "%q = arith.mulf %x0, %x0 : f32\n%s = arith.addf %out, %q fastmath<reassoc> : "
                  "f32\nlinalg.yield %s : f32");
  text += generic("rstd", {"%sq : " + vector + " : d0"}, "%ev : " + vector + " : d0", "p",
                  count + "%eps = arith.constant 1.0e-5 : f32\n%v = arith.divf %x0, %n : f32\n"
                          "%w = arith.addf %v, %eps : f32\n%r = math.rsqrt %w : f32\n"
                          "linalg.yield %r : f32");
  return text;
}

namespace {
struct RowMoments {
  double mean, rstd;
};
} // namespace

static RowMoments momentsOf(const float *row, int64_t columns) {
  double mean = 0, square = 0;
  for (int64_t j = 0; j < columns; ++j)
    mean += row[j] / columns;
  for (int64_t j = 0; j < columns; ++j)
    square += (row[j] - mean) * (row[j] - mean) / columns;
  return {mean, 1 / std::sqrt(square + 1e-5)};
}

TEST(RowKernels, LayerNorm) {
  const int64_t rows = 33, columns = 515;
  std::string matrix = "tensor<33x515xf32>", vector = "tensor<515xf32>";
  std::string body = moments(rows, columns);
  body += generic("y",
                  {"%xc : " + matrix + " : d0, d1", "%rstd : tensor<33xf32> : d0",
                   "%g : " + vector + " : d1", "%b : " + vector + " : d1"},
                  "%em : " + matrix + " : d0, d1", "pp",
                  "%p = arith.mulf %x0, %x1 : f32\n%q = arith.mulf %p, %x2 : f32\n"
                  "%r = arith.addf %q, %x3 : f32\nlinalg.yield %r : f32");
  body += "return %y, %mean, %rstd : " + matrix + ", tensor<33xf32>, tensor<33xf32>\n";
  Kernels kernels(kernel("k(%x: " + matrix + ", %g: " + vector + ", %b: " + vector + ") -> (" +
                             matrix + ", tensor<33xf32>, tensor<33xf32>)",
                         body));
  ASSERT_TRUE(kernels.ok());
  auto x = numbers(rows * columns, 3), g = numbers(columns, 4), b = numbers(columns, 5);
  std::vector<float> y(x.size()), mean(rows), rstd(rows), expected(x.size()), means(rows),
      rstds(rows);
  kernels.call("k", {x.data(), g.data(), b.data(), y.data(), mean.data(), rstd.data()});
  for (int64_t i = 0; i < rows; ++i) {
    RowMoments m = momentsOf(&x[i * columns], columns);
    means[i] = m.mean;
    rstds[i] = m.rstd;
    for (int64_t j = 0; j < columns; ++j)
      expected[i * columns + j] = (x[i * columns + j] - m.mean) * m.rstd * g[j] + b[j];
  }
  EXPECT_LT(relativeError(y, expected), 1e-6);
  EXPECT_LT(relativeError(mean, means), 1e-6);
  EXPECT_LT(relativeError(rstd, rstds), 1e-6);
}

TEST(RowKernels, LayerNormGradient) {
  const int64_t rows = 40, columns = 96;
  std::string matrix = "tensor<40x96xf32>", row = "tensor<96xf32>", column = "tensor<40xf32>";
  std::string whole = " : " + matrix + " : d0, d1", onRow = " : " + column + " : d0";
  std::string product = "%p = arith.mulf %x0, %x1 : f32\n"
                        "%s = arith.addf %out, %p fastmath<reassoc> : f32\nlinalg.yield %s : f32";
  std::string body = moments(rows, columns) + fill("zr", row, "0.0");
  body += generic("xhat", {"%xc" + whole, "%rstd" + onRow}, "%em" + whole, "pp",
                  "%p = arith.mulf %x0, %x1 : f32\nlinalg.yield %p : f32");
  body += generic("dg", {"%dy" + whole, "%xhat" + whole}, "%zr : " + row + " : d1", "rp", product);
  body += generic("db", {"%dy" + whole}, "%zr : " + row + " : d1", "rp", kSum);
  body += generic("dh", {"%dy" + whole, "%g : " + row + " : d1"}, "%em" + whole, "pp",
                  "%p = arith.mulf %x0, %x1 : f32\nlinalg.yield %p : f32");
  body += generic("s1", {"%dh" + whole}, "%zero" + onRow, "pr", kSum);
  body += generic("s2", {"%dh" + whole, "%xhat" + whole}, "%zero" + onRow, "pr", product);
  body +=
      generic("dx", {"%dh" + whole, "%xhat" + whole, "%s1" + onRow, "%s2" + onRow, "%rstd" + onRow},
              "%em" + whole, "pp",
              "%n = arith.constant 96.0 : f32\n%a = arith.divf %x2, %n : f32\n"
              "%b = arith.divf %x3, %n : f32\n%c = arith.mulf %x1, %b : f32\n"
              "%d = arith.subf %x0, %a : f32\n%e = arith.subf %d, %c : f32\n"
              "%f = arith.mulf %e, %x4 : f32\nlinalg.yield %f : f32");
  body += "return %dx, %dg, %db : " + matrix + ", " + row + ", " + row + "\n";
  Kernels kernels(kernel("k(%x: " + matrix + ", %g: " + row + ", %dy: " + matrix + ") -> (" +
                             matrix + ", " + row + ", " + row + ")",
                         body));
  ASSERT_TRUE(kernels.ok());
  auto x = numbers(rows * columns, 6), g = numbers(columns, 7), dy = numbers(rows * columns, 8);
  std::vector<float> dx(x.size()), dg(columns), db(columns), ex(x.size()), eg(columns), eb(columns);
  kernels.call("k", {x.data(), g.data(), dy.data(), dx.data(), dg.data(), db.data()});
  for (int64_t i = 0; i < rows; ++i) {
    const float *xi = &x[i * columns], *di = &dy[i * columns];
    RowMoments m = momentsOf(xi, columns);
    double s1 = 0, s2 = 0;
    for (int64_t j = 0; j < columns; ++j) {
      double xhat = (xi[j] - m.mean) * m.rstd;
      eg[j] += di[j] * xhat;
      eb[j] += di[j];
      s1 += di[j] * g[j] / columns;
      s2 += di[j] * g[j] * xhat / columns;
    }
    for (int64_t j = 0; j < columns; ++j)
      ex[i * columns + j] = m.rstd * (di[j] * g[j] - s1 - (xi[j] - m.mean) * m.rstd * s2);
  }
  EXPECT_LT(relativeError(dx, ex), 2e-6);
  EXPECT_LT(relativeError(dg, eg), 2e-6);
  EXPECT_LT(relativeError(db, eb), 2e-6);
}

TEST(RowKernels, Softmax) {
  const int64_t rows = 3 * 5 * 7, columns = 67;
  std::string whole = " : tensor<3x5x7x67xf32> : d0, d1, d2, d3";
  std::string row = " : tensor<3x5x7xf32> : d0, d1, d2";
  std::string body = fill("low", "tensor<3x5x7xf32>", "0xFF800000") +
                     fill("zero", "tensor<3x5x7xf32>", "0.0") +
                     "%e = tensor.empty() : tensor<3x5x7x67xf32>\n";
  body += generic("m", {"%x" + whole}, "%low" + row, "pppr",
                  "%s = arith.maximumf %out, %x0 : f32\nlinalg.yield %s : f32");
  body += generic("p", {"%x" + whole, "%m" + row}, "%e" + whole, "pppp",
                  "%d = arith.subf %x0, %x1 : f32\n%q = math.exp %d : f32\nlinalg.yield %q : f32");
  body += generic("s", {"%p" + whole}, "%zero" + row, "pppr", kSum);
  body += generic("y", {"%p" + whole, "%s" + row}, "%e" + whole, "pppp",
                  "%q = arith.divf %x0, %x1 : f32\nlinalg.yield %q : f32");
  std::string forward = body + "return %y : tensor<3x5x7x67xf32>\n";
  std::string backward =
      fill("zero", "tensor<3x5x7xf32>", "0.0") + "%e = tensor.empty() : tensor<3x5x7x67xf32>\n";
  backward += generic("s", {"%y" + whole, "%dy" + whole}, "%zero" + row, "pppr",
                      "%p = arith.mulf %x0, %x1 : f32\n%s = arith.addf %out, %p "
                      "fastmath<reassoc> : f32\nlinalg.yield %s : f32");
  backward += generic("dx", {"%y" + whole, "%dy" + whole, "%s" + row}, "%e" + whole, "pppp",
                      "%d = arith.subf %x1, %x2 : f32\n%p = arith.mulf %x0, %d : f32\n"
                      "linalg.yield %p : f32");
  backward += "return %dx : tensor<3x5x7x67xf32>\n";
  Kernels kernels(
      kernel("f(%x: tensor<3x5x7x67xf32>) -> tensor<3x5x7x67xf32>", forward) +
      kernel("b(%y: tensor<3x5x7x67xf32>, %dy: tensor<3x5x7x67xf32>) -> tensor<3x5x7x67xf32>",
             backward));
  ASSERT_TRUE(kernels.ok());
  auto x = numbers(rows * columns, 9, 5), dy = numbers(rows * columns, 10);
  std::vector<float> y(x.size()), dx(x.size()), ey(x.size()), ex(x.size());
  kernels.call("f", {x.data(), y.data()});
  kernels.call("b", {y.data(), dy.data(), dx.data()});
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0, dot = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += std::exp(double(x[i * columns + j]));
    for (int64_t j = 0; j < columns; ++j) {
      ey[i * columns + j] = std::exp(double(x[i * columns + j])) / sum;
      dot += ey[i * columns + j] * dy[i * columns + j];
    }
    for (int64_t j = 0; j < columns; ++j)
      ex[i * columns + j] = ey[i * columns + j] * (dy[i * columns + j] - dot);
  }
  EXPECT_LT(relativeError(y, ey), 1e-6);
  EXPECT_LT(relativeError(dx, ex), 1e-6);
}
