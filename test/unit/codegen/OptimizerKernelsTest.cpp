//===- OptimizerKernelsTest.cpp - updates do not depend on the cut --------===//
//
// Promise 3: the same bits for a whole tensor and for every split of it into
// shards, for every optimizer as the compiler builds it.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "zero/Optimizers/Optimizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

constexpr int64_t kLength = 1000;

/// The update kernel of `optimizer` as MLIR text.
std::string updateKernel(const zero::Optimizer &optimizer) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  Type f32 = Float32Type::get(&context);
  zero::buildUpdateKernels(*module, optimizer, {f32, f32}, "update");
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// Parameter and states after one update, run in pieces of `shard` elements.
std::vector<std::vector<float>> update(Kernels &kernels, const zero::Optimizer &optimizer,
                                       int64_t shard) {
  std::vector<std::vector<float>> values;
  for (size_t i = 0; i < 1 + optimizer.states().size(); ++i) {
    values.push_back(numbers(kLength, i));
    // A second moment is never negative.
    for (float &value : values.back())
      value = i == 2 ? std::abs(value) : value;
  }
  std::vector<float> gradient = numbers(kLength, 9);
  std::vector<float> scalars = {0.99f, -0.013f, 0.31f};
  for (int64_t start = 0; start < kLength; start += shard) {
    std::vector<void *> buffers;
    for (std::vector<float> &value : values)
      buffers.push_back(&value[start]);
    buffers.push_back(&gradient[start]);
    for (unsigned i = 0; i < optimizer.numScalars(); ++i)
      buffers.push_back(&scalars[i]);
    kernels.call("update", buffers, std::min(shard, kLength - start));
  }
  return values;
}

class OptimizerKernels : public testing::TestWithParam<zero::OptimizerOptions> {};

TEST_P(OptimizerKernels, EverySplitGivesTheSameBits) {
  std::string error;
  std::unique_ptr<zero::Optimizer> optimizer = zero::createOptimizer(GetParam(), error);
  ASSERT_TRUE(optimizer) << error;
  Kernels kernels(updateKernel(*optimizer));
  ASSERT_TRUE(kernels.ok());
  auto whole = update(kernels, *optimizer, kLength);
  EXPECT_NE(whole[0], numbers(kLength, 0)) << "nothing was updated";
  for (int64_t shard = 1; shard <= 130; ++shard)
    ASSERT_EQ(update(kernels, *optimizer, shard), whole) << "shards of " << shard;
}

zero::OptimizerOptions options(std::string name, double decay, double momentum = 0,
                               bool nesterov = false) {
  zero::OptimizerOptions result;
  result.name = name;
  result.weightDecay = decay;
  result.momentum = momentum;
  result.nesterov = nesterov;
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerKernels,
                         testing::Values(options("sgd", 0), options("sgd", 0.1),
                                         options("sgd", 0, 0.9), options("sgd", 0.1, 0.9, true),
                                         options("adam", 0), options("adam", 0.1),
                                         options("adamw", 0.1), options("lion", 0),
                                         options("lion", 0.1)));

TEST(CreateOptimizer, RefusesByName) {
  std::string error;
  EXPECT_FALSE(zero::createOptimizer(options("adamx", 0), error));
  EXPECT_EQ(error, "unknown optimizer 'adamx', expected sgd, adam, adamw, lamb or lion");
  EXPECT_FALSE(zero::createOptimizer(options("sgd", -1), error));
  EXPECT_EQ(error, "expected a weight decay >= 0, got -1");
  EXPECT_FALSE(zero::createOptimizer(options("sgd", 0, 0, true), error));
  EXPECT_EQ(error, "nesterov needs a momentum and no dampening");
}

} // namespace
