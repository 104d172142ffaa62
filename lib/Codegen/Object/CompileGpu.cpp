//===- CompileGpu.cpp - compile kernels for GPUs --------------------------===//
//
// PTX of a kernel is the same for all architectures: the texts differ in their headers.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/CompileGpu.h"

#include "AliasScopes.h"
#include "CodeUnits.h"
#include "LowerToLLVM.h"
#include "OutlineLaunches.h"
#include "PtxCode.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace zero {

static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

/// Lowers a unit to the LLVM dialect, and its launches to separate kernels.
static LogicalResult lower(CodeUnit &unit) {
  const std::string &symbol = unit.kernels.front().symbol;
  unit.module = std::move(unit.kernels.front().module);
  auto kernel = unit.module->lookupSymbol<func::FuncOp>("kernel");
  rt::proto::GpuKernel launches = describeLaunches(kernel, symbol);
  outlineLaunches(kernel, symbol);
  // Constants of other kernels have the same names.
  SymbolTable symbols(*unit.module);
  for (auto global : llvm::make_early_inc_range(unit.module->getOps<memref::GlobalOp>()))
    if (!global.getName().starts_with(symbol) &&
        failed(symbols.rename(global, (symbol + "_" + global.getName()).str())))
      return failure();
  if (failed(lowerGpuToLLVM(*unit.module)))
    return failure();
  Builder builder(unit.module->getContext());
  for (const rt::proto::GpuEntry &entry : launches.entries()) {
    auto function = unit.module->lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                      builder.getDenseI32ArrayAttr({int32_t(entry.threads())}));
    scopeAliases(function);
  }
  return success();
}

static llvm::Expected<Code> emit(llvm::Module &module, llvm::TargetMachine &machine) {
  auto ptx = emitPtx(module, machine);
  if (!ptx)
    return ptx.takeError();
  return Code(ptx->begin(), ptx->end());
}

/// Machine code for each architecture for which the toolkit makes it, and the text for the oldest
/// one, which the driver assembles for others, and for itself if it is older than the toolkit.
static std::vector<CompiledGpuKernels::Image> makeImages(ModuleOp module, const std::string &body,
                                                         const GpuCompileOptions &options) {
  std::vector<CompiledGpuKernels::Image> images;
  for (unsigned architecture : options.architectures) {
    if (options.toolkit.empty())
      break;
    auto cubin = assemblePtx(options.toolkit, ptxHeader(architecture) + body, architecture);
    if (cubin)
      images.push_back({architecture, rt::proto::GpuImage::CUBIN, std::move(*cubin)});
    else
      emitWarning(UnknownLoc::get(module.getContext()))
          << "there is no machine code for sm_" << architecture << ": "
          << llvm::toString(cubin.takeError());
  }
  const unsigned oldest = *llvm::min_element(options.architectures);
  images.push_back({oldest, rt::proto::GpuImage::PTX, ptxHeader(oldest) + body + '\0'});
  return images;
}

FailureOr<CompiledGpuKernels> compileGpuKernels(ArrayRef<ModuleOp> modules,
                                                const GpuCompileOptions &options) {
  ModuleOp module = modules.front();
  loadDialects(module.getContext());
  CompiledGpuKernels compiled;
  auto formOf = [](IsolatedKernel &kernel) { return textOf(*kernel.module); };
  auto takes = [](func::FuncOp kernel) { return !isHostKernel(kernel); };
  const CodeTarget gpu = {"a GPU", takes, formOf, lower, gpuMachine, emit};
  std::vector<CodeUnit> units =
      splitKernels(modules, gpu, [&](func::FuncOp kernel, StringRef code) {
        compiled.kernels.emplace_back(kernel, describeLaunches(kernel, code));
      });
  FailureOr<unsigned> cached =
      compileUnits(module, units, gpu, options.threads, options.cacheFolder);
  if (failed(cached))
    return failure();
  compiled.codes = units.size();
  compiled.cached = *cached;
  std::string body;
  for (const CodeUnit &unit : units)
    body.append(unit.code.begin(), unit.code.end());
  if (!units.empty())
    compiled.images = makeImages(module, body, options);
  return compiled;
}

} // namespace zero
