//===- tiny_program.cpp - a hand-written training step --------------------===//

#include "tiny_program.h"

#include "parts.h"

#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace zero::rt;

namespace {
enum Kernels { Forward, Backward, MeanLoss, Sgd, Range, Increment };
} // namespace

static void addState(TinyProgram &tiny, int ranks) {
  auto *weight = addTensor(tiny.program, "w", proto::PARAMETER, proto::F32,
                           {tiny.slice, uint32_t(ranks), tiny.at.shard}, {4, 3});
  weight->mutable_init()->mutable_data()->set_bytes(48);
  weight->set_saved(true);
  addTensor(tiny.program, "count", proto::OPTIMIZER, proto::I64, {1, 1, tiny.at.count}, {1})
      ->mutable_init()
      ->set_splat(5);
  addTensor(tiny.program, "ranks", proto::CONSTANT, proto::F32, {1, 1, tiny.at.constant}, {1})
      ->mutable_init()
      ->set_splat(ranks);
}

static void addValues(TinyProgram &tiny) {
  addInput(tiny.program, "x", proto::F32, {2, 4}, tiny.at.x);
  addInput(tiny.program, "label", proto::I64, {2}, tiny.at.label);
  addInput(tiny.program, "learning_rate", proto::F32, {}, tiny.at.lr);
  tiny.program.mutable_inputs(2)->set_kind(proto::Input::LEARNING_RATE);
  tiny.program.set_learning_rate(0.5f);
  addOutput(tiny.program, "loss", proto::F32, tiny.at.loss);
  addOutput(tiny.program, "local_loss", proto::F32, tiny.at.localLoss);
  auto *gradient = tiny.program.add_gradients();
  gradient->set_parameter("w");
  gradient->mutable_buffer()->set_dtype(proto::F32);
  gradient->mutable_buffer()->set_elements(tiny.slice);
  gradient->mutable_buffer()->set_shards(tiny.program.ranks());
  if (tiny.program.ranks() > 1)
    gradient->mutable_buffer()->add_shard_axes(0);
  gradient->mutable_buffer()->set_offset(tiny.at.gradient);
  gradient->mutable_buffer()->add_rank_strides(int64_t(tiny.slice) * 4);
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
  setRanks(program, ranks);
  program.set_threads(1);
  program.set_micro_batches(microBatches);
  uint64_t space = 0;
  addMatmul(program, "forward", product({2, 3, 4}, {4, 1, 3, 1, 3, 1}), space);
  addMatmul(program, "backward", product({4, 3, 2}, {1, 4, 3, 1, 3, 1}), space);
  addKernels(program, {{"mean_loss"}, {"sgd", {4, 4, 0}}, {"range"}, {"increment"}, {"hang"}});
  Places reserve;
  uint64_t bucket = slice * ranks * 4;
  at.shard = reserve(slice * 4), at.count = reserve(8), at.constant = reserve(4);
  at.lr = reserve(4), at.x = reserve(32), at.label = reserve(16), at.y = reserve(24);
  at.dy = reserve(24), at.loss = reserve(4), at.localLoss = reserve(4), at.range = reserve(16);
  at.full = reserve(bucket), at.gradient = reserve(bucket);
  at.workspace = space > 0 ? reserve(space) : 0;
  at.end = reserve.end;
  auto *arena = program.add_arenas();
  arena->set_bytes(at.end);
  addState(*this, ranks);
  addValues(*this);
  program.add_segments()->set_kind(Segment::MICRO_BATCH);
  program.add_segments()->set_kind(Segment::EPILOGUE);
  segment(0).set_repeat(microBatches);
  segment(0).add_inputs(0), segment(0).add_inputs(1);
  addMicroBatch(*this);
  auto &update = launch(segment(1), Sgd, {at.shard, at.gradient, at.lr}, int64_t(slice));
  update.mutable_launch()->mutable_args(1)->add_rank_strides(int64_t(slice) * 4);
  launch(segment(1), Increment, {at.count});
  numberValues(reserve.bytes, {"rrww", "rrww", "rrww", "urr", "rw", "u"});
}

static void isRead(proto::Address &address) { address.set_reads(uint32_t(address.offset() + 1)); }
static void isWritten(proto::Address &address) {
  address.set_writes(uint32_t(address.offset() + 1));
}

static void numberLaunch(proto::Launch &launch, const std::map<uint64_t, uint64_t> &bytes,
                         const char *uses) {
  for (proto::Address &address : *launch.mutable_args()) {
    // the bytes of a slice, if each rank has its own
    const uint64_t slice = address.rank_strides_size() > 0 ? uint64_t(address.rank_strides(0)) : 0;
    address.set_bytes(slice > 0 ? slice : bytes.at(address.offset()));
    if (*uses != 'w')
      isRead(address);
    if (*uses++ != 'r')
      isWritten(address);
  }
}

void HandMadeProgram::numberValues(const std::map<uint64_t, uint64_t> &bytes,
                                   const std::vector<const char *> &uses) {
  dropUnusedWorkspaces(program);
  for (auto &segment : *program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      if (command.has_launch()) {
        numberLaunch(*command.mutable_launch(), bytes, uses[command.launch().kernel()]);
      } else if (command.has_check()) {
        isRead(*command.mutable_check()->mutable_value());
      } else if (command.has_copy()) {
        isRead(*command.mutable_copy()->mutable_src());
        isWritten(*command.mutable_copy()->mutable_dst());
      } else {
        isRead(*command.mutable_collective()->mutable_src());
        isWritten(*command.mutable_collective()->mutable_dst());
      }
  for (proto::Address &predicate : *program.mutable_predicates())
    isRead(predicate);
  for (proto::Input &input : *program.mutable_inputs())
    input.set_value(uint32_t(input.offset() + 1));
  for (proto::Output &output : *program.mutable_outputs())
    output.set_value(uint32_t(output.offset() + 1));
  for (proto::Buffer &buffer : *program.mutable_buffers())
    buffer.set_value(uint32_t(buffer.offset() + 1));
  for (proto::Gradient &gradient : *program.mutable_gradients()) {
    gradient.mutable_buffer()->set_value(uint32_t(gradient.buffer().offset() + 1));
    if (gradient.has_scale())
      isRead(*gradient.mutable_scale());
  }
  program.mutable_arenas(0)->set_alignment(64);
}

void orderLanes(proto::Program &program) {
  for (proto::Segment &segment : *program.mutable_segments()) {
    std::map<int, int> last; // by lane
    for (int i = 0; i < segment.commands_size(); ++i) {
      proto::Command &command = *segment.mutable_commands(i);
      command.clear_waits();
      for (auto [lane, earlier] : last)
        if (lane != command.lane())
          command.add_waits(uint32_t(earlier));
      last[command.lane()] = i;
    }
  }
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

std::string HandMadeProgram::write(const std::string &name, const std::string &isa) const {
  std::string path = testing::TempDir() + "zero-" + std::to_string(::getpid()) + "-" + name;
  proto::Program ordered = program;
  order(ordered);
  EXPECT_EQ(writeExecutable(path, ordered, code.empty() ? testKernels() : code, tinyWeights(), isa,
                            hostCode),
            "");
  return path;
}
