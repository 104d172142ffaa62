//===- ObjectTest.cpp - the results of compileKernels ---------------------===//

#include "Harness.h"

#include "lib/Codegen/Object/ObjectCode.h"
#include "runtime/format/format.h"
#include "zero/Codegen/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

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

// LLVM would unroll the inner loop completely before it vectorizes, and then load vectors of
// elements that are a row apart, one by one.
TEST(Object, VectorizesShortInnermostLoops) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(R"(
    define void @kernel(ptr noalias %x, ptr noalias %y, i64 %begin, i64 %end) {
    entry:
      br label %rows
    rows:
      %r = phi i64 [%begin, %entry], [%next, %end_row]
      br label %row
    row:
      %i = phi i64 [0, %rows], [%more, %row]
      %sum = phi float [0.0, %rows], [%sums, %row]
      %first = mul i64 %r, 100
      %at = add i64 %first, %i
      %from = getelementptr float, ptr %x, i64 %at
      %value = load float, ptr %from
      %sums = fadd reassoc float %sum, %value
      %more = add i64 %i, 1
      %again = icmp ult i64 %more, 48
      br i1 %again, label %row, label %end_row
    end_row:
      %to = getelementptr float, ptr %y, i64 %r
      store float %sums, ptr %to
      %next = add i64 %r, 1
      %on = icmp ult i64 %next, %end
      br i1 %on, label %rows, label %exit
    exit:
      ret void
    })",
                                                                   error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  auto machine = zero::cpuMachine({"x86_64-linux-gnu", "x86-64-v4", ""});
  ASSERT_TRUE(bool(machine));
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  module->getFunction("kernel")->addFnAttr("prefer-vector-width", "512");
  module->getFunction("kernel")->addFnAttr("target-cpu", "x86-64-v4");
  std::unique_ptr<llvm::Module> optimised = zero::optimise(*module, **machine);
  unsigned contiguous = 0;
  for (llvm::Instruction &op : llvm::instructions(*optimised->getFunction("kernel"))) {
    EXPECT_FALSE(llvm::isa<llvm::InsertElementInst>(op));
    contiguous += llvm::isa<llvm::LoadInst>(op) && op.getType()->isVectorTy();
  }
  EXPECT_GT(contiguous, 0u);
}
