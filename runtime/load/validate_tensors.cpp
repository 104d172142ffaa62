//===- validate_tensors.cpp - validate tensors ----------------------------===//

#include "runtime/load/validate_tensors.h"

#include "runtime/support/checked.h"
#include "runtime/support/floats.h"

#include <map>
#include <set>

namespace zero::rt {

namespace {

/// Checks the state of one program. The errors in each function describe the checks.
class TensorValidator {
public:
  TensorValidator(const proto::Program &program, uint64_t dataBytes, const Bounds &bounds)
      : program(program), bounds(bounds), dataBytes(dataBytes) {}

  Status run() {
    for (const proto::Buffer &buffer : program.buffers())
      ZERO_RT_TRY(checkBuffer(buffer));
    for (const proto::Tensor &tensor : program.tensors())
      ZERO_RT_TRY(checkTensor(tensor));
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.role() == proto::PARAMETER &&
          !parameters.try_emplace(tensor.name(), &tensor).second)
        return badTable("tensor", tensor.name(), "another parameter has its name");
    for (const proto::Tensor &tensor : program.tensors())
      ZERO_RT_TRY(checkValueOf(tensor));
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.init().has_norms())
        ZERO_RT_TRY(checkNorms(tensor));
    ZERO_RT_TRY(checkCodes());
    return checkGradients();
  }

private:
  Status checkBuffer(const proto::Buffer &buffer) {
    uint64_t bytes, all;
    ZERO_RT_TRY(
        checkAxes(bounds.getMesh(), "buffer", buffer.name(), buffer.shard_axes(), AxisOrder::Any));
    if (buffer.shards() != uint32_t(bounds.getMesh().shares(buffer.shard_axes())))
      return badTable("buffer", buffer.name(), "its shards are not those of its axes");
    if (!sizeInBytes(buffer.dtype(), buffer.elements(), bytes) ||
        !checkedMultiply(buffer.elements(), buffer.shards(), all))
      return badTable("buffer", buffer.name(), "bad element type or size");
    proto::Address address;
    address.set_offset(buffer.offset());
    *address.mutable_rank_strides() = buffer.rank_strides();
    address.set_tier(buffer.tier());
    return bounds.check(buffer.name().c_str(), address, bytes);
  }

  /// `start` + the elements of `shape` are in the bucket that `buffer` is a slice of.
  Status checkMember(const char *what, const std::string &name, const proto::Buffer &buffer,
                     uint64_t start, uint64_t count) {
    uint64_t bucket = buffer.elements() * buffer.shards();
    if (!isWithin(start, count, bucket))
      return badTable(what, name, "it reaches beyond its buffer");
    return {};
  }

  Status checkTensor(const proto::Tensor &tensor) {
    uint64_t count, bytes;
    if (!countElements(shapeOf(tensor.shape()), count) ||
        !sizeInBytes(tensor.dtype(), count, bytes))
      return badTable("tensor", tensor.name(), "bad element type or shape");
    if (tensor.has_split())
      ZERO_RT_TRY(checkSplit(tensor));
    const uint64_t held = count / uint64_t(bounds.getMesh().shares(tensor.split().axes()));
    if (tensor.tiles_size() == 0)
      ZERO_RT_TRY(checkHome(tensor, tensor.buffer(), tensor.start(), held));
    else
      ZERO_RT_TRY(checkTiles(tensor, held));
    return checkInit(tensor);
  }

  /// All shares of `tensor` have the same size.
  Status checkSplit(const proto::Tensor &tensor) {
    const proto::Split &split = tensor.split();
    ZERO_RT_TRY(checkAxes(bounds.getMesh(), "tensor", tensor.name(), split.axes(), AxisOrder::Any));
    if (split.dimension() >= uint32_t(tensor.shape_size()))
      return badTable("tensor", tensor.name(),
                      "it is split along a dimension that it does not have");
    const auto shares = uint64_t(bounds.getMesh().shares(split.axes()));
    uint64_t rest = tensor.shape(int(split.dimension()));
    bool isEven = rest % shares == 0;
    for (const uint64_t part : split.parts()) {
      isEven = isEven && part % shares == 0 && part <= rest;
      rest -= std::min(part, rest);
    }
    return isEven && (split.parts().empty() || rest == 0)
               ? Status()
               : badTable("tensor", tensor.name(), "the shares of its split have different sizes");
  }

