//===- mesh_program.cpp - a hand-written step on a mesh of ranks ----------===//

#include "mesh_program.h"

#include "parts.h"
#include "runtime/format/tables.h"

#include <fstream>
#include <unistd.h>

using namespace zero::rt;

namespace {
enum Kernels { Forward, Backward, ShareLoss, Sgd, Increment };
} // namespace

std::string meshWeightsFile() {
  const std::string path = testing::TempDir() + "zero-mesh-" + std::to_string(::getpid());
  std::vector<float> values;
  for (uint64_t i = 0; i < MeshProgram::kElements; ++i)
    values.push_back(float(int(i * 7 % 31) - 15) / 8);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(values.data()), std::streamsize(values.size() * 4));
  return path;
}

void MeshProgram::addMesh(const std::vector<int> &sizes) {
  uint32_t ranks = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool isLast = i + 1 == sizes.size();
    auto *axis = program.add_mesh();
    axis->set_name(isLast ? "tensor" : "data" + std::to_string(i));
    axis->set_size(uint32_t(sizes[i]));
    ranks *= axis->size();
    (isLast ? tensorRanks : dataRanks) *= axis->size();
    if (!isLast)
      program.add_data_axes(uint32_t(i));
  }
  program.set_ranks(ranks);
}

/// Adds the axes of data to a list of axes.
template <typename Axes>
void MeshProgram::addDataAxes(Axes &axes) const {
  for (const uint32_t axis : program.data_axes())
    axes.Add(axis);
}

/// The address of the own slice of what is at `offset`.
proto::Address MeshProgram::sliceOf(uint64_t offset) const {
  proto::Address made = address(offset);
  std::vector<int64_t> strides(size_t(program.mesh_size()));
  auto stride = int64_t(slice * 4);
  for (int axis = program.mesh_size() - 1; axis-- > 0; stride *= program.mesh(axis).size())
    strides[size_t(axis)] = stride;
  made.mutable_rank_strides()->Assign(strides.begin(), strides.end());
  return made;
}

void MeshProgram::addState() {
  const auto tensor = uint32_t(program.mesh_size() - 1);
  auto split = [&](proto::Tensor &made, uint32_t dimension) -> proto::Split & {
    made.mutable_split()->set_dimension(dimension);
    made.mutable_split()->add_axes(tensor);
    return *made.mutable_split();
  };
  auto cut = [&](proto::Tensor &made) {
    proto::Buffer &buffer = *program.mutable_buffers(int(made.buffer()));
    buffer.clear_shard_axes();
    if (buffer.shards() > 1)
      addDataAxes(*buffer.mutable_shard_axes());
  };
  // Every rank holds all of its share, except at stage 3.
  const bool sharded = stage == 3 && dataRanks > 1;
  auto &weight = *addTensor(program, "w", proto::PARAMETER, proto::F32,
                            {sharded ? slice : held, sharded ? uint32_t(dataRanks) : 1, at.shard},
                            {kIn, kOut});
  auto *file = weight.mutable_init()->mutable_file();
  file->set_bytes(kElements * 4);
  weight.set_saved(true);
  // Shares of 4 and 8 columns, or of 6 and 6 where these do not divide.
  auto &parts = *split(weight, 1).mutable_parts();
  parts.Add(4 % tensorRanks == 0 ? 4 : 6), parts.Add(kOut - parts[0]);
  cut(weight);
  // State that no command uses: slices that ranks along the last axis have in common, and a split
  // along the first dimension of what all data ranks have.
  cut(*addTensor(program, "vector", proto::OPTIMIZER, proto::F32,
                 {(10 + dataRanks - 1) / dataRanks, uint32_t(dataRanks), at.vector}, {2, 5}));
  auto &random = *addTensor(program, "random", proto::OPTIMIZER, proto::F32,
                            {24 / tensorRanks, 1, at.random}, {12, 2});
  split(random, 0);
  for (proto::Tensor *drawn : {program.mutable_tensors(1), &random}) {
    auto *how = drawn->mutable_init()->mutable_random();
    how->set_second(1), how->set_stream(drawn == &random), how->set_seed(7);
  }
  auto constant = [&](const char *name, uint64_t offset, double value) {
    addTensor(program, name, proto::CONSTANT, proto::F32, {1, 1, offset}, {1})
        ->mutable_init()
        ->set_splat(value);
  };
  addTensor(program, "count", proto::OPTIMIZER, proto::I64, {1, 1, at.count}, {1})
      ->mutable_init()
      ->set_splat(5);
  constant("scale", at.scale, double(dataRanks) / 32);
  constant("slope", at.slope, 1.0 / 32);
}

