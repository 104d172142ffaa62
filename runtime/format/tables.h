//===- tables.h - access to the tables of an executable ---------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_TABLES_H
#define RUNTIME_FORMAT_TABLES_H

#include "runtime/format/executable.pb.h"
#include "runtime/format/selection.h"
#include "runtime/support/checked.h"
#include "runtime/support/dtype.h"
#include "runtime/support/mesh.h"
#include "runtime/support/status.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace zero::rt {

/// The tables' numbers are those of the C interface.
/// A number that is none of them, as damaged tables may hold, becomes no type.
inline DType toDType(proto::DType dtype) {
  return proto::DType_IsValid(dtype) ? static_cast<DType>(dtype) : ZERO_RT_NO_DTYPE;
}

/// "NVME_READ"; "?" for a number that is no lane. For errors where memory may be exhausted: the
/// first call of protobuf's own function builds descriptors, and crashes without memory.
inline const char *nameOf(proto::Lane lane) {
  static constexpr const char *kNames[] = {"COMPUTE",   "COLLECTIVE", "H2D",         "D2H",
                                           "NVME_READ", "NVME_WRITE", "HOST_COMPUTE"};
  return proto::Lane_IsValid(lane) ? kNames[lane] : "?";
}

/// Whether threads of the host execute the commands of `lane` on every device.
inline bool isHostLane(proto::Lane lane) {
  return lane == proto::NVME_READ || lane == proto::NVME_WRITE || lane == proto::HOST_COMPUTE;
}

/// The element type of initial values that a tensor of `dtype` is read from.
inline DType storedType(const proto::Init::Range &range, DType dtype) {
  return range.stored() == proto::DTYPE_UNSPECIFIED ? dtype : toDType(range.stored());
}

/// Whether `kernel`, a library's, multiplies 16-bit elements as they are stored.
inline bool multipliesHalves(const proto::Kernel &kernel) {
  const proto::DType operands = kernel.has_matmul()        ? kernel.matmul().dtype()
                                : kernel.has_convolution() ? kernel.convolution().dtype()
                                                           : kernel.attention().dtype();
  return operands == proto::F16 || operands == proto::BF16;
}

/// Whether `tensor` is a parameter that is stored as codes.
inline bool isCoded(const proto::Tensor &tensor) {
  return tensor.blocks().dtype() != proto::DTYPE_UNSPECIFIED;
}

/// The programs of an executable: the first one, and those for other shapes of the inputs.
inline size_t countShapes(const proto::Program &first) { return size_t(first.shapes_size()) + 1; }
inline const proto::Program &programOf(const proto::Program &first, size_t shape) {
  return shape == 0 ? first : first.shapes(int(shape) - 1);
}

/// Whether `tensor` is a constant of the compiler's, which belongs to the program of one shape.
inline bool isOfShape(const proto::Tensor &tensor) { return tensor.init().has_data(); }

inline std::span<const uint64_t> shapeOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  return {shape.data(), static_cast<size_t>(shape.size())};
}

/// Elements of a shape that validate() has passed.
inline uint64_t elementsOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  uint64_t count = 0;
  countElements(shapeOf(shape), count);
  return count;
}

/// The type of what users see of a tensor: of a coded parameter, what its codes stand for.
struct ValueType {
  DType dtype = ZERO_RT_NO_DTYPE;
  std::span<const uint64_t> shape;
};
inline ValueType valueTypeOf(const proto::Tensor &tensor) {
  return isCoded(tensor)
             ? ValueType{toDType(tensor.blocks().dtype()), shapeOf(tensor.blocks().shape())}
             : ValueType{toDType(tensor.dtype()), shapeOf(tensor.shape())};
}

/// The ranks of `program`, of which validate() has checked the sizes.
inline Mesh meshOf(const proto::Program &program) {
  std::vector<int> sizes;
  for (const proto::Axis &axis : program.mesh())
    sizes.push_back(int(axis.size()));
  return Mesh(sizes);
}

/// What files have of a tensor. Only constants that the compiler has made are in no file: whatever
/// a file may replace, a checkpoint has.
struct Persistence {
  bool loadable; ///< --weights may replace its value
  bool saved;    ///< --save writes it, as part of the weights of the model
  bool resumed;  ///< a checkpoint has it
  bool trained;  ///< an optimizer changes it: its values are finite
};

