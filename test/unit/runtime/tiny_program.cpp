//===- tiny_program.cpp - a training step by hand -------------------------===//

#include "tiny_program.h"

#include "runtime/device/cpu/matmul.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <initializer_list>
#include <iterator>
#include <unistd.h>

using namespace zero::rt;
using Segment = proto::Segment;

namespace {

enum Kernels { Forward, Backward, MeanLoss, Sgd, Range, Increment };

proto::Address address(uint64_t offset, int64_t stride = 0) {
  proto::Address result;
  result.set_offset(offset);
  result.set_rank_stride(stride);
  return result;
}

void addMatmul(proto::Program &program, const char *name, proto::Matmul product, uint64_t &space) {
  uint64_t bytes = 0;
  product.set_dtype(proto::F32);
  product.set_alpha(1);
  auto *kernel = program.add_kernels();
  kernel->set_name(name);
  *kernel->mutable_matmul() = product;
  EXPECT_EQ(zero_rt_library_workspace(*kernel, bytes), "");
  kernel->set_workspace(bytes);
  space = std::max(space, bytes);
}

proto::Matmul product(std::array<uint64_t, 3> mnk, std::array<int64_t, 6> strides) {
  proto::Matmul result;
  result.set_m(mnk[0]), result.set_n(mnk[1]), result.set_k(mnk[2]);
  for (int i = 0; i < 2; ++i) {
    result.add_a_strides(strides[i]);
    result.add_b_strides(strides[2 + i]);
    result.add_c_strides(strides[4 + i]);
  }
  return result;
}

proto::Command &launch(Segment &segment, int kernel, std::initializer_list<uint64_t> args,
                       int64_t length = 0) {
  proto::Command &command = *segment.add_commands();
  command.set_label("kernel " + std::to_string(kernel));
  command.mutable_launch()->set_kernel(kernel);
  command.mutable_launch()->set_length(length);
  for (uint64_t arg : args)
    *command.mutable_launch()->add_args() = address(arg);
  return command;
}

proto::Collective &collective(Segment &segment, const char *label, proto::Collective::Kind kind,
                              uint64_t elements) {
  proto::Command &command = *segment.add_commands();
  command.set_label(label);
  command.set_lane(proto::COLLECTIVE);
  command.mutable_collective()->set_kind(kind);
  command.mutable_collective()->set_dtype(proto::F32);
  command.mutable_collective()->set_elements(elements);
  return *command.mutable_collective();
}

void addInput(proto::Program &program, const char *name, proto::DType dtype,
              std::initializer_list<uint64_t> shape, uint64_t offset) {
  auto *input = program.add_inputs();
  input->set_name(name);
  input->set_dtype(dtype);
  input->set_offset(offset);
  for (uint64_t dim : shape)
    input->add_shape(dim);
}

} // namespace

static void addState(TinyProgram &tiny, int ranks) {
  auto add = [&](const char *name, proto::Role role, proto::DType dtype, uint64_t elements,
                 uint32_t shards, uint64_t offset, std::initializer_list<uint64_t> shape) {
    auto *tensor = tiny.program.add_tensors();
    tensor->set_buffer(tiny.program.buffers_size());
    tensor->set_name(name);
    tensor->set_role(role);
    tensor->set_dtype(dtype);
    for (uint64_t dim : shape)
      tensor->add_shape(dim);
    auto *buffer = tiny.program.add_buffers();
    buffer->set_name(std::string(name) + ".buffer");
    buffer->set_role(role);
    buffer->set_dtype(dtype);
    buffer->set_elements(elements);
    buffer->set_shards(shards);
    buffer->set_offset(offset);
    return tensor;
  };
  auto *weight = add("w", proto::PARAMETER, proto::F32, tiny.slice, ranks, tiny.at.shard, {4, 3});
  weight->mutable_init()->mutable_data()->set_bytes(48);
  weight->set_saved(true);
  add("count", proto::OPTIMIZER, proto::I64, 1, 1, tiny.at.count, {1})
      ->mutable_init()
      ->set_splat(5);
  add("ranks", proto::CONSTANT, proto::F32, 1, 1, tiny.at.constant, {1})
      ->mutable_init()
      ->set_splat(ranks);
}

static void addValues(TinyProgram &tiny) {
  addInput(tiny.program, "x", proto::F32, {2, 4}, tiny.at.x);
  addInput(tiny.program, "label", proto::I64, {2}, tiny.at.label);
  addInput(tiny.program, "learning_rate", proto::F32, {}, tiny.at.lr);
  tiny.program.mutable_inputs(2)->set_kind(proto::Input::LEARNING_RATE);
  tiny.program.set_learning_rate(0.5f);
  for (auto [name, offset] : {std::pair("loss", tiny.at.loss), {"local_loss", tiny.at.localLoss}}) {
    auto *output = tiny.program.add_outputs();
    output->set_name(name);
    output->set_dtype(proto::F32);
    output->set_offset(offset);
  }
  auto *gradient = tiny.program.add_gradients();
  gradient->set_parameter("w");
  gradient->mutable_buffer()->set_dtype(proto::F32);
  gradient->mutable_buffer()->set_elements(tiny.slice);
  gradient->mutable_buffer()->set_shards(tiny.program.ranks());
  gradient->mutable_buffer()->set_offset(tiny.at.gradient);
  gradient->mutable_buffer()->set_rank_stride(int64_t(tiny.slice) * 4);
}

