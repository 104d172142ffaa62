//===- LinkShared.cpp - objects to a shared object ------------------------===//

#include "ObjectCode.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace zero {

static Error writeFile(StringRef path, ArrayRef<char> bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (code)
    return createFileError(path, code);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  return stream.has_error() ? createFileError(path, stream.error()) : Error::success();
}

static Expected<std::string> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(path, buffer.getError());
  return (*buffer)->getBuffer().str();
}

/// The linker found when this was built, or the first one on the path.
static Expected<std::string> findLinker() {
  if (sys::fs::can_execute(ZERO_LLD))
    return ZERO_LLD;
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto found = sys::findProgramByName(name))
      return *found;
  return createStringError("no linker: expected " ZERO_LLD ", or ld.lld-22 on the path");
}

Expected<std::string> linkShared(ArrayRef<ArrayRef<char>> objects) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("zero-kernels", folder))
    return createFileError("temporary folder", code);
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });

  std::string output = (folder + "/kernels.so").str(), log = (folder + "/log").str();
  std::vector<std::string> arguments{*linker,           "-shared",     "--hash-style=gnu",
                                     "--build-id=none", "--strip-all", "-z",
                                     "noexecstack",     "-o",          output};
  for (auto [index, object] : enumerate(objects)) {
    arguments.push_back((folder + "/" + Twine(index) + ".o").str());
    if (Error error = writeFile(arguments.back(), object))
      return error;
  }
  SmallVector<StringRef> references(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  std::string message;
  if (sys::ExecuteAndWait(*linker, references, std::nullopt, redirects, 0, 0, &message) != 0) {
    Expected<std::string> text = readFile(log);
    if (!text)
      consumeError(text.takeError());
    else
      message += *text;
    return createStringError("linking kernels failed: " + message);
  }
  return readFile(output);
}

} // namespace zero
