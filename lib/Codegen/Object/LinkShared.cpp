//===- LinkShared.cpp - link objects into a shared object -----------------===//

#include "ObjectCode.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace zero {

namespace {
/// A file in memory that a child process reads or writes by its path: a compiler that is
/// killed leaves nothing behind.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) : descriptor(::memfd_create(name, 0)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  /// The path by which the child process opens the inherited descriptor.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

  Error write(StringRef bytes) {
    if (descriptor < 0)
      return errorCodeToError(errnoAsErrorCode());
    raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
    stream << bytes;
    stream.flush();
    return stream.has_error() ? errorCodeToError(stream.error()) : Error::success();
  }

  Expected<std::string> read() const {
    auto buffer = MemoryBuffer::getFile(path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return createFileError("memory", buffer.getError());
    return (*buffer)->getBuffer().str();
  }

private:
  int descriptor;
};
} // namespace

/// The linker beside this program, which the wheel has; else the one found when this was built, or
/// the first one on the path.
static Expected<std::string> findLinker() {
  SmallString<128> beside(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr)));
  sys::path::append(beside, "ld.lld");
  for (StringRef path : {beside.str(), StringRef(ZERO_LLD)})
    if (sys::fs::can_execute(path))
      return path.str();
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto found = sys::findProgramByName(name))
      return *found;
  return createStringError("no linker: expected " ZERO_LLD ", or ld.lld-22 on the path");
}

Expected<std::string> linkShared(ArrayRef<ArrayRef<char>> objects) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  std::vector<std::string> arguments{*linker,           "-shared",     "--hash-style=gnu",
                                     "--build-id=none", "--strip-all", "-z",
                                     "noexecstack",     "-o",          "-"};
  // One archive, however many objects: descriptors are few.
  SmallVector<NewArchiveMember> members;
  for (ArrayRef<char> object : objects)
    members.emplace_back(MemoryBufferRef(StringRef(object.data(), object.size()), "kernel.o"));
  auto archive = writeArchiveToBuffer(members, SymtabWritingMode::NoSymtab, object::Archive::K_GNU,
                                      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  MemoryFile input("objects");
  if (Error error = input.write((*archive)->getBuffer()))
    return error;
  arguments.insert(arguments.end(), {"--whole-archive", input.path()});
  MemoryFile output("kernels"), log("log");
  const std::string outputPath = output.path(), logPath = log.path();
  SmallVector<StringRef> references(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(outputPath), StringRef(logPath)};
  std::string message;
  if (sys::ExecuteAndWait(*linker, references, std::nullopt, redirects, 0, 0, &message) != 0) {
    Expected<std::string> text = log.read();
    if (!text)
      consumeError(text.takeError());
    else
      message += *text;
    return createStringError("linking kernels failed: " + message);
  }
  return output.read();
}

} // namespace zero