  /// Ranks that hold different shares of `tensor` hold the same slice of `buffer`.
  Status checkApart(const proto::Tensor &tensor, const proto::Buffer &buffer) {
    return (axisSet(tensor.split().axes()) & axisSet(buffer.shard_axes())) == 0
               ? Status()
               : badTable("tensor", tensor.name(),
                          "it is split over an axis of its buffer's slices");
  }

  /// `count` elements of `tensor` are in buffer `index` from element `start` on.
  Status checkHome(const proto::Tensor &tensor, uint32_t index, uint64_t start, uint64_t count) {
    if (index >= uint32_t(program.buffers_size()))
      return badTable("tensor", tensor.name(), "it has no buffer");
    const proto::Buffer &buffer = program.buffers(int(index));
    if (tensor.dtype() != buffer.dtype())
      return badTable("tensor", tensor.name(), "its buffer is of another element type");
    ZERO_RT_TRY(checkApart(tensor, buffer));
    return checkMember("tensor", tensor.name(), buffer, start, count);
  }

  /// The tiles of `tensor`, of which a rank holds `count` elements, are all of these.
  Status checkTiles(const proto::Tensor &tensor, uint64_t count) {
    if (tensor.tile_axis() >= uint32_t(tensor.shape_size()))
      return badTable("tensor", tensor.name(), "its tiles split a dimension that it does not have");
    const uint64_t all = heldExtent(bounds.getMesh(), tensor, tensor.tile_axis());
    uint64_t rest = all;
    for (const proto::Tile &tile : tensor.tiles()) {
      if (tile.extent() == 0 || tile.extent() > rest)
        return badTable("tensor", tensor.name(),
                        "its tiles are larger than the tensor, or one is empty");
      rest -= tile.extent();
      ZERO_RT_TRY(checkHome(tensor, tile.buffer(), tile.start(), count / all * tile.extent()));
    }
    return rest == 0 ? Status()
                     : badTable("tensor", tensor.name(), "its tiles do not cover the tensor");
  }

