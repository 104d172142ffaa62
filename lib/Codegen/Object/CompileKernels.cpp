//===- CompileKernels.cpp - compile kernels to a shared object ------------===//

#include "CodeUnits.h"
#include "LowerToLLVM.h"
#include "ObjectCode.h"
#include "ShareBodies.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"
#include "zero/Codegen/TargetCpu.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace zero {

static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect>();
}

static LogicalResult lower(CodeUnit &unit) {
  for (IsolatedKernel &kernel : unit.kernels)
    if (failed(lowerToLLVM(*kernel.module)))
      return failure();
  unit.module = shareBodies(unit.kernels);
  return success();
}

FailureOr<CompiledKernels> compileKernels(ArrayRef<ModuleOp> modules,
                                          const CompileOptions &options) {
  ModuleOp module = modules.front();
  loadDialects(module.getContext());
  CompiledKernels compiled;
  const CodeMachine machine = codeMachineOf(targetCpuOf(module));
  const std::string name = machine.cpu + machine.features;
  auto takes = [](func::FuncOp kernel) {
    return isHostKernel(kernel) || !kernel->getParentOp()->hasAttr(kDeviceAttr);
  };
  const CodeTarget cpu = {name,      takes, formOf, lower, [&] { return cpuMachine(machine); },
                          emitObject};
  std::vector<CodeUnit> units =
      splitKernels(modules, cpu, [&](func::FuncOp kernel, StringRef code) {
        compiled.symbols.emplace_back(kernel, code.str());
      });
  if (units.empty())
    return compiled;
  FailureOr<unsigned> cached =
      compileUnits(module, units, cpu, options.threads, options.cacheFolder);
  if (failed(cached))
    return failure();
  for (const CodeUnit &unit : units)
    compiled.codes += unit.kernels.size();
  compiled.cached = *cached;
  std::vector<ArrayRef<char>> objects(units.size());
  llvm::transform(units, objects.begin(), [](const CodeUnit &unit) { return ArrayRef(unit.code); });
  llvm::Expected<std::string> linked = linkShared(objects);
  if (!linked)
    return module.emitError() << llvm::toString(linked.takeError());
  compiled.object = std::move(*linked);
  return compiled;
}

void buildCodegenPipeline(OpPassManager &manager, unsigned threadsPerRank, StringRef targetCpu) {
  MatchLibraryOptions library;
  library.targetCpu = targetCpu.str();
  library.threads = threadsPerRank;
  manager.addNestedPass<func::FuncOp>(createAnnotateCosts());
  manager.addPass(createMatchLibrary(library));
  manager.addNestedPass<func::FuncOp>(createWidenSums());
  manager.addNestedPass<func::FuncOp>(createFuseKernels());
  manager.addPass(createBufferizeKernels());
  manager.addNestedPass<func::FuncOp>(createBlockSums());
}

} // namespace zero
