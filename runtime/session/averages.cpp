//===- averages.cpp - averages in place of parameters ---------------------===//
//
// The value of a parameter is an f32 tensor: its master, or itself. A rank that has a slice of the
// average has that of the value, too, perhaps within the whole. The two are exchanged; a 16-bit
// parameter is then rounded from its master again. Where ranks hold whole parameters and slices of
// averages (stages 1 and 2), they gather what the others have exchanged.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/averages.h"

#include "runtime/support/floats.h"

#include <cstring>
#include <set>

namespace zero::rt {

/// Elements that are exchanged at a time.
static constexpr uint64_t kAtOnce = uint64_t(1) << 18;

namespace {

/// One parameter of one rank, or a tile of it.
class Exchange {
public:
  Exchange(const Mesh &mesh, int rank, const MemoryByTier &memory, const Block &average,
           const Block &value, const Block &parameter)
      : mesh(mesh), rank(rank), memory(memory), slice(average.partOf(rank)), average(average),
        value(value), parameter(parameter) {}

  Status run() const {
    for (uint64_t done = 0; done < slice.count; done += kAtOnce)
      ZERO_RT_TRY(exchange(done, std::min(kAtOnce, slice.count - done)));
    return {};
  }

private:
  /// `count` elements from element `begin` of the slice on.
  Status exchange(uint64_t begin, uint64_t count) const {
    std::vector<float> averages(count), values(count);
    ZERO_RT_TRY(read(average, begin, averages));
    ZERO_RT_TRY(read(value, begin, values));
    ZERO_RT_TRY(write(average, begin, values));
    ZERO_RT_TRY(write(value, begin, averages));
    return parameter.buffer == value.buffer ? Status() : write(parameter, begin, averages);
  }

  /// The byte of its arena where `block` has element `begin` of the slice.
  uint64_t placeIn(const Block &block, uint64_t begin) const {
    const Part held = block.partOf(rank);
    return placeOf(mesh, *block.buffer, rank) +
           (held.inBuffer + slice.inTensor + begin - held.inTensor) *
               sizeOf(toDType(block.buffer->dtype()));
  }

  Status read(const Block &block, uint64_t begin, std::vector<float> &elements) const {
    auto take = [&](const char *piece, uint64_t done, uint64_t bytes) {
      std::memcpy(reinterpret_cast<char *>(elements.data()) + done, piece, bytes);
      return Status();
    };
    return memory.at(block.buffer->tier())
        .read(placeIn(block, begin), elements.size() * sizeof(float), take);
  }

  /// Writes `elements` in the type of the block.
  Status write(const Block &block, uint64_t begin, const std::vector<float> &elements) const {
    const DType dtype = toDType(block.buffer->dtype());
    const uint64_t size = sizeOf(dtype);
    auto give = [&](char *piece, uint64_t done, uint64_t bytes) {
      convertFloats(ZERO_RT_F32, elements.data() + done / size, dtype, piece, bytes / size);
      return Status();
    };
    return memory.at(block.buffer->tier())
        .write(placeIn(block, begin), elements.size() * size, give);
  }

  const Mesh &mesh;
  int rank;
  const MemoryByTier &memory;
  Part slice; ///< of the average
  const Block &average, &value, &parameter;
};

/// What all ranks gather: a bucket of parameters that they hold whole, and the slices of its
/// averages.
struct Gathered {
  const proto::Buffer *whole, *slices;
};

} // namespace

/// Whether each rank has the elements of `outer` that it has of `inner`.
static bool contains(const Block &outer, const Block &inner, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Part all = outer.partOf(rank), part = inner.partOf(rank);
    if (part.count > 0 &&
        (all.inTensor > part.inTensor || all.inTensor + all.count < part.inTensor + part.count))
      return false;
  }
  return true;
}

/// Whether ranks hold all of a bucket of parameters, and slices of their averages.
static bool isGathered(const Block &parameter, const Block &average) {
  return parameter.buffer->shards() == 1 && average.buffer->shards() > 1;
}

