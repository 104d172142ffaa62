//===- state.cpp - tensors that outlive the step --------------------------===//

#include "runtime/execute/state.h"

#include "runtime/support/checked.h"
#include "runtime/support/floats.h"
#include "runtime/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zero::rt {

/// Rows of a matrix that are read together where a file has it transposed: a line of a cache.
static constexpr uint64_t kRowsAtOnce = 16;

/// Elements of a gradient that are converted at a time.
static constexpr uint64_t kGradientsAtOnce = uint64_t(1) << 14;

/// Bytes that are read or computed between two reports of progress.
static constexpr uint64_t kAtOnce = uint64_t(16) << 20;

Status InitialFiles::open(const proto::Program &program, InitialFiles &opened) {
  for (const std::string &path : program.files()) {
    InputFile file;
    ZERO_RT_TRY(InputFile::open(path, file));
    opened.files.push_back(std::move(file));
  }
  opened.mapped.resize(opened.files.size());
  for (const proto::Tensor &tensor : program.tensors()) {
    if (tensor.init().source_case() != proto::Init::kFile)
      continue;
    const proto::Init::Range &range = tensor.init().file();
    MappedFile &mapped = opened.mapped[range.file()];
    if (range.transposed() && mapped.bytes().empty())
      ZERO_RT_TRY(MappedFile::open(program.files(static_cast<int>(range.file())), mapped));
    uint64_t size = opened.files[range.file()].size();
    if (!isWithin(range.offset(), range.bytes(), size))
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

/// The same for a matrix `tensor` whose transpose is in `file`: some rows at a time.
static void readTransposed(std::span<const uint8_t> file, const proto::Tensor &tensor,
                           const Part &part, char *target) {
  const proto::Init::Range &range = tensor.init().file();
  const DType dtype = toDType(tensor.dtype()), stored = storedType(range, dtype);
  const uint64_t size = sizeOf(stored), height = tensor.shape(0), width = tensor.shape(1);
  const uint8_t *source = file.data() + range.offset();
  const uint64_t end = part.inTensor + part.count;
  std::vector<uint8_t> rows;
  for (uint64_t begin = part.inTensor; begin < end;) {
    const uint64_t row = begin / width, last = std::min(row + kRowsAtOnce, height);
    const uint64_t stop = std::min(end, last * width);
    rows.resize((stop - begin) * size);
    for (uint64_t column = 0; column < width; ++column)
      for (uint64_t i = row; i < last; ++i)
        if (const uint64_t at = i * width + column; at >= begin && at < stop)
          std::memcpy(&rows[(at - begin) * size], source + (column * height + i) * size, size);
    convertFloats(stored, rows.data(), dtype, target, stop - begin);
    target += (stop - begin) * sizeOf(dtype);
    begin = stop;
  }
}

/// The same from the executable's data.
static void copyPart(std::span<const uint8_t> data, const proto::Init::Range &range, DType dtype,
                     const Part &part, char *target) {
  const DType stored = storedType(range, dtype);
  convertFloats(stored, data.data() + range.offset() + part.inTensor * sizeOf(stored), dtype,
                target, part.count);
}

/// Draws the elements of `part`.
static void drawElements(const proto::Init::Random &random, DType dtype, const Part &part,
                         char *target) {
  const RandomTensor tensor{random.normal(), random.first(), random.second(), random.stream(),
                            random.seed()};
  for (uint64_t i = 0; i < part.count; ++i) {
    const double value = tensor.element(part.inTensor + i);
    convertFloats(ZERO_RT_F64, &value, dtype, target + i * sizeOf(dtype), 1);
  }
}

/// Whether the memory of `block` already contains the initial values of `tensor`.
static bool isThere(const proto::Tensor &tensor, const Block &block, const MemoryByTier &memory) {
  const proto::Init &init = tensor.init();
  const bool isZero = init.required() || (init.source_case() == proto::Init::kSplat &&
                                          init.splat() == 0 && !std::signbit(init.splat()));
  return isZero && memory.at(block.buffer->tier()).startsAsZeros();
}

/// Calls `visit(tensor, block, part)` for the parts that must be written.
template <typename Visit>
static Status forEachInitial(const LoadedProgram &program, int rank, const MemoryByTier &memory,
                             Visit visit) {
  for (const proto::Tensor &tensor : program.tables().tensors())
    for (const Block &block : blocksOf(program.tables(), tensor))
      if (!isThere(tensor, block, memory))
        ZERO_RT_TRY(
            forEachPart(block, rank, [&](const Part &part) { return visit(tensor, block, part); }));
  return {};
}

Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         const MemoryByTier &memory, Meter &meter) {
  ZERO_RT_TRY(forEachInitial(program, rank, memory,
                             [&](const proto::Tensor &tensor, const Block &, const Part &part) {
                               meter.expect(part.count * sizeOf(toDType(tensor.dtype())));
                               return Status();
                             }));
  auto write = [&](const proto::Tensor &tensor, const Block &block, const Part &part) {
    const proto::Init &init = tensor.init();
    const DType dtype = toDType(tensor.dtype());
    const uint64_t size = sizeOf(dtype);
    auto makePiece = [&](char *target, const Part &piece) -> Status {
      if (init.source_case() == proto::Init::kFile && init.file().transposed())
        readTransposed(files.mapped[init.file().file()].bytes(), tensor, piece, target);
      else if (init.source_case() == proto::Init::kFile)
        return readPart(files.files[init.file().file()], init.file(), dtype, piece, target);
      else if (init.source_case() == proto::Init::kData)
        copyPart(program.executable.data, init.data(), dtype, piece, target);
      else if (init.has_random())
        drawElements(init.random(), dtype, piece, target);
      else
        fill(dtype, init.splat(), target, piece.count);
      return {};
    };
    auto make = [&](char *target, uint64_t done, uint64_t bytes) -> Status {
      for (uint64_t at = 0; at < bytes; at += kAtOnce) {
        const uint64_t first = (done + at) / size, now = std::min(kAtOnce, bytes - at);
        ZERO_RT_TRY(
            makePiece(target + at, {part.inTensor + first, part.inBuffer + first, now / size}));
        meter.add(now);
      }
      return {};
    };
    return memory.at(block.buffer->tier())
        .write(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size, part.count * size,
               make);
  };
  return forEachInitial(program, rank, memory, write);
}

/// Divides `count` f32 values by their scale.
static void unscale(char *values, uint64_t count, float scale) {
  float value;
  for (uint64_t i = 0; i < count; ++i, values += sizeof(value)) {
    std::memcpy(&value, values, sizeof(value));
    value /= scale;
    std::memcpy(values, &value, sizeof(value));
  }
}

/// The scale of the values of `gradient`.
static Status readScale(const proto::Gradient &gradient, const Block &block, int rank,
                        const MemoryByTier &memory, float &scale) {
  if (!gradient.has_scale())
    return {};
  return memory.at(gradient.scale().tier())
      .read(placeOf(block.mesh, gradient.scale(), rank), sizeof(scale),
            [&](const char *piece, uint64_t, uint64_t bytes) {
              std::memcpy(&scale, piece, bytes);
              return Status();
            });
}

Status readOwnGradient(const proto::Gradient &gradient, const Block &block, int rank,
                       const MemoryByTier &memory, const TakeBytes &take) {
  if (!block.isFirstCopy(rank))
    return {};
  const DType stored = toDType(block.buffer->dtype()), dtype = gradientType(gradient);
  const uint64_t size = sizeOf(stored);
  float scale = 1;
  ZERO_RT_TRY(readScale(gradient, block, rank, memory, scale));
  if (gradient.summands() > 1)
    scale *= static_cast<float>(gradient.summands());
  std::vector<char> values;
  return forEachPart(block, rank, [&](const Part &part) {
    auto use = [&](const char *piece, uint64_t done, uint64_t bytes) -> Status {
      const uint64_t end = (done + bytes) / size;
      for (uint64_t at = done / size; at < end; at += kGradientsAtOnce) {
        const uint64_t count = std::min(kGradientsAtOnce, end - at);
        values.resize(count * sizeOf(dtype));
        convertFloats(stored, piece + at * size - done, dtype, values.data(), count);
        if (scale != 1) // then handed out as f32
          unscale(values.data(), count, scale);
        ZERO_RT_TRY(take((part.inTensor + at) * sizeOf(dtype), values.data(), values.size()));
      }
      return {};
    };
    return memory.at(block.buffer->tier())
        .read(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size, part.count * size,
              use);
  });
}

Status setOwnPart(const Block &block, int rank, const MemoryByTier &memory,
                  const MakeElements &make) {
  const uint64_t size = sizeOf(toDType(block.buffer->dtype()));
  return forEachPart(block, rank, [&](const Part &part) {
    return memory.at(block.buffer->tier())
        .write(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size, part.count * size,
               [&](char *piece, uint64_t done, uint64_t bytes) {
                 make(part.inTensor + done / size, bytes / size, piece);
                 return Status();
               });
  });
}

} // namespace zero::rt