void MeshProgram::addValues() {
  addInput(program, "x", proto::F32, {rows, kIn}, at.x);
  addInput(program, "learning_rate", proto::F32, {}, at.rate);
  program.mutable_inputs(1)->set_kind(proto::Input::LEARNING_RATE);
  addInput(program, "part", proto::I64, {}, at.part);
  program.mutable_inputs(2)->set_kind(proto::Input::PART);
  addInput(program, "coordinate", proto::I64, {}, at.coordinate);
  program.mutable_inputs(3)->set_kind(proto::Input::COORDINATE);
  program.mutable_inputs(3)->set_axis(uint32_t(program.mesh_size() - 1));
  program.set_learning_rate(0.5f);
  addOutput(program, "loss", proto::F32, at.loss);
  addOutput(program, "local_loss", proto::F32, at.localLoss);
  addOutput(program, "part", proto::I64, at.part);
  addOutput(program, "coordinate", proto::I64, at.coordinate);
  auto *gradient = program.add_gradients();
  gradient->set_parameter("w");
  proto::Buffer &buffer = *gradient->mutable_buffer();
  buffer.set_dtype(proto::F32);
  buffer.set_offset(at.gradient);
  buffer.set_shards(stage > 0 ? uint32_t(dataRanks) : 1);
  buffer.set_elements(stage > 0 ? slice : held);
  if (stage > 0) {
    addDataAxes(*buffer.mutable_shard_axes());
    *buffer.mutable_rank_strides() = sliceOf(at.gradient).rank_strides();
  }
}

void MeshProgram::addMicroBatch() {
  using Collective = proto::Collective;
  Segment &step = segment(0);
  if (stage == 3) {
    auto &gather = collective(step, "gather w", Collective::ALL_GATHER, slice);
    *gather.mutable_src() = address(at.shard);
    *gather.mutable_dst() = address(at.full);
    addDataAxes(*gather.mutable_axes());
  }
  const uint64_t weights = stage == 3 ? at.full : at.shard;
  launch(step, Forward, {at.x, weights, at.y, at.workspace});
  launch(step, ShareLoss, {at.y, at.scale, at.slope, at.localLoss, at.dy}, int64_t(rows * columns));
  auto reduce = [&](const char *label, uint64_t place) -> Collective & {
    auto &made = collective(step, label, Collective::ALL_REDUCE, 1);
    *made.mutable_src() = *made.mutable_dst() = address(place);
    return made;
  };
  // The columns of all ranks along the last axis.
  reduce("sum of shares", at.localLoss).add_axes(uint32_t(program.mesh_size() - 1));
  auto &copy = *step.add_commands();
  *copy.mutable_copy()->mutable_src() = address(at.localLoss);
  *copy.mutable_copy()->mutable_dst() = address(at.loss);
  copy.mutable_copy()->set_bytes(4);
  auto &mean = reduce("mean loss", at.loss);
  mean.set_mean(true);
  mean.set_control(true);
  addDataAxes(*mean.mutable_axes());
  for (proto::Command &command : *step.mutable_commands())
    command.set_forward(true);
  launch(step, Backward, {at.x, at.dy, at.gradient, at.workspace});
  auto &sum =
      collective(step, "reduce w", stage > 0 ? Collective::REDUCE_SCATTER : Collective::ALL_REDUCE,
                 stage > 0 ? slice : held);
  *sum.mutable_src() = address(at.gradient);
  *sum.mutable_dst() = stage > 0 ? sliceOf(at.gradient) : address(at.gradient);
  addDataAxes(*sum.mutable_axes());
}

