//===- executor_test.cpp - a program run through the C interface ----------===//

#include "allocations.h"
#include "parts.h"
#include "runtime/support/floats.h"
#include "trial.h"
#include "zero_rt/ranges.h"

#include <array>
#include <cmath>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

using namespace zero::rt;

namespace {

/// Computes one step in double precision: returns the mean loss before the update and changes w.
double reference(std::vector<double> &w, uint64_t firstRow, uint64_t rows, uint64_t total,
                 double rate, std::vector<double> *gradient = nullptr) {
  double loss = 0;
  std::vector<double> g(12);
  for (uint64_t row = firstRow; row < firstRow + rows; ++row)
    for (int k = 0; k < 4; ++k)
      for (int n = 0; n < 3; ++n) {
        double x = double(row % total + k);
        loss += x * w[k * 3 + n] / double(rows * 3);
        g[k * 3 + n] += x / double(rows * 3);
      }
  for (int i = 0; i < 12; ++i)
    w[i] -= rate * g[i];
  if (gradient)
    *gradient = g;
  return loss;
}

/// The floats of "w", which has `bytes` bytes, read seven bytes at a time: pieces begin and end
/// inside of elements, and of the slices of ranks.
template <typename Read>
std::vector<float> inPieces(uint64_t bytes, Read read, zero_rt_session *session) {
  std::vector<float> values(bytes / sizeof(float));
  auto *place = reinterpret_cast<char *>(values.data());
  for (uint64_t offset = 0; offset < bytes; offset += 7)
    EXPECT_OK(read(session, "w", offset, place + offset, std::min<uint64_t>(7, bytes - offset)));
  char byte;
  for (auto [offset, count] : {std::pair<uint64_t, size_t>(bytes, 1), {bytes + 1, 0}, {1, ~0ul}})
    EXPECT_FAILS(read(session, "w", offset, &byte, count), ZERO_RT_INVALID_ARGUMENT,
                 "'w': expected a range of its 48 bytes, got");
  return values;
}

class Executor : public testing::TestWithParam<int> {};

TEST_P(Executor, TrainsLikeTheFormula) {
  int ranks = GetParam();
  Trial trial((TinyProgram(ranks)));
  trial.start();
  const uint64_t rows = 2 * ranks, total = 3 * rows;
  trial.bind(total);
  EXPECT_EQ(zero_rt_data_next_warning(trial.data), nullptr);
  EXPECT_OK(zero_rt_session_set_learning_rate(trial.session, 0.25f));
  std::vector<double> w(12), gradient;
  for (int i = 0; i < 12; ++i)
    w[i] = i / 8.0;
  for (uint64_t step = 0; step < 5; ++step) {
    double loss = reference(w, step * rows % total, rows, total, 0.25, &gradient);
    {
      Result result(trial.step(ZERO_RT_KEEP_GRADIENTS));
      ASSERT_EQ(result.code, ZERO_RT_OK) << result.text;
    }
    EXPECT_EQ(trial.result.step, step);
    EXPECT_NEAR(trial.result.loss, loss, 1e-4 * (1 + std::abs(loss)));
    std::vector<float> got(12), g(12);
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, "w", got.data(), 48));
    EXPECT_OK(zero_rt_session_read_gradient(trial.session, "w", g.data(), 48));
    EXPECT_EQ(inPieces(48, zero_rt_session_read_tensor_range, trial.session), got);
    EXPECT_EQ(inPieces(48, zero_rt_session_read_gradient_range, trial.session), g);
    for (int i = 0; i < 12; ++i) {
      EXPECT_NEAR(got[i], w[i], 1e-4 * (1 + std::abs(w[i])));
      EXPECT_NEAR(g[i], gradient[i], 1e-4 * (1 + std::abs(gradient[i])));
    }
  }
  int64_t count = 0;
  EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, 8));
  EXPECT_EQ(count, 10);
}

TEST_P(Executor, CountsWhatItReceives) {
  uint64_t ranks = GetParam();
  TinyProgram tiny(int(ranks), 3);
  Trial trial(tiny);
  trial.start();
  trial.bind(2 * ranks);
  EXPECT_OK(trial.step());
  EXPECT_OK(trial.step());
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    zero_rt_stats stats;
    EXPECT_OK(zero_rt_session_stats(trial.session, int(rank), &stats));
    EXPECT_EQ(stats.model_elements, 2 * 3 * 2 * (ranks - 1) * tiny.slice);
    EXPECT_EQ(stats.model_bytes, stats.model_elements * 4);
    EXPECT_EQ(stats.control_elements, ranks == 1 ? 0 : 2 * 3 * (rank == 0 ? ranks - 1 : 1));
    EXPECT_EQ(stats.arena_bytes[ZERO_RT_DEVICE], tiny.at.end);
  }
}

