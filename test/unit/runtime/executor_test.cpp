//===- executor_test.cpp - a whole program through the C interface --------===//

#include "allocations.h"
#include "tiny_program.h"
#include "zero_rt/zero_rt.h"

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

using namespace zero::rt;

namespace {

/// Code of a status, and its text for the message of a failing test.
struct Result {
  Result(zero_rt_status status) : code(status.code), text(status.message ? status.message : "") {
    zero_rt_status_release(&status);
  }
  zero_rt_code code;
  std::string text;
};

#define EXPECT_OK(call)                                                                            \
  do {                                                                                             \
    Result result(call);                                                                           \
    EXPECT_EQ(result.code, ZERO_RT_OK) << result.text;                                             \
  } while (false)

#define EXPECT_FAILS(call, expected, part)                                                         \
  do {                                                                                             \
    Result result(call);                                                                           \
    EXPECT_EQ(result.code, expected) << result.text;                                               \
    EXPECT_NE(result.text.find(part), std::string::npos) << result.text;                           \
  } while (false)

/// A session of a TinyProgram with data of `batches` global batches: row i of x is
/// i, i + 1, i + 2, i + 3.
class Trial {
public:
  explicit Trial(const TinyProgram &tiny) : ranks(int(tiny.program.ranks())) {
    zero_rt_session_options_default(&options);
    options.timeout_seconds = 30;
    std::string path = tiny.write("run.zexe");
    Result loaded(zero_rt_executable_load(path.c_str(), &executable));
    EXPECT_EQ(loaded.code, ZERO_RT_OK) << loaded.text;
    ::unlink(path.c_str());
  }
  ~Trial() {
    zero_rt_session_free(session);
    zero_rt_data_free(data);
    zero_rt_executable_free(executable);
  }