void MeshProgram::addUpdate() {
  Segment &update = segment(1);
  launch(update, Sgd, {at.shard, at.gradient, at.rate}, int64_t(stage > 0 ? slice : held));
  launch(update, Increment, {at.count});
  if (stage != 1)
    return;
  auto &gather = collective(update, "gather w", proto::Collective::ALL_GATHER, slice);
  *gather.mutable_src() = sliceOf(at.shard);
  *gather.mutable_dst() = address(at.shard);
  addDataAxes(*gather.mutable_axes());
}

/// Closed forms of what a rank receives along the axes of data, and along the last one.
void MeshProgram::addVolumes() {
  auto add = [&](uint64_t elements, int first, int end) {
    if (elements == 0)
      return;
    auto *volume = program.add_volumes();
    volume->set_elements(elements);
    for (int axis = first; axis < end; ++axis)
      if (program.mesh(axis).size() > 1)
        volume->add_axes(uint32_t(axis));
    program.set_received_elements(program.received_elements() + elements);
  };
  const int last = program.mesh_size() - 1;
  add(2 * held * (dataRanks - 1) / dataRanks, 0, last);
  add(tensorRanks - 1, last, last + 1); // the first member adds the one number up
}

MeshProgram::MeshProgram(const std::vector<int> &sizes, int stage) : stage(stage) {
  addMesh(sizes);
  program.set_name("mesh");
  program.set_stage(uint32_t(stage));
  program.set_threads(1);
  program.set_micro_batches(1);
  rows = kRows / dataRanks, columns = kOut / tensorRanks;
  held = kElements / tensorRanks, slice = held / dataRanks;
  const auto n = int64_t(columns);
  uint64_t space = 0;
  addMatmul(program, "forward", product({rows, columns, kIn}, {4, 1, n, 1, n, 1}), space);
  addMatmul(program, "backward", product({kIn, columns, rows}, {1, 4, n, 1, n, 1}), space);
  addKernels(program, {{"share_loss", {4, 0, 0, 0, 4}}, {"sgd", {4, 4, 0}}, {"increment"}});
  Places reserve;
  at.shard = reserve((stage == 3 ? slice : held) * 4), at.vector = reserve(40);
  at.random = reserve(96), at.count = reserve(8), at.scale = reserve(4), at.slope = reserve(4);
  at.rate = reserve(4), at.x = reserve(rows * kIn * 4), at.part = reserve(8);
  at.coordinate = reserve(8), at.y = reserve(rows * columns * 4);
  at.dy = reserve(rows * columns * 4), at.loss = reserve(4), at.localLoss = reserve(4);
  at.full = reserve(held * 4), at.gradient = reserve(held * 4);
  at.workspace = space > 0 ? reserve(space) : 0;
  program.add_arenas()->set_bytes(reserve.end);
  addState();
  addValues();
  program.add_segments()->set_kind(Segment::MICRO_BATCH);
  program.add_segments()->set_kind(Segment::EPILOGUE);
  segment(0).set_repeat(1);
  addMicroBatch();
  addUpdate();
  addVolumes();
  numberValues(reserve.bytes, {"rrww", "rrww", "rrrww", "urr", "u"});
  if (stage == 0)
    return;
  // The update works on slices, of the gradient and, at stage 1, of the weights.
  auto &arguments = *segment(1).mutable_commands(0)->mutable_launch()->mutable_args();
  for (int i : {0, 1}) {
    const bool isSlice = i == 1 || stage == 1;
    if (isSlice)
      *arguments[i].mutable_rank_strides() = sliceOf(0).rank_strides();
    arguments[i].set_bytes(slice * 4);
  }
}
