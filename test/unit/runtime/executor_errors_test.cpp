//===- executor_errors_test.cpp - errors of the executor ------------------===//

#include "parts.h"
#include "trial.h"

#include <cmath>

using namespace zero::rt;

namespace {

TEST(ExecutorErrors, CheckNamesNodeRankAndValue) {
  Trial trial((TinyProgram(3)));
  trial.start();
  trial.bind(6, 0, UINT64_MAX, 12);
  std::vector<float> before = trial.weights();
  EXPECT_FAILS(trial.step(), ZERO_RT_CHECK_FAILED,
               "node 'gather_nodes': index out of range: expected 0 to 9, got 12");
  EXPECT_EQ(trial.weights(), before);
  EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "the session has ended");
  EXPECT_FAILS(zero_rt_session_save(trial.session, "/nonexistent/w"), ZERO_RT_ABORTED, "ended");
}

TEST(ExecutorErrors, NanNamesStepAndRankAndStopsBeforeTheUpdate) {
  Trial trial((TinyProgram(3)));
  trial.start();
  trial.bind(12, NAN, 6 + 4); // second step, rank 2
  EXPECT_OK(trial.step());
  std::vector<float> before = trial.weights();
  EXPECT_FAILS(trial.step(), ZERO_RT_NOT_FINITE, "step 1: rank 2: the loss is NaN");
  EXPECT_EQ(trial.weights(), before);
}

TEST(ExecutorErrors, NanGoesOnWhenAllowed) {
  Trial trial((TinyProgram(2)));
  trial.options.allow_nan = 1;
  trial.start();
  trial.bind(4, INFINITY, 1);
  EXPECT_OK(trial.step());
  EXPECT_FALSE(std::isfinite(trial.result.loss));
}

TEST(ExecutorErrors, StalledRankIsNamedInTime) {
  Trial trial((TinyProgram(4)));
  trial.options.timeout_seconds = 1;
  trial.options.stall_rank = 2;
  // a step has three collectives: stalls the second one of the second step
  trial.options.stall_collective = 4;
  trial.start();
  trial.bind(8);
  EXPECT_OK(trial.step());
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
               "step 1: rank 2 did not arrive at collective 1 ('mean loss') within 1 s");
}

TEST(ExecutorErrors, RankThatNeverComesBackIsLeftBehind) {
  ONLY_ON_CPU() << "a thread does not hang with its GPU";
  TinyProgram tiny(3);
  auto *hang = tiny.segment(0).mutable_commands(3); // replaces the first product
  hang->mutable_launch()->set_kernel(6);
  Trial trial(tiny);
  trial.options.timeout_seconds = 1;
  trial.start();
  trial.bind(6, 1234, 2);
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
               "rank 1 did not arrive at collective 1 ('mean loss') within 1 s; rank 1 did not "
               "return");
  EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "the session has ended");
}

TEST(ExecutorErrors, MissingAndWrongData) {
  Trial trial((TinyProgram(2)));
  trial.start();
  EXPECT_FAILS(trial.step(), ZERO_RT_INVALID_ARGUMENT, "no data for input 'x'");
  std::vector<float> data(64);
  std::array<uint64_t, 2> shape{4, 5};
  EXPECT_FAILS(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_F32, shape.data(), 2, data.data()),
               ZERO_RT_BAD_DATA, "input 'x': expected float32 [*, 4], got float32 [4, 5]");
  shape = {4, 4};
  EXPECT_FAILS(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_I32, shape.data(), 2, data.data()),
               ZERO_RT_BAD_DATA, "expected float32 [*, 4], got int32 [4, 4]");
  shape = {0, 4};
  EXPECT_FAILS(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_F32, shape.data(), 2, data.data()),
               ZERO_RT_BAD_DATA, "the data is empty");
  zero_rt_data_file missing{"/nonexistent.npy", nullptr, ZERO_RT_NO_DTYPE, 0, 0};
  EXPECT_FAILS(zero_rt_data_bind_file(trial.data, "x", &missing), ZERO_RT_IO,
               "input 'x': cannot open '/nonexistent.npy'");
  EXPECT_FAILS(zero_rt_data_bind_file(trial.data, "z", &missing), ZERO_RT_NOT_FOUND,
               "the program has no input 'z'");
  trial.bind(8);
  uint64_t rows = 6;
  std::vector<int64_t> labels(6);
  EXPECT_OK(zero_rt_data_bind_memory(trial.data, "label", ZERO_RT_I64, &rows, 1, labels.data()));
  EXPECT_FAILS(trial.step(), ZERO_RT_BAD_DATA, "different numbers of samples: 8 and 6");
}

