//===- CompileKernels.cpp - kernels to a shared object of the host --------===//
//
// Each kernel is compiled alone, under a name that follows from its text: so its object
// code depends on nothing else, is the same for any number of threads, and can be kept.
//
//===----------------------------------------------------------------------===//

#include "IsolateKernel.h"
#include "LowerToLLVM.h"
#include "ObjectCache.h"
#include "ObjectCode.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace zero {

namespace {
/// A kernel on its way to machine code; others may have the same code.
struct Unit {
  std::string name;   ///< of the first kernel that has this code
  std::string symbol; ///< of the code
  std::string key;    ///< in the cache
  OwningOpRef<ModuleOp> module;
  SmallVector<char, 0> object;
  std::string error;
};
} // namespace

/// The code that `module` needs, each kernel once; adds to `compiled` which one has which.
static std::vector<Unit> split(ModuleOp module, CompiledKernels &compiled) {
  std::vector<Unit> units;
  llvm::StringSet<> known;
  SymbolTable symbols(module);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isNativeKernel(kernel) || kernel.isDeclaration())
      continue;
    OwningOpRef<ModuleOp> alone = isolateKernel(kernel, symbols);
    std::string text = textOf(*alone);
    std::string symbol = symbolOf(text);
    compiled.symbols.emplace_back(kernel.getName().str(), symbol);
    if (!known.insert(symbol).second)
      continue;
    alone->lookupSymbol<func::FuncOp>("kernel").setName(symbol);
    units.push_back(
        {kernel.getName().str(), symbol, ObjectCache::keyOf(text), std::move(alone), {}, {}});
  }
  return units;
}

static void compile(Unit &unit, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*unit.module, context, "kernels", /*disableVerification=*/true);
  if (!module) {
    unit.error = "cannot translate to LLVM IR";
    return;
  }
  auto object = emitObject(*module, machine, unit.symbol);
  if (object)
    unit.object = std::move(*object);
  else
    unit.error = llvm::toString(object.takeError());
}

/// Compiles `units`, which are in the LLVM dialect, and keeps what came out.
static void compileAll(ArrayRef<Unit *> units, unsigned threads, ObjectCache &cache) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    auto machine = hostMachine();
    std::string error = machine ? "" : llvm::toString(machine.takeError());
    for (size_t index = next++; index < units.size(); index = next++) {
      Unit &unit = *units[index];
      if (!error.empty())
        unit.error = error;
      else
        compile(unit, **machine);
      if (unit.error.empty())
        cache.store(unit.key, unit.object);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<size_t>(threads, units.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect>();
}

/// Finds the object code of `units` in `cache`, and compiles the rest. Returns how many
/// were found.
static FailureOr<unsigned> fill(ModuleOp module, MutableArrayRef<Unit> units, unsigned threads,
                                ObjectCache &cache) {
  SmallVector<Unit *> missing;
  for (Unit &unit : units) {
    if (auto object = cache.find(unit.key)) {
      unit.object = std::move(*object);
      continue;
    }
    if (failed(lowerToLLVM(*unit.module)))
      return module.emitError() << "cannot lower kernel '" << unit.name << "'";
    missing.push_back(&unit);
  }
  compileAll(missing, threads, cache);
  for (const Unit *unit : missing)
    if (!unit->error.empty())
      return module.emitError() << "cannot compile kernel '" << unit->name << "': " << unit->error;
  return units.size() - missing.size();
}

FailureOr<CompiledKernels> compileKernels(ModuleOp module, const CompileOptions &options) {
  loadDialects(module.getContext());
  auto warn = [&](const Twine &why) {
    emitWarning(UnknownLoc::get(module.getContext()))
        << "the cache of compiled kernels '" << options.cacheFolder << "' is not used: " << why;
  };
  ObjectCache cache;
  if (!options.cacheFolder.empty())
    if (std::string why = cache.open(options.cacheFolder); !why.empty())
      warn(why);

  CompiledKernels compiled;
  std::vector<Unit> units = split(module, compiled);
  if (units.empty())
    return compiled;
  FailureOr<unsigned> cached = fill(module, units, options.threads, cache);
  if (failed(cached))
    return failure();
  compiled.codes = units.size();
  compiled.cached = *cached;
  if (cache.hasFailed())
    warn("an entry could not be written");
  cache.prune();
  std::vector<ArrayRef<char>> objects(units.size());
  llvm::transform(units, objects.begin(), [](const Unit &unit) { return ArrayRef(unit.object); });
  llvm::Expected<std::string> linked = linkShared(objects);
  if (!linked)
    return module.emitError() << llvm::toString(linked.takeError());
  compiled.object = std::move(*linked);
  return compiled;
}

void buildCodegenPipeline(OpPassManager &manager, unsigned threadsPerRank) {
  MatchLibraryOptions library;
  library.threads = threadsPerRank;
  manager.addNestedPass<func::FuncOp>(createAnnotateCosts());
  manager.addPass(createMatchLibrary(library));
  manager.addNestedPass<func::FuncOp>(createFuseKernels());
  manager.addPass(createBufferizeKernels());
}

} // namespace zero