  void start() {
    EXPECT_OK(zero_rt_session_create(executable, &options, &session));
    EXPECT_OK(zero_rt_data_create(executable, &data));
    EXPECT_OK(zero_rt_session_set_data(session, data));
  }
  void bind(uint64_t rows, float poison = 0, uint64_t poisonRow = UINT64_MAX, int64_t label = 3) {
    std::vector<float> x(rows * 4);
    std::vector<int64_t> labels(rows, label);
    for (uint64_t i = 0; i < x.size(); ++i)
      x[i] = i / 4 == poisonRow ? poison : float(i / 4 + i % 4);
    std::array<uint64_t, 2> shape{rows, 4};
    EXPECT_OK(zero_rt_data_bind_memory(data, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
    EXPECT_OK(zero_rt_data_bind_memory(data, "label", ZERO_RT_I64, &rows, 1, labels.data()));
  }
  zero_rt_status step(uint32_t flags = 0) { return zero_rt_session_step(session, flags, &result); }
  std::vector<float> weights() {
    std::vector<float> w(12);
    EXPECT_OK(zero_rt_session_read_tensor(session, "w", w.data(), 48));
    return w;
  }

  int ranks;
  zero_rt_session_options options;
  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
  zero_rt_step_result result{};
};

/// One step in double: the mean loss before the update, and w after it.
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
    EXPECT_EQ(stats.arena_bytes, tiny.at.end);
  }
}

TEST_P(Executor, AllocatesNothingOnceWarm) {
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
  EXPECT_EQ(watch.largeAllocations(), 0u);
  EXPECT_EQ(after.hblks, before.hblks) << "memory was mapped in a step";
  EXPECT_EQ(after.arena, before.arena) << "the heap grew in a step";
}

INSTANTIATE_TEST_SUITE_P(Ranks, Executor, testing::Values(1, 2, 3, 4, 7, 13));

TEST(ExecutorMemory, MeasuresThePeakAndPoisons) {
  TinyProgram tiny(2);
  Trial trial(tiny);
  trial.options.check_memory = 1;
  trial.start();
  trial.bind(8);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  zero_rt_stats stats;
  EXPECT_OK(zero_rt_session_stats(trial.session, 1, &stats));
  EXPECT_GT(stats.measured_peak, tiny.at.gradient);
  EXPECT_LE(stats.measured_peak, tiny.at.end);
}

TEST(ExecutorMemory, ShowsUseOfLeftovers) {
  // Without the product, y is what the step before left behind: poison, so NaN.
  TinyProgram tiny(2);
  auto &commands = *tiny.segment(0).mutable_commands();
  for (auto it = commands.begin(); it != commands.end(); ++it)
    if (it->label() == "kernel 0") {
      commands.erase(it);
      break;
    }
  Trial trial(tiny);
  trial.options.check_memory = 1;
  trial.start();
  trial.bind(4);
  EXPECT_FAILS(trial.step(), ZERO_RT_NOT_FINITE, "step 0: rank 0: the loss is NaN");
}

TEST(ExecutorPredicates, SkipAndFirstAndLast) {
  TinyProgram tiny(2, 3);
  auto *increment = tiny.segment(1).mutable_commands(1);
  // Three micro-batches: 3 + 1 (first) + 1 (last) + 1 (epilogue) increments a step.
  for (auto when : {proto::Command::ALWAYS, proto::Command::FIRST, proto::Command::LAST}) {
    *tiny.segment(0).add_commands() = *increment;
    tiny.segment(0).mutable_commands()->rbegin()->set_when(when);
  }
  // A predicate that is 0 (the second byte of the counter) skips one more.
  tiny.program.add_predicates()->set_offset(tiny.at.count + 1);
  *tiny.segment(1).add_commands() = *increment;
  tiny.segment(1).mutable_commands()->rbegin()->set_predicate(1);
  Trial trial(tiny);
  trial.start();
  trial.bind(12);
  EXPECT_OK(trial.step());
  int64_t count = 0;
  EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, 8));
  EXPECT_EQ(count, 5 + 6);
}

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
  trial.options.timeout_seconds = 0.3;
  trial.options.stall_rank = 2;
  trial.options.stall_collective = 4; // three a step: the second of the second step
  trial.start();
  trial.bind(8);
  EXPECT_OK(trial.step());
  auto begin = std::chrono::steady_clock::now();
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
               "step 1: rank 2 did not arrive at collective 1 ('mean loss') within 0.3 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ExecutorErrors, RankThatNeverComesBackIsLeftBehind) {
  TinyProgram tiny(3);
  auto *hang = tiny.segment(0).mutable_commands(3); // in place of the first product
  hang->mutable_launch()->set_kernel(6);
  Trial trial(tiny);
  trial.options.timeout_seconds = 0.2;
  trial.start();
  trial.bind(6, 1234, 2);
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
               "rank 1 did not arrive at collective 1 ('mean loss') within 0.2 s; rank 1 never "
               "came back");
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
  EXPECT_STREQ(warning, "input 'x' has 2 samples, a global batch 8: the data wraps round");
  EXPECT_EQ(zero_rt_data_next_warning(trial.data), nullptr);
  EXPECT_OK(trial.step());
}

/// Loads a program that was changed and expects the refusal to say `part`.
void expectRefused(const TinyProgram &tiny, zero_rt_code code, const std::string &part) {
  std::string path = tiny.write("refused.zexe");
  zero_rt_executable *executable = nullptr;
  EXPECT_FAILS(zero_rt_executable_load(path.c_str(), &executable), code, part);
  EXPECT_EQ(executable, nullptr);
  ::unlink(path.c_str());
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
  change([](auto &t) { t.program.mutable_arenas(0)->set_tier(proto::NVME); }, ZERO_RT_UNSUPPORTED,
         "nvme tier");
  change([](auto &t) { t.segment(1).mutable_commands(0)->clear_launch(); }, ZERO_RT_BAD_FILE,
         "does nothing that this runtime knows");
}

TEST(ExecutorErrors, WorkspaceBeyondThePlan) {
  TinyProgram tiny(1);
  proto::Kernel &backward = *tiny.program.mutable_kernels(1);
  ASSERT_GT(backward.workspace(), 0u);
  backward.set_workspace(1);
  Trial trial(tiny);
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_UNSUPPORTED, "kernel 'backward': oneDNN needs");
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

} // namespace
