//===- validate.cpp - are the tables consistent? --------------------------===//

#include "runtime/load/validate.h"

#include "runtime/comm/reduce.h"
#include "runtime/device/cpu/reach.h"
#include "runtime/format/limits.h"
#include "runtime/io/disk_queue.h"
#include "runtime/load/program.h"
#include "runtime/load/reduction.h"
#include "runtime/load/validate_gpu.h"
#include "runtime/load/validate_launches.h"
#include "runtime/load/validate_tiers.h"
#include "runtime/support/checked.h"
#include "runtime/support/floats.h"
#include "runtime/verify/lane_check.h"

#include <cmath>
#include <set>

namespace zero::rt {

namespace {

/// Checks one program; every function says what it looks at in its error.
class Validator {
public:
  explicit Validator(const Executable &executable)
      : program(executable.program), dataBytes(executable.data.size()) {
    for (size_t tier = 0; tier < arenas.size(); ++tier)
      arenas[tier] = arenaBytes(program, proto::Tier(tier));
  }

  Status run() {
    ZERO_RT_TRY(checkSizes());
    for (const proto::Buffer &buffer : program.buffers())
      ZERO_RT_TRY(checkBuffer(buffer));
    for (const proto::Tensor &tensor : program.tensors())
      ZERO_RT_TRY(checkTensor(tensor));
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.role() == proto::PARAMETER &&
          !parameters.try_emplace(tensor.name(), &tensor).second)
        return bad("tensor", tensor.name(), "another parameter has its name");
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.master())
        ZERO_RT_TRY(checkMaster(tensor));
    ZERO_RT_TRY(checkGradients());
    for (const proto::Input &input : program.inputs())
      ZERO_RT_TRY(checkInput(input));
    for (const proto::Output &output : program.outputs())
      ZERO_RT_TRY(
          checkValue("output", output.name(), output.dtype(), output.shape(), output.offset()));
    for (const proto::Address &predicate : program.predicates())
      ZERO_RT_TRY(checkAddress("predicate", predicate, 1));
    for (const proto::Kernel &kernel : program.kernels())
      ZERO_RT_TRY(checkKernel(kernel));
    ZERO_RT_TRY(checkSegments());
    return checkLanes(program);
  }

private:
  Status bad(const char *what, const std::string &name, const char *why) {
    return fail(ZERO_RT_BAD_FILE, "%s '%s': %s", what, escape(name).c_str(), why);
  }

  bool fits(proto::Tier tier, uint64_t offset, uint64_t bytes) const {
    return isWithin(offset, bytes, proto::Tier_IsValid(tier) ? arenas[size_t(tier)] : 0);
  }

  /// Bytes of `count` elements; false for an unknown type or an overflow.
  static bool sizeInBytes(proto::DType dtype, uint64_t count, uint64_t &bytes) {
    return proto::DType_IsValid(dtype) && countBytes(count, toDType(dtype), bytes);
  }

  Status checkSizes() {
    if (program.ranks() < 1 || program.ranks() > kMostRanks)
      return fail(ZERO_RT_BAD_FILE, "expected 1 to %u ranks, got %u", kMostRanks, program.ranks());
    if (program.threads() > kMostThreads)
      return fail(ZERO_RT_BAD_FILE, "expected at most %u threads per rank, got %u", kMostThreads,
                  program.threads());
    if (program.micro_batches() > kMostMicroBatches)
      return fail(ZERO_RT_BAD_FILE, "expected at most %u micro-batches, got %u", kMostMicroBatches,
                  program.micro_batches());
    return {};
  }

  Status checkBuffer(const proto::Buffer &buffer) {
    uint64_t bytes, all;
    if (buffer.shards() != 1 && buffer.shards() != program.ranks())
      return bad("buffer", buffer.name(), "its shards are neither 1 nor the number of ranks");
    if (!sizeInBytes(buffer.dtype(), buffer.elements(), bytes) ||
        !checkedMultiply(buffer.elements(), buffer.shards(), all))
      return bad("buffer", buffer.name(), "bad element type or size");
    proto::Address address;
    address.set_offset(buffer.offset());
    address.set_rank_stride(buffer.rank_stride());
    address.set_tier(buffer.tier());
    return checkAddress(buffer.name().c_str(), address, bytes);
  }

