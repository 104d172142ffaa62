//===- OptimizerKernelsTest.cpp - updates do not depend on sharding -------===//
//
// Promise 3: an update is bitwise identical for a full tensor and for every split of it into
// shards. This is checked for every optimizer as the compiler builds it.
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

/// Returns the update kernel of `optimizer` as MLIR text.
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

/// Returns the states among the arguments of the update kernel: an optimizer of matrices has
/// advanced its own before.
SmallVector<zero::ParameterState> statesOf(const zero::Optimizer &optimizer) {
  SmallVector<zero::ParameterState> states = optimizer.states();
  states.pop_back_n(optimizer.numDirectionStates());
  return states;
}

/// Returns the parameter and states after one update, which runs in pieces of `shard` elements.
std::vector<std::vector<float>> update(Kernels &kernels, const zero::Optimizer &optimizer,
                                       int64_t shard) {
  std::vector<std::vector<float>> values;
  const SmallVector<zero::ParameterState> states = statesOf(optimizer);
  for (size_t i = 0; i < 1 + states.size(); ++i) {
    values.push_back(numbers(kLength, i));
    // A sum or a mean of squares is never negative.
    const bool isOfSquares =
        i > 0 && llvm::is_contained({"exp_avg_sq", "square_avg", "sum"}, states[i - 1].suffix);
    for (float &value : values.back())
      value = isOfSquares ? std::abs(value) : value;
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

zero::OptimizerOptions options(std::string name, StringRef settings) {
  zero::OptimizerOptions result{std::move(name)};
  EXPECT_EQ(result.parse(settings), "");
  return result;
}

/// Returns every elementwise optimizer with its default options, with weight decay, and with the
/// options of its examples.
std::vector<zero::OptimizerOptions> allOptions() {
  std::vector<zero::OptimizerOptions> all;
  auto add = [&](const zero::OptimizerDefinition &definition, StringRef settings) {
    std::string error;
    zero::OptimizerOptions made = options(definition.name.str(), settings);
    std::unique_ptr<zero::Optimizer> optimizer = zero::createOptimizer(made, error);
    EXPECT_TRUE(optimizer) << error;
    if (optimizer && !optimizer->isLayerwise())
      all.push_back(std::move(made));
  };
  for (const zero::OptimizerDefinition &definition : zero::allOptimizers()) {
    add(definition, "");
    add(definition, "weight-decay=0.1");
    for (StringRef example : definition.examples) {
      auto [rate, flags] = example.split(' ');
      EXPECT_TRUE(rate.starts_with("--lr=")) << "an example begins with its learning rate";
      std::string settings = flags.str();
      for (size_t at; (at = settings.find("--")) != std::string::npos;)
        settings.erase(at, 2);
      add(definition, settings);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerKernels, testing::ValuesIn(allOptions()),
                         [](const testing::TestParamInfo<zero::OptimizerOptions> &info) {
                           return info.param.name + std::to_string(info.index);
                         });

std::string errorOf(std::string name, StringRef settings) {
  std::string error;
  EXPECT_FALSE(zero::createOptimizer(options(std::move(name), settings), error));
  return error;
}

TEST(CreateOptimizer, RefusesByName) {
  EXPECT_EQ(errorOf("adamx", ""),
            "optimizer: unknown optimizer 'adamx', expected " + zero::optimizerNames());
  EXPECT_EQ(errorOf("sgd", "weight-decay=-1"),
            "weight-decay: expected a finite number >= 0, got -1");
  EXPECT_EQ(errorOf("sgd", "nesterov"), "nesterov: expected a momentum and no dampening, got "
                                        "momentum=0 and dampening=0");
  EXPECT_EQ(errorOf("adam", "betas=0.9"), "betas: expected two numbers, got 1");
  EXPECT_EQ(errorOf("lion", "betas=0.9,nan"), "betas: expected numbers in [0, 1), got nan");
  EXPECT_EQ(errorOf("lion", "eps=1"),
            "eps: has no effect with lion, which has --betas and --weight-decay");
}

TEST(Definitions, AreWhole) {
  for (const zero::OptimizerDefinition &definition : zero::allOptimizers()) {
    EXPECT_FALSE(definition.file.empty());
    EXPECT_FALSE(definition.summary.empty() || definition.source.empty()) << definition.name.str();
    EXPECT_FALSE(definition.deepSpeed.type.empty()) << definition.name.str();
    EXPECT_FALSE(definition.examples.empty()) << definition.name.str();
    EXPECT_TRUE(definition.find("weight-decay")) << definition.name.str();
    EXPECT_EQ(zero::findOptimizer(definition.name.upper()), &definition);
  }
}

TEST(Settings, SayWhatTheyRead) {
  zero::OptimizerOptions given = options("sgd", "nesterov momentum=0.1");
  given.given["weight-decay"] = {1.0 / 3};
  zero::OptimizerOptions read = options("sgd", given.text());
  EXPECT_EQ(read.given, given.given);
  EXPECT_EQ(zero::Settings(read).describe(),
            "sgd(momentum=0.1 dampening=0 weight_decay=0.333333 nesterov)");
  EXPECT_EQ(zero::OptimizerOptions().parse("momentum=x"), "momentum: expected numbers, got 'x'");
}

} // namespace
