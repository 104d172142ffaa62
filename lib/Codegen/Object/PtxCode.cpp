//===- PtxCode.cpp - compile LLVM IR to PTX -------------------------------===//

#include "PtxCode.h"
#include "ObjectCode.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

namespace zero {

Expected<std::unique_ptr<TargetMachine>> gpuMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("no code generation for GPUs: " + error);
  TargetOptions options;
  // Every operation is rounded by itself: stages must be bitwise identical.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, "sm_80", "+ptx70", options, std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generation for sm_80");
  return machine;
}

/// Fails when `module` would call a function that it does not have.
static Error checkUndefined(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return createStringError("kernel code needs the function '" + function.getName() +
                               "', which has no expansion for GPUs");
  return Error::success();
}

/// Whether threads wait for each other at `instruction`, and may then read what others wrote.
static bool isBarrier(const Instruction &instruction) {
  const auto *call = dyn_cast<CallInst>(&instruction);
  return call && call->isConvergent() && !call->onlyAccessesInaccessibleMemory();
}

/// Fails at an entry with a barrier and a noalias argument. Such an argument promises that no other
/// thread accesses what is written through it, so LLVM would move loads across the barrier.
static Error checkExchange(const Module &module) {
  for (const Function &function : module) {
    const bool hasNoAlias =
        any_of(function.args(), [](const Argument &argument) { return argument.hasNoAliasAttr(); });
    if (hasNoAlias && any_of(instructions(function), isBarrier))
      return createStringError("the entry '" + function.getName() +
                               "' has a barrier and a noalias argument");
  }
  return Error::success();
}

/// `text` without the lines that name its target.
static std::string withoutHeader(StringRef text) {
  std::string body;
  for (StringRef line : llvm::split(text, '\n')) {
    bool isHeader = line.starts_with("//") || line.starts_with(".version") ||
                    line.starts_with(".target") || line.starts_with(".address_size");
    if (!isHeader && !line.trim().empty())
      body += (line + "\n").str();
  }
  return body;
}

Expected<std::string> emitPtx(Module &module, TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (Error error = checkExchange(module))
    return error;
  std::unique_ptr<Module> optimised = optimise(module, machine);
  if (Error error = checkUndefined(*optimised))
    return error;
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError("the code generator for GPUs writes no text");
  codegen.run(*optimised);
  return withoutHeader(text);
}

std::string ptxHeader(unsigned architecture) {
  // The first version that knows the architecture: older drivers take it.
  StringRef version = architecture >= 100 ? "8.6" : architecture >= 90 ? "7.8" : "7.0";
  return (".version " + version + "\n.target sm_" + Twine(architecture) + "\n.address_size 64\n")
      .str();
}

} // namespace zero