  Status checkInit(const proto::Tensor &tensor) {
    const ValueType own = valueTypeOf(tensor);
    uint64_t count;
    if (!countElements(own.shape, count))
      return badTable("tensor", tensor.name(), "bad shape of what its codes stand for");
    const proto::Init &init = tensor.init();
    if (init.source_case() == proto::Init::kSplat || init.required())
      return {};
    if (init.has_norms())
      return {}; // see checkNorms()
    if (init.has_random())
      return isConvertible(ZERO_RT_F64, own.dtype)
                 ? Status()
                 : badTable("tensor", tensor.name(), "its random values are no floats");
    if (init.source_case() == proto::Init::SOURCE_NOT_SET)
      return badTable("tensor", tensor.name(), "it has no initial value");
    bool inFile = init.source_case() == proto::Init::kFile;
    const proto::Init::Range &range = inFile ? init.file() : init.data();
    const DType dtype = own.dtype, stored = storedType(range, dtype);
    // float64 cannot be converted to a narrower type, because a conversion to 16 bits would round
    // twice.
    uint64_t bytes;
    if ((stored != dtype && (!isConvertible(stored, dtype) || stored == ZERO_RT_F64)) ||
        !countBytes(count, stored, bytes))
      return badTable("tensor", tensor.name(), "its initial values are of a type that is not read");
    if (range.bytes() != bytes)
      return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected %llu bytes of initial values, got %llu",
                  escape(tensor.name()).c_str(), static_cast<unsigned long long>(bytes),
                  static_cast<unsigned long long>(range.bytes()));
    if (range.transposed() && (!inFile || own.shape.size() != 2))
      return badTable("tensor", tensor.name(), "it is no matrix in a file to be transposed");
    if (inFile && range.file() >= uint32_t(program.files_size()))
      return badTable("tensor", tensor.name(), "its initial values are in no file");
    if (!inFile && !isWithin(range.offset(), bytes, dataBytes))
      return badTable("tensor", tensor.name(), "its initial values lie outside the data section");
    return {};
  }

  /// `tensor` begins as the norms of the rows or columns of a parameter.
  Status checkNorms(const proto::Tensor &tensor) {
    const auto it = parameters.find(tensor.init().norms().of());
    if (it == parameters.end() || it->second->init().has_norms())
      return badTable("tensor", tensor.name(), "it begins as the norms of no parameter");
    const ValueType of = valueTypeOf(*it->second);
    const uint64_t count = elementsOf(tensor.shape());
    uint64_t all;
    if (!countElements(of.shape, all) || count == 0 || all % count != 0 ||
        !isConvertible(of.dtype, ZERO_RT_F32) ||
        !isConvertible(ZERO_RT_F32, toDType(tensor.dtype())) || isCoded(tensor))
      return badTable("tensor", tensor.name(), "it does not fit the norms with which it begins");
    return {};
  }

  /// A master is the only one of a 16-bit parameter, an average the only one of any parameter. Both
  /// are f32.
  Status checkValueOf(const proto::Tensor &tensor) {
    if (!tensor.master() && !tensor.average())
      return {};
    auto it = parameters.find(tensor.of());
    if (tensor.role() != proto::OPTIMIZER || tensor.dtype() != proto::F32)
      return badTable("tensor", tensor.name(),
                      "a master or an average that is no f32 state of the optimizer");
    if (it == parameters.end())
      return badTable("tensor", tensor.name(), "the master or the average of no parameter");
    const proto::Tensor &parameter = *it->second;
    auto own = shapeOf(tensor.shape()), its = shapeOf(parameter.shape());
    if ((tensor.master() && !isHalf(toDType(parameter.dtype()))) || isCoded(parameter) ||
        !std::equal(own.begin(), own.end(), its.begin(), its.end()) ||
        tensor.tiles_size() != parameter.tiles_size())
      return badTable("tensor", tensor.name(),
                      "its parameter has another shape or type than it needs");
    if (tensor.master() && tensor.average())
      return badTable("tensor", tensor.name(), "a master that is an average");
    if (!(tensor.master() ? mastered : averaged).insert(tensor.of()).second)
      return badTable("tensor", tensor.name(), "its parameter has another one");
    return {};
  }

  /// Tensors of codes have one for each element of their parameter, and scales for their blocks.
  Status checkCodes() {
    std::map<std::string, const proto::Tensor *> states;
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.role() == proto::OPTIMIZER)
        states.try_emplace(tensor.name(), &tensor);
    for (const proto::Tensor &tensor : program.tensors())
      if (isCoded(tensor))
        ZERO_RT_TRY(checkCodedParameter(tensor));
      else if (tensor.has_blocks())
        ZERO_RT_TRY(checkCodedState(tensor, states));
    return {};
  }

  /// `tensor` has a code for each of `elements`.
  static Status checkEach(const proto::Tensor &tensor, uint64_t elements) {
    const proto::Tensor::Blocks &blocks = tensor.blocks();
    if ((blocks.bits() != 8 && blocks.bits() != 4) || blocks.numbers_size() != 1 << blocks.bits() ||
        tensor.dtype() != proto::I8 || elementsOf(tensor.shape()) != elements / (8 / blocks.bits()))
      return badTable("tensor", tensor.name(), "it has no code for each element");
    return {};
  }

  /// `tensor` with `elements` codes has blocks, and `scales` of them, f32, one for each and `more`.
  /// The last block may be shorter if `mayBeShort`.
  static Status checkScales(const proto::Tensor &tensor, uint64_t elements, const ValueType &scales,
                            uint64_t more, bool mayBeShort) {
    const uint64_t size = tensor.blocks().size();
    uint64_t found = 0;
    if (size == 0 || size % 2 != 0 || (elements % size != 0 && !mayBeShort) ||
        scales.dtype != ZERO_RT_F32 || !countElements(scales.shape, found) ||
        found != (elements + size - 1) / size + more)
      return badTable("tensor", tensor.name(), "its scales are not those of its blocks");
    return {};
  }

  Status checkCodedState(const proto::Tensor &tensor,
                         const std::map<std::string, const proto::Tensor *> &states) {
    auto parameter = parameters.find(tensor.of());
    auto scales = states.find(tensor.blocks().scales());
    if (parameter == parameters.end() || scales == states.end())
      return badTable("tensor", tensor.name(), "codes without a parameter or without scales");
    const uint64_t elements = elementsOf(parameter->second->shape());
    ZERO_RT_TRY(checkEach(tensor, elements));
    return checkScales(tensor, elements, valueTypeOf(*scales->second), 0, false);
  }

  /// The scales of a frozen parameter are f32, or codes whose scales are f32: then these have a
  /// mean after them.
  Status checkCodedParameter(const proto::Tensor &tensor) {
    const auto own = parameters.find(tensor.name());
    const auto scales = parameters.find(tensor.blocks().scales());
    if (own == parameters.end() || own->second != &tensor || !tensor.frozen() ||
        tensor.has_split() || tensor.tiles_size() > 0 || scales == parameters.end() ||
        scales->second == &tensor)
      return badTable("tensor", tensor.name(), "codes of no whole frozen parameter with scales");
    const std::string &root = tensor.of().empty() ? tensor.name() : tensor.of();
    if (scales->second->of() != root || (!tensor.of().empty() && isCoded(*scales->second)))
      return badTable("tensor", tensor.name(), "its scales are those of another one");
    uint64_t elements = 0;
    if (!isConvertible(ZERO_RT_F32, valueTypeOf(tensor).dtype) ||
        !countElements(valueTypeOf(tensor).shape, elements))
      return badTable("tensor", tensor.name(), "bad type or shape of what its codes stand for");
    ZERO_RT_TRY(checkEach(tensor, elements));
    return checkScales(tensor, elements, valueTypeOf(*scales->second), tensor.of().empty() ? 0 : 1,
                       tensor.blocks().bits() == 8);
  }

  Status checkGradients() {
    for (const proto::Gradient &gradient : program.gradients()) {
      const std::string &name = gradient.parameter();
      auto parameter = parameters.find(name);
      if (parameter == parameters.end())
        return badTable("gradient", name, "no such parameter");
      if (gradient.tiles_size() != parameter->second->tiles_size())
        return badTable("gradient", name, "its tiles are not those of the parameter");
      for (const Block &block : blocksOf(program, gradient, *parameter->second)) {
        ZERO_RT_TRY(checkBuffer(*block.buffer));
        ZERO_RT_TRY(checkApart(*parameter->second, *block.buffer));
        ZERO_RT_TRY(checkMember("gradient", name, *block.buffer, block.start, block.count));
        if (block.buffer->dtype() != gradientBuffer(gradient).dtype())
          return badTable("gradient", name, "its tiles are of several element types");
      }
      if (gradient.has_scale())
        ZERO_RT_TRY(bounds.check(name, gradient.scale(), sizeof(float)));
      if ((gradient.has_scale() || gradient.summands() > 0) &&
          gradientType(gradient) != ZERO_RT_F32)
        return badTable("gradient", name, "a scale of a gradient whose type has no scale");
    }
    return {};
  }

  const proto::Program &program;
  const Bounds &bounds;
  uint64_t dataBytes;
  std::map<std::string_view, const proto::Tensor *> parameters;
  std::set<std::string_view> mastered, averaged;
};

} // namespace

Status validateTensors(const proto::Program &program, uint64_t dataBytes, const Bounds &bounds) {
  return TensorValidator(program, dataBytes, bounds).run();
}

} // namespace zero::rt
