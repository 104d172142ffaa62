//===- ArmTest.cpp - vectors of code for 64-bit ARM -----------------------===//

#include "lib/Codegen/Object/ObjectCode.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include "gtest/gtest.h"

#include <set>

/// A kernel that doubles elements, and one that adds them.
static constexpr char kKernels[] = R"(
  define void @double(ptr noalias %x, ptr noalias %y, i64 %count) {
  entry:
    br label %loop
  loop:
    %i = phi i64 [0, %entry], [%next, %loop]
    %from = getelementptr float, ptr %x, i64 %i
    %value = load float, ptr %from
    %twice = fadd float %value, %value
    %to = getelementptr float, ptr %y, i64 %i
    store float %twice, ptr %to
    %next = add i64 %i, 1
    %on = icmp ult i64 %next, %count
    br i1 %on, label %loop, label %exit
  exit:
    ret void
  }

  define void @sum(ptr noalias %x, ptr noalias %y, i64 %count) {
  entry:
    br label %loop
  loop:
    %i = phi i64 [0, %entry], [%next, %loop]
    %sum = phi float [0.0, %entry], [%sums, %loop]
    %from = getelementptr float, ptr %x, i64 %i
    %value = load float, ptr %from
    %sums = fadd reassoc float %sum, %value
    %next = add i64 %i, 1
    %on = icmp ult i64 %next, %count
    br i1 %on, label %loop, label %exit
  exit:
    store float %sums, ptr %y
    ret void
  })";

using Types = std::set<std::string>;

/// The types of the vectors that `kernel` adds for a machine.
static Types vectorsOf(const char *kernel, const zero::CodeMachine &wanted) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kKernels, error, context);
  auto machine = zero::cpuMachine(wanted);
  if (!module || !machine) {
    ADD_FAILURE() << error.getMessage().str() << llvm::toString(machine.takeError());
    return {};
  }
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  std::unique_ptr<llvm::Module> optimised = zero::optimise(*module, **machine);
  Types types;
  for (llvm::Instruction &op : llvm::instructions(*optimised->getFunction(kernel))) {
    if (op.getOpcode() != llvm::Instruction::FAdd || !op.getType()->isVectorTy())
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << *op.getType();
    types.insert(text);
  }
  return types;
}

TEST(Arm, NeonAddsVectorsOfFour) {
  const zero::CodeMachine neon{"aarch64-linux-gnu", "generic", "+neon"};
  EXPECT_EQ(vectorsOf("double", neon), Types{"<4 x float>"});
  EXPECT_EQ(vectorsOf("sum", neon), Types{"<4 x float>"});
}

// A sum in scalable vectors would depend on their length, which executables do not name.
TEST(Arm, SumsDoNotDependOnTheLengthOfScalableVectors) {
  const zero::CodeMachine sve{"aarch64-linux-gnu", "generic", "+neon,+fullfp16,+sve"};
  EXPECT_EQ(vectorsOf("double", sve), Types{"<vscale x 4 x float>"});
  EXPECT_EQ(vectorsOf("sum", sve), Types{"<4 x float>"});
}
