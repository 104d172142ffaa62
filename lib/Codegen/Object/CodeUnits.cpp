//===- CodeUnits.cpp - compile kernels one by one -------------------------===//

#include "CodeUnits.h"

#include "ObjectCache.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace zero {

namespace {
/// Collects the units of kernels.
class Splitter {
public:
  Splitter(const CodeTarget &target, function_ref<void(func::FuncOp, StringRef)> found)
      : target(target), found(found) {}

  void add(func::FuncOp kernel, SymbolTable &symbols) {
    IsolatedKernel isolated{"", isolateKernel(kernel, symbols)};
    const std::string text = textOf(*isolated.module);
    isolated.symbol = symbolOf(text);
    found(kernel, isolated.symbol);
    if (!known.insert(isolated.symbol).second)
      return;
    auto [place, isNew] = unitOf.try_emplace(target.form(isolated), units.size());
    if (isNew)
      units.push_back({kernel.getName().str(), target.name + " ", {}, {}, {}, ""});
    CodeUnit &unit = units[place->second];
    unit.key += text;
    unit.kernels.push_back(std::move(isolated));
  }

  std::vector<CodeUnit> finish() {
    for (CodeUnit &unit : units)
      unit.key = ObjectCache::keyOf(unit.key);
    return std::move(units);
  }

private:
  const CodeTarget &target;
  function_ref<void(func::FuncOp, StringRef)> found;
  std::vector<CodeUnit> units;
  llvm::StringSet<> known;
  llvm::StringMap<size_t> unitOf;
};
} // namespace

std::vector<CodeUnit> splitKernels(ArrayRef<ModuleOp> modules, const CodeTarget &target,
                                   function_ref<void(func::FuncOp, StringRef)> found) {
  Splitter splitter(target, found);
  for (ModuleOp module : modules) {
    SymbolTable symbols(module);
    for (auto kernel : module.getOps<func::FuncOp>())
      if (isNativeKernel(kernel) && !kernel.isDeclaration() && target.takes(kernel))
        splitter.add(kernel, symbols);
  }
  return splitter.finish();
}

static void compile(CodeUnit &unit, const CodeTarget &target, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*unit.module, context, "kernels", /*disableVerification=*/true);
  if (!module) {
    unit.error = "cannot translate to LLVM IR";
    return;
  }
  auto code = target.emit(*module, machine);
  if (code)
    unit.code = std::move(*code);
  else
    unit.error = llvm::toString(code.takeError());
}

/// Compiles `units`, which are in the LLVM dialect, and stores the results.
static void compileAll(ArrayRef<CodeUnit *> units, const CodeTarget &target, unsigned threads,
                       ObjectCache &cache) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    auto machine = target.machine();
    std::string error = machine ? "" : llvm::toString(machine.takeError());
    for (size_t index = next++; index < units.size(); index = next++) {
      CodeUnit &unit = *units[index];
      if (!error.empty())
        unit.error = error;
      else
        compile(unit, target, **machine);
      if (unit.error.empty())
        cache.store(unit.key, unit.code);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<size_t>(threads, units.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

FailureOr<unsigned> compileUnits(ModuleOp module, MutableArrayRef<CodeUnit> units,
                                 const CodeTarget &target, unsigned threads,
                                 StringRef cacheFolder) {
  auto warn = [&](const Twine &why) {
    emitWarning(UnknownLoc::get(module.getContext()))
        << "the cache of compiled kernels '" << cacheFolder << "' is not used: " << why;
  };
  ObjectCache cache;
  if (!cacheFolder.empty())
    if (std::string why = cache.open(cacheFolder); !why.empty())
      warn(why);
  SmallVector<CodeUnit *> missing;
  unsigned found = 0;
  for (CodeUnit &unit : units) {
    if (auto code = cache.find(unit.key)) {
      unit.code = std::move(*code);
      found += unit.kernels.size();
      continue;
    }
    if (failed(target.lower(unit)))
      return module.emitError() << "cannot lower kernel '" << unit.name << "' for " << target.name;
    missing.push_back(&unit);
  }
  compileAll(missing, target, threads, cache);
  for (const CodeUnit *unit : missing)
    if (!unit->error.empty())
      return module.emitError() << "cannot compile kernel '" << unit->name << "': " << unit->error;
  if (cache.hasFailed())
    warn("an entry could not be written");
  cache.prune();
  return found;
}

} // namespace zero
