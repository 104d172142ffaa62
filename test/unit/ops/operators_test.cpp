//===- operators_test.cpp - names of operators ----------------------------===//

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/OpTable.h"

#include <gtest/gtest.h>

using namespace zero;

/// A misspelt name would match no node and cause no error.
TEST(Operators, EachIsRegistered) {
  const onnx::Operator all[] = {
#define ONNX_OPERATOR(name) op::name,
#define ONNX_TRAINING_OPERATOR(name) training::name,
#define OWN_OPERATOR(name) own::name,
#include "dialects/Onnx/Operators.def"
  };
  for (const onnx::Operator &listed : all)
    EXPECT_TRUE(llvm::any_of(ops::allOps(), [&](const ops::OpDef &def) { return def == listed; }))
        << listed.domain.str() << "::" << listed.type.str();
}
