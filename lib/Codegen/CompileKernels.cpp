//===- CompileKernels.cpp - kernels to a shared object of the host --------===//
//
// Kernels are compiled in chunks of a fixed size, which any number of threads
// take one after the other: the bytes never depend on how many there are.
//
//===----------------------------------------------------------------------===//

#include "LowerToLLVM.h"
#include "ObjectCode.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace zero {

static constexpr size_t kChunk = 8;

namespace {
/// Some kernels of the module, compiled together.
struct Chunk {
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> names;
  llvm::SmallVector<char, 0> object;
  std::string error;
};
} // namespace

/// Copies `kernel` and the constants that it reads into `module`.
static void copyInto(ModuleOp module, func::FuncOp kernel, SymbolTable &source) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  kernel.walk([&](memref::GetGlobalOp get) {
    if (!module.lookupSymbol(get.getNameAttr()))
      builder.clone(*source.lookup(get.getName()));
  });
  builder.clone(*kernel);
}

static std::vector<Chunk> split(ModuleOp module) {
  std::vector<Chunk> chunks;
  SymbolTable symbols(module);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      continue;
    if (chunks.empty() || chunks.back().names.size() == kChunk) {
      chunks.emplace_back();
      chunks.back().module = ModuleOp::create(module.getLoc());
    }
    copyInto(*chunks.back().module, kernel, symbols);
    chunks.back().names.push_back(kernel.getName().str());
  }
  return chunks;
}

static void compile(Chunk &chunk) {
  auto fail = [&](llvm::Error error) { chunk.error = llvm::toString(std::move(error)); };
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*chunk.module, context, "kernels", /*disableVerification=*/true);
  if (!module)
    return fail(llvm::createStringError("cannot translate to LLVM IR"));
  auto machine = hostMachine();
  if (!machine)
    return fail(machine.takeError());
  auto object = emitObject(*module, **machine, chunk.names);
  if (!object)
    return fail(object.takeError());
  chunk.object = std::move(*object);
}

static void compileAll(std::vector<Chunk> &chunks, unsigned threads) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t index = next++; index < chunks.size(); index = next++)
      compile(chunks[index]);
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<size_t>(threads, chunks.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

FailureOr<CompiledKernels> compileKernels(ModuleOp module, const CompileOptions &options) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect>();

  std::vector<Chunk> chunks = split(module);
  CompiledKernels compiled;
  if (chunks.empty())
    return compiled;
  for (Chunk &chunk : chunks)
    if (failed(lowerToLLVM(*chunk.module)))
      return module.emitError() << "cannot lower the kernels from '" << chunk.names.front()
                                << "' on";
  compileAll(chunks, options.threads);
  std::vector<llvm::SmallVector<char, 0>> objects;
  for (Chunk &chunk : chunks) {
    if (!chunk.error.empty())
      return module.emitError() << "cannot compile the kernels from '" << chunk.names.front()
                                << "' on: " << chunk.error;
    for (const std::string &name : chunk.names)
      compiled.symbols.emplace_back(name, name);
    objects.push_back(std::move(chunk.object));
  }
  llvm::Expected<std::string> linked = linkShared(objects);
  if (!linked)
    return module.emitError() << llvm::toString(linked.takeError());
  compiled.object = std::move(*linked);
  return compiled;
}

void buildCodegenPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createAnnotateCosts());
  manager.addPass(createMatchLibrary());
  manager.addNestedPass<func::FuncOp>(createFuseKernels());
  manager.addPass(createBufferizeKernels());
}

} // namespace zero