TEST_P(Executor, AllocatesNothingOnceWarm) {
  ONLY_ON_CPU() << "the recording driver allocates";
  Trial trial((TinyProgram(GetParam(), 2)));
  trial.start();
  trial.bind(64);
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  struct mallinfo2 before = ::mallinfo2();
  AllocationWatch watch;
  for (int step = 0; step < 20; ++step)
    EXPECT_OK(trial.step());
  struct mallinfo2 after = ::mallinfo2();
  EXPECT_NO_LARGE_ALLOCATIONS(watch);
  EXPECT_EQ(after.hblks, before.hblks) << "memory was mapped in a step";
  EXPECT_LE(after.arena, before.arena + libraryBytes()) << "the heap grew in a step";
}

TEST_P(Executor, EvaluatesWithoutATrace) {
  const int ranks = GetParam();
  const uint64_t rows = 4 * ranks; // two micro-batches
  Trial trial((TinyProgram(ranks, 2))), plain((TinyProgram(ranks, 2)));
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(3 * rows);
  }
  zero_rt_data *held = nullptr;
  EXPECT_OK(zero_rt_data_create(trial.executable, &held));
  std::vector<float> x(2 * rows * 4);
  std::vector<int64_t> labels(2 * rows);
  for (uint64_t i = 0; i < x.size(); ++i) {
    const uint64_t row = i / 4;
    x[i] = float(row + i % 4); // as in Trial
  }
  std::array<uint64_t, 2> shape{2 * rows, 4};
  EXPECT_OK(zero_rt_data_bind_memory(held, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
  EXPECT_OK(zero_rt_data_bind_memory(held, "label", ZERO_RT_I64, shape.data(), 1, labels.data()));
  for (uint64_t step = 0; step < 4; ++step) {
    zero_rt_step_result got;
    // The loss equals that of the next step if the samples are the same.
    EXPECT_OK(zero_rt_session_evaluate(trial.session, held, step % 3 % 2, &got));
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    if (step != 2)
      EXPECT_EQ(got.loss, trial.result.loss) << step;
    EXPECT_EQ(trial.result.loss, plain.result.loss) << step;
    EXPECT_EQ(trial.weights(), plain.weights()) << step;
  }
  zero_rt_stats stats;
  EXPECT_OK(zero_rt_session_stats(trial.session, 0, &stats));
  EXPECT_EQ(stats.steps, 4u);
  {
    AllocationWatch watch;
    for (uint64_t batch = 0; batch < 5; ++batch) {
      zero_rt_step_result got;
      EXPECT_OK(zero_rt_session_evaluate(trial.session, held, batch, &got));
    }
    EXPECT_NO_LARGE_ALLOCATIONS(watch);
  }
  labels[0] = 10; // the program accepts 0 to 9
  EXPECT_OK(zero_rt_data_bind_memory(held, "label", ZERO_RT_I64, shape.data(), 1, labels.data()));
  zero_rt_step_result got;
  EXPECT_FAILS(zero_rt_session_evaluate(trial.session, held, 0, &got), ZERO_RT_CHECK_FAILED,
               "evaluation of batch 0: rank 0, node 'gather_nodes'");
  zero_rt_data_free(held);
}

TEST_P(Executor, ReadsViewsInPlace) {
  const int ranks = GetParam();
  Trial trial((TinyProgram(ranks))), plain((TinyProgram(ranks)));
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(2 * ranks);
  }
  std::array<uint64_t, 2> shape{uint64_t(2 * ranks), 4};
  std::vector<float> x(shape[0] * 4);
  EXPECT_OK(zero_rt_data_bind_view(trial.data, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
  for (uint64_t i = 0; i < x.size(); ++i)
    x[i] = float(i / 4 + i % 4); // as in Trial: written after the view was bound
  EXPECT_OK(trial.step());
  EXPECT_OK(plain.step());
  EXPECT_EQ(trial.result.loss, plain.result.loss);
  EXPECT_EQ(trial.weights(), plain.weights());
}

TEST_P(Executor, LoadsArraysFromMemory) {
  const int ranks = GetParam();
  Trial trial((TinyProgram(ranks))), plain((TinyProgram(ranks)));
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(2 * ranks);
  }
  EXPECT_OK(plain.step());
  {
    const std::vector<float> w = plain.weights();
    const std::array<uint64_t, 2> shape{4, 3};
    zero_rt_array array{"w", ZERO_RT_F32, shape.data(), 2, w.data()};
    zero_rt_load_result loaded;
    EXPECT_OK(zero_rt_session_load_arrays(trial.session, &array, 1, 0, &loaded));
    EXPECT_EQ(loaded.taken, 1u);
  }
  EXPECT_EQ(trial.weights(), plain.weights());
  EXPECT_OK(trial.step());
  EXPECT_OK(plain.step());
  EXPECT_EQ(trial.result.loss, plain.result.loss);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Executor, testing::Values(1, 2, 3, 4, 7, 13));

TEST(ExecutorPredicates, SkipAndFirstAndLastAndLater) {
  TinyProgram tiny(2, 3);
  auto *increment = tiny.segment(1).mutable_commands(1);
  // Three micro-batches: 3 + 1 (first) + 1 (last) + 2 (later) + 1 (epilogue) increments a step.
  for (auto when : {proto::Command::ALWAYS, proto::Command::FIRST, proto::Command::LAST,
                    proto::Command::LATER}) {
    *tiny.segment(0).add_commands() = *increment;
    tiny.segment(0).mutable_commands()->rbegin()->set_when(when);
  }
  // A predicate that is 0 (the second byte of the counter) skips one more increment.
  tiny.program.add_predicates()->set_offset(tiny.at.count + 1);
  *tiny.segment(1).add_commands() = *increment;
  tiny.segment(1).mutable_commands()->rbegin()->set_predicate(1);
  Trial trial(tiny);
  trial.start();
  trial.bind(12);
  EXPECT_OK(trial.step());
  int64_t count = 0;
  EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, 8));
  EXPECT_EQ(count, 5 + 8);
}

