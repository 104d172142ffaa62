//===- CallMessageTest.cpp - library calls have the fields of messages ----===//

#include "dialects/Zero/Zero.h"
#include "runtime/format/executable.pb.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace zero;

/// The fields of a call, and those of its message but the type of the elements that it multiplies.
static void expectSameFields(llvm::StringRef text) {
  mlir::MLIRContext context;
  context.loadDialect<ZeroDialect>();
  auto call = llvm::dyn_cast_or_null<CallAttrInterface>(mlir::parseAttribute(text, &context));
  ASSERT_TRUE(call);
  std::vector<std::string> ours{"dtype"}, theirs;
  call.visitFields([&](llvm::StringRef name, const CallField &) { ours.push_back(name.str()); });
  const auto *body = rt::proto::Kernel::descriptor()->FindFieldByName(call.getCallName().str());
  ASSERT_TRUE(body);
  for (int i = 0; i < body->message_type()->field_count(); ++i)
    theirs.push_back(body->message_type()->field(i)->name());
  EXPECT_EQ(ours, theirs);
}

TEST(CallMessage, HasTheFieldsOfTheCall) {
  expectSameFields("#zero.matmul<m = 2, n = 2, k = 2, batch = [], a_strides = [2, 1], "
                   "b_strides = [2, 1], c_strides = [2, 1], alpha = 1.0 : f32>");
  expectSameFields("#zero.convolution<direction = forward, batch = 1, groups = 1, in_channels = 1, "
                   "out_channels = 1, input = [4], output = [4], kernel = [1], strides = [1], "
                   "dilations = [1], pads_begin = [0], pads_end = [0]>");
  expectSameFields("#zero.attention<direction = forward, batch = 1, heads = 1, groups = 1, "
                   "queries = 1, keys = 1, width = 1, value_width = 1, q_strides = [1, 1, 1], "
                   "k_strides = [1, 1, 1], v_strides = [1, 1, 1], o_strides = [1, 1, 1], "
                   "offsets = [], scale = 1.0 : f32, causal_offset = 0, fill = 0.0 : f32, "
                   "padding = none, padding_strides = [], mask = none, mask_strides = []>");
}
