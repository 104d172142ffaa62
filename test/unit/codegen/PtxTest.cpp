//===- PtxTest.cpp - PTX of launches --------------------------------------===//

#include "Harness.h"

#include "lib/Codegen/Object/ObjectCode.h"
#include "lib/Codegen/Object/PtxCode.h"
#include "zero/Codegen/CompileGpu.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include "gtest/gtest.h"

using namespace mlir;

/// The PTX of `text`, kernels on buffers with annotated loops; empty after an error.
static std::string ptxOf(const std::string &text) {
  MLIRContext context(allDialects());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "";
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(zero::createLaunchKernels());
  if (failed(manager.run(*module)))
    return "";
  auto compiled = zero::compileGpuKernels(*module, {.architectures = {80}});
  return succeeded(compiled) ? compiled->images.front().bytes : "";
}

static unsigned countOf(const std::string &text, const std::string &part) {
  unsigned count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The lanes of a warp read their right neighbours before and after all write. No lane writes what
/// it reads, so to LLVM only the barriers say that the second read finds other values.
static const char *exchange = R"(
  func.func private @exchange(%x: memref<8x33xf32> {llvm.noalias}, %y: memref<8x32xf32> {llvm.noalias},
                              %z: memref<8x32xf32> {llvm.noalias}) attributes {zero.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %two = arith.constant 2.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c32 step %c1 {
        %next = arith.addi %k, %c1 : index
        %0 = memref.load %x[%i, %next] : memref<8x33xf32>
        memref.store %0, %y[%i, %k] : memref<8x32xf32>
      } {zero.loop = "parallel"}
      scf.for %k = %c0 to %c32 step %c1 {
        memref.store %two, %x[%i, %k] : memref<8x33xf32>
      } {zero.loop = "parallel"}
      scf.for %k = %c0 to %c32 step %c1 {
        %next = arith.addi %k, %c1 : index
        %0 = memref.load %x[%i, %next] : memref<8x33xf32>
        memref.store %0, %z[%i, %k] : memref<8x32xf32>
      } {zero.loop = "parallel"}
    } {zero.loop = "parallel", zero.loop_threads = "warp"}
    return
  })";

TEST(Ptx, ReadsAgainBehindBarriers) {
  const std::string ptx = ptxOf(exchange);
  EXPECT_EQ(countOf(ptx, "bar.warp.sync"), 2u) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.global"), 2u) << ptx;
}

/// Loads of an element that another buffer is stored into in between.
TEST(Ptx, ReadsOnceWhereBuffersDiffer) {
  const std::string ptx = ptxOf(R"(
    func.func private @twice(%x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}, %z: memref<8xf32> {llvm.noalias})
        attributes {zero.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = memref.load %x[%i] : memref<8xf32>
        memref.store %0, %y[%i] : memref<8xf32>
        %1 = memref.load %x[%i] : memref<8xf32>
        memref.store %1, %z[%i] : memref<8xf32>
      } {zero.loop = "parallel", zero.loop_threads = "one"}
      return
    })");
  EXPECT_EQ(countOf(ptx, "ld.global"), 1u) << ptx;
  EXPECT_EQ(countOf(ptx, "st.global"), 2u) << ptx;
}

/// A fill is one store for each element, no loop over bytes.
TEST(Ptx, HasNoLoopsOverBytes) {
  const std::string ptx = ptxOf(R"(
    func.func private @fill(%x: memref<4x1000xf32> {llvm.noalias}) attributes {zero.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c1000 = arith.constant 1000 : index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %k = %c0 to %c1000 step %c1 {
          memref.store %zero, %x[%i, %k] : memref<4x1000xf32>
        }
      } {zero.loop = "parallel", zero.loop_threads = "one"}
      return
    })");
  EXPECT_EQ(countOf(ptx, "st.global.b8"), 0u) << ptx;
  EXPECT_GT(countOf(ptx, "st.global"), 0u) << ptx;
}

/// What `emitPtx` says to `text`, LLVM IR.
static std::string emitError(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    return "no module: " + problem.getMessage().str();
  auto machine = zero::gpuMachine();
  auto ptx = zero::emitPtx(*module, **machine);
  return ptx ? "" : llvm::toString(ptx.takeError());
}

/// An entry whose barrier stands between a load and a store of its argument.
static std::string entryWith(const std::string &attribute, const std::string &barrier) {
  return "declare void @llvm.nvvm.bar.warp.sync(i32)\n"
         "define ptx_kernel void @entry(ptr " +
         attribute +
         " %x) {\n"
         "  %value = load float, ptr %x\n" +
         barrier +
         "  store float %value, ptr %x\n"
         "  ret void\n"
         "}\n";
}

TEST(Ptx, RefusesNoAliasBesideBarriers) {
  const std::string barrier = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
  EXPECT_EQ(emitError(entryWith("noalias", barrier)),
            "the entry 'entry' has a barrier and a noalias argument");
  EXPECT_EQ(emitError(entryWith("", barrier)), "");
  EXPECT_EQ(emitError(entryWith("noalias", "")), "");
}