  /// `start` + the elements of `shape` lie in the bucket that `buffer` is a slice of.
  Status checkMember(const char *what, const std::string &name, const proto::Buffer &buffer,
                     uint64_t start, uint64_t count) {
    uint64_t bucket = buffer.elements() * buffer.shards();
    if (!isWithin(start, count, bucket))
      return bad(what, name, "it reaches beyond its buffer");
    return {};
  }

  Status checkTensor(const proto::Tensor &tensor) {
    uint64_t count, bytes;
    if (!countElements(shapeOf(tensor.shape()), count) ||
        !sizeInBytes(tensor.dtype(), count, bytes))
      return bad("tensor", tensor.name(), "bad element type or shape");
    if (tensor.tiles_size() == 0)
      ZERO_RT_TRY(checkHome(tensor, tensor.buffer(), tensor.start(), count));
    else
      ZERO_RT_TRY(checkTiles(tensor, count));
    return checkInit(tensor, count);
  }

  /// `count` elements of `tensor` lie in buffer `index` from element `start` on.
  Status checkHome(const proto::Tensor &tensor, uint32_t index, uint64_t start, uint64_t count) {
    if (index >= uint32_t(program.buffers_size()))
      return bad("tensor", tensor.name(), "it has no buffer");
    const proto::Buffer &buffer = program.buffers(int(index));
    if (tensor.dtype() != buffer.dtype())
      return bad("tensor", tensor.name(), "its buffer is of another element type");
    return checkMember("tensor", tensor.name(), buffer, start, count);
  }

  /// The tiles of `tensor`, of `count` elements, are all of it.
  Status checkTiles(const proto::Tensor &tensor, uint64_t count) {
    if (tensor.tile_axis() >= uint32_t(tensor.shape_size()))
      return bad("tensor", tensor.name(), "its tiles cut a dimension that it does not have");
    const uint64_t all = tensor.shape(int(tensor.tile_axis()));
    uint64_t rest = all;
    for (const proto::Tile &tile : tensor.tiles()) {
      if (tile.extent() == 0 || tile.extent() > rest)
        return bad("tensor", tensor.name(), "its tiles are more than it, or one is nothing");
      rest -= tile.extent();
      ZERO_RT_TRY(checkHome(tensor, tile.buffer(), tile.start(), count / all * tile.extent()));
    }
    return rest == 0 ? Status() : bad("tensor", tensor.name(), "its tiles are not all of it");
  }