static void addMicroBatch(TinyProgram &tiny) {
  const auto &at = tiny.at;
  Segment &step = tiny.segment(0);
  auto &gather = collective(step, "gather w", proto::Collective::ALL_GATHER, tiny.slice);
  *gather.mutable_src() = address(at.shard);
  *gather.mutable_dst() = address(at.full);
  launch(step, Range, {at.label, at.range});
  auto &check = *step.add_commands();
  check.set_label("gather_nodes");
  *check.mutable_check()->mutable_value() = address(at.range);
  check.mutable_check()->set_upper(9);
  check.mutable_check()->set_message("index out of range");
  launch(step, Forward, {at.x, at.full, at.y, at.workspace});
  launch(step, MeanLoss, {at.y, at.constant, at.localLoss, at.dy});
  auto &copy = *step.add_commands();
  *copy.mutable_copy()->mutable_src() = address(at.localLoss);
  *copy.mutable_copy()->mutable_dst() = address(at.loss);
  copy.mutable_copy()->set_bytes(4);
  auto &mean = collective(step, "mean loss", proto::Collective::ALL_REDUCE, 1);
  *mean.mutable_src() = *mean.mutable_dst() = address(at.loss);
  mean.set_mean(true);
  mean.set_control(true);
  for (proto::Command &command : *step.mutable_commands())
    command.set_forward(true);
  launch(step, Backward, {at.x, at.dy, at.gradient, at.workspace});
  auto &reduce = collective(step, "reduce w", proto::Collective::REDUCE_SCATTER, tiny.slice);
  *reduce.mutable_src() = address(at.gradient);
  *reduce.mutable_dst() = address(at.gradient, int64_t(tiny.slice) * 4);
}

TinyProgram::TinyProgram(int ranks, int microBatches) : slice((12 + ranks - 1) / ranks) {
  program.set_name("tiny");
  program.set_ranks(ranks);
  program.set_micro_batches(microBatches);
  uint64_t space = 64;
  addMatmul(program, "forward", product({2, 3, 4}, {4, 1, 3, 1, 3, 1}), space);
  addMatmul(program, "backward", product({4, 3, 2}, {1, 4, 3, 1, 3, 1}), space);
  for (const char *symbol : {"mean_loss", "sgd", "range", "increment", "hang"}) {
    auto *kernel = program.add_kernels();
    kernel->set_name(symbol);
    kernel->set_symbol(symbol);
  }
  uint64_t next = 0;
  auto reserve = [&](uint64_t bytes) {
    uint64_t offset = next;
    next += (bytes + 63) / 64 * 64;
    return offset;
  };
  uint64_t bucket = slice * ranks * 4;
  at.shard = reserve(slice * 4), at.count = reserve(8), at.constant = reserve(4);
  at.lr = reserve(4), at.x = reserve(32), at.label = reserve(16), at.y = reserve(24);
  at.dy = reserve(24), at.loss = reserve(4), at.localLoss = reserve(4), at.range = reserve(16);
  at.full = reserve(bucket), at.gradient = reserve(bucket), at.workspace = reserve(space);
  at.end = next;
  auto *arena = program.add_arenas();
  arena->set_bytes(at.end);
  addState(*this, ranks);
  addValues(*this);
  program.add_segments()->set_kind(Segment::MICRO_BATCH);
  program.add_segments()->set_kind(Segment::EPILOGUE);
  segment(0).set_repeat(microBatches);
  addMicroBatch(*this);
  auto &update = launch(segment(1), Sgd, {at.shard, at.gradient, at.lr}, int64_t(slice));
  update.mutable_launch()->mutable_args(1)->set_rank_stride(int64_t(slice) * 4);
  launch(segment(1), Increment, {at.count});
}

std::string testKernels() {
  std::ifstream file(ZERO_TEST_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string tinyWeights() {
  float weights[12];
  for (int i = 0; i < 12; ++i)
    weights[i] = float(i) / 8;
  return {reinterpret_cast<const char *>(weights), sizeof(weights)};
}

std::string TinyProgram::write(const std::string &name, const std::string &isa) const {
  std::string path = testing::TempDir() + "zero-" + std::to_string(::getpid()) + "-" + name;
  EXPECT_EQ(writeExecutable(path, program, testKernels(), tinyWeights(), isa), "");
  return path;
}
