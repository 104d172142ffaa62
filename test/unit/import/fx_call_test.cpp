//===- fx_call_test.cpp - calls in the metadata of nodes -------------------===//

#include "lib/Import/FxCall.h"

#include "gtest/gtest.h"

using namespace zero::importer;

namespace {

constexpr const char *kLoss =
    "%cross_entropy_loss : [num_users=1] = call_function[target=torch.ops.aten."
    "cross_entropy_loss.default](args = (%linear, %y, None, 1, -100, 0.1), kwargs = {})";

TEST(FxCall, ReadsPositionalArguments) {
  std::optional<FxCall> call = parseCall(kLoss);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->result, "cross_entropy_loss");
  EXPECT_EQ(call->target, "aten.cross_entropy_loss.default");
  EXPECT_EQ(call->op(), "cross_entropy_loss");
  ASSERT_EQ(call->args.size(), 6u);
  EXPECT_FALSE(call->has(2, "weight"));
  EXPECT_EQ(call->getInt(4, "ignore_index", 0), -100);
  EXPECT_DOUBLE_EQ(call->getFloat(5, "label_smoothing", 0), 0.1);
  EXPECT_EQ(call->getInt(9, "missing", 7), 7);
}

TEST(FxCall, ReadsKeywordArgumentsAndLists) {
  std::optional<FxCall> call =
      parseCall("%s : [num_users=1] = call_function[target=torch.ops.aten.scatter_reduce.two]("
                "args = (%zeros, [1, (2, 3)], [%a, %b], %x, mean), kwargs = {include_self: False, "
                "shape: [1, 2]})");
  ASSERT_TRUE(call);
  ASSERT_EQ(call->args.size(), 5u);
  EXPECT_EQ(call->args[1], "[1, (2, 3)]");
  EXPECT_EQ(call->text(4, "reduce"), "mean");
  EXPECT_FALSE(call->getBool(5, "include_self", true));
  EXPECT_EQ(call->text(9, "shape"), "[1, 2]");
}

TEST(FxCall, ReadsATupleOfOne) {
  std::optional<FxCall> call = parseCall("%detach : [num_users=1] = call_function[target=torch.ops."
                                         "aten.detach.default](args = (%linear,), kwargs = {})");
  ASSERT_TRUE(call);
  ASSERT_EQ(call->args.size(), 1u);
  EXPECT_EQ(call->args[0], "%linear");
}

TEST(FxCall, RefusesAnyPrefix) {
  const llvm::StringRef text = kLoss;
  // Stops before the last bracket, which carries no information.
  for (size_t size = 0; size + 1 < text.size(); ++size)
    EXPECT_FALSE(parseCall(text.take_front(size))) << size;
  EXPECT_FALSE(parseCall("%x : [num_users=1] = placeholder[target=x]"));
}

} // namespace
