//===- ShareBodiesTest.cpp - one body for kernels that differ in numbers --===//

#include "Harness.h"

#include "lib/Codegen/Object/LowerToLLVM.h"
#include "lib/Codegen/Object/ShareBodies.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;

/// A kernel that exchanges rows and columns, scaled.
static std::string transpose(const std::string &name, int rows, int columns,
                             const std::string &scale) {
  auto type = [](int a, int b) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "xf32>";
  };
  std::string from = type(rows, columns), to = type(columns, rows);
  return "func.func private @" + name + "(%x: " + from + ") -> " + to +
         " attributes {zero.kernel} {\n%e = tensor.empty() : " + to + "\n" +
         text::generic("y", {"%x : " + from + " : d1, d0"}, "%e : " + to + " : d0, d1", "pp",
                       "%c = arith.constant " + scale +
                           " : f32\n%f = arith.mulf %x0, %c : f32\nlinalg.yield %f : f32") +
         "return %y : " + to + "\n}\n";
}

/// A kernel that adds up, in any order, what rows sum to.
static std::string sumOfRows(const std::string &name, int rows) {
  std::string type = "tensor<" + std::to_string(rows) + "x9xf32>";
  return "func.func private @" + name + "(%x: " + type +
         ") -> tensor<f32> attributes {zero.kernel} {\n" + text::fill("z", "tensor<f32>", "0.0") +
         text::generic("y", {"%x : " + type + " : d0, d1"}, "%z : tensor<f32> : ", "rr",
                       "%f = arith.addf %out, %x0 fastmath<reassoc> : f32\nlinalg.yield %f : f32") +
         "return %y : tensor<f32>\n}\n";
}

/// A kernel that adds rows in any order.
static std::string sum(const std::string &name, int rows, int columns = 9) {
  std::string width = std::to_string(columns), to = "tensor<" + width + "xf32>",
              type = "tensor<" + std::to_string(rows) + "x" + width + "xf32>";
  return "func.func private @" + name + "(%x: " + type + ") -> " + to +
         " attributes {zero.kernel} {\n" + text::fill("z", to, "0.0") +
         text::generic("y", {"%x : " + type + " : d1, d0"}, "%z : " + to + " : d0", "pr",
                       "%f = arith.addf %out, %x0 fastmath<reassoc> : f32\nlinalg.yield %f : f32") +
         "return %y : " + to + "\n}\n";
}

/// A kernel that gathers rows by constant indices.
static std::string gather(const std::string &name, const std::string &indices, int count) {
  std::string to = "tensor<" + std::to_string(count) + "x5xf32>",
              from = "tensor<" + std::to_string(count) + "xi64>";
  return "func.func private @" + name + "(%x: tensor<7x5xf32>) -> " + to +
         " attributes {zero.kernel} {\n%i = arith.constant dense<" + indices + "> : " + from +
         "\n%e = tensor.empty() : " + to + "\n" +
         text::generic("y", {"%i : " + from + " : d0"}, "%e : " + to + " : d0, d1", "pp",
                       "%r = arith.index_cast %x0 : i64 to index\n%c = linalg.index 1 : index\n"
                       "%f = tensor.extract %x[%r, %c] : tensor<7x5xf32>\nlinalg.yield %f : f32") +
         "return %y : " + to + "\n}\n";
}

/// The kernels of `module`, and the form of each.
static std::map<std::string, std::string> formsOf(ModuleOp module,
                                                  std::vector<zero::IsolatedKernel> &kernels) {
  SymbolTable symbols(module);
  std::map<std::string, std::string> forms;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    const std::string name = kernel.getName().str();
    kernels.push_back({name, zero::isolateKernel(kernel, symbols)});
    forms[name] = zero::formOf(kernels.back());
  }
  return forms;
}

/// The bodies of the kernels of `module`, as text without their names.
static std::vector<std::string> bodiesOf(ModuleOp module) {
  std::vector<zero::IsolatedKernel> kernels;
  formsOf(module, kernels);
  for (zero::IsolatedKernel &kernel : kernels)
    EXPECT_TRUE(succeeded(zero::lowerToLLVM(*kernel.module)));
  OwningOpRef<ModuleOp> shared = zero::shareBodies(kernels);
  EXPECT_TRUE(succeeded(verify(*shared)));
  std::vector<std::string> bodies;
  for (auto function : shared->getOps<LLVM::LLVMFuncOp>())
    if (function.getLinkage() == LLVM::Linkage::Internal) {
      function.setName("body");
      llvm::raw_string_ostream(bodies.emplace_back()) << function;
    }
  return bodies;
}

