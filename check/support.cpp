//===- support.cpp - programs that the checker knows ----------------------===//

#include "check/executable.h"

#include "check/refusal.h"

#include <map>
#include <set>

namespace zero::check {

static constexpr uint64_t kMost = uint64_t(1) << 56; ///< more elements or bytes are no program

static void refuse(bool feature, const std::string &name) {
  require(!feature, name + ": not handled by the checker yet");
}

/// The same as elementsOf(), of a shape that may be too large.
static uint64_t checkedElements(const google::protobuf::RepeatedField<uint64_t> &shape,
                                const std::string &name) {
  uint64_t elements = 1;
  for (uint64_t extent : shape) {
    require(extent == 0 || elements <= kMost / extent, "'" + name + "' has too many elements");
    elements *= extent;
  }
  return elements;
}

static uint64_t deviceBytes(const proto::Program &program) {
  for (const proto::Arena &arena : program.arenas())
    if (arena.tier() == proto::DEVICE)
      return arena.bytes();
  return 0;
}

static void expectMesh(const Executable &executable) {
  const proto::Program &program = executable.program;
  uint64_t ranks = 1, dataRanks = 1;
  require(program.mesh_size() <= 6, "the mesh has more than 6 axes");
  for (const proto::Axis &axis : program.mesh()) {
    ranks *= std::min(axis.size(), 4097u);
    require(ranks >= 1 && ranks <= 4096, "the mesh has no ranks, or more than 4096");
  }
  require(ranks == program.ranks(), "the mesh has other ranks than the program");
  for (uint32_t axis : program.data_axes()) {
    require(axis < uint32_t(program.mesh_size()), "the batch is cut over an axis that is none");
    dataRanks *= program.mesh(int(axis)).size();
  }
  refuse(dataRanks != ranks, "an axis of the mesh that the batch is not cut over");
}

static void expectBuffer(const Executable &executable, const proto::Buffer &buffer) {
  const proto::Program &program = executable.program;
  require(buffer.rank_strides_size() == 0 || buffer.rank_strides_size() == program.mesh_size(),
          "buffer '" + buffer.name() + "' has another number of strides than the mesh has axes");
  uint64_t shards = 1;
  for (uint32_t axis : buffer.shard_axes()) {
    require(axis < uint32_t(program.mesh_size()),
            "buffer '" + buffer.name() + "' has no such axis");
    shards *= program.mesh(int(axis)).size();
  }
  require(buffer.shards() == 1 || buffer.shards() == shards,
          "buffer '" + buffer.name() + "' has other slices than its axes");
  require(buffer.elements() < kMost / 8 / 4096 && buffer.offset() < kMost,
          "buffer '" + buffer.name() + "' is too large");
}

static void expectTensor(const proto::Program &program, const proto::Tensor &tensor) {
  refuse(tensor.tiles_size() > 0, "'" + tensor.name() + "' is cut into tiles");
  refuse(tensor.has_split(), "'" + tensor.name() + "' is split over an axis");
  refuse(tensor.has_blocks(), "'" + tensor.name() + "' is stored as codes");
  require(tensor.buffer() < uint32_t(program.buffers_size()),
          "'" + tensor.name() + "' is in a buffer that does not exist");
  const proto::Buffer &buffer = program.buffers(int(tensor.buffer()));
  const uint64_t elements = checkedElements(tensor.shape(), tensor.name());
  require(bytesOf(tensor.dtype()) == bytesOf(buffer.dtype()) && tensor.start() < kMost &&
              tensor.start() + elements <= buffer.elements() * buffer.shards(),
          "'" + tensor.name() + "' does not fit in its buffer");
}

static void expectCommand(const proto::Program &program, const proto::Command &command) {
  require(command.predicate() <= uint32_t(program.predicates_size()), "a predicate does not exist");
  require(command.body_case() != proto::Command::BODY_NOT_SET, "a command of no kind");
  refuse(command.has_check() && command.check().deferred(), "a check that is deferred");
  if (command.has_launch())
    require(command.launch().kernel() < uint32_t(program.kernels_size()),
            "a kernel does not exist");
  auto expectStrides = [&](const proto::Address &address) {
    require(address.rank_strides_size() == 0 || address.rank_strides_size() == program.mesh_size(),
            "an address has another number of strides than the mesh has axes");
    require(address.offset() < kMost && address.bytes() < kMost && int(address.tier()) >= 0 &&
                int(address.tier()) < 3,
            "an address is outside of all arenas");
  };
  for (const proto::Address &argument : command.launch().args())
    expectStrides(argument);
  for (const proto::Address &address : program.predicates())
    expectStrides(address);
  for (const proto::Address *address :
       {&command.copy().src(), &command.copy().dst(), &command.collective().src(),
        &command.collective().dst(), &command.check().value()})
    expectStrides(*address);
  require(command.copy().bytes() < kMost && command.collective().elements() < kMost / 4096 / 8,
          "a command moves more bytes than an arena has");
}

static void expectInput(const proto::Program &program, const proto::Input &input) {
  require(input.kind() != proto::Input::COORDINATE || input.axis() < uint32_t(program.mesh_size()),
          "input '" + input.name() + "' is a coordinate along no axis");
  const uint64_t bytes = checkedElements(input.shape(), input.name()) * bytesOf(input.dtype());
  require(input.offset() < kMost && input.offset() + bytes <= deviceBytes(program),
          "input '" + input.name() + "' is outside of the arena");
}

void expectSupported(const Executable &executable) {
  const proto::Program &program = executable.program;
  refuse(program.target() != proto::CPU, "a program for GPUs");
  expectMesh(executable);
  for (const proto::Buffer &buffer : program.buffers())
    expectBuffer(executable, buffer);
  for (const proto::Tensor &tensor : program.tensors())
    expectTensor(program, tensor);
  for (const proto::Input &input : program.inputs())
    expectInput(program, input);
  for (const proto::Output &output : program.outputs())
    require(checkedElements(output.shape(), output.name()) < kMost / 8 && output.offset() < kMost,
            "output '" + output.name() + "' is outside of the arena");
  int previous = -1;
  for (const proto::Segment &segment : program.segments()) {
    require(int(segment.kind()) > previous && int(segment.kind()) < 3, "segments are not in order");
    previous = int(segment.kind());
    require(segment.kind() == proto::Segment::EPILOGUE
                ? segment.repeat() <= 1
                : segment.repeat() == 1 || segment.repeat() == program.micro_batches(),
            "a segment repeats another number of times than there are micro-batches");
    for (uint32_t input : segment.inputs())
      require(input < uint32_t(program.inputs_size()), "a segment names an input that is none");
    for (const proto::Command &command : segment.commands())
      expectCommand(program, command);
  }
}

void expectReference(const Executable &executable) {
  const proto::Program &program = executable.program;
  bool onDevice = true;
  for (const proto::Arena &arena : program.arenas())
    onDevice &= arena.tier() == proto::DEVICE;
  require(program.ranks() == 1 && program.micro_batches() == 1 && program.stage() == 0 && onDevice,
          "expected a reference of one rank, one micro-batch and stage 0 on the device, got " +
              std::to_string(program.ranks()) + " ranks, " +
              std::to_string(program.micro_batches()) + " micro-batches and stage " +
              std::to_string(program.stage()) + (onDevice ? "" : " with other tiers"));
}

/// All that the initial value of a tensor follows from.
static std::string describeState(const Executable &executable, const proto::Tensor &tensor) {
  const proto::Program &program = executable.program;
  proto::Tensor state;
  state.set_dtype(tensor.dtype());
  *state.mutable_shape() = tensor.shape();
  *state.mutable_init() = tensor.init();
  if (tensor.init().has_file()) {
    const uint32_t file = tensor.init().file().file();
    require(file < uint32_t(program.files_size()),
            "'" + tensor.name() + "' is in a file that does not exist");
    state.mutable_init()->mutable_file()->set_file(0);
    return state.SerializeAsString() + " of " + program.files(int(file));
  }
  if (tensor.init().has_data())
    state.mutable_init()->mutable_data()->set_offset(0);
  return state.SerializeAsString() + executable.dataOf(tensor);
}

/// Of tensors whose terms are their names: also of constants in files, which are not read.
static std::map<std::string, std::string> statesOf(const Executable &executable) {
  std::map<std::string, std::string> states;
  for (const proto::Tensor &tensor : executable.program.tensors())
    if (tensor.role() != proto::CONSTANT || tensor.init().has_file())
      require(states.emplace(tensor.name(), describeState(executable, tensor)).second,
              "'" + tensor.name() + "' is there twice");
  return states;
}

static std::map<std::string, std::string> inputsOf(const Executable &executable) {
  std::map<std::string, std::string> inputs;
  for (const proto::Input &input : executable.program.inputs()) {
    proto::Input form;
    form.set_kind(input.kind());
    form.set_dtype(input.dtype());
    *form.mutable_shape() = input.shape();
    const std::string text = form.SerializeAsString();
    require(inputs.emplace(input.name(), text).first->second == text,
            "input '" + input.name() + "' has two forms");
  }
  return inputs;
}

static void expectSame(const std::map<std::string, std::string> &expected,
                       const std::map<std::string, std::string> &found, const std::string &kind) {
  for (const auto &[name, text] : expected) {
    auto it = found.find(name);
    require(it != found.end(), kind + " '" + name + "' of the reference is missing");
    require(it->second == text, kind + " '" + name +
                                    "' has another type, shape or initial value "
                                    "than in the reference");
  }
  for (const auto &[name, text] : found)
    require(expected.count(name) > 0, kind + " '" + name + "' is not in the reference");
}

void expectSameModel(const Executable &reference, const Executable &executable) {
  expectSame(statesOf(reference), statesOf(executable), "state");
  expectSame(inputsOf(reference), inputsOf(executable), "input");
  require(reference.program.learning_rate() == executable.program.learning_rate(),
          "another learning rate than in the reference");
}

} // namespace zero::check