/// | tensor                                       | loadable | saved | resumed | trained |
/// |----------------------------------------------|----------|-------|---------|---------|
/// | parameter                                    | yes      | yes   | yes     | yes     |
/// | frozen parameter                             | yes      | yes   | yes     | no      |
/// | scales of a coded parameter                  | no       | no    | yes     | no      |
/// | buffer that the step writes                  | yes      | yes   | yes     | no      |
/// | constant that the model names: a buffer that | yes      | yes   | yes     | no      |
/// | the step only reads, class weights           |          |       |         |         |
/// | constant without a name in the model         | no       | no    | no      | no      |
/// | state of the optimizer, counters             | yes      | no    | yes     | yes     |
/// | the same of a model with its own update      | yes      | yes   | yes     | yes     |
inline Persistence persistenceOf(const proto::Tensor &tensor) {
  const bool isMade = tensor.role() == proto::CONSTANT && !tensor.saved();
  const bool isScales = tensor.role() == proto::PARAMETER && !tensor.of().empty();
  return {!isMade && !isScales, tensor.saved(), !isMade,
          tensor.role() == proto::OPTIMIZER ||
              (tensor.role() == proto::PARAMETER && !tensor.frozen())};
}

/// Elements of a tensor, or of what a bucket has of it, that one rank holds.
struct Part {
  uint64_t inTensor = 0, inBuffer = 0, count = 0;
};

/// The part of `rank` of `count` elements that start at element `start` of `buffer`'s bucket.
inline Part partOf(const Mesh &mesh, const proto::Buffer &buffer, uint64_t start, uint64_t count,
                   int rank) {
  if (buffer.shards() == 1)
    return {0, start, count};
  uint64_t first = uint64_t(mesh.share(buffer.shard_axes(), rank)) * buffer.elements();
  uint64_t low = std::max(start, first);
  uint64_t high = std::min(start + count, first + buffer.elements());
  return low < high ? Part{low - start, low - first, high - low} : Part{};
}

/// What ranks hold of a tensor, or of one of its tiles, and its buffer.
class Block {
public:
  /// `tensor` must have passed validate() and outlive it.
  Block(const Mesh &mesh, const proto::Tensor &tensor, const proto::Buffer *buffer, uint64_t start)
      : buffer(buffer), start(start), mesh(mesh), tensor(&tensor) {
    count = elementsOf(0).size();
  }
  /// Of the tile of indices [begin, begin + extent).
  Block(const Mesh &mesh, const proto::Tensor &tensor, const proto::Buffer *buffer, uint64_t start,
        Selection::Interval tile)
      : buffer(buffer), start(start), mesh(mesh), tensor(&tensor), tile(tile) {
    count = elementsOf(0).size();
  }

  const proto::Buffer *buffer = nullptr;
  uint64_t start = 0; ///< elements, in the buffer's bucket
  uint64_t count = 0; ///< elements of the bucket
  Mesh mesh;          ///< of the program

  /// Which elements of the tensor those of the bucket of `rank` are.
  Selection elementsOf(int rank) const;
  /// The elements of the bucket that `rank` holds.
  Part partOf(int rank) const { return rt::partOf(mesh, *buffer, start, count, rank); }

  /// The axes along which ranks hold the same.
  AxisSet copyAxes() const {
    return mesh.proper(~(axisSet(tensor->split().axes()) | axisSet(buffer->shard_axes())));
  }
  /// Whether no rank before `rank` holds the same.
  bool isFirstCopy(int rank) const {
    const AxisSet axes = copyAxes();
    for (int axis = 0; axis < mesh.axes(); ++axis)
      if ((axes >> axis & 1) && mesh.coordinate(rank, axis) != 0)
        return false;
    return true;
  }

private:
  std::vector<Selection::Interval> sharesOf(int rank) const;

  const proto::Tensor *tensor;
  std::optional<Selection::Interval> tile;
};

/// The extent of dimension `dimension` of what a rank holds of `tensor`.
inline uint64_t heldExtent(const Mesh &mesh, const proto::Tensor &tensor, uint32_t dimension) {
  const bool isSplit = tensor.has_split() && tensor.split().dimension() == dimension;
  return tensor.shape(int(dimension)) / (isSplit ? mesh.shares(tensor.split().axes()) : 1);
}

