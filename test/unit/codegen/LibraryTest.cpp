//===- LibraryTest.cpp - strides of matched products, in numbers ----------===//

#include "Harness.h"

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

#include "gtest/gtest.h"

using text::fill;
using text::generic;

namespace {
/// A #zero.matmul, computed with plain loops.
struct Product {
  int64_t m, n, k;
  llvm::ArrayRef<int64_t> batch, a, b, c;
  float alpha;
  bool bias;

  explicit Product(zero::MatmulAttr call)
      : m(call.getM()), n(call.getN()), k(call.getK()), batch(call.getBatch().asArrayRef()),
        a(call.getAStrides().asArrayRef()), b(call.getBStrides().asArrayRef()),
        c(call.getCStrides().asArrayRef()), alpha(call.getAlpha().getValueAsDouble()),
        bias(call.getBias()) {}

  void run(const float *x, const float *y, const float *z, float *result) const {
    int64_t batches = 1;
    for (int64_t size : batch)
      batches *= size;
    for (int64_t index = 0; index < batches; ++index) {
      int64_t rest = index, atA = 0, atB = 0, atC = 0;
      for (size_t dim = batch.size(); dim-- > 0;) {
        int64_t i = rest % batch[dim];
        rest /= batch[dim];
        atA += i * a[dim], atB += i * b[dim], atC += i * c[dim];
      }
      one(x + atA, y + atB, z, result + atC);
    }
  }
  void one(const float *x, const float *y, const float *z, float *result) const {
    size_t r = batch.size();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += double(x[i * a[r] + l * a[r + 1]]) * y[l * b[r] + j * b[r + 1]];
        result[i * c[r] + j * c[r + 1]] = alpha * sum + (bias ? z[j] : 0);
      }
  }
};
} // namespace

/// Compiles `body` twice: as a library kernel, and as a native kernel, which is forced by a second
/// result that no library computes. Both must agree.
static void expectMatch(const std::string &signature, const std::string &body,
                        const std::string &resultType, std::vector<int64_t> sizes,
                        int64_t resultSize) {
  std::string twice = body + "return %y, %y : " + resultType + ", " + resultType + "\n";
  std::string text = "func.func private @library" + signature + " -> " + resultType +
                     " attributes {zero.kernel} {\n" + body + "return %y : " + resultType +
                     "\n}\nfunc.func private @native" + signature + " -> (" + resultType + ", " +
                     resultType + ") attributes {zero.kernel} {\n" + twice + "}\n";
  Kernels kernels(text);
  ASSERT_TRUE(kernels.ok());
  auto call = kernels.module().lookupSymbol("library")->getAttrOfType<zero::LibraryAttr>(
      zero::kLibraryAttr);
  ASSERT_TRUE(call);
  std::vector<std::vector<float>> operands;
  for (size_t i = 0; i < sizes.size(); ++i)
    operands.push_back(numbers(sizes[i], 40 + i));
  std::vector<float> actual(resultSize, -1), expected(resultSize), again(resultSize);
  std::vector<void *> buffers;
  for (auto &operand : operands)
    buffers.push_back(operand.data());
  buffers.push_back(expected.data());
  buffers.push_back(again.data());
  kernels.call("native", buffers);
  Product(llvm::cast<zero::MatmulAttr>(call.getCall()))
      .run(operands[0].data(), operands[1].data(),
           operands.size() > 2 ? operands[2].data() : nullptr, actual.data());
  EXPECT_LT(relativeError(actual, expected), 1e-5);
  EXPECT_EQ(expected, again);
}

static const std::string kMultiplyAdd =
    "%m = arith.mulf %x0, %x1 : f32\n%s = arith.addf %out, %m : f32\nlinalg.yield %s : f32";

TEST(Library, AllTransposes) {
  for (bool transA : {false, true})
    for (bool transB : {false, true}) {
      std::string a = transA ? "tensor<9x5xf32>" : "tensor<5x9xf32>";
      std::string b = transB ? "tensor<7x9xf32>" : "tensor<9x7xf32>";
      std::string body = fill("z", "tensor<5x7xf32>", "0.0");
      body += generic("y",
                      {"%a : " + a + (transA ? " : d2, d0" : " : d0, d2"),
                       "%b : " + b + (transB ? " : d1, d2" : " : d2, d1")},
                      "%z : tensor<5x7xf32> : d0, d1", "ppr", kMultiplyAdd);
      expectMatch("(%a: " + a + ", %b: " + b + ")", body, "tensor<5x7xf32>", {45, 63}, 35);
    }
}

TEST(Library, HeadsOfAFusedProjection) {
  std::string body = fill("z", "tensor<2x3x5x4xf32>", "0.0");
  body += "%p4 = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 3, 5, 6] : "
          "tensor<6x5x6xf32> into tensor<2x3x5x6xf32>\n"
          "%v4 = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 6, 3, 4] : "
          "tensor<2x6x12xf32> into tensor<2x6x3x4xf32>\n";
  body += generic(
      "r",
      {"%p4 : tensor<2x3x5x6xf32> : d0, d1, d2, d4", "%v4 : tensor<2x6x3x4xf32> : d0, d4, d1, d3"},
      "%z : tensor<2x3x5x4xf32> : d0, d1, d2, d3", "ppppr", kMultiplyAdd);
  body += "%et = tensor.empty() : tensor<2x5x3x4xf32>\n"
          "%t = linalg.transpose ins(%r : tensor<2x3x5x4xf32>) outs(%et : tensor<2x5x3x4xf32>) "
          "permutation = [0, 2, 1, 3]\n"
          "%y = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<2x5x3x4xf32> into "
          "tensor<2x5x12xf32>\n";
  expectMatch("(%p: tensor<6x5x6xf32>, %v: tensor<2x6x12xf32>)", body, "tensor<2x5x12xf32>",
              {180, 144}, 120);
}

TEST(Library, BroadcastBatchAndBias) {
  std::string body =
      fill("z", "tensor<2x3x5x7xf32>", "0.0") + "%e = tensor.empty() : tensor<2x3x5x7xf32>\n";
  body +=
      generic("p", {"%a : tensor<2x3x5x9xf32> : d0, d1, d2, d4", "%b : tensor<9x7xf32> : d4, d3"},
              "%z : tensor<2x3x5x7xf32> : d0, d1, d2, d3", "ppppr", kMultiplyAdd);
  body += generic("y", {"%p : tensor<2x3x5x7xf32> : d0, d1, d2, d3", "%c : tensor<7xf32> : d3"},
                  "%e : tensor<2x3x5x7xf32> : d0, d1, d2, d3", "pppp",
                  "%s = arith.addf %x0, %x1 : f32\nlinalg.yield %s : f32");
  expectMatch("(%a: tensor<2x3x5x9xf32>, %b: tensor<9x7xf32>, %c: tensor<7xf32>)", body,
              "tensor<2x3x5x7xf32>", {270, 63, 7}, 210);
}

TEST(Library, VectorTimesMatrix) {
  std::string body = fill("z", "tensor<7xf32>", "0.0") +
                     "%y = linalg.vecmat ins(%a, %b : tensor<9xf32>, tensor<9x7xf32>) outs(%z : "
                     "tensor<7xf32>) -> tensor<7xf32>\n";
  expectMatch("(%a: tensor<9xf32>, %b: tensor<9x7xf32>)", body, "tensor<7xf32>", {9, 63}, 7);
}
