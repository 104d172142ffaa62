//===- state.cpp - tensors that outlive the step --------------------------===//

#include "runtime/execute/state.h"

#include "runtime/format/norms.h"
#include "runtime/support/checked.h"
#include "runtime/support/floats.h"
#include "runtime/support/random.h"
#include "runtime/support/thread.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace zero::rt {

/// Rows of a matrix that are read together where a file has it transposed: a line of a cache.
static constexpr uint64_t kRowsAtOnce = 16;

/// Elements of a gradient that are converted at a time.
static constexpr uint64_t kGradientsAtOnce = uint64_t(1) << 14;

/// Bytes that are read or computed between two reports of progress.
static constexpr uint64_t kAtOnce = uint64_t(16) << 20;

/// Elements that a thread draws at a time, in less than a millisecond.
static constexpr uint64_t kDrawnAtOnce = uint64_t(1) << 14;

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

/// Reads the elements of `part`, of type `stored` in `file`, as `dtype`: of another type through a
/// buffer, a piece at a time.
static Status readPart(const InputFile &file, const proto::Init::Range &range, DType stored,
                       DType dtype, const Part &part, char *target) {
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

/// The same for a matrix of `shape` whose transpose is in `file`: some rows at a time.
static void readTransposed(std::span<const uint8_t> file, const proto::Init::Range &range,
                           std::span<const uint64_t> shape, DType stored, DType dtype,
                           const Part &part, char *target) {
  const uint64_t size = sizeOf(stored), height = shape[0], width = shape[1];
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
static void copyPart(std::span<const uint8_t> data, const proto::Init::Range &range, DType stored,
                     DType dtype, const Part &part, char *target) {
  convertFloats(stored, data.data() + range.offset() + part.inTensor * sizeOf(stored), dtype,
                target, part.count);
}

/// Draws the elements of `part`. Each depends on its index alone.
static void drawElements(const proto::Init::Random &random, DType dtype, const Part &part,
                         int threads, char *target) {
  const RandomTensor tensor{random.normal(), random.first(), random.second(), random.stream(),
                            random.seed()};
  std::atomic<uint64_t> next = 0;
  auto draw = [&] {
    for (uint64_t begin = 0; (begin = next.fetch_add(kDrawnAtOnce)) < part.count;)
      for (uint64_t i = begin; i < std::min(begin + kDrawnAtOnce, part.count); ++i) {
        const double value = tensor.element(part.inTensor + i);
        convertFloats(ZERO_RT_F64, &value, dtype, target + i * sizeOf(dtype), 1);
      }
  };
  std::vector<std::thread> others(std::min(uint64_t(threads - 1), part.count / kDrawnAtOnce));
  for (std::thread &other : others)
    if (!startThread("initial values", other, draw).ok())
      break; // the others draw all
  draw();
  for (std::thread &other : others)
    if (other.joinable())
      other.join();
}

static ReadElements readInitial(const LoadedProgram &program, const InitialFiles &files,
                                const proto::Tensor &tensor);

/// The norms of a parameter's initial values.
static Status makeNorms(const LoadedProgram &program, const InitialFiles &files,
                        const proto::Tensor &tensor, DType dtype, const Part &part, char *target) {
  const proto::Tensor &of = parameterOf(program.tables(), tensor.init().norms().of());
  std::vector<float> norms(part.count);
  ZERO_RT_TRY(
      findNorms(program.tables(), tensor, readInitial(program, files, of), part.inTensor, norms));
  convertFloats(ZERO_RT_F32, norms.data(), dtype, target, part.count);
  return {};
}

/// Makes the initial values of the elements of `part` of `tensor`, as `dtype`.
static Status makeInitial(const LoadedProgram &program, const InitialFiles &files,
                          const proto::Tensor &tensor, DType dtype, const Part &part, int threads,
                          char *target) {
  const proto::Init &init = tensor.init();
  const ValueType own = valueTypeOf(tensor);
  const proto::Init::Range &range = init.has_file() ? init.file() : init.data();
  const DType stored = storedType(range, own.dtype);
  if (init.has_file() && range.transposed())
    readTransposed(files.mapped[range.file()].bytes(), range, own.shape, stored, dtype, part,
                   target);
  else if (init.has_file())
    return readPart(files.files[range.file()], range, stored, dtype, part, target);
  else if (init.has_data())
    copyPart(program.executable.data, range, stored, dtype, part, target);
  else if (init.has_norms())
    return makeNorms(program, files, tensor, dtype, part, target);
  else if (init.has_random())
    drawElements(init.random(), dtype, part, threads, target);
  else
    fill(dtype, init.splat(), target, part.count);
  return {};
}

/// Reads the initial values of `tensor` as f32.
static ReadElements readInitial(const LoadedProgram &program, const InitialFiles &files,
                                const proto::Tensor &tensor) {
  return [&](uint64_t begin, uint64_t count, float *target) {
    return makeInitial(program, files, tensor, ZERO_RT_F32, {begin, 0, count}, 1,
                       reinterpret_cast<char *>(target));
  };
}

/// Whether the memory of `block` already contains the initial values of `tensor`.
static bool isThere(const proto::Tensor &tensor, const Block &block, const MemoryByTier &memory) {
  const proto::Init &init = tensor.init();
  const bool isZero = init.required() || (init.source_case() == proto::Init::kSplat &&
                                          init.splat() == 0 && !std::signbit(init.splat()));
  return isZero && memory.at(block.buffer->tier()).startsAsZeros();
}

/// Whether encodeParameter() writes `tensor`: codes of a parameter or their scales.
static bool isWithCodes(const proto::Tensor &tensor) {
  return tensor.role() == proto::PARAMETER && (isCoded(tensor) || !tensor.of().empty());
}
/// Whether it is codes of elements with initial values.
static bool isEncoded(const proto::Tensor &tensor) {
  return isCoded(tensor) && tensor.of().empty();
}

/// Writes the codes and scales of all coded parameters.
static Status encodeParameters(const LoadedProgram &program, const InitialFiles &files, int rank,
                               const MemoryByTier &memory, Meter &meter) {
  for (const proto::Tensor &tensor : program.tables().tensors()) {
    if (!isEncoded(tensor))
      continue;
    const ReadElements read = readInitial(program, files, tensor);
    ZERO_RT_TRY(encodeParameter(program.tables(), tensor, rank, memory,
                                [&](uint64_t begin, uint64_t count, float *target) {
                                  meter.add(count * sizeof(float));
                                  return read(begin, count, target);
                                }));
  }
  return {};
}

/// Calls `visit(tensor, block, part)` for the other parts that must be written.
template <typename Visit>
static Status forEachInitial(const LoadedProgram &program, int rank, const MemoryByTier &memory,
                             Visit visit) {
  for (const proto::Tensor &tensor : program.tables().tensors())
    for (const Block &block : blocksOf(program.tables(), tensor))
      if (!isWithCodes(tensor) && !isThere(tensor, block, memory))
        ZERO_RT_TRY(
            forEachPart(block, rank, [&](const Part &part) { return visit(tensor, block, part); }));
  return {};
}

Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         const MemoryByTier &memory, int threads, Meter &meter) {
  ZERO_RT_TRY(forEachInitial(program, rank, memory,
                             [&](const proto::Tensor &tensor, const Block &, const Part &part) {
                               meter.expect(part.count * sizeOf(toDType(tensor.dtype())));
                               return Status();
                             }));
  for (const proto::Tensor &tensor : program.tables().tensors())
    if (isEncoded(tensor))
      meter.expect(elementsToEncode(program.tables(), tensor, rank) * sizeof(float));
  auto write = [&](const proto::Tensor &tensor, const Block &block, const Part &part) {
    const DType dtype = toDType(tensor.dtype());
    const uint64_t size = sizeOf(dtype);
    auto make = [&](char *target, uint64_t done, uint64_t bytes) -> Status {
      for (uint64_t at = 0; at < bytes; at += kAtOnce) {
        const uint64_t first = (done + at) / size, now = std::min(kAtOnce, bytes - at);
        ZERO_RT_TRY(makeInitial(program, files, tensor, dtype,
                                {part.inTensor + first, part.inBuffer + first, now / size}, threads,
                                target + at));
        meter.add(now);
      }
      return {};
    };
    return memory.at(block.buffer->tier())
        .write(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size, part.count * size,
               make);
  };
  ZERO_RT_TRY(forEachInitial(program, rank, memory, write));
  return encodeParameters(program, files, rank, memory, meter);
}

Status writeConstants(const LoadedProgram &program, size_t shape, int rank,
                      const MemoryByTier &memory) {
  const proto::Program &tables = program.tablesOf(shape);
  for (const proto::Tensor &tensor : tables.tensors()) {
    if (!isOfShape(tensor))
      continue;
    const uint64_t size = sizeOf(toDType(tensor.dtype()));
    const char *from = reinterpret_cast<const char *>(program.executable.data.data()) +
                       tensor.init().data().offset();
    for (const Block &block : blocksOf(tables, tensor)) {
      const auto write = [&](const Part &part) {
        const auto copy = [&](char *target, uint64_t done, uint64_t bytes) {
          std::memcpy(target, from + part.inTensor * size + done, bytes);
          return Status();
        };
        return memory.at(block.buffer->tier())
            .write(placeOf(block.mesh, *block.buffer, rank) + part.inBuffer * size,
                   part.count * size, copy);
      };
      ZERO_RT_TRY(forEachPart(block, rank, write));
    }
  }
  return {};
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