/// The blocks of `tensor`, which validate() has passed; `place(i)` is the pair of buffer and
/// start of tile i, or of the tensor itself.
template <typename Place>
std::vector<Block> blocksOf(const Mesh &mesh, const proto::Tensor &tensor, Place place) {
  std::vector<Block> blocks;
  uint64_t begin = 0;
  for (const proto::Tile &tile : tensor.tiles()) {
    auto [buffer, start] = place(int(blocks.size()));
    blocks.emplace_back(mesh, tensor, buffer, start, Selection::Interval{begin, tile.extent()});
    begin += tile.extent();
  }
  if (blocks.empty()) {
    auto [buffer, start] = place(0);
    blocks.emplace_back(mesh, tensor, buffer, start);
  }
  return blocks;
}

/// The places of `tensor` in the buffers of `program`.
inline std::vector<Block> blocksOf(const proto::Program &program, const proto::Tensor &tensor) {
  return blocksOf(meshOf(program), tensor, [&](int i) {
    const bool isTiled = tensor.tiles_size() > 0;
    const uint32_t buffer = isTiled ? tensor.tiles(i).buffer() : tensor.buffer();
    return std::pair(&program.buffers(int(buffer)),
                     isTiled ? tensor.tiles(i).start() : tensor.start());
  });
}

/// The places of `gradient` of `parameter`.
inline std::vector<Block> blocksOf(const proto::Program &program, const proto::Gradient &gradient,
                                   const proto::Tensor &parameter) {
  return blocksOf(meshOf(program), parameter, [&](int i) {
    const bool isTiled = gradient.tiles_size() > 0;
    return std::pair(isTiled ? &gradient.tiles(i).buffer() : &gradient.buffer(),
                     isTiled ? gradient.tiles(i).start() : gradient.start());
  });
}

/// The buffers of `gradient`: one, or one for each tile.
inline std::vector<const proto::Buffer *> buffersOf(const proto::Gradient &gradient) {
  if (gradient.tiles_size() == 0)
    return {&gradient.buffer()};
  std::vector<const proto::Buffer *> buffers;
  for (const proto::Gradient::Tile &tile : gradient.tiles())
    buffers.push_back(&tile.buffer());
  return buffers;
}

/// The part of `rank` in `block` among the elements from `begin` to `end` of the tensor, as parts
/// without gaps. Ends at the first one for which `use` fails.
template <typename Use>
Status forEachPart(const Block &block, int rank, uint64_t begin, uint64_t end, Use use) {
  const Part all = block.partOf(rank);
  const Selection elements = block.elementsOf(rank);
  const uint64_t stop = std::min(all.inTensor + all.count, elements.before(end));
  for (uint64_t at = std::max(all.inTensor, elements.before(begin)); at < stop;) {
    const uint64_t count = std::min(elements.runFrom(at), stop - at);
    ZERO_RT_TRY(use(Part{elements.at(at), all.inBuffer + at - all.inTensor, count}));
    at += count;
  }
  return {};
}

/// The same of the whole tensor.
template <typename Use>
Status forEachPart(const Block &block, int rank, Use use) {
  return forEachPart(block, rank, 0, UINT64_MAX, use);
}

/// Whether `input` is what the user binds under its name. Those of later micro-batches read other
/// rows of the same data.
inline bool isBound(const proto::Input &input) {
  return input.kind() == proto::Input::DATA && input.micro_batch() == 0;
}

/// Micro-batches of a step, at least 1.
inline uint64_t microBatchesOf(const proto::Program &program) {
  return std::max<uint64_t>(1, program.micro_batches());
}

/// What each axis of `mesh` adds to the place of `address`, a buffer or another address.
template <typename Address>
PerAxis stridesOf(const Mesh &mesh, const Address &address) {
  PerAxis strides{};
  for (int axis = 0; axis < std::min(mesh.axes(), address.rank_strides_size()); ++axis)
    if (mesh.size(axis) > 1)
      strides[size_t(axis)] = address.rank_strides(axis);
  return strides;
}

/// Ranks among which the batch is divided. Those that differ along other axes get the same rows.
inline uint64_t dataRanksOf(const proto::Program &program) {
  return uint64_t(meshOf(program).shares(program.data_axes()));
}
/// The number of `rank` among these.
inline int dataRankOf(const proto::Program &program, int rank) {
  return meshOf(program).share(program.data_axes(), rank);
}

/// The place of a buffer or another address in the arena of `rank`, in bytes.
template <typename Address>
uint64_t placeOf(const Mesh &mesh, const Address &address, int rank) {
  return address.offset() + uint64_t(mesh.shift(stridesOf(mesh, address), rank));
}

} // namespace zero::rt

#endif // RUNTIME_FORMAT_TABLES_H
