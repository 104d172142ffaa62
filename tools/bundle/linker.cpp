//===- linker.cpp - LLD in the library of the tools -----------------------===//
//
// Compiling a model links its kernels. The wheel has the linker for it, so that it needs none of
// the system.
//
//===----------------------------------------------------------------------===//

#include "lld/Common/Driver.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

/// Debian's LLVM names Polly as a part of link-time optimization, which no kernel uses, and has no
/// static library of it.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", LLVM_VERSION_STRING, [](llvm::PassBuilder &) {}};
}

extern "C" int zeroLinkerMain(int argc, char **argv) {
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  return lld::lldMain({argv, argv + argc}, llvm::outs(), llvm::errs(), drivers).retCode;
}