/// A command of the segment changes a predicate. The new value is used from there on.
TEST(ExecutorPredicates, AreLookedAtAgainOnceTheyMayHaveChanged) {
  TinyProgram tiny(2);
  const proto::Command increment = tiny.segment(1).commands(1);
  tiny.program.mutable_tensors(1)->mutable_init()->set_splat(254);
  tiny.program.add_predicates()->set_offset(tiny.at.count); // the low byte, which is 0 at 256
  for (int i = 0; i < 4; ++i) {
    *tiny.segment(1).add_commands() = increment;
    tiny.segment(1).mutable_commands()->rbegin()->set_predicate(1);
  }
  Trial trial(tiny);
  trial.start();
  trial.bind(4);
  EXPECT_OK(trial.step());
  int64_t count = 0;
  EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, 8));
  EXPECT_EQ(count, 256);
}

TEST(ExecutorFiles, InitialValuesComeFromFilesIntoShards) {
  std::string path = testing::TempDir() + "zero-weights-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << "xx" << tinyWeights();
  TinyProgram tiny(5);
  tiny.program.add_files(path);
  auto *range = tiny.program.mutable_tensors(0)->mutable_init()->mutable_file();
  range->set_offset(2);
  range->set_bytes(48);
  {
    Trial trial(tiny);
    trial.start();
    std::vector<float> w = trial.weights();
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(w[i], float(i) / 8);
  }
  ASSERT_EQ(::truncate(path.c_str(), 49), 0);
  Trial trial(tiny);
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_BAD_FILE, "is too short for 'w': expected 48 bytes from byte 2 on, got 49");
  ::unlink(path.c_str());
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session), ZERO_RT_IO,
               "cannot open");
}