TEST(ExecutorErrors, ViewsAreCheckedAsCopiesAre) {
  Trial trial((TinyProgram(2)));
  trial.start();
  std::vector<float> data(64);
  std::array<uint64_t, 2> shape{4, 5};
  EXPECT_FAILS(zero_rt_data_bind_view(trial.data, "x", ZERO_RT_F32, shape.data(), 2, data.data()),
               ZERO_RT_BAD_DATA, "input 'x': expected float32 [*, 4], got float32 [4, 5]");
  shape = {UINT64_MAX, 4};
  EXPECT_FAILS(zero_rt_data_bind_view(trial.data, "x", ZERO_RT_F32, shape.data(), 2, data.data()),
               ZERO_RT_INVALID_ARGUMENT, "input 'x': bad element type or shape");
  EXPECT_FAILS(zero_rt_data_bind_view(trial.data, "z", ZERO_RT_F32, shape.data(), 0, data.data()),
               ZERO_RT_NOT_FOUND, "the program has no input 'z'");
}

TEST(ExecutorErrors, ArraysThatDoNotFitTheModel) {
  Trial trial((TinyProgram(2)));
  trial.start();
  const std::vector<float> before = trial.weights(), w(12, 7);
  std::array<uint64_t, 2> shape{3, 4};
  auto load = [&](const char *name, int partial = 0) {
    zero_rt_array array{name, ZERO_RT_F32, shape.data(), 2, w.data()};
    zero_rt_load_result result;
    return zero_rt_session_load_arrays(trial.session, &array, 1, partial, &result);
  };
  EXPECT_FAILS(load("w"), ZERO_RT_BAD_DATA,
               "the arrays do not fit the model: 1 of another shape or type: 'w' (expected [4, 3], "
               "got [3, 4])");
  EXPECT_FAILS(load("v"), ZERO_RT_BAD_DATA, "1 missing: 'w'");
  EXPECT_FAILS(load("v", 1), ZERO_RT_BAD_DATA, "none of its 1 tensors is one of the model's");
  shape = {UINT64_MAX, 4};
  EXPECT_FAILS(load("w"), ZERO_RT_INVALID_ARGUMENT, "array 'w': bad element type or shape");
  EXPECT_EQ(trial.weights(), before);
}

TEST(ExecutorErrors, WarnsOnceWhenTheDataWraps) {
  Trial trial((TinyProgram(4)));
  trial.start();
  trial.bind(2);
  EXPECT_EQ(zero_rt_data_next_warning(trial.data), nullptr);
  zero_rt_data_info info;
  EXPECT_OK(zero_rt_data_describe(trial.data, &info));
  EXPECT_EQ(info.samples, 2u);
  EXPECT_EQ(info.samples_per_step, 8u);
  EXPECT_EQ(info.steps_per_epoch, 0u);
  const char *warning = zero_rt_data_next_warning(trial.data);
  ASSERT_NE(warning, nullptr);
  EXPECT_STREQ(warning,
               "input 'x' has 2 samples, a global batch 8: samples are repeated within a batch");
  EXPECT_EQ(zero_rt_data_next_warning(trial.data), nullptr);
  EXPECT_OK(trial.step());
}

