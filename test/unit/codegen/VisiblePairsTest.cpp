//===- VisiblePairsTest.cpp - pairs counted by formula and one by one -----===//

#include "dialects/Zero/VisiblePairs.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace mlir;

static zero::AttentionAttr attention(MLIRContext &context, bool causal, int64_t offset,
                                     int64_t window, int64_t prefix) {
  const std::string text =
      llvm::formatv("#zero.attention<direction = forward, batch = 1, heads = 1, groups = 1, "
                    "queries = 1, keys = 1, width = 1, value_width = 1, q_strides = [1, 1, 1], "
                    "k_strides = [1, 1, 1], v_strides = [1, 1, 1], o_strides = [1, 1, 1], offsets "
                    "= [], scale = 1.0 : f32, {0}causal_offset = {1}, fill = 0.0 : f32, padding = "
                    "none, padding_strides = [], mask = none, mask_strides = [], window = {2}, "
                    "prefix = {3}>",
                    causal ? "causal = true, " : "", offset, window, prefix);
  return dyn_cast_or_null<zero::AttentionAttr>(parseAttribute(text, &context));
}

/// The pairs that zero::MaskedSoftmax shows.
static int64_t countOneByOne(bool causal, int64_t offset, int64_t window, int64_t prefix,
                             int64_t queries, int64_t keys) {
  int64_t pairs = 0;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key)
      pairs += (!causal || key <= query + offset || key < prefix) &&
               (window == 0 || key > query + offset - window);
  return pairs;
}

TEST(VisiblePairs, AreThoseThatBoundsShow) {
  MLIRContext context;
  context.loadDialect<zero::ZeroDialect>();
  for (bool causal : {false, true})
    for (int64_t offset : {-3, 0, 2, 9})
      for (int64_t window : {0, 1, 4, 12})
        for (int64_t prefix : {0, 3, 20})
          for (auto [queries, keys] : {std::pair(7, 7), {7, 4}, {3, 9}, {0, 5}}) {
            zero::AttentionAttr call = attention(context, causal, offset, window, prefix);
            ASSERT_TRUE(call);
            EXPECT_EQ(zero::countPairs(call, queries, keys),
                      countOneByOne(causal, offset, window, prefix, queries, keys))
                << causal << " " << offset << " " << window << " " << prefix << " " << queries
                << "x" << keys;
          }
}
