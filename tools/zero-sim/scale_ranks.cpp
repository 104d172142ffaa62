//===- scale_ranks.cpp - a program on other ranks -------------------------===//

#include "scale_ranks.h"

#include "runtime/format/collectives.h"
#include "runtime/format/limits.h"
#include "runtime/format/tables.h"
#include "runtime/support/checked.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

using namespace zero::rt;

namespace zero::sim {

namespace {
/// Follows the slices of buckets through a step, and changes the sizes of commands.
class Scaler {
public:
  Scaler(proto::Program &program, uint32_t ranks)
      : program(program), before(program.ranks()), after(ranks) {}

  Status scale();

private:
  void findSlices(const std::vector<Block> &blocks);
  std::optional<uint64_t> scaled(uint64_t size, uint64_t slice) const;
  std::optional<uint64_t> sliceAt(const proto::Address &address) const;
  Status scale(proto::Command &command);
  bool scaleCollective(proto::Collective &collective);
  bool scaleCopy(proto::Copy &copy);
  bool scaleLaunch(proto::Launch &launch);

  proto::Program &program;
  const uint64_t before, after; ///< ranks
  /// Elements of the slice of the bucket that a value is a part of, or was computed from, element
  /// by element; by the value's number.
  std::unordered_map<uint32_t, uint64_t> slices;
  /// By elements of a slice: those of the bucket without its padding, the most of several buckets.
  std::map<uint64_t, uint64_t> used;
};
} // namespace

static bool dependsOnRank(const proto::Address &address) {
  return std::ranges::any_of(address.rank_strides(), [](int64_t stride) { return stride != 0; });
}

/// The slices of the buckets that `blocks` are in.
void Scaler::findSlices(const std::vector<Block> &blocks) {
  for (const Block &block : blocks) {
    if (block.buffer->shards() <= 1)
      continue;
    const uint64_t slice = block.buffer->elements();
    if (block.buffer->value() > 0)
      slices[block.buffer->value()] = slice;
    used[slice] = std::max(used[slice], block.start + block.count);
  }
}

/// What `size`, as it is of a bucket with slices of `slice` elements, becomes: the padding of a
/// bucket is a multiple of the ranks. Nothing, unless it is so many for each element, or one for so
/// many elements.
std::optional<uint64_t> Scaler::scaled(uint64_t size, uint64_t slice) const {
  if (size == 0 || slice == 0)
    return size;
  const auto known = used.find(slice);
  const uint64_t elements = known != used.end() ? known->second : slice * before;
  const uint64_t units = (elements + kSliceAlignment - 1) / kSliceAlignment;
  const uint64_t changed = (units + after - 1) / after * kSliceAlignment;
  uint64_t result = 0;
  if (size % slice == 0 && checkedMultiply(changed, size / slice, result))
    return result;
  if (slice % size == 0 && changed % (slice / size) == 0)
    return changed / (slice / size);
  return std::nullopt;
}

std::optional<uint64_t> Scaler::sliceAt(const proto::Address &address) const {
  const auto found = slices.find(address.reads());
  return found == slices.end() ? std::nullopt : std::optional(found->second);
}

/// A gather or scatter of a slice that no table lists is that of a bucket of its own.
bool Scaler::scaleCollective(proto::Collective &collective) {
  const CollectiveForm &form = *formOf(collective.kind());
  if (form.source == form.destination) // all of a value
    return !sliceAt(collective.src());
  const bool gathers = form.source == CollectiveForm::Slice;
  const uint64_t elements = collective.elements();
  const std::optional<uint64_t> known = gathers ? sliceAt(collective.src()) : std::nullopt;
  const uint64_t slice = known.value_or(elements);
  const std::optional<uint64_t> changed = scaled(elements, slice);
  if (!changed || (!known && elements % kSliceAlignment != 0))
    return false;
  if (!gathers)
    slices[collective.dst().writes()] = slice;
  // The slices of a bucket follow each other.
  const uint64_t size = sizeOf(toDType(collective.dtype()));
  for (proto::Address *place : {collective.mutable_src(), collective.mutable_dst()})
    for (int64_t &stride : *place->mutable_rank_strides())
      if (stride == int64_t(elements * size))
        stride = int64_t(*changed * size);
  collective.set_elements(*changed);
  return true;
}

bool Scaler::scaleCopy(proto::Copy &copy) {
  const std::optional<uint64_t> slice = sliceAt(copy.src());
  if (!slice)
    return !dependsOnRank(copy.src()) && !dependsOnRank(copy.dst());
  const std::optional<uint64_t> changed = scaled(copy.bytes(), *slice);
  if (!changed)
    return false;
  copy.set_bytes(*changed);
  slices[copy.dst().writes()] = *slice;
  return true;
}

/// A kernel on slices takes their length, in elements or in blocks of elements. So do its results.
bool Scaler::scaleLaunch(proto::Launch &launch) {
  std::optional<uint64_t> slice;
  bool isOne = true;
  for (const proto::Address &argument : launch.args())
    if (const std::optional<uint64_t> own = sliceAt(argument)) {
      isOne &= slice.value_or(*own) == *own;
      slice = own;
    }
  if (!slice)
    return std::ranges::none_of(launch.args(), dependsOnRank);
  const std::optional<uint64_t> changed = scaled(uint64_t(launch.length()), *slice);
  if (!isOne || launch.length() <= 0 || !changed)
    return false;
  launch.set_length(int64_t(*changed));
  const auto &grows = program.kernels(int(launch.kernel())).per_length();
  for (int i = 0; i < std::min(grows.size(), launch.args_size()); ++i)
    if (grows[i] > 0 && launch.args(i).writes() > 0)
      slices[launch.args(i).writes()] = *slice;
  return true;
}

Status Scaler::scale(proto::Command &command) {
  const bool isScaled = command.has_collective() ? scaleCollective(*command.mutable_collective())
                        : command.has_copy()     ? scaleCopy(*command.mutable_copy())
                        : command.has_launch()   ? scaleLaunch(*command.mutable_launch())
                                                 : true;
  return isScaled ? Status()
                  : fail(ZERO_RT_UNSUPPORTED,
                         "a command of '%s' uses slices of ranks in sizes that do not follow from "
                         "theirs; compile the model with zeroc --ranks=%llu",
                         escape(command.label()).c_str(), static_cast<unsigned long long>(after));
}

Status Scaler::scale() {
  for (const proto::Tensor &tensor : program.tensors())
    findSlices(blocksOf(program, tensor));
  for (proto::Segment &segment : *program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands()) {
      ZERO_RT_TRY(scale(command));
      if (after == 1)
        command.clear_collective(); // one rank exchanges nothing
    }
  program.set_ranks(uint32_t(after));
  program.mutable_mesh(0)->set_size(uint32_t(after));
  return {};
}

/// "node=2, local=4"
static std::string meshText(const proto::Program &program) {
  std::string text;
  for (const proto::Axis &axis : program.mesh())
    text += format("%s%s=%u", text.empty() ? "" : ", ", escape(axis.name()).c_str(), axis.size());
  return text;
}

Status scaleRanks(proto::Program &program, uint32_t ranks) {
  if (program.ranks() == 1)
    return Status(ZERO_RT_UNSUPPORTED, "a program of one rank exchanges nothing; compile the model "
                                       "with zeroc --ranks=2 or more");
  if (program.mesh_size() != 1 || program.data_axes_size() != 1)
    return fail(ZERO_RT_UNSUPPORTED,
                "expected ranks along one axis, which divides the batch, got %s; compile the model "
                "for that mesh",
                meshText(program).c_str());
  if (const uint32_t here = program.ranks_per_node(); here > 0 && ranks % here != 0)
    return fail(ZERO_RT_UNSUPPORTED,
                "expected a multiple of the %u ranks that the program has on a node, got %u", here,
                ranks);
  return Scaler(program, ranks).scale();
}

} // namespace zero::sim
