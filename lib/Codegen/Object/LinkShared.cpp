//===- LinkShared.cpp - link objects into a shared object -----------------===//

#include "ObjectCode.h"
#include "zero/Codegen/Linker.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace zero {

namespace {
/// A file in memory that the linker reads or writes by its path: a compiler that is killed leaves
/// nothing behind.
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

/// The linker that was found when this was built, or the first one on the path.
static Expected<std::string> findLinker() {
  if (sys::fs::can_execute(ZERO_LLD))
    return ZERO_LLD;
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto found = sys::findProgramByName(name))
      return *found;
  return createStringError("no linker: expected " ZERO_LLD ", or ld.lld-22 on the path");
}

/// Runs LLD as a child process.
static Expected<std::string> runLinker(ArrayRef<const char *> arguments) {
  Expected<std::string> program = findLinker();
  if (!program)
    return program.takeError();
  SmallVector<StringRef> all{*program};
  append_range(all, arguments.drop_front());
  all.append({"-o", "-"});
  MemoryFile output("kernels"), log("log");
  const std::string outputPath = output.path(), logPath = log.path();
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(outputPath), StringRef(logPath)};
  std::string message;
  if (sys::ExecuteAndWait(*program, all, std::nullopt, redirects, 0, 0, &message) != 0) {
    Expected<std::string> text = log.read();
    if (!text)
      consumeError(text.takeError());
    else
      message += *text;
    return createStringError(message);
  }
  return output.read();
}

static Linker linker = runLinker;

void setLinker(Linker other) { linker = other; }

Expected<std::string> linkShared(ArrayRef<ArrayRef<char>> objects) {
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
  const std::string path = input.path();
  Expected<std::string> linked =
      linker({"ld.lld", "-shared", "--hash-style=gnu", "--build-id=none", "--strip-all", "-z",
              "noexecstack", "--threads=1", "--whole-archive", path.c_str()});
  if (!linked)
    return createStringError("linking kernels failed: " + toString(linked.takeError()));
  return linked;
}

} // namespace zero