TEST(ExecutorErrors, InconsistentTables) {
  auto change = [](auto edit, zero_rt_code code, const char *part) {
    TinyProgram tiny(2);
    edit(tiny);
    expectRefused(tiny, code, part);
  };
  change([](auto &t) { t.program.mutable_kernels(2)->set_symbol("missing"); }, ZERO_RT_BAD_FILE,
         "the code section has no symbol 'missing'");
  change([](auto &t) { t.program.mutable_arenas(0)->set_bytes(100); }, ZERO_RT_BAD_FILE,
         "outside the arena");
  change([](auto &t) { t.segment(0).mutable_commands(0)->set_predicate(1); }, ZERO_RT_BAD_FILE,
         "no such predicate");
  change([](auto &t) { t.program.mutable_tensors(0)->set_start(23); }, ZERO_RT_BAD_FILE,
         "tensor 'w': it reaches beyond its buffer");
  change(
      [](auto &t) {
        t.program.add_predicates();
        t.segment(0).mutable_commands(0)->set_predicate(1);
      },
      ZERO_RT_BAD_FILE, "'gather w': a collective with a predicate");
  change([](auto &t) { t.program.mutable_arenas(0)->set_tier(proto::HOST); }, ZERO_RT_BAD_FILE,
         "outside the arena");
  change([](auto &t) { t.segment(1).mutable_commands(0)->clear_launch(); }, ZERO_RT_BAD_FILE,
         "its body is of a kind that this runtime does not know");
  auto collective = [](auto &t) { return t.segment(0).mutable_commands(0)->mutable_collective(); };
  change([&](auto &t) { collective(t)->set_kind(proto::Collective::Kind(9)); }, ZERO_RT_BAD_FILE,
         "'gather w': a collective that this runtime does not know");
  change(
      [&](auto &t) {
        collective(t)->set_kind(proto::Collective::BROADCAST);
        collective(t)->set_root(2);
      },
      ZERO_RT_BAD_FILE, "'gather w': a root that is no member of its group");
}

TEST(ExecutorErrors, InconsistentMesh) {
  auto change = [](auto edit, const char *part) {
    TinyProgram tiny(2);
    edit(tiny.program);
    expectRefused(tiny, ZERO_RT_BAD_FILE, part);
  };
  const char *product = "expected axes of the mesh whose sizes multiply to 2 ranks";
  change([](auto &p) { p.clear_mesh(); }, product);
  change([](auto &p) { p.mutable_mesh(0)->set_size(3); }, product);
  change([](auto &p) { p.add_mesh()->set_size(2); }, product);
  change([](auto &p) { p.add_mesh()->set_name("tensor"); },
         "axis 'tensor': its size is 0, or larger than that of any mesh");
  change([](auto &p) { p.set_data_axes(0, 1); },
         "table 'data_axes': an axis that the mesh does not have");
  change([](auto &p) { p.add_data_axes(0); },
         "table 'data_axes': its axes occur twice, or out of order");
  change([](auto &p) { p.add_volumes()->add_axes(7); },
         "table 'volumes': an axis that the mesh does not have");
  change([](auto &p) { p.mutable_buffers(0)->clear_shard_axes(); },
         "buffer 'w.buffer': its shards are not those of its axes");
  change([](auto &p) { p.mutable_buffers(0)->set_shard_axes(0, 4); },
         "buffer 'w.buffer': an axis that the mesh does not have");
  change([](auto &p) { p.mutable_gradients(0)->mutable_buffer()->add_rank_strides(1); },
         "an address has no stride for each axis of the mesh");
  change(
      [](auto &p) {
        auto *coordinate = p.add_inputs();
        coordinate->set_name("c");
        coordinate->set_dtype(proto::I64);
        coordinate->set_kind(proto::Input::COORDINATE);
        coordinate->set_axis(1);
      },
      "input 'c': an axis that the mesh does not have");
  change(
      [](auto &p) {
        p.mutable_segments(0)->mutable_commands(0)->mutable_collective()->add_axes(1);
      },
      "command 'gather w': an axis that the mesh does not have");
}

// In a step that lists all micro-batches each has its own inputs.
TEST(ExecutorErrors, InconsistentMicroBatches) {
  auto change = [](auto edit, const char *part) {
    TinyProgram tiny(2);
    tiny.program.set_micro_batches(3); // each segment runs once
    proto::Input *later = tiny.program.add_inputs();
    *later = tiny.program.inputs(0);
    later->set_micro_batch(2);
    edit(tiny, *later);
    expectRefused(tiny, ZERO_RT_BAD_FILE, part);
  };
  const char *lacks = "input 'x': it belongs to a micro-batch that the step lacks";
  change([](auto &, auto &later) { later.set_micro_batch(3); }, lacks);
  change([](auto &tiny, auto &) { tiny.program.set_micro_batches(2); }, lacks);
  change([](auto &, auto &later) { later.set_name("y"); }, "input 'y': the first micro-batch has");
  change([](auto &, auto &later) { later.set_dtype(proto::I32); }, "of this type and shape");
  change([](auto &, auto &later) { later.set_shape(1, 3); }, "of this type and shape");
  change([](auto &tiny, auto &) { tiny.segment(0).set_repeat(2); },
         "segment 'MICRO_BATCH': expected 3 iterations, got 2");
}

