//===- mixed_program.cpp - a mixed-precision step by hand -----------------===//

#include "mixed_program.h"

#include "parts.h"

using namespace zero::rt;

namespace {
enum Kernels {
  Forward,
  Backward,
  CountLabels,
  Add,
  MaskedLoss,
  Widen,
  AddWide,
  Measure,
  Decide,
  Update,
  Rescale
};
} // namespace

static proto::Command &when(proto::Command &command, proto::Command::When iterations) {
  command.set_when(iterations);
  return command;
}

static void copy(Segment &segment, uint64_t from, uint64_t to, uint64_t bytes,
                 proto::Command::When iterations = proto::Command::ALWAYS) {
  auto &command = when(*segment.add_commands(), iterations);
  *command.mutable_copy()->mutable_src() = address(from);
  *command.mutable_copy()->mutable_dst() = address(to);
  command.mutable_copy()->set_bytes(bytes);
}

/// Sums a control value in place.
static void sum(Segment &segment, const char *label, uint64_t at, uint64_t elements) {
  auto &reduce = collective(segment, label, proto::Collective::ALL_REDUCE, elements);
  *reduce.mutable_src() = *reduce.mutable_dst() = address(at);
  reduce.set_control(true);
}

static void addState(MixedProgram &mixed, double scale) {
  const auto shards = uint32_t(mixed.program.ranks());
  const auto &at = mixed.at;
  auto *weight = addTensor(mixed.program, "w", proto::PARAMETER, proto::BF16,
                           {mixed.slice, shards, at.shard}, {4, 3});
  weight->mutable_init()->mutable_data()->set_bytes(48);
  weight->mutable_init()->mutable_data()->set_stored(proto::F32);
  weight->set_saved(true);
  auto *master = addTensor(mixed.program, "w.master", proto::OPTIMIZER, proto::F32,
                           {mixed.slice, shards, at.master}, {4, 3});
  master->mutable_init()->mutable_data()->set_bytes(48);
  master->set_of("w");
  master->set_master(true);
  auto *bias = addTensor(mixed.program, "b", proto::PARAMETER, proto::BF16, {3, 1, at.bias}, {3});
  bias->mutable_init()->set_splat(0.5);
  bias->set_frozen(true);
  bias->set_saved(true);
  addTensor(mixed.program, "scale", proto::OPTIMIZER, proto::F32, {1, 1, at.scale}, {})
      ->mutable_init()
      ->set_splat(scale);
}

static void addValues(MixedProgram &mixed) {
  proto::Program &program = mixed.program;
  const auto &at = mixed.at;
  addInput(program, "x", proto::F32, {2, 4}, at.x);
  addInput(program, "label", proto::I64, {2}, at.label);
  addInput(program, "learning_rate", proto::F32, {}, at.rate);
  program.mutable_inputs(2)->set_kind(proto::Input::LEARNING_RATE);
  program.set_learning_rate(0.5f);
  addOutput(program, "loss", proto::F32, at.loss);
  addOutput(program, "gradient_norm", proto::F32, at.norm);
  addOutput(program, "learning_rate", proto::F32, at.shownRate);
  addOutput(program, "loss_scale", proto::F32, at.shownScale);
  addOutput(program, "applied", proto::I1, at.applied);
  program.add_predicates()->set_offset(at.applied);
  auto *gradient = program.add_gradients();
  gradient->set_parameter("w");
  gradient->mutable_buffer()->set_dtype(proto::F32);
  gradient->mutable_buffer()->set_elements(mixed.slice);
  gradient->mutable_buffer()->set_shards(program.ranks());
  gradient->mutable_buffer()->add_shard_axes(0);
  gradient->mutable_buffer()->set_offset(at.sum);
  *gradient->mutable_scale() = address(at.scale);
}

/// Computes the number of rows that count, over all micro-batches and ranks.
static void addPrologue(MixedProgram &mixed) {
  Segment &segment = mixed.segment(0);
  const auto &at = mixed.at;
  segment.add_inputs(1);
  launch(segment, CountLabels, {at.label, at.count});
  copy(segment, at.count, at.total, 4, proto::Command::FIRST);
  when(launch(segment, Add, {at.total, at.count}, 1), proto::Command::LATER);
  sum(segment, "count labels", at.total, 1);
  when(*segment.mutable_commands()->rbegin(), proto::Command::LAST);
  for (proto::Command &command : *segment.mutable_commands())
    command.set_forward(true);
}

