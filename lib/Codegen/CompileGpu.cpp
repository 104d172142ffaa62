//===- CompileGpu.cpp - kernels to code for GPUs --------------------------===//
//
// As on the host each kernel is compiled alone, under a name that follows from its text, to
// PTX that can be kept. What all architectures have in common is all of it: the texts differ
// in their headers.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/CompileGpu.h"

#include "IsolateKernel.h"
#include "LowerToLLVM.h"
#include "ObjectCache.h"
#include "OutlineLaunches.h"
#include "PtxCode.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace zero {

namespace {
/// Kernels with the same code on its way to PTX.
struct Unit {
  std::string name; ///< of the first of them
  std::string symbol, key;
  OwningOpRef<ModuleOp> module;
  std::string ptx, error;
};
} // namespace

static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

/// The code that `module` needs, each kernel once; adds to `compiled` what each launches.
static std::vector<Unit> split(ModuleOp module, CompiledGpuKernels &compiled) {
  std::vector<Unit> units;
  llvm::StringSet<> known;
  SymbolTable symbols(module);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      continue;
    OwningOpRef<ModuleOp> alone = isolateKernel(kernel, symbols);
    std::string text = textOf(*alone), symbol = symbolOf(text);
    compiled.kernels.emplace_back(kernel.getName().str(), describeLaunches(kernel, symbol));
    if (known.insert(symbol).second)
      units.push_back({kernel.getName().str(), symbol, ObjectCache::keyOf("ptx " + text),
                       std::move(alone), "", ""});
  }
  return units;
}

/// Lowers a unit to the LLVM dialect, its launches to kernels of their own.
static LogicalResult lower(Unit &unit) {
  auto kernel = unit.module->lookupSymbol<func::FuncOp>("kernel");
  rt::proto::GpuKernel launches = describeLaunches(kernel, unit.symbol);
  outlineLaunches(kernel, unit.symbol);
  // Constants of other kernels have the same names.
  SymbolTable symbols(*unit.module);
  for (auto global : llvm::make_early_inc_range(unit.module->getOps<memref::GlobalOp>()))
    if (!global.getName().starts_with(unit.symbol) &&
        failed(symbols.rename(global, (unit.symbol + "_" + global.getName()).str())))
      return failure();
  if (failed(lowerGpuToLLVM(*unit.module)))
    return failure();
  Builder builder(unit.module->getContext());
  for (const rt::proto::GpuEntry &entry : launches.entries()) {
    auto function = unit.module->lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                      builder.getDenseI32ArrayAttr({int32_t(entry.threads())}));
  }
  return success();
}

static void compile(Unit &unit, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*unit.module, context, "kernels", /*disableVerification=*/true);
  if (!module) {
    unit.error = "cannot translate to LLVM IR";
    return;
  }
  auto ptx = emitPtx(*module, machine);
  if (ptx)
    unit.ptx = std::move(*ptx);
  else
    unit.error = llvm::toString(ptx.takeError());
}

static void compileAll(ArrayRef<Unit *> units, unsigned threads, ObjectCache &cache) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    auto machine = gpuMachine();
    std::string error = machine ? "" : llvm::toString(machine.takeError());
    for (size_t index = next++; index < units.size(); index = next++) {
      Unit &unit = *units[index];
      if (error.empty())
        compile(unit, **machine);
      else
        unit.error = error;
      if (unit.error.empty())
        cache.store(unit.key, ArrayRef(unit.ptx.data(), unit.ptx.size()));
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<size_t>(threads, units.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

/// Finds the PTX of `units` in `cache`, and compiles the rest. Returns how many were found.
static FailureOr<unsigned> fill(ModuleOp module, MutableArrayRef<Unit> units, unsigned threads,
                                ObjectCache &cache) {
  SmallVector<Unit *> missing;
  for (Unit &unit : units) {
    if (auto ptx = cache.find(unit.key)) {
      unit.ptx.assign(ptx->begin(), ptx->end());
      continue;
    }
    if (failed(lower(unit)))
      return module.emitError() << "cannot lower kernel '" << unit.name << "' for a GPU";
    missing.push_back(&unit);
  }
  compileAll(missing, threads, cache);
  for (const Unit *unit : missing)
    if (!unit->error.empty())
      return module.emitError() << "cannot compile kernel '" << unit->name << "': " << unit->error;
  return units.size() - missing.size();
}

/// The image of `ptx` for `architecture`: machine code where the toolkit makes it.
static CompiledGpuKernels::Image makeImage(ModuleOp module, unsigned architecture,
                                           const std::string &body,
                                           const GpuCompileOptions &options) {
  std::string ptx = ptxHeader(architecture) + body;
  if (!options.toolkit.empty()) {
    auto fatbin = assemblePtx(options.toolkit, ptx, architecture);
    if (fatbin)
      return {architecture, rt::proto::GpuImage::FATBIN, std::move(*fatbin)};
    emitWarning(UnknownLoc::get(module.getContext()))
        << "kernels for sm_" << architecture << " stay PTX: " << llvm::toString(fatbin.takeError());
  }
  return {architecture, rt::proto::GpuImage::PTX, ptx + '\0'};
}

FailureOr<CompiledGpuKernels> compileGpuKernels(ModuleOp module, const GpuCompileOptions &options) {
  loadDialects(module.getContext());
  ObjectCache cache;
  if (!options.cacheFolder.empty())
    if (std::string why = cache.open(options.cacheFolder); !why.empty())
      emitWarning(UnknownLoc::get(module.getContext()))
          << "the cache of compiled kernels '" << options.cacheFolder << "' is not used: " << why;
  CompiledGpuKernels compiled;
  std::vector<Unit> units = split(module, compiled);
  FailureOr<unsigned> cached = fill(module, units, options.threads, cache);
  if (failed(cached))
    return failure();
  cache.prune();
  compiled.codes = units.size();
  compiled.cached = *cached;
  std::string body;
  for (const Unit &unit : units)
    body += unit.ptx;
  for (unsigned architecture : options.architectures)
    if (!units.empty())
      compiled.images.push_back(makeImage(module, architecture, body, options));
  return compiled;
}

} // namespace zero
