//===- terms_test.cpp - terms of bytes, and contents of arenas ------------===//

#include "check/memory.h"
#include "check/terms.h"

#include <gtest/gtest.h>

using namespace zero::check;

static constexpr int64_t kF32 = 1, kBf16 = 4;

namespace {
struct TermsTest : testing::Test {
  Terms terms{false}, anyOrder{true};
  Term a = leaf("a"), b = leaf("b"), c = leaf("c");

  Term leaf(const char *name) {
    anyOrder.leaf(name);
    return terms.leaf(name);
  }
  /// The sum from element `first` on of each operand.
  static Slice sum(Terms &terms, const std::vector<Term> &operands, int64_t first = 0,
                   int64_t arithmetic = kF32) {
    Slices slices;
    for (Term operand : operands)
      slices.push_back({operand, 4 * first, 0});
    return terms.sum(kF32, arithmetic, 1, 4, slices);
  }
};
} // namespace

TEST_F(TermsTest, EqualTermsHaveOneNumber) {
  EXPECT_EQ(terms.leaf("a"), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(terms.call(1, 0, {{0, 0, {{a, 0, 8}}}}), terms.call(1, 0, {{0, 0, {{a, 0, 8}}}}));
  EXPECT_NE(terms.call(1, 0, {{0, 0, {{a, 0, 8}}}}), terms.call(1, 0, {{0, 0, {{a, 4, 8}}}}));
  EXPECT_NE(terms.call(1, 0, {{0, 0, {{a, 0, 8}}}}), terms.call(1, 8, {{0, 0, {{a, 0, 8}}}}));
}

TEST_F(TermsTest, SlicesOfSumsHaveTheTermOfTheWhole) {
  const Slice whole = sum(terms, {a, b}), part = sum(terms, {a, b}, 10);
  EXPECT_EQ(whole.term, part.term);
  EXPECT_EQ(whole.offset, 0);
  EXPECT_EQ(part.offset, 40);
  EXPECT_NE(terms.sum(kF32, kF32, 1, 4, {{a, 40, 0}, {b, 44, 0}}).term, whole.term);
}

TEST_F(TermsTest, SumsOverAxesAreOneInAnyOrder) {
  auto over = [](Terms &terms, uint32_t axes, Slice operand, int64_t divisor = 1) {
    return terms.over(kF32, kF32, divisor, {axes, 0}, 4, operand);
  };
  auto onRanks = [](Terms &terms) { return Slice{terms.leaf("x", 3), 8, 0}; };
  const Slice x = onRanks(terms), y = onRanks(anyOrder);
  EXPECT_NE(over(terms, 1, over(terms, 2, x)), over(terms, 3, x));
  EXPECT_EQ(over(anyOrder, 1, over(anyOrder, 2, y)), over(anyOrder, 3, y));
  EXPECT_EQ(over(anyOrder, 1, over(anyOrder, 2, y, 2), 3), over(anyOrder, 3, y, 6));
  // The second sum over the same axis adds equal numbers.
  EXPECT_NE(over(anyOrder, 1, over(anyOrder, 1, y)), over(anyOrder, 1, y));
  const Slice half = anyOrder.scale(0.5f, y);
  EXPECT_EQ(over(anyOrder, 1, half), anyOrder.scale(0.5f, over(anyOrder, 1, y)));
  const Slice both = anyOrder.sum(kF32, kF32, 1, 4, {y, {b, 8, 0}});
  EXPECT_EQ(over(anyOrder, 1, both),
            anyOrder.sum(kF32, kF32, 1, 4, {over(anyOrder, 1, y), over(anyOrder, 1, {b, 8, 0})}));
}

TEST_F(TermsTest, SlicesOfElementwiseKernelsHaveTheTermOfTheWhole) {
  auto update = [&](int64_t element) {
    return terms.element(
        7, 0, 4,
        {{0, 4, {{a, 4 * element, 0}}}, {1, 2, {{b, 2 * element, 0}}}, {2, 0, {{c, 0, 4}}}});
  };
  EXPECT_EQ(update(0).term, update(5).term);
  EXPECT_EQ(update(5).offset, 20);
}

TEST_F(TermsTest, SumsFromTheLeftAreOne) {
  const Slice inner = sum(terms, {a, b});
  EXPECT_EQ(sum(terms, {inner.term, c}).term, sum(terms, {a, b, c}).term);
  EXPECT_NE(sum(terms, {c, inner.term}).term, sum(terms, {c, a, b}).term);
  EXPECT_NE(sum(terms, {a, b}).term, sum(terms, {b, a}).term);
  EXPECT_NE(terms.sum(kBf16, kF32, 1, 2, {{inner.term, 0, 0}, {c, 0, 0}}).term,
            terms.sum(kBf16, kF32, 1, 2, {{a, 0, 0}, {b, 0, 0}, {c, 0, 0}}).term);
}

TEST_F(TermsTest, SumsUpToOrder) {
  const Slice inner = sum(anyOrder, {a, b});
  EXPECT_EQ(sum(anyOrder, {c, inner.term}).term, sum(anyOrder, {b, c, a}).term);
  EXPECT_NE(sum(anyOrder, {a, b, b}).term, sum(anyOrder, {a, a, b}).term);
  EXPECT_NE(sum(anyOrder, {a, b, b}).term, sum(anyOrder, {a, b}).term);
}

TEST_F(TermsTest, RanksHaveInstancesOfTerms) {
  constexpr int kAxis = 0;
  const Term x = terms.leaf("x", 1u << kAxis);
  const Term both = sum(terms, {x, a}).term;
  EXPECT_EQ(terms.axesOf(both), 1u << kAxis);
  const Term first = terms.at(both, kAxis, 0), second = terms.at(both, kAxis, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(terms.axesOf(second), 0u);
  EXPECT_EQ(terms.at(both, kAxis, 1), second);
  EXPECT_EQ(sum(terms, {terms.at(x, kAxis, 1), a}).term, second);
  EXPECT_EQ(terms.at(a, kAxis, 1), a);
  EXPECT_EQ(terms.difference(first, second),
            std::pair(terms.at(x, kAxis, 0), terms.at(x, kAxis, 1)));
}

TEST_F(TermsTest, MemoryHasTheLastWrite) {
  Memory memory;
  memory.write(0, Slices{{a, 0, 100}}, 1);
  memory.write(40, Slices{{b, 8, 20}}, 2);
  memory.write(60, Slices{{kNone, 0, 10}}, 3);
  const Slices found = memory.readOn(0, 0, 110);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].size, 40);
  EXPECT_EQ(found[1].offset, 8);
  EXPECT_EQ(found[2].term, kNone);
  EXPECT_EQ(found[3].offset, 70);
  EXPECT_EQ(found[4].size, 10);
  EXPECT_EQ(memory.writerOf(65), 3);
  EXPECT_EQ(memory.writerOf(200), -1);
  memory.write(40, Slices{{a, 40, 30}}, 4);
  EXPECT_EQ(memory.readOn(0, 0, 100).size(), 1u);
}

TEST_F(TermsTest, MemoryOfRanksDiffers) {
  Memory memory;
  memory.write(0, Slices{{a, 0, 100}}, 1);
  EXPECT_TRUE(memory.read(0, 100).isAlike());
  memory.write(20, Value(std::vector<Slices>{{{b, 0, 8}}, {{c, 0, 8}}}), 2);
  const Value found = memory.read(16, 16);
  EXPECT_FALSE(found.isAlike());
  EXPECT_EQ(found.on(0), (Slices{{a, 16, 4}, {b, 0, 8}, {a, 28, 4}}));
  EXPECT_EQ(found.on(1), (Slices{{a, 16, 4}, {c, 0, 8}, {a, 28, 4}}));
  EXPECT_TRUE(memory.read(30, 16).isAlike());
}
