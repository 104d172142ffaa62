//===- AssemblePtx.cpp - assemble PTX with the CUDA toolkit ---------------===//

#include "PtxCode.h"
#include "zero/Codegen/CompileGpu.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace zero {

std::string findToolkit() {
  SmallVector<std::string> folders;
  if (auto home = sys::Process::GetEnv("CUDA_HOME")) {
    folders.push_back(*home + "/bin");
  } else {
    if (auto found = sys::findProgramByName("ptxas"))
      folders.push_back(sys::path::parent_path(*found).str());
    folders.push_back("/usr/local/cuda/bin");
  }
  for (const std::string &folder : folders)
    if (sys::fs::can_execute(folder + "/ptxas"))
      return folder;
  return "";
}

/// Runs `program`; fails with the first line that it writes.
static Error run(const std::string &program, ArrayRef<StringRef> arguments, StringRef log) {
  SmallVector<StringRef> all{program};
  append_range(all, arguments);
  std::string error;
  std::optional<StringRef> redirects[] = {StringRef(""), log, log};
  if (sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &error) == 0)
    return Error::success();
  auto text = MemoryBuffer::getFile(log);
  StringRef first = text ? (*text)->getBuffer().trim().split('\n').first : StringRef();
  return createStringError(sys::path::filename(program) + ": " +
                           (error.empty() ? first : StringRef(error)));
}

Expected<std::string> assemblePtx(StringRef toolkit, StringRef ptx, unsigned architecture) {
  SmallString<128> folder;
  if (std::error_code error = sys::fs::createUniqueDirectory("zeroc", folder))
    return createStringError("cannot create a temporary directory: " + error.message());
  scope_exit removal([&] { (void)sys::fs::remove_directories(folder); });
  std::string base = std::string(folder) + "/kernels", log = base + ".log";
  {
    std::error_code error;
    raw_fd_ostream file(base + ".ptx", error);
    file << ptx;
    if (file.close(), error || file.has_error()) {
      file.clear_error();
      return createStringError("cannot write a temporary file");
    }
  }
  std::string arch = "-arch=sm_" + std::to_string(architecture);
  if (Error error =
          run(toolkit.str() + "/ptxas", {arch, base + ".ptx", "-o", base + ".cubin"}, log))
    return error;
  auto cubin = MemoryBuffer::getFile(base + ".cubin");
  if (!cubin)
    return createStringError("ptxas wrote no output");
  return (*cubin)->getBuffer().str();
}

} // namespace zero