/// Exchanges what `rank` has, and finds what is gathered then.
static Status exchangeParts(const LoadedProgram &program, Rank &rank,
                            std::vector<Gathered> &gathered) {
  const proto::Program &tables = program.tables();
  const Mesh mesh = program.mesh();
  const MemoryByTier memory = rank.getMemory().byTier();
  std::set<const proto::Buffer *> seen;
  for (const proto::Tensor &tensor : tables.tensors()) {
    if (!tensor.average())
      continue;
    const proto::Tensor &parameter = *program.parameters.at(tensor.of());
    const std::vector<Block> averages = blocksOf(tables, tensor);
    const std::vector<Block> values = blocksOf(tables, program.valueOf(parameter));
    const std::vector<Block> parameters = blocksOf(tables, parameter);
    for (size_t i = 0; i < averages.size(); ++i) {
      ZERO_RT_TRY(
          Exchange(mesh, rank.number(), memory, averages[i], values[i], parameters[i]).run());
      if (isGathered(parameters[i], averages[i]) && seen.insert(parameters[i].buffer).second)
        gathered.push_back({parameters[i].buffer, averages[i].buffer});
    }
  }
  return {};
}

/// Lets `rank` get the slices of the other ranks.
static Status gather(const Mesh &mesh, Device &device, Rank &rank, const Gathered &bucket) {
  const proto::Buffer &whole = *bucket.whole, &slices = *bucket.slices;
  const AxisSet axes = axisSet(slices.shard_axes());
  const RankGroup group(mesh, axes, rank.number());
  std::vector<int> numbers;
  for (int member : group.ranks())
    numbers.push_back(mesh.share(slices.shard_axes(), member));
  const DType dtype = toDType(whole.dtype());
  char *base = static_cast<char *>(rank.getMemory().bases()[size_t(whole.tier())]) +
               placeOf(mesh, whole, rank.number());
  const uint64_t own = uint64_t(mesh.share(slices.shard_axes(), rank.number()));
  return rank.gather({"averages", 0, /*control=*/true, axes, numbers}, dtype,
                     base + own * slices.elements() * sizeOf(dtype), base, slices.elements());
}

/// Whether the values of `parameter` can be exchanged with those of `average`.
static Status checkPair(const LoadedProgram &program, const proto::Tensor &average) {
  const proto::Program &tables = program.tables();
  const proto::Tensor &parameter = *program.parameters.at(average.of());
  const proto::Tensor &value = program.valueOf(parameter);
  if (value.dtype() != proto::F32)
    return fail(ZERO_RT_UNSUPPORTED,
                "'%s' has 16 bits and no f32 master, and would lose bits when it is exchanged "
                "with its average: compile with --master-weights=f32",
                escape(parameter.name()).c_str());
  const std::vector<Block> averages = blocksOf(tables, average), values = blocksOf(tables, value);
  const std::vector<Block> parameters = blocksOf(tables, parameter);
  for (size_t i = 0; i < averages.size(); ++i) {
    const proto::Buffer &whole = *parameters[i].buffer, &slices = *averages[i].buffer;
    const bool fits = contains(values[i], averages[i], int(tables.ranks())) &&
                      contains(parameters[i], averages[i], int(tables.ranks()));
    if (!fits || (isGathered(parameters[i], averages[i]) &&
                  (whole.tier() != proto::DEVICE ||
                   whole.elements() != slices.elements() * slices.shards())))
      return fail(ZERO_RT_UNSUPPORTED,
                  "'%s' and its average are divided over ranks in ways that do not fit",
                  escape(parameter.name()).c_str());
  }
  return {};
}

Status Averages::check() const {
  bool hasAny = false;
  for (const proto::Tensor &tensor : ranks.program().tables().tensors())
    if (tensor.average()) {
      ZERO_RT_TRY(checkPair(ranks.program(), tensor));
      hasAny = true;
    }
  return hasAny ? Status()
                : fail(ZERO_RT_UNSUPPORTED,
                       "the program keeps no averages of parameters: compile with --ema");
}

Status Averages::use(bool uses) {
  ZERO_RT_TRY(ranks.checkAlive());
  ZERO_RT_TRY(check());
  if (uses == used)
    return {};
  Status status = ranks.runBetweenSteps([](Ranks::Body &body, int number) {
    Rank &rank = body.rank(number);
    std::vector<Gathered> gathered;
    ZERO_RT_TRY(exchangeParts(*body.program, rank, gathered));
    for (const Gathered &bucket : gathered)
      ZERO_RT_TRY(gather(body.program->mesh(), *body.device, rank, bucket));
    return Status();
  });
  if (!status.ok())
    return ranks.end(status);
  used = uses;
  return {};
}

Status Averages::checkUnused(const char *what) const {
  return used ? fail(ZERO_RT_INVALID_ARGUMENT,
                     "%s: parameters have the values of their averages; call "
                     "zero_rt_session_use_averages(session, 0) first",
                     what)
              : Status();
}

} // namespace zero::rt