  Status checkInit(const proto::Tensor &tensor, uint64_t count) {
    const proto::Init &init = tensor.init();
    if (init.source_case() == proto::Init::kSplat)
      return {};
    if (init.source_case() == proto::Init::SOURCE_NOT_SET)
      return bad("tensor", tensor.name(), "it has no initial value");
    bool inFile = init.source_case() == proto::Init::kFile;
    const proto::Init::Range &range = inFile ? init.file() : init.data();
    const DType dtype = toDType(tensor.dtype()), stored = storedType(range, dtype);
    // Not from float64 to less: that would be rounded twice on the way to 16 bits.
    uint64_t bytes;
    if ((stored != dtype && (!isConvertible(stored, dtype) || stored == ZERO_RT_F64)) ||
        !countBytes(count, stored, bytes))
      return bad("tensor", tensor.name(), "its initial values are of a type that is not read");
    if (range.bytes() != bytes)
      return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected %llu bytes of initial values, got %llu",
                  escape(tensor.name()).c_str(), static_cast<unsigned long long>(bytes),
                  static_cast<unsigned long long>(range.bytes()));
    if (range.transposed() && (!inFile || tensor.shape_size() != 2))
      return bad("tensor", tensor.name(), "it is no matrix in a file to be transposed");
    if (inFile && range.file() >= uint32_t(program.files_size()))
      return bad("tensor", tensor.name(), "its initial values are in no file");
    if (!inFile && !isWithin(range.offset(), bytes, dataBytes))
      return bad("tensor", tensor.name(), "its initial values lie outside the data section");
    return {};
  }

  /// `tensor` is the one f32 master of a 16-bit parameter.
  Status checkMaster(const proto::Tensor &tensor) {
    auto it = parameters.find(tensor.of());
    if (tensor.role() != proto::OPTIMIZER || tensor.dtype() != proto::F32)
      return bad("tensor", tensor.name(), "a master that is no f32 state of the optimizer");
    if (it == parameters.end())
      return bad("tensor", tensor.name(), "the master of no parameter");
    const proto::Tensor &parameter = *it->second;
    auto own = shapeOf(tensor.shape()), its = shapeOf(parameter.shape());
    if (!isHalf(toDType(parameter.dtype())) ||
        !std::equal(own.begin(), own.end(), its.begin(), its.end()))
      return bad("tensor", tensor.name(), "its parameter has no 16-bit type, or another shape");
    if (!mastered.insert(tensor.of()).second)
      return bad("tensor", tensor.name(), "its parameter has another master");
    return {};
  }

  Status checkGradients() {
    for (const proto::Gradient &gradient : program.gradients()) {
      const std::string &name = gradient.parameter();
      auto parameter = parameters.find(name);
      if (parameter == parameters.end())
        return bad("gradient", name, "no such parameter");
      if (gradient.tiles_size() != parameter->second->tiles_size())
        return bad("gradient", name, "its tiles are not those of the parameter");
      for (const Block &block : blocksOf(gradient, *parameter->second)) {
        ZERO_RT_TRY(checkBuffer(*block.buffer));
        ZERO_RT_TRY(checkMember("gradient", name, *block.buffer, block.start, block.count));
        if (block.buffer->dtype() != gradientBuffer(gradient).dtype())
          return bad("gradient", name, "its tiles are of several element types");
      }
      if (!gradient.has_scale())
        continue;
      ZERO_RT_TRY(checkAddress(name, gradient.scale(), sizeof(float)));
      if (gradientType(gradient) != ZERO_RT_F32)
        return bad("gradient", name, "a scale of one that is of no type that has one");
    }
    return {};
  }

  Status checkInput(const proto::Input &input) {
    ZERO_RT_TRY(checkValue("input", input.name(), input.dtype(), input.shape(), input.offset()));
    if (input.kind() == proto::Input::DATA)
      return checkGlobalBatch(input);
    proto::DType dtype = input.kind() == proto::Input::LEARNING_RATE ? proto::F32
                         : input.kind() == proto::Input::TRAINING    ? proto::I1
                                                                     : proto::I64;
    if (input.kind() > proto::Input::TRAINING || input.dtype() != dtype || input.shape_size() != 0)
      return bad("input", input.name(), "expected a scalar of its kind's type");
    return {};
  }

  /// The rows of all ranks and micro-batches can be counted.
  Status checkGlobalBatch(const proto::Input &input) {
    uint64_t rows = input.shape_size() > 0 ? input.shape(0) : 1;
    if (!checkedMultiply(rows, program.ranks(), rows) ||
        !checkedMultiply(rows, microBatchesOf(program), rows))
      return bad("input", input.name(), "its global batch has too many rows");
    return {};
  }

  Status checkValue(const char *what, const std::string &name, proto::DType dtype,
                    const google::protobuf::RepeatedField<uint64_t> &shape, uint64_t offset) {
    uint64_t count, bytes;
    if (!countElements(shapeOf(shape), count) || !sizeInBytes(dtype, count, bytes))
      return bad(what, name, "bad element type or shape");
    if (!fits(proto::DEVICE, offset, bytes))
      return bad(what, name, "it lies outside the arena");
    return {};
  }

  /// `bytes` at `address` lie in the arena of its tier on the first and on the last rank, and so on
  /// all between.
  Status checkAddress(const std::string &label, const proto::Address &address, uint64_t bytes) {
    int64_t shift, last;
    const proto::Tier tier = address.tier();
    if (!proto::Tier_IsValid(tier) || !fits(tier, address.offset(), bytes) ||
        !checkedMultiply(int64_t(program.ranks() - 1), address.rank_stride(), shift) ||
        !checkedAdd(int64_t(address.offset()), shift, last) || last < 0 ||
        !fits(tier, uint64_t(last), bytes))
      return bad("command", label, "an address lies outside the arena");
    return {};
  }

  /// The same of one side of a copy: a disk moves whole blocks.
  Status checkCopied(const std::string &label, const proto::Address &address, uint64_t bytes) {
    if (address.tier() == proto::NVME && bytes <= arenas[proto::NVME])
      bytes = (bytes + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
    return checkAddress(label, address, bytes);
  }

  Status checkSegments() {
    int kind = proto::Segment::PROLOGUE;
    int microBatches = 0;
    for (const proto::Segment &segment : program.segments()) {
      if (segment.kind() < kind || !proto::Segment::Kind_IsValid(segment.kind()))
        return fail(ZERO_RT_BAD_FILE, "segments out of order");
      kind = segment.kind();
      microBatches += kind == proto::Segment::MICRO_BATCH;
      ZERO_RT_TRY(checkTurns(segment));
      for (const proto::Command &command : segment.commands())
        ZERO_RT_TRY(checkCommand(command));
      ZERO_RT_TRY(checkRenames(segment));
    }
    if (microBatches > 1)
      return fail(ZERO_RT_BAD_FILE, "expected one micro-batch segment, got %d", microBatches);
    return {};
  }

  /// A prologue and the micro-batches run once for each micro-batch.
  Status checkTurns(const proto::Segment &segment) {
    const uint64_t turns = std::max<uint64_t>(1, segment.repeat());
    const uint64_t expected =
        segment.kind() == proto::Segment::EPILOGUE ? 1 : microBatchesOf(program);
    if (turns != expected)
      return fail(ZERO_RT_BAD_FILE, "segment '%s': expected %llu turns, got %llu",
                  proto::Segment::Kind_Name(segment.kind()).c_str(),
                  static_cast<unsigned long long>(expected),
                  static_cast<unsigned long long>(turns));
    for (uint32_t input : segment.inputs())
      if (input >= uint32_t(program.inputs_size()))
        return fail(ZERO_RT_BAD_FILE, "a segment writes input %u of %d", input,
                    program.inputs_size());
    return {};
  }

  Status checkRenames(const proto::Segment &segment) {
    uint32_t before = 0;
    for (const proto::Rename &rename : segment.renames()) {
      if (rename.command() < before || rename.command() > uint32_t(segment.commands_size()) ||
          rename.predicate() > uint32_t(program.predicates_size()))
        return fail(ZERO_RT_BAD_FILE,
                    "a rename before command %u with predicate %u: out of order, "
                    "or there is none",
                    rename.command(), rename.predicate());
      before = rename.command();
      ZERO_RT_TRY(checkAddress("rename", rename.place(), rename.place().bytes()));
    }
    return {};
  }

  Status checkCommand(const proto::Command &command) {
    const std::string &label = command.label();
    if (!proto::Command::When_IsValid(command.when()))
      return bad("command", label, "it runs in no turn that this runtime knows");
    if (!std::isfinite(command.seconds()) || command.seconds() < 0)
      return bad("command", label, "expected to take no time that there is");
    if (command.predicate() > uint32_t(program.predicates_size()))
      return bad("command", label, "no such predicate");
    switch (command.body_case()) {
    case proto::Command::kLaunch:
      return checkLaunch(command);
    case proto::Command::kCollective:
      return checkCollective(command);
    case proto::Command::kCheck:
      return checkAddress(label, command.check().value(), 2 * sizeof(int64_t));
    case proto::Command::kCopy:
      ZERO_RT_TRY(checkCopied(label, command.copy().src(), command.copy().bytes()));
      return checkCopied(label, command.copy().dst(), command.copy().bytes());
    case proto::Command::BODY_NOT_SET:
      return bad("command", label, "it does nothing that this runtime knows");
    }
    return {};
  }

  Status checkKernel(const proto::Kernel &kernel) {
    if (kernel.extent() > *std::max_element(arenas.begin(), arenas.end()))
      return bad("kernel", kernel.name(), "it has more iterations than the arena has bytes");
    if ((kernel.has_symbol() || kernel.has_gpu()) && kernel.stored_size() > 0)
      return bad("kernel", kernel.name(), "native code with types of its arguments");
    Status planned = planReach(kernel, reaches.emplace_back());
    return planned.ok() ? Status() : bad("kernel", kernel.name(), planned.getMessage().c_str());
  }

  /// Each argument lies in the arena as far as the kernel reaches, which native code is
  /// believed about.
  Status checkLaunch(const proto::Command &command) {
    const proto::Launch &launch = command.launch();
    if (launch.kernel() >= uint32_t(program.kernels_size()))
      return bad("command", command.label(), "no such kernel");
    const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
    if (kernel.body_case() == proto::Kernel::BODY_NOT_SET)
      return bad("kernel", kernel.name(), "it has no body");
    std::vector<uint64_t> reach = reaches[launch.kernel()];
    if (kernel.has_symbol() || kernel.has_gpu())
      reach.resize(size_t(std::max(launch.args_size() - (kernel.workspace() > 0), 0)));
    if (kernel.workspace() > 0)
      reach.push_back(kernel.workspace());
    if (size_t(launch.args_size()) != reach.size())
      return bad("command", command.label(), "wrong number of arguments for its kernel");
    for (size_t i = 0; i < reach.size(); ++i) {
      const proto::Address &argument = launch.args(int(i));
      if (argument.bytes() < reach[i])
        return fail(ZERO_RT_BAD_FILE,
                    "command '%s': its kernel reaches over %llu bytes of argument %zu, which has "
                    "%llu",
                    escape(command.label()).c_str(), static_cast<unsigned long long>(reach[i]), i,
                    static_cast<unsigned long long>(argument.bytes()));
      ZERO_RT_TRY(checkAddress(command.label(), argument, argument.bytes()));
    }
    if (kernel.has_symbol() || kernel.has_gpu())
      return checkIterations(command.label(), kernel, launch);
    return {};
  }

  Status checkCollective(const proto::Command &command) {
    const proto::Collective &collective = command.collective();
    uint64_t slice, whole;
    if (command.predicate() != 0)
      return bad("command", command.label(), "a collective with a predicate");
    if (!sizeInBytes(collective.dtype(), collective.elements(), slice) ||
        !checkedMultiply(slice, program.ranks(), whole))
      return bad("command", command.label(), "bad element type or size");
    bool gathers = collective.kind() == proto::Collective::ALL_GATHER;
    bool scatters = collective.kind() == proto::Collective::REDUCE_SCATTER;
    if (!gathers &&
        (!canSum(reductionOf(collective)) || !proto::DType_IsValid(collective.arithmetic())))
      return bad("command", command.label(), "a sum over ranks of a type that has none");
    if (!gathers && !scatters &&
        (collective.src().offset() != collective.dst().offset() ||
         collective.src().rank_stride() != collective.dst().rank_stride()))
      return bad("command", command.label(), "an all-reduce that is not in place");
    ZERO_RT_TRY(checkAddress(command.label(), collective.src(), scatters ? whole : slice));
    return checkAddress(command.label(), collective.dst(), gathers ? whole : slice);
  }

  const proto::Program &program;
  uint64_t dataBytes;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> arenas; ///< bytes
  std::vector<std::vector<uint64_t>> reaches; ///< of each kernel's arguments; see planReach()
  std::map<std::string_view, const proto::Tensor *> parameters;
  std::set<std::string_view> mastered;
};

} // namespace

Status validate(const Executable &executable) {
  ZERO_RT_TRY(validateTarget(executable));
  ZERO_RT_TRY(validateTiers(executable.program));
  return Validator(executable).run();
}

} // namespace zero::rt