static void addMicroBatch(MixedProgram &mixed) {
  Segment &segment = mixed.segment(1);
  const auto &at = mixed.at;
  segment.add_inputs(0), segment.add_inputs(1);
  auto &gather = collective(segment, "gather w", proto::Collective::ALL_GATHER, mixed.slice);
  gather.set_dtype(proto::BF16);
  *gather.mutable_src() = address(at.shard);
  *gather.mutable_dst() = address(at.full);
  launch(segment, Forward, {at.x, at.full, at.bias, at.y, at.workspace});
  launch(segment, MaskedLoss, {at.y, at.label, at.total, at.scale, at.part, at.dy});
  copy(segment, at.part, at.loss, 4, proto::Command::FIRST);
  when(launch(segment, Add, {at.loss, at.part}, 1), proto::Command::LATER);
  sum(segment, "sum loss", at.loss, 1);
  when(*segment.mutable_commands()->rbegin(), proto::Command::LAST);
  for (proto::Command &command : *segment.mutable_commands())
    command.set_forward(true);
  launch(segment, Backward, {at.x, at.dy, at.gradient, at.workspace});
  auto &reduce = collective(segment, "reduce w", proto::Collective::REDUCE_SCATTER, mixed.slice);
  reduce.set_dtype(proto::BF16);
  reduce.set_arithmetic(proto::F32);
  *reduce.mutable_src() = address(at.gradient);
  *reduce.mutable_dst() = address(at.gradient, int64_t(mixed.slice) * 2);
  for (auto [kernel, iterations] :
       {std::pair(Widen, proto::Command::FIRST), {AddWide, proto::Command::LATER}})
    when(launch(segment, kernel, {at.sum, at.gradient}, int64_t(mixed.slice)), iterations)
        .mutable_launch()
        ->mutable_args(1)
        ->add_rank_strides(int64_t(mixed.slice) * 2);
}

static void addEpilogue(MixedProgram &mixed) {
  Segment &segment = mixed.segment(2);
  const auto &at = mixed.at;
  const auto length = int64_t(mixed.slice);
  launch(segment, Measure, {at.sum, at.scale, at.found}, length);
  sum(segment, "agree", at.found, 2);
  launch(segment, Decide, {at.found, at.applied, at.norm});
  copy(segment, at.rate, at.shownRate, 4);
  copy(segment, at.scale, at.shownScale, 4);
  launch(segment, Update, {at.master, at.shard, at.sum, at.rate, at.scale}, length)
      .set_predicate(1);
  launch(segment, Rescale, {at.scale, at.applied});
}

MixedProgram::MixedProgram(int ranks, int microBatches, double scale) : slice(12 / ranks) {
  program.set_name("mixed");
  program.set_optimizer("sgd");
  setRanks(program, ranks);
  program.set_threads(1);
  program.set_micro_batches(microBatches);
  uint64_t space = 0;
  proto::Matmul forward = product({2, 3, 4}, {4, 1, 3, 1, 3, 1});
  forward.set_bias(true);
  addMatmul(program, "forward", forward, space, {proto::F32, proto::BF16, proto::BF16, proto::F32});
  addMatmul(program, "backward", product({4, 3, 2}, {1, 4, 3, 1, 3, 1}), space,
            {proto::F32, proto::F32, proto::BF16});
  addKernels(program, {{"count_labels"},
                       {"add", {4, 4}},
                       {"masked_loss"},
                       {"widen", {4, 2}},
                       {"add_wide", {4, 2}},
                       {"measure", {4, 0, 0}},
                       {"decide"},
                       {"update", {4, 2, 4, 0, 0}},
                       {"rescale"}});
  Places reserve;
  at.shard = reserve(slice * 2), at.master = reserve(slice * 4), at.bias = reserve(6);
  at.scale = reserve(4), at.rate = reserve(4), at.x = reserve(32), at.label = reserve(16);
  at.count = reserve(4), at.total = reserve(4), at.y = reserve(24), at.dy = reserve(24);
  at.part = reserve(4), at.loss = reserve(4), at.full = reserve(24), at.gradient = reserve(24);
  at.sum = reserve(slice * 4), at.found = reserve(8), at.applied = reserve(1);
  at.norm = reserve(4), at.shownRate = reserve(4), at.shownScale = reserve(4);
  at.workspace = space > 0 ? reserve(space) : 0;
  at.end = reserve.end;
  program.add_arenas()->set_bytes(at.end);
  addState(*this, scale);
  addValues(*this);
  for (auto kind : {Segment::PROLOGUE, Segment::MICRO_BATCH, Segment::EPILOGUE}) {
    auto *segment = program.add_segments();
    segment->set_kind(kind);
    segment->set_repeat(kind == Segment::EPILOGUE ? 1 : microBatches);
  }
  addPrologue(*this);
  addMicroBatch(*this);
  addEpilogue(*this);
  numberValues(reserve.bytes,
               {"rrrww", "rrww", "rw", "ur", "rrrrww", "wr", "ur", "rrw", "rww", "uwrrr", "ur"});
}
