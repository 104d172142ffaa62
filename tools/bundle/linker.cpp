//===- linker.cpp - LLD in the tools --------------------------------------===//
//
// Compiling a model links its kernels. In this process that takes 3 ms; as a child process, LLD
// first relocates the shared library of LLVM, which takes 30 ms. The wheel needs no linker of the
// system.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

/// Debian's LLVM names Polly as a part of link-time optimization, which no kernel uses, and has no
/// static library of it.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", LLVM_VERSION_STRING, [](llvm::PassBuilder &) {}};
}

/// What is written to `descriptor` until its writers have closed it.
static std::string readAll(int descriptor) {
  std::string bytes;
  char buffer[1 << 16];
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof(buffer))) != 0;)
    if (count > 0)
      bytes.append(buffer, count);
    else if (errno != EINTR)
      break;
  return bytes;
}

/// LLD writes to a pipe: to the path of a file in memory it would try to rename a temporary file.
static llvm::Expected<std::string> linkHere(llvm::ArrayRef<const char *> arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return llvm::errorCodeToError(llvm::errnoAsErrorCode());
  const std::string path = "/proc/self/fd/" + std::to_string(ends[1]);
  llvm::SmallVector<const char *> all(arguments);
  all.append({"-o", path.c_str()});
  std::string linked, log;
  std::thread reader([&] { linked = readAll(ends[0]); });
  llvm::raw_string_ostream messages(log);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  const int code = lld::lldMain(all, messages, messages, drivers).retCode;
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  if (code != 0)
    return llvm::createStringError(log);
  return linked;
}

[[maybe_unused]] static const bool isSet = (zero::setLinker(linkHere), true);