static size_t countBodies(ModuleOp module) { return bodiesOf(module).size(); }

static void expectTransposed(Kernels &kernels, const std::string &name, int rows, int columns,
                             float scale) {
  std::vector<float> x = numbers(rows * columns, 1), y(x.size());
  kernels.call(name, {x.data(), y.data()});
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      EXPECT_EQ(y[column * rows + row], scale * x[row * columns + column]) << name;
}

TEST(ShareBodies, PassesNumbersThatDiffer) {
  Kernels kernels(transpose("wide", 6, 70, "3.0") + transpose("other", 9, 50, "0.5") +
                  transpose("square", 30, 30, "3.0"));
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(countBodies(kernels.module()), 1u);
  expectTransposed(kernels, "wide", 6, 70, 3.0f);
  expectTransposed(kernels, "other", 9, 50, 0.5f);
  expectTransposed(kernels, "square", 30, 30, 3.0f);
}

TEST(ShareBodies, PassesConstants) {
  Kernels kernels(gather("two", "[6, 0]", 2) + gather("three", "[1, 1, 4]", 3));
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(countBodies(kernels.module()), 1u);
  std::vector<float> x = numbers(35, 1), two(10), three(15);
  kernels.call("two", {x.data(), two.data()});
  kernels.call("three", {x.data(), three.data()});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(two[i], x[30 + i]);
    EXPECT_EQ(two[5 + i], x[i]);
    EXPECT_EQ(three[5 + i], x[5 + i]);
    EXPECT_EQ(three[10 + i], x[20 + i]);
  }
}

TEST(ShareBodies, KeepsWhatDecidesWhichCodeThereIs) {
  Kernels kernels(transpose("matrix", 6, 70, "3.0") + transpose("unscaled", 6, 70, "1.0") +
                  gather("rows", "[1, 2, 3]", 3));
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(countBodies(kernels.module()), 3u);
}

TEST(ShareBodies, SumsInAnyOrderHaveFormsOfTheirOwn) {
  Kernels kernels(sum("narrow", 20) + sum("broad", 20, 10) + transpose("wide", 6, 70, "3.0") +
                  transpose("other", 9, 50, "0.5"));
  ASSERT_TRUE(kernels.ok());
  std::vector<zero::IsolatedKernel> isolated;
  std::map<std::string, std::string> forms = formsOf(kernels.module(), isolated);
  EXPECT_NE(forms["narrow"], forms["broad"]);
  EXPECT_EQ(forms["wide"], forms["other"]);
}

TEST(ShareBodies, SumsInAnyOrderShareWithOtherBoundsOfOutermostLoops) {
  Kernels kernels(sumOfRows("few", 20) + sumOfRows("many", 30) + sum("short", 20) +
                  sum("long", 30));
  ASSERT_TRUE(kernels.ok());
  std::vector<zero::IsolatedKernel> isolated;
  std::map<std::string, std::string> forms = formsOf(kernels.module(), isolated);
  EXPECT_EQ(forms["few"], forms["many"]);
  EXPECT_EQ(forms["short"], forms["long"]);
  EXPECT_EQ(countBodies(kernels.module()), 2u);
  std::vector<float> x(270, 1.0f), y(9);
  for (auto [name, expected] : {std::pair("few", 180.0f), {"many", 270.0f}}) {
    kernels.call(name, {x.data(), y.data()});
    EXPECT_EQ(y[0], expected) << name;
  }
  for (auto [name, expected] : {std::pair("short", 20.0f), {"long", 30.0f}}) {
    kernels.call(name, {x.data(), y.data()});
    EXPECT_EQ(y, std::vector<float>(9, expected)) << name;
  }
}

/// The order of a sum does not depend on who shares it.
TEST(ShareBodies, SumsInAnyOrderHaveTheBodyThatTheyHaveAlone) {
  Kernels one(sum("short", 20)), two(sum("short", 20) + sum("long", 30));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(bodiesOf(one.module()), bodiesOf(two.module()));
}
