//===- ObjectTest.cpp - the results of compileKernels ---------------------===//

#include "Harness.h"

#include "runtime/format/format.h"
#include "zero/Codegen/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"

#include "gtest/gtest.h"

#include <algorithm>

using text::fill;
using text::generic;

/// Returns kernels with zero fills, copies, constants, temporaries and every function that has an
/// expansion.
static std::string manyKernels() {
  std::string text, x = "tensor<64x70xf32>";
  for (const char *function :
       {"exp",   "log",  "tanh",  "erf",  "sqrt",  "rsqrt",     "sin",   "cos",  "expm1",
        "log1p", "absf", "floor", "ceil", "round", "roundeven", "trunc", "atan", "asin",
        "acos",  "cbrt", "exp2",  "log2", "sinh",  "cosh",      "tan"}) {
    text += "func.func private @f_" + std::string(function) + "(%x: " + x + ") -> (" + x +
            ", tensor<70xf32>) attributes {zero.kernel} {\n%e = tensor.empty() : " + x + "\n" +
            fill("z", "tensor<70xf32>", "0.0");
    text += generic("y", {"%x : " + x + " : d0, d1"}, "%e : " + x + " : d0, d1", "pp",
                    "%f = math." + std::string(function) + " %x0 : f32\nlinalg.yield %f : f32");
    text += generic("s", {"%y : " + x + " : d0, d1"}, "%z : tensor<70xf32> : d1", "rp",
                    "%s = arith.addf %out, %x0 : f32\nlinalg.yield %s : f32");
    text += "return %y, %s : " + x + ", tensor<70xf32>\n}\n";
  }
  text += "func.func private @copy(%x: " + x + ") -> " + x +
          " attributes {zero.kernel} {\nreturn %x : " + x + "\n}\n";
  return text;
}

TEST(Object, NeedsNothingButMemoryFunctions) {
  Kernels kernels(manyKernels());
  ASSERT_TRUE(kernels.ok());
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(kernels.object(), "kernels.so"));
  ASSERT_TRUE(bool(object));
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(object->get());
  unsigned defined = 0;
  for (const llvm::object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
    std::string name = llvm::cantFail(symbol.getName()).str();
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::BasicSymbolRef::SF_Undefined)
      EXPECT_TRUE(llvm::is_contained({"", "memcpy", "memmove", "memset"}, name)) << name;
    else
      ++defined;
  }
  EXPECT_EQ(defined, 26u);
}

TEST(Object, SameBytesFromAnyNumberOfThreads) {
  std::string text = manyKernels();
  Kernels one(text, 1), three(text, 3);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one.object(), three.object());
}

/// Returns a kernel that doubles elements, named `name`.
static std::string twice(const std::string &name, const std::string &x, const std::string &map) {
  return "func.func private @" + name + "(%x: " + x + ") -> " + x +
         " attributes {zero.kernel} {\n%e = tensor.empty() : " + x + "\n" +
         generic("y", {"%x : " + x + " : " + map}, "%e : " + x + " : " + map,
                 std::string(std::count(map.begin(), map.end(), 'd'), 'p'),
                 "%f = arith.addf %x0, %x0 : f32\nlinalg.yield %f : f32") +
         "return %y : " + x + "\n}\n";
}

TEST(Object, ElementwiseKernelsOfAnyShapeShareCode) {
  Kernels kernels(twice("square", "tensor<6x7xf32>", "d0, d1") +
                  twice("cube", "tensor<2x3x5xf32>", "d0, d1, d2"));
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(kernels.symbol("square"), kernels.symbol("cube"));
  EXPECT_EQ(kernels.extent("square"), 42);
  std::vector<float> x = numbers(30, 1), y(30);
  kernels.call("cube", {x.data(), y.data()});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], 2 * x[i]) << i;
}

TEST(Object, RuntimeKnowsEveryFeatureOfTheHost) {
  mlir::MLIRContext context;
  context.loadDialect<zero::ZeroDialect>();
  EXPECT_EQ(zero::rt::missingFeature(zero::isaOf(zero::hostCpu(&context))), "");
}
