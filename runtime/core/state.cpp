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
                         Memory &arena) {
  for (const proto::Tensor &tensor : program.tables().tensors()) {
    const proto::Buffer &buffer = program.tables().buffers(static_cast<int>(tensor.buffer()));
    const proto::Init &init = tensor.init();
    const DType dtype = toDType(tensor.dtype());
    Part part = partOf(buffer, tensor.start(), elementsOf(tensor.shape()), rank);
    if (part.count == 0)
      continue;
    const uint64_t size = sizeOf(dtype);
    auto make = [&](char *target, uint64_t done, uint64_t bytes) -> Status {
      const Part piece{part.inTensor + done / size, part.inBuffer + done / size, bytes / size};
      if (init.source_case() == proto::Init::kFile)
        return readPart(files.files[init.file().file()], init.file(), dtype, piece, target);
      if (init.source_case() == proto::Init::kData)
        copyPart(program.executable.data, init.data(), dtype, piece, target);
      else
        fill(dtype, init.splat(), target, piece.count);
      return {};
    };
    ZERO_RT_TRY(arena.write(placeOf(buffer, rank) + part.inBuffer * size, part.count * size, make));
  }
  return {};
}

Status copyOwnPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank,
                   const Memory &arena, void *whole) {
  if (buffer.shards() == 1 && rank != 0)
    return {};
  const uint64_t size = sizeOf(toDType(buffer.dtype()));
  const Part part = partOf(buffer, start, count, rank);
  char *target = static_cast<char *>(whole) + part.inTensor * size;
  return arena.read(placeOf(buffer, rank) + part.inBuffer * size, part.count * size,
                    [&](const char *piece, uint64_t done, uint64_t bytes) {
                      std::memcpy(target + done, piece, bytes);
                      return Status();
                    });
}

/// Divides `count` floats by the one that lies at `place`.
static Status unscale(const Memory &arena, uint64_t place, char *values, uint64_t count) {
  float scale = 1, value; // a gradient with a scale is handed out as f32
  ZERO_RT_TRY(arena.read(place, sizeof(scale), [&](const char *piece, uint64_t, uint64_t) {
    std::memcpy(&scale, piece, sizeof(scale));
    return Status();
  }));
  for (uint64_t i = 0; i < count; ++i, values += sizeof(value)) {
    std::memcpy(&value, values, sizeof(value));
    value /= scale;
    std::memcpy(values, &value, sizeof(value));
  }
  return {};
}

Status copyOwnGradient(const proto::Gradient &gradient, uint64_t count, int rank,
                       const Memory &arena, void *whole) {
  const proto::Buffer &buffer = gradient.buffer();
  if (buffer.shards() == 1 && rank != 0)
    return {};
  const DType stored = toDType(buffer.dtype()), dtype = gradientType(gradient);
  const uint64_t size = sizeOf(stored);
  const Part part = partOf(buffer, gradient.start(), count, rank);
  char *target = static_cast<char *>(whole) + part.inTensor * sizeOf(dtype);
  ZERO_RT_TRY(arena.read(placeOf(buffer, rank) + part.inBuffer * size, part.count * size,
                         [&](const char *piece, uint64_t done, uint64_t bytes) {
                           convertFloats(stored, piece, dtype, target + done / size * sizeOf(dtype),
                                         bytes / size);
                           return Status();
                         }));
  return gradient.has_scale() ? unscale(arena, placeOf(gradient.scale(), rank), target, part.count)
                              : Status();
}

Status setOwnPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank,
                  Memory &arena, const void *whole) {
  const uint64_t size = sizeOf(toDType(buffer.dtype()));
  const Part part = partOf(buffer, start, count, rank);
  const char *source = static_cast<const char *>(whole) + part.inTensor * size;
  return arena.write(placeOf(buffer, rank) + part.inBuffer * size, part.count * size,
                     [&](char *piece, uint64_t done, uint64_t bytes) {
                       std::memcpy(piece, source + done, bytes);
                       return Status();
                     });
}

} // namespace zero::rt
