//===- support.cpp - programs that the checker knows ----------------------===//

#include "check/executable.h"

#include <map>

namespace zero::check {

static constexpr uint64_t kMost = uint64_t(1) << 56; ///< more elements or bytes are no program

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

/// How many ranks there are along some axes.
static uint64_t ranksAlong(const proto::Program &program,
                           const google::protobuf::RepeatedField<uint32_t> &axes,
                           const std::string &name) {
  uint64_t ranks = 1;
  for (uint32_t axis : axes) {
    require(axis < uint32_t(program.mesh_size()),
            "'" + name + "' is cut over an axis that is none");
    ranks *= program.mesh(int(axis)).size();
  }
  return ranks;
}

static void expectMesh(const proto::Program &program) {
  uint64_t ranks = 1;
  require(program.mesh_size() <= 6, "the mesh has more than 6 axes");
  for (const proto::Axis &axis : program.mesh()) {
    ranks *= std::min(axis.size(), 4097u);
    require(ranks >= 1 && ranks <= 4096, "the mesh has no ranks, or more than 4096");
  }
  require(ranks == program.ranks(), "the mesh has other ranks than the program");
  ranksAlong(program, program.data_axes(), "batch");
}

static void expectBuffer(const proto::Program &program, const proto::Buffer &buffer) {
  require(buffer.rank_strides_size() == 0 || buffer.rank_strides_size() == program.mesh_size(),
          "buffer '" + buffer.name() + "' has another number of strides than the mesh has axes");
  require(buffer.shards() == 1 ||
              buffer.shards() == ranksAlong(program, buffer.shard_axes(), buffer.name()),
          "buffer '" + buffer.name() + "' has other slices than its axes");
  require(buffer.elements() < kMost / 8 / 4096 && buffer.offset() < kMost,
          "buffer '" + buffer.name() + "' is too large");
}

static void expectTensor(const proto::Program &program, const proto::Tensor &tensor) {
  require(tensor.buffer() < uint32_t(program.buffers_size()),
          "'" + tensor.name() + "' is in a buffer that does not exist");
  const proto::Buffer &buffer = program.buffers(int(tensor.buffer()));
  const uint64_t elements = checkedElements(tensor.shape(), tensor.name());
  const uint64_t parts = ranksAlong(program, tensor.split().axes(), tensor.name());
  require((setOf(tensor.split().axes()) & setOf(program.data_axes())) == 0,
          "'" + tensor.name() + "' is split as the batch is: not handled by the checker yet");
  require(elements % parts == 0, "'" + tensor.name() + "' is split into unequal parts");
  require(bytesOf(tensor.dtype()) == bytesOf(buffer.dtype()) && tensor.start() < kMost &&
              tensor.start() + elements / parts <= buffer.elements() * buffer.shards(),
          "'" + tensor.name() + "' does not fit in its buffer");
}

static void expectCommand(const proto::Program &program, const proto::Command &command) {
  require(command.predicate() <= uint32_t(program.predicates_size()), "a predicate does not exist");
  require(command.body_case() != proto::Command::BODY_NOT_SET, "a command of no kind");
  require(!command.check().deferred(), "a check that is deferred: not handled by the checker yet");
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
  require(checkedElements(input.shape(), input.name()) < kMost / 8 && input.offset() < kMost,
          "input '" + input.name() + "' is outside of the arena");
}

void expectSupported(const Executable &executable) {
  const proto::Program &program = executable.program;
  require(program.target() == proto::CPU, "a program for GPUs: not handled by the checker yet");
  expectMesh(program);
  for (const proto::Buffer &buffer : program.buffers())
    expectBuffer(program, buffer);
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

std::vector<uint32_t> partAxes(const proto::Program &reference, const proto::Program &program) {
  std::vector<uint32_t> axes(program.data_axes().begin(), program.data_axes().end());
  std::erase_if(axes, [&](uint32_t axis) {
    return axis < uint32_t(reference.mesh_size()) && reference.mesh(int(axis)).size() > 1;
  });
  return axes;
}

void expectReference(const proto::Program &reference, const proto::Program &program) {
  const uint32_t parts = setOf(partAxes(reference, program));
  uint64_t ranks = 1;
  for (int i = 0; i < program.mesh_size(); ++i) {
    const proto::Axis &axis = program.mesh(i);
    if (axis.size() == 1 || parts >> i & 1)
      continue;
    ranks *= axis.size();
    require(i < reference.mesh_size() && reference.mesh(i).name() == axis.name() &&
                reference.mesh(i).size() == axis.size(),
            "expected a reference with " + std::to_string(axis.size()) + " ranks along '" +
                axis.name() + "'");
  }
  const bool onDevice = reference.arenas_size() == 1 && reference.arenas(0).tier() == proto::DEVICE;
  require(
      reference.ranks() == ranks && reference.micro_batches() == 1 && reference.stage() == 0 &&
          onDevice,
      "expected a reference of " + (ranks == 1 ? "one rank" : std::to_string(ranks) + " ranks") +
          ", one micro-batch and stage 0 on the device, got " + std::to_string(reference.ranks()) +
          " ranks, " + std::to_string(reference.micro_batches()) + " micro-batches and stage " +
          std::to_string(reference.stage()) + (onDevice ? "" : " with other tiers"));
}

/// All that the initial value of a tensor follows from.
static std::string describeState(const Executable &executable, const proto::Tensor &tensor) {
  proto::Tensor state;
  state.set_dtype(tensor.dtype());
  *state.mutable_shape() = tensor.shape();
  *state.mutable_init() = tensor.init();
  *state.mutable_split() = tensor.split();
  state.set_tile_axis(tensor.tile_axis());
  *state.mutable_blocks() = tensor.blocks();
  if (tensor.init().has_file()) {
    const uint32_t file = tensor.init().file().file();
    require(file < uint32_t(executable.program.files_size()),
            "'" + tensor.name() + "' is in a file that does not exist");
    state.mutable_init()->mutable_file()->set_file(0);
    return state.SerializeAsString() + " of " + executable.program.files(int(file));
  }
  if (tensor.init().has_data())
    state.mutable_init()->mutable_data()->set_offset(0);
  return state.SerializeAsString() + executable.dataOf(tensor);
}

/// Of tensors whose terms are their names (also of constants in files, which are not read) and of
/// inputs: all that has to be the same, by kind and name.
static std::map<std::string, std::string> formsOf(const Executable &executable) {
  std::map<std::string, std::string> forms;
  for (const proto::Tensor &tensor : executable.program.tensors())
    if (tensor.role() != proto::CONSTANT || tensor.init().has_file())
      require(forms.emplace("state '" + tensor.name(), describeState(executable, tensor)).second,
              "'" + tensor.name() + "' is there twice");
  for (const proto::Input &input : executable.program.inputs()) {
    proto::Input form;
    form.set_kind(input.kind());
    form.set_dtype(input.dtype());
    *form.mutable_shape() = input.shape();
    form.set_axis(input.axis());
    const std::string text = form.SerializeAsString();
    require(forms.emplace("input '" + input.name(), text).first->second == text,
            "input '" + input.name() + "' has two forms");
  }
  return forms;
}

void expectSameModel(const Executable &reference, const Executable &executable) {
  const std::map<std::string, std::string> expected = formsOf(reference),
                                           found = formsOf(executable);
  for (const auto &[name, form] : expected) {
    auto it = found.find(name);
    require(it != found.end(), name + "' of the reference is missing");
    require(it->second == form,
            name + "' has another type, shape or initial value than in the reference");
  }
  for (const auto &[name, form] : found)
    require(expected.count(name) > 0, name + "' is not in the reference");
  require(reference.program.learning_rate() == executable.program.learning_rate(),
          "another learning rate than in the reference");
}

} // namespace zero::check
