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

/// Reads the elements of `part` from `file`, which may hold another type: then through a
/// buffer, a piece at a time.
static Status readPart(const InputFile &file, const proto::Init::Range &range, DType dtype,
                       const Part &part, char *target) {
  const DType stored = storedType(range, dtype);
  const uint64_t size = sizeOf(stored), begin = range.offset() + part.inTensor * size;
  if (stored == dtype)
    return file.read(begin, target, part.count * size);
  alignas(64) char buffer[32768];
  const uint64_t most = sizeof(buffer) / size;
  for (uint64_t done = 0; done < part.count; done += most) {
    const uint64_t count = std::min(most, part.count - done);
    ZERO_RT_TRY(file.read(begin + done * size, buffer, count * size));
    convertFloats(stored, buffer, dtype, target + done * sizeOf(dtype), count);
  }
  return {};
}

/// The same from the executable's own data.
static void copyPart(std::span<const uint8_t> data, const proto::Init::Range &range, DType dtype,
                     const Part &part, char *target) {
  const DType stored = storedType(range, dtype);
  convertFloats(stored, data.data() + range.offset() + part.inTensor * sizeOf(stored), dtype,
                target, part.count);
}

Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         char *base) {
  for (const proto::Tensor &tensor : program.tables().tensors()) {
    const proto::Buffer &buffer = program.tables().buffers(static_cast<int>(tensor.buffer()));
    const proto::Init &init = tensor.init();
    const DType dtype = toDType(tensor.dtype());
    Part part = partOf(buffer, tensor.start(), elementsOf(tensor.shape()), rank);
    if (part.count == 0)
      continue;
    char *target = base + placeOf(buffer, rank) + part.inBuffer * sizeOf(dtype);
    if (init.source_case() == proto::Init::kFile)
      ZERO_RT_TRY(readPart(files.files[init.file().file()], init.file(), dtype, part, target));
    else if (init.source_case() == proto::Init::kData)
      copyPart(program.executable.data, init.data(), dtype, part, target);
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

void copyOwnGradient(const proto::Gradient &gradient, uint64_t count, int rank, const char *base,
                     void *whole) {
  const proto::Buffer &buffer = gradient.buffer();
  if (buffer.shards() == 1 && rank != 0)
    return;
  const DType stored = toDType(buffer.dtype()), dtype = gradientType(gradient);
  const Part part = partOf(buffer, gradient.start(), count, rank);
  char *target = static_cast<char *>(whole) + part.inTensor * sizeOf(dtype);
  convertFloats(stored, base + placeOf(buffer, rank) + part.inBuffer * sizeOf(stored), dtype,
                target, part.count);
  if (!gradient.has_scale())
    return;
  float scale, value; // a gradient with a scale is handed out as f32
  std::memcpy(&scale, base + placeOf(gradient.scale(), rank), sizeof(scale));
  for (uint64_t i = 0; i < part.count; ++i, target += sizeof(value)) {
    std::memcpy(&value, target, sizeof(value));
    value /= scale;
    std::memcpy(target, &value, sizeof(value));
  }
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
