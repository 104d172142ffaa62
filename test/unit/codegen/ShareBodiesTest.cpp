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

/// A kernel that adds rows in any order.
static std::string sum(const std::string &name, int rows) {
  std::string type = "tensor<" + std::to_string(rows) + "x9xf32>";
  return "func.func private @" + name + "(%x: " + type +
         ") -> tensor<9xf32> attributes {zero.kernel} {\n" +
         text::fill("z", "tensor<9xf32>", "0.0") +
         text::generic("y", {"%x : " + type + " : d1, d0"}, "%z : tensor<9xf32> : d0", "pr",
                       "%f = arith.addf %out, %x0 fastmath<reassoc> : f32\nlinalg.yield %f : f32") +
         "return %y : tensor<9xf32>\n}\n";
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

static unsigned countBodies(ModuleOp module) {
  SymbolTable symbols(module);
  std::vector<zero::IsolatedKernel> kernels;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    kernels.push_back({kernel.getName().str(), zero::isolateKernel(kernel, symbols)});
    EXPECT_TRUE(succeeded(zero::lowerToLLVM(*kernels.back().module)));
  }
  OwningOpRef<ModuleOp> shared = zero::shareBodies(kernels);
  EXPECT_TRUE(succeeded(verify(*shared)));
  return llvm::count_if(shared->getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
    return function.getLinkage() == LLVM::Linkage::Internal;
  });
}

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
  Kernels kernels(sum("short", 20) + sum("long", 30) + transpose("wide", 6, 70, "3.0") +
                  transpose("other", 9, 50, "0.5"));
  ASSERT_TRUE(kernels.ok());
  std::map<std::string, std::string> forms;
  for (auto kernel : kernels.module().getOps<func::FuncOp>())
    forms[kernel.getName().str()] = zero::formOf(kernel, kernel.getName());
  EXPECT_NE(forms["short"], forms["long"]);
  EXPECT_EQ(forms["wide"], forms["other"]);
}