TEST(ExecutorErrors, InconsistentTiles) {
  auto change = [](uint32_t axis, std::vector<std::array<uint64_t, 3>> tiles, const char *part) {
    TinyProgram tiny(2);
    proto::Tensor &tensor = *tiny.program.mutable_tensors(0);
    tensor.set_tile_axis(axis);
    for (auto [buffer, start, extent] : tiles) {
      proto::Tile *tile = tensor.add_tiles();
      tile->set_buffer(uint32_t(buffer));
      tile->set_start(start);
      tile->set_extent(extent);
    }
    expectRefused(tiny, ZERO_RT_BAD_FILE, part);
  };
  const uint64_t all = TinyProgram(2).program.tensors(0).shape(0);
  change(9, {{0, 0, all}}, "tensor 'w': its tiles split a dimension that it does not have");
  change(0, {{0, 0, all - 1}}, "tensor 'w': its tiles do not cover the tensor");
  change(0, {{0, 0, all}, {0, 0, 1}}, "tensor 'w': its tiles are larger than the tensor");
  change(0, {{0, 0, UINT64_MAX}}, "tensor 'w': its tiles are larger than the tensor");
  change(0, {{0, 0, all}, {0, 0, 0}}, "or one is empty");
  change(0, {{99, 0, all}}, "tensor 'w': it has no buffer");
  change(0, {{0, UINT64_MAX, all}}, "tensor 'w': it reaches beyond its buffer");
  change(0, {{0, 0, all}}, "gradient 'w': its tiles are not those of the parameter");
}

// Native code runs the number of iterations in the tables.
TEST(ExecutorErrors, IterationsBeyondTheArguments) {
  auto change = [](auto edit, const char *part) {
    TinyProgram tiny(2);
    for (proto::Command &command : *tiny.segment(1).mutable_commands())
      if (command.launch().length() > 0) {
        edit(*tiny.program.mutable_kernels(int(command.launch().kernel())),
             *command.mutable_launch());
        return expectRefused(tiny, ZERO_RT_BAD_FILE, part);
      }
    ADD_FAILURE() << "no launch has a length";
  };
  change([](auto &, auto &launch) { launch.set_length(-1); }, "a launch of a negative length");
  // Lengths that are one element too long are rejected, and length 0 of a kernel that takes a
  // length.
  const auto slice = int64_t(TinyProgram(2).slice);
  for (int64_t length : {int64_t(0), slice + 1, int64_t(1) << 20, INT64_MAX})
    change([&](auto &, auto &launch) { launch.set_length(length); }, "has a length of");
  change([](auto &kernel, auto &) { kernel.set_extent(25); }, "has an extent of 25");
}

TEST(ExecutorErrors, WorkspaceBeyondThePlan) {
  ONLY_ON_CPU() << "cuBLASLt chooses what fits the workspace";
  TinyProgram tiny(1);
  proto::Kernel &backward = *tiny.program.mutable_kernels(1);
  if (backward.workspace() == 0)
    GTEST_SKIP() << "the library needs no workspace on this processor";
  backward.set_workspace(1);
  Trial trial(tiny);
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_UNSUPPORTED, "kernel 'backward': it needs");
}

TEST(ExecutorErrors, DataOfAnotherProgram) {
  Trial trial((TinyProgram(2))), other((TinyProgram(3)));
  trial.start();
  other.start();
  zero_rt_step_result got;
  EXPECT_FAILS(zero_rt_session_set_data(trial.session, other.data), ZERO_RT_INVALID_ARGUMENT,
               "made for another program");
  EXPECT_FAILS(zero_rt_session_evaluate(trial.session, other.data, 0, &got),
               ZERO_RT_INVALID_ARGUMENT, "made for another program");
}

} // namespace