/// The upper half of a float is the nearest bf16 to it if the lower half is zero.
TEST(ExecutorFiles, NarrowInitialValuesAreWidenedIntoShards) {
  std::string path = testing::TempDir() + "zero-narrow-" + std::to_string(::getpid());
  std::string wide = tinyWeights(), narrow;
  for (size_t i = 0; i < wide.size(); i += 4)
    narrow += wide.substr(i + 2, 2);
  std::ofstream(path, std::ios::binary) << "xx" << narrow;
  TinyProgram tiny(5);
  tiny.program.add_files(path);
  auto *range = tiny.program.mutable_tensors(0)->mutable_init()->mutable_file();
  range->set_offset(2);
  range->set_bytes(24);
  range->set_stored(proto::BF16);
  {
    Trial trial(tiny);
    trial.start();
    std::vector<float> w = trial.weights();
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(w[i], float(i) / 8);
  }
  range->set_stored(proto::F64);
  expectRefused(tiny, ZERO_RT_BAD_FILE,
                "tensor 'w': its initial values are of a type that is not read");
  range->set_stored(proto::I16);
  expectRefused(tiny, ZERO_RT_BAD_FILE,
                "tensor 'w': its initial values are of a type that is not read");
  range->set_stored(proto::F16);
  range->set_bytes(48);
  expectRefused(tiny, ZERO_RT_BAD_FILE, "tensor 'w': expected 24 bytes of initial values, got 48");
  ::unlink(path.c_str());
}

/// The values exceed the conversion buffer, and shards end inside of it.
TEST(ExecutorFiles, WideInitialValuesAreRoundedIntoShards) {
  const uint64_t count = 30011, slice = 10048;
  std::string path = testing::TempDir() + "zero-wide-" + std::to_string(::getpid());
  std::vector<float> wide(count);
  for (uint64_t i = 0; i < count; ++i)
    wide[i] = 1 / float(i + 3);
  std::ofstream(path, std::ios::binary)
      << "xxx" << std::string(reinterpret_cast<char *>(wide.data()), count * 4);
  for (auto [dtype, proto] : {std::pair(ZERO_RT_BF16, proto::BF16), {ZERO_RT_F16, proto::F16}}) {
    TinyProgram tiny(3);
    tiny.program.add_files(path);
    auto *tensor =
        addTensor(tiny.program, "wide", proto::OPTIMIZER, proto, {slice, 3, tiny.at.end}, {count});
    auto *range = tensor->mutable_init()->mutable_file();
    range->set_offset(3);
    range->set_bytes(count * 4);
    range->set_stored(proto::F32);
    tiny.program.mutable_arenas(0)->set_bytes(tiny.at.end + slice * 2);
    Trial trial(tiny);
    trial.start();
    std::vector<uint16_t> got(count), expected(count);
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, "wide", got.data(), count * 2));
    convertFloats(ZERO_RT_F32, wide.data(), dtype, expected.data(), count);
    EXPECT_EQ(got, expected);
  }
  ::unlink(path.c_str());
}

/// The file has the transpose of the matrix. Slices end inside of rows.
TEST(ExecutorFiles, TransposedInitialValuesAreReadIntoShards) {
  const uint64_t height = 37, width = 21, slice = 272;
  std::string path = testing::TempDir() + "zero-transposed-" + std::to_string(::getpid());
  std::vector<float> stored(height * width), expected(height * width);
  for (uint64_t row = 0; row < height; ++row)
    for (uint64_t column = 0; column < width; ++column)
      stored[column * height + row] = expected[row * width + column] = float(row * 64 + column);
  std::ofstream(path, std::ios::binary)
      << "xxx" << std::string(reinterpret_cast<char *>(stored.data()), stored.size() * 4);
  TinyProgram tiny(3);
  tiny.program.add_files(path);
  auto *tensor = addTensor(tiny.program, "turned", proto::OPTIMIZER, proto::BF16,
                           {slice, 3, tiny.at.end}, {height, width});
  auto *range = tensor->mutable_init()->mutable_file();
  range->set_offset(3);
  range->set_bytes(stored.size() * 4);
  range->set_stored(proto::F32);
  range->set_transposed(true);
  tiny.program.mutable_arenas(0)->set_bytes(tiny.at.end + slice * 2);
  {
    Trial trial(tiny);
    trial.start();
    std::vector<uint16_t> got(stored.size()), rounded(stored.size());
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, "turned", got.data(), stored.size() * 2));
    convertFloats(ZERO_RT_F32, expected.data(), ZERO_RT_BF16, rounded.data(), stored.size());
    EXPECT_EQ(got, rounded);
  }
  tensor->clear_shape();
  tensor->add_shape(height * width);
  expectRefused(tiny, ZERO_RT_BAD_FILE, "tensor 'turned': it is no matrix in a file");
  ::unlink(path.c_str());
}

} // namespace
