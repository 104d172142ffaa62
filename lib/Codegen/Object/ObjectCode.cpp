//===- ObjectCode.cpp - compile LLVM IR to machine code -------------------===//

#include "ObjectCode.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <mutex>

using namespace llvm;

namespace zero {

static void initializeTargets() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

Expected<std::unique_ptr<TargetMachine>> cpuMachine(const CodeMachine &wanted) {
  static std::once_flag once;
  std::call_once(once, initializeTargets);
  Triple triple(wanted.triple);
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("no code generation for " + triple.getArchName() + ": " + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, wanted.cpu, wanted.features, options, Reloc::PIC_,
                                  std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generation for " + wanted.cpu);
  return machine;
}

namespace {
/// Keeps innermost loops of more than a few iterations from being unrolled completely. LLVM does
/// that before it vectorizes, and only innermost loops are vectorized: a loop around 49 unrolled
/// iterations would run with vectors of elements that are a row apart.
struct KeepInnermostLoops : PassInfoMixin<KeepInnermostLoops> {
  static constexpr unsigned kMostUnrolled = 8;

  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &analyses,
                        LPMUpdater &) {
    if (loop.isInnermost() && analyses.SE.getSmallConstantTripCount(&loop) > kMostUnrolled)
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

/// Keeps loops that carry floats in vectors of a fixed length: lanes of a scalable vector would add
/// in an order that depends on the processor, and all processors with a feature compute the same.
struct FixOrderOfSums : PassInfoMixin<FixOrderOfSums> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (any_of(loop->getHeader()->phis(),
                 [](PHINode &phi) { return phi.getType()->isFPOrFPVectorTy(); }))
        addStringMetadataToLoop(loop, "llvm.loop.vectorize.scalable.enable", 0);
    return PreservedAnalyses::all();
  }
};
} // namespace

static void runPasses(Module &module, TargetMachine &machine, bool withSlp) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = withSlp;
  PassBuilder builder(&machine, tuning);
  // A GPU has no vectors.
  const bool isGpu = machine.getTargetTriple().isNVPTX();
  if (!isGpu)
    builder.registerLateLoopOptimizationsEPCallback(
        [](LoopPassManager &passes, OptimizationLevel) { passes.addPass(KeepInnermostLoops()); });
  if (machine.getTargetTriple().isAArch64())
    builder.registerVectorizerStartEPCallback(
        [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(FixOrderOfSums()); });
  // Loops may become memset and memcpy, which every process has; nothing else. On a GPU they would
  // become loops again, over bytes.
  TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  for (LibFunc known : {LibFunc_memcpy, LibFunc_memmove, LibFunc_memset})
    if (!isGpu)
      library.setAvailable(known);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

std::unique_ptr<Module> optimise(const Module &module, TargetMachine &machine) {
  std::unique_ptr<Module> optimised = CloneModule(module);
  runPasses(*optimised, machine, /*withSlp=*/true);
  // The SLP vectorizer of LLVM 22 may use a vector above its definition.
  if (verifyModule(*optimised)) {
    optimised = CloneModule(module);
    runPasses(*optimised, machine, /*withSlp=*/false);
  }
  return optimised;
}

bool isDoubleFunction(StringRef name) {
  return is_contained({"acos", "acosh", "asin",   "asinh", "atan", "atan2", "atanh", "cbrt",
                       "cos",  "cosh",  "erf",    "erfc",  "exp",  "expm1", "log",   "log1p",
                       "log2", "sin",   "sincos", "sinh",  "tan",  "tanh"},
                      name);
}

/// Fails if `object` needs more than a C library's memory functions and the mathematical functions
/// that kernels may call.
static Error checkUndefined(ArrayRef<char> bytes) {
  auto object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "kernels"));
  if (!object)
    return object.takeError();
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    bool known =
        is_contained({"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_", ""}, *name) ||
        // Remainders are exact, so equal on all machines.
        is_contained({"fmod", "fmodf"}, *name) || isDoubleFunction(*name);
    if ((*flags & object::BasicSymbolRef::SF_Undefined) && !known)
      return createStringError("kernel code needs the function '" + *name +
                               "', which has no expansion");
  }
  return Error::success();
}

Expected<SmallVector<char, 0>> emitObject(Module &module, TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module)
    if (!function.isDeclaration()) {
      function.addFnAttr(Attribute::NoUnwind);
      function.addFnAttr("prefer-vector-width", "512");
    }
  std::unique_ptr<Module> optimised = optimise(module, machine);
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("this machine's code generator writes no object files");
  codegen.run(*optimised);
  if (Error error = checkUndefined(bytes))
    return error;
  return bytes;
}

} // namespace zero
