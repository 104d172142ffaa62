//===- SplitTest.cpp - iterations that threads share ----------------------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <cstring>

using text::fill;
using text::generic;

static const std::string kMatrix = "tensor<61x203xf32>", kColumns = "tensor<203xf32>",
                         kRows = "tensor<61xf32>";
static constexpr int64_t kElements = 61 * 203;

static std::string kernel(const std::string &signature, const std::string &body) {
  return "func.func private @" + signature + " attributes {zero.kernel} {\n" + body + "}\n";
}

/// Checks that `results` floats are bitwise identical if `k` runs in one piece and in several.
static void expectSameBits(const std::string &text, int64_t extent, size_t results,
                           int64_t length = 0) {
  Kernels kernels(text);
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(kernels.extent("k"), extent);
  const auto x = numbers(kElements, 1, 4);
  auto run = [&](int64_t pieces) {
    std::vector<float> read = x, written(results, 7.0f);
    kernels.call("k", {read.data(), written.data()}, length, pieces);
    read.insert(read.end(), written.begin(), written.end());
    return read;
  };
  const std::vector<float> whole = run(1);
  for (int64_t pieces : {2, 3, 7, 50}) {
    std::vector<float> parts = run(pieces);
    EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0)
        << pieces << " pieces";
  }
}

TEST(Split, Elements) {
  std::string body = "%e = tensor.empty() : tensor<12383xf32>\n" +
                     generic("y", {"%x : tensor<12383xf32> : d0"}, "%e : tensor<12383xf32> : d0",
                             "p", "%t = math.tanh %x0 : f32\nlinalg.yield %t : f32");
  expectSameBits(kernel("k(%x: tensor<12383xf32>) -> tensor<12383xf32>",
                        body + "return %y : tensor<12383xf32>\n"),
                 kElements, kElements);
}

TEST(Split, RowsWithTheirSums) {
  std::string body = "%er = tensor.empty() : " + kRows + "\n%e = tensor.empty() : " + kMatrix +
                     "\n" + fill("z", kRows, "0.0");
  body += generic("s", {"%x : " + kMatrix + " : d0, d1"}, "%z : " + kRows + " : d0", "pr",
                  "%v = math.exp %x0 : f32\n%a = arith.addf %out, %v fastmath<reassoc> : f32\n"
                  "linalg.yield %a : f32");
  body += generic("y", {"%x : " + kMatrix + " : d0, d1", "%s : " + kRows + " : d0"},
                  "%e : " + kMatrix + " : d0, d1", "pp",
                  "%v = math.exp %x0 : f32\n%q = arith.divf %v, %x1 : f32\nlinalg.yield %q : f32");
  expectSameBits(
      kernel("k(%x: " + kMatrix + ") -> " + kMatrix, body + "return %y : " + kMatrix + "\n"), 61,
      kElements);
}

TEST(Split, SumsOfRowsByColumns) {
  std::string body = fill("z", kColumns, "0.0");
  body += generic("y", {"%x : " + kMatrix + " : d0, d1"}, "%z : " + kColumns + " : d1", "rp",
                  "%a = arith.addf %out, %x0 fastmath<reassoc> : f32\nlinalg.yield %a : f32");
  expectSameBits(
      kernel("k(%x: " + kMatrix + ") -> " + kColumns, body + "return %y : " + kColumns + "\n"), 203,
      203);
}

TEST(Split, UpdatesOfAnyLength) {
  std::string vector = "tensor<?xf32>";
  std::string body = generic("y", {"%g : " + vector + " : d0"}, "%w : " + vector + " : d0", "p",
                             "%q = math.sqrt %x0 : f32\n%u = math.fma %q, %out, %x0 : f32\n"
                             "linalg.yield %u : f32");
  std::string text =
      kernel("k(%w: " + vector + " {zero.inplace = 0 : i64}, %g: " + vector + ") -> " + vector,
             body + "return %y : " + vector + "\n");
  for (int64_t length : {0, 1, 1000})
    expectSameBits(text, 1, 1000, length);
}
