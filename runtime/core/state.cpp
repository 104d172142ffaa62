//===- state.cpp - tensors that outlive the step --------------------------===//

#include "runtime/core/state.h"

#include "runtime/support/floats.h"

#include <cstring>

namespace zero::rt {

Status InitialFiles::open(const proto::Program &program, InitialFiles &opened) {
  for (const std::string &path : program.files()) {
    InputFile file;
    ZERO_RT_TRY(InputFile::open(path, file));
    opened.files.push_back(std::move(file));
  }
  for (const proto::Tensor &tensor : program.tensors()) {
    if (tensor.init().source_case() != proto::Init::kFile)
      continue;
    const proto::Init::Range &range = tensor.init().file();
    uint64_t size = opened.files[range.file()].size();
    if (range.offset() > size || range.bytes() > size - range.offset())
      return fail(ZERO_RT_BAD_FILE,
                  "'%s' is too short for '%s': expected %llu bytes from byte %llu on, got %llu in "
                  "all",
                  escape(program.files(static_cast<int>(range.file()))).c_str(),
                  escape(tensor.name()).c_str(), static_cast<unsigned long long>(range.bytes()),
                  static_cast<unsigned long long>(range.offset()),
                  static_cast<unsigned long long>(size));
  }
  return {};
}

/// Reads the elements of `part` from `file`, which may hold a narrower type: then to the
/// end of their place, from where they are widened in it.
static Status readPart(const InputFile &file, const proto::Init::Range &range, DType dtype,
                       const Part &part, char *target) {
  DType stored = storedType(range, dtype);
  const uint64_t size = sizeOf(stored), bytes = part.count * size;
  char *read = target + part.count * sizeOf(dtype) - bytes;
  ZERO_RT_TRY(file.read(range.offset() + part.inTensor * size, read, bytes));
  if (stored != dtype)
    convertFloats(stored, read, dtype, target, part.count);
  return {};
}

Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         char *base) {
  for (const proto::Tensor &tensor : program.tables().tensors()) {
    const proto::Buffer &buffer = program.tables().buffers(static_cast<int>(tensor.buffer()));
    const proto::Init &init = tensor.init();
    const DType dtype = toDType(tensor.dtype());
    const uint64_t size = sizeOf(dtype);
    Part part = partOf(buffer, tensor.start(), elementsOf(tensor.shape()), rank);
    if (part.count == 0)
      continue;
    char *target = base + placeOf(buffer, rank) + part.inBuffer * size;
    const uint64_t skip = part.inTensor * size, bytes = part.count * size;
    if (init.source_case() == proto::Init::kFile)
      ZERO_RT_TRY(readPart(files.files[init.file().file()], init.file(), dtype, part, target));
    else if (init.source_case() == proto::Init::kData)
      std::memcpy(target, program.executable.data.data() + init.data().offset() + skip, bytes);
    else
      fill(dtype, init.splat(), target, part.count);
  }
  return {};
}

void copyOwnPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank,
                 const char *base, void *whole) {
  if (buffer.shards() == 1 && rank != 0)
    return;
  const uint64_t size = sizeOf(toDType(buffer.dtype()));
  Part part = partOf(buffer, start, count, rank);
  if (part.count > 0)
    std::memcpy(static_cast<char *>(whole) + part.inTensor * size,
                base + placeOf(buffer, rank) + part.inBuffer * size, part.count * size);
}

void setOwnPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank, char *base,
                const void *whole) {
  const uint64_t size = sizeOf(toDType(buffer.dtype()));
  Part part = partOf(buffer, start, count, rank);
  if (part.count > 0)
    std::memcpy(base + placeOf(buffer, rank) + part.inBuffer * size,
                static_cast<const char *>(whole) + part.inTensor * size, part.count * size);
}

} // namespace zero::rt
