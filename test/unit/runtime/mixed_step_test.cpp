//===- mixed_step_test.cpp - a mixed-precision step, micro-batch by batch -===//

#include "allocations.h"
#include "mixed_program.h"
#include "parts.h"
#include "runtime/io/weights_file.h"
#include "runtime/support/floats.h"
#include "trial.h"

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace zero::rt;

namespace {

/// Rows whose labels count. Batches of two have two, one, one and no such rows.
bool counts(uint64_t row) { return row % 8 == 0 || row % 8 == 1 || row % 8 == 2 || row % 8 == 4; }

float rounded(float value) { return BFloat16(value); }

/// The program's arithmetic in plain loops. Its sums are exact in f32 except for the roundings that
/// are written here.
struct Reference {
  int ranks, microBatches;
  float scale = 1024, rate = 0.5f;
  std::array<float, 12> master, sum{};
  float loss = 0;
  double norm = 0;
  bool applied = true;

  Reference(int ranks, int microBatches) : ranks(ranks), microBatches(microBatches) {
    for (int i = 0; i < 12; ++i)
      master[size_t(i)] = float(i) / 8;
  }
  uint64_t rows() const { return 2 * uint64_t(ranks * microBatches); }
  static float x(uint64_t row, int k) { return float(row + uint64_t(k)); }

  void computeLoss(uint64_t first, uint64_t total, float share) {
    double exact = 0;
    for (uint64_t row = first; row < first + rows(); ++row)
      for (int n = 0; n < 3 && counts(row % total); ++n) {
        double y = 0.5;
        for (int k = 0; k < 4; ++k)
          y += double(x(row % total, k)) * rounded(master[size_t(k * 3 + n)]);
        exact += y * share;
      }
    loss = float(exact);
  }

  /// The step that reads rows from `first` on; `total` rows in all.
  void step(uint64_t first, uint64_t total) {
    float labels = 0;
    for (uint64_t row = first; row < first + rows(); ++row)
      labels += counts(row % total);
    const float share = 1 / (4 * labels);
    computeLoss(first, total, share);
    sum = {};
    for (int batch = 0; batch < microBatches; ++batch)
      for (int k = 0; k < 4; ++k) {
        float overRanks = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const uint64_t row = first + 2 * uint64_t(batch * ranks + rank);
          float own = 0;
          for (uint64_t i = row; i < row + 2; ++i)
            own += counts(i % total) ? x(i % total, k) * (share * scale) : 0;
          overRanks += rounded(own);
        }
        for (int n = 0; n < 3; ++n)
          sum[size_t(k * 3 + n)] += rounded(overRanks);
      }
    norm = 0;
    applied = true;
    for (float value : sum) {
      norm += std::pow(double(value) / scale, 2);
      applied = applied && std::isfinite(value);
    }
    norm = std::sqrt(norm);
    for (size_t i = 0; i < 12 && applied; ++i)
      master[i] -= rate * (sum[i] / scale);
  }
};

/// A Trial in which the labels count that counts() selects.
class MixedTrial : public Trial {
public:
  using Trial::Trial;
  void bindRows(zero_rt_data *to, uint64_t rows, float factor = 1) {
    std::vector<float> x(rows * 4);
    std::vector<int64_t> labels(rows);
    for (uint64_t i = 0; i < x.size(); ++i)
      x[i] = Reference::x(i / 4, int(i % 4)) * factor;
    for (uint64_t row = 0; row < rows; ++row)
      labels[row] = counts(row) ? 7 : -1;
    std::array<uint64_t, 2> shape{rows, 4};
    EXPECT_OK(zero_rt_data_bind_memory(to, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
    EXPECT_OK(zero_rt_data_bind_memory(to, "label", ZERO_RT_I64, &rows, 1, labels.data()));
  }
  std::vector<float> gradient() {
    std::vector<float> values(12);
    EXPECT_OK(zero_rt_session_read_gradient(session, "w", values.data(), 48));
    return values;
  }
};

class MixedStep : public testing::TestWithParam<std::pair<int, int>> {
protected:
  int ranks = GetParam().first, microBatches = GetParam().second;
};

TEST_P(MixedStep, IsTheSumOfItsMicroBatches) {
  Reference reference(ranks, microBatches);
  MixedTrial trial(MixedProgram(ranks, microBatches));
  trial.options.check_memory = !moveTrial; // this option checks host memory
  trial.start();
  const uint64_t total = 4 * reference.rows();
  trial.bindRows(trial.data, total);
  for (uint64_t step = 0; step < 4; ++step) {
    reference.step(step * reference.rows(), total);
    EXPECT_OK(trial.step(ZERO_RT_KEEP_GRADIENTS));
    EXPECT_NEAR(trial.result.loss, reference.loss, 1e-5 * std::abs(reference.loss)) << step;
    EXPECT_NEAR(trial.result.gradient_norm, reference.norm, 1e-5 * reference.norm) << step;
    EXPECT_EQ(trial.result.learning_rate, 0.5);
    EXPECT_EQ(trial.result.loss_scale, 1024);
    EXPECT_EQ(trial.result.skipped, 0);
    const std::vector<float> w = trial.weights(), gradient = trial.gradient();
    for (size_t i = 0; i < 12; ++i) {
      EXPECT_EQ(w[i], reference.master[i]) << "step " << step << ", at " << i;
      EXPECT_EQ(gradient[i], reference.sum[i] / 1024) << "step " << step << ", at " << i;
    }
  }
}

TEST_P(MixedStep, EvaluatesAllMicroBatches) {
  MixedTrial trial(MixedProgram(ranks, microBatches));
  trial.start();
  const uint64_t rows = 2 * uint64_t(ranks * microBatches);
  trial.bindRows(trial.data, 4 * rows);
  zero_rt_data *held = nullptr;
  EXPECT_OK(zero_rt_data_create(trial.executable, &held));
  trial.bindRows(held, 4 * rows);
  for (uint64_t step = 0; step < 3; ++step) {
    zero_rt_step_result got;
    EXPECT_OK(zero_rt_session_evaluate(trial.session, held, step, &got));
    EXPECT_TRUE(std::isnan(got.gradient_norm) && std::isnan(got.loss_scale));
    EXPECT_TRUE(std::isnan(got.learning_rate));
    EXPECT_EQ(got.skipped, 0);
    EXPECT_OK(trial.step());
    EXPECT_EQ(got.loss, trial.result.loss) << step;
  }
  zero_rt_data_free(held);
}

TEST_P(MixedStep, AllocatesNothingOnceWarm) {
  ONLY_ON_CPU() << "the recording driver allocates";
  MixedTrial trial(MixedProgram(ranks, microBatches));
  trial.start();
  trial.bindRows(trial.data, 64);
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  AllocationWatch watch;
  for (int step = 0; step < 10; ++step)
    EXPECT_OK(trial.step());
  EXPECT_NO_LARGE_ALLOCATIONS(watch);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MixedStep,
                         testing::Values(std::pair(1, 4), std::pair(2, 2), std::pair(4, 1),
                                         std::pair(4, 4)),
                         [](const auto &info) {
                           return std::to_string(info.param.first) + "_ranks_" +
                                  std::to_string(info.param.second);
                         });

TEST(MixedStepOverflow, ChangesNothingButTheScale) {
  const float first = 0x1p126f;
  MixedTrial trial(MixedProgram(4, 2, first));
  trial.start();
  trial.bindRows(trial.data, 16, 64);
  const std::vector<float> before = trial.weights();
  float scale = first;
  int skipped = 0;
  for (;; scale /= 2, ++skipped) {
    EXPECT_OK(trial.step());
    EXPECT_EQ(trial.result.loss_scale, scale);
    if (!trial.result.skipped)
      break;
    ASSERT_LT(skipped, 20);
    EXPECT_FALSE(std::isfinite(trial.result.gradient_norm));
    EXPECT_EQ(trial.weights(), before);
  }
  EXPECT_GT(skipped, 2);
  EXPECT_TRUE(std::isfinite(trial.result.gradient_norm));
  EXPECT_NE(trial.weights(), before);
  EXPECT_OK(trial.step());
  EXPECT_EQ(trial.result.loss_scale, scale); // an applied step does not change the scale
}

TEST(MixedStepVolume, CountsBytesOfTheirTypes) {
  MixedTrial trial(MixedProgram(4, 3));
  trial.start();
  trial.bindRows(trial.data, 24);
  EXPECT_OK(trial.step());
  zero_rt_stats stats;
  EXPECT_OK(zero_rt_session_stats(trial.session, 1, &stats));
  EXPECT_EQ(stats.model_elements, 3u * 2 * 9);
  EXPECT_EQ(stats.model_bytes, 2 * stats.model_elements);
}

//===----------------------------------------------------------------------===//
// Masters
//===----------------------------------------------------------------------===//

class Masters : public testing::Test {
protected:
  Masters() : trial(MixedProgram(3, 2)) {
    trial.start();
    trial.bindRows(trial.data, 24);
    EXPECT_OK(zero_rt_session_set_learning_rate(trial.session, 0.3f));
  }
  ~Masters() { ::unlink(path.c_str()); }

  std::string path = testing::TempDir() + "zero-masters-" + std::to_string(::getpid());
  MixedTrial trial;
};

TEST_F(Masters, AreWhatPeopleSee) {
  zero_rt_value_info info;
  EXPECT_OK(zero_rt_executable_tensor(trial.executable, 0, &info));
  EXPECT_STREQ(info.name, "w");
  EXPECT_EQ(info.dtype, ZERO_RT_F32);
  EXPECT_OK(zero_rt_executable_tensor(trial.executable, 2, &info));
  EXPECT_EQ(info.dtype, ZERO_RT_BF16);
  EXPECT_OK(trial.step());
  const std::vector<float> w = trial.weights();
  std::vector<float> narrow = w;
  std::transform(narrow.begin(), narrow.end(), narrow.begin(), rounded);
  EXPECT_NE(narrow, w) << "the test shows nothing";
  path += ".safetensors";
  EXPECT_OK(zero_rt_session_save(trial.session, path.c_str()));
  WeightsFile file;
  ASSERT_TRUE(WeightsFile::open(path, file).ok());
  ASSERT_EQ(file.tensors().size(), 2u);
  Array array;
  ASSERT_TRUE(file.tensors().at("w")(array).ok());
  EXPECT_EQ(array.dtype, ZERO_RT_F32);
  EXPECT_EQ(std::memcmp(array.bytes.data(), w.data(), 48), 0);
  ASSERT_TRUE(file.tensors().at("b")(array).ok());
  EXPECT_EQ(array.dtype, ZERO_RT_BF16);
  uint16_t half;
  EXPECT_FAILS(zero_rt_session_read_tensor(trial.session, "b", &half, 2), ZERO_RT_INVALID_ARGUMENT,
               "expected a buffer of 6 bytes, got 2");
}

TEST_F(Masters, AreLoadedWithTheirParameters) {
  EXPECT_OK(trial.step());
  const std::vector<float> w = trial.weights();
  path += ".safetensors";
  EXPECT_OK(zero_rt_session_save(trial.session, path.c_str()));
  EXPECT_OK(trial.step());
  const double loss = trial.result.loss;
  MixedTrial other(MixedProgram(3, 2));
  other.start();
  other.bindRows(other.data, 24);
  zero_rt_load_result loaded;
  EXPECT_OK(zero_rt_session_load(other.session, path.c_str(), 0, &loaded));
  EXPECT_EQ(loaded.taken, 2u);
  EXPECT_EQ(other.weights(), w);
  // The loss is computed with the rounded parameter, and the next update with the master.
  zero_rt_step_result got;
  zero_rt_data *data = nullptr;
  EXPECT_OK(zero_rt_data_create(other.executable, &data));
  other.bindRows(data, 24);
  EXPECT_OK(zero_rt_session_evaluate(other.session, data, 1, &got));
  EXPECT_EQ(got.loss, loss);
  zero_rt_data_free(data);
}

TEST(MixedGradients, SixteenBitsAreHandedOutWide) {
  // The gradient of one micro-batch before it is accumulated.
  MixedProgram mixed(2, 1);
  auto *gradient = mixed.program.mutable_gradients(0)->mutable_buffer();
  gradient->set_dtype(proto::BF16);
  gradient->set_offset(mixed.at.gradient);
  gradient->add_rank_strides(int64_t(mixed.slice) * 2);
  MixedTrial trial(mixed), plain(MixedProgram(2, 1));
  for (MixedTrial *each : {&trial, &plain}) {
    each->start();
    each->bindRows(each->data, 8);
    EXPECT_OK(each->step(ZERO_RT_KEEP_GRADIENTS));
  }
  zero_rt_value_info info;
  EXPECT_OK(zero_rt_executable_gradient(trial.executable, 0, &info));
  EXPECT_EQ(info.dtype, ZERO_RT_F32);
  EXPECT_EQ(trial.gradient(), plain.gradient());
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

TEST(MixedTables, CodesHaveScalesAndAParameter) {
  auto change = [](auto edit, const char *part) {
    MixedProgram mixed(1, 3);
    auto *codes =
        addTensor(mixed.program, "w.m", proto::OPTIMIZER, proto::I8, {12, 1, mixed.at.x}, {4, 3});
    auto *scales = addTensor(mixed.program, "w.m.scale", proto::OPTIMIZER, proto::F32,
                             {3, 1, mixed.at.x}, {3});
    codes->mutable_init()->set_splat(0);
    scales->mutable_init()->set_splat(0);
    codes->set_of("w");
    codes->mutable_blocks()->set_bits(8);
    codes->mutable_blocks()->set_size(4);
    codes->mutable_blocks()->set_scales("w.m.scale");
    codes->mutable_blocks()->mutable_numbers()->Resize(256, 0);
    edit(*codes, *scales);
    expectRefused(mixed, ZERO_RT_BAD_FILE, part);
  };
  change([](auto &codes, auto &) { codes.set_of("v"); }, "'w.m': codes without a parameter");
  change([](auto &codes, auto &) { codes.mutable_blocks()->set_scales("w.m"); },
         "'w.m': its scales are not those of its blocks");
  change([](auto &codes, auto &) { codes.mutable_blocks()->set_scales("v.scale"); },
         "'w.m': codes without a parameter or without scales");
  for (const unsigned bits : {0, 4, 64})
    change([&](auto &codes, auto &) { codes.mutable_blocks()->set_bits(bits); },
           "'w.m': it has no code for each element");
  change([](auto &codes, auto &) { codes.mutable_blocks()->mutable_numbers()->RemoveLast(); },
         "'w.m': it has no code for each element");
  for (const uint64_t size : {0, 3, 6, 24})
    change([&](auto &codes, auto &) { codes.mutable_blocks()->set_size(size); },
           "'w.m': its scales are not those of its blocks");
}

/// Adds a frozen parameter of `count` codes of 8 bits, which stand for f32 elements.
static proto::Tensor *addCodes(MixedProgram &mixed, const char *name, uint64_t count,
                               uint64_t block) {
  auto *codes =
      addTensor(mixed.program, name, proto::PARAMETER, proto::I8, {count, 1, mixed.at.x}, {count});
  codes->mutable_init()->set_splat(0);
  codes->set_frozen(true);
  proto::Tensor::Blocks &blocks = *codes->mutable_blocks();
  blocks.set_bits(8);
  blocks.set_size(block);
  blocks.set_scales(std::string(name) + ".scale");
  blocks.mutable_numbers()->Resize(256, 0);
  blocks.add_shape(count);
  blocks.set_dtype(proto::F32);
  return codes;
}

TEST(MixedTables, CodesOfFrozenParametersHaveScales) {
  auto change = [](auto edit, const char *part) {
    MixedProgram mixed(1, 3);
    proto::Tensor *codes = addCodes(mixed, "q", 12, 4), *scales = addCodes(mixed, "q.scale", 3, 2);
    auto *second = addTensor(mixed.program, "q.scale.scale", proto::PARAMETER, proto::F32,
                             {3, 1, mixed.at.x}, {3}); // of two blocks, and the mean
    second->mutable_init()->set_splat(0);
    scales->set_of("q");
    second->set_of("q");
    edit(*codes, *scales, *second);
    expectRefused(mixed, ZERO_RT_BAD_FILE, part);
  };
  change([](auto &codes, auto &, auto &) { codes.set_frozen(false); },
         "'q': codes of no whole frozen parameter with scales");
  change([](auto &codes, auto &, auto &) { codes.mutable_blocks()->set_scales("q"); },
         "'q': codes of no whole frozen parameter with scales");
  change([](auto &codes, auto &, auto &) { codes.mutable_blocks()->set_scales("b"); },
         "'q': its scales are those of another one");
  change([](auto &, auto &scales, auto &) { scales.mutable_blocks()->set_scales("q.scale"); },
         "'q.scale': codes of no whole frozen parameter with scales");
  change([](auto &codes, auto &, auto &) { codes.mutable_blocks()->set_dtype(proto::I64); },
         "'q': bad type or shape of what its codes stand for");
  change([](auto &codes, auto &, auto &) { codes.mutable_blocks()->set_bits(4); },
         "'q': it has no code for each element");
  change([](auto &, auto &scales, auto &) { scales.mutable_blocks()->set_size(4); },
         "'q.scale': its scales are not those of its blocks");
  change([](auto &, auto &, auto &second) { second.set_shape(0, 2); },
         "'q.scale': its scales are not those of its blocks");
}

TEST(MixedTables, AreRefusedByName) {
  auto change = [](auto edit, const char *part) {
    MixedProgram mixed(2, 3);
    edit(mixed);
    expectRefused(mixed, ZERO_RT_BAD_FILE, part);
  };
  change([](auto &m) { m.segment(0).set_repeat(2); },
         "segment 'PROLOGUE': expected 3 iterations, got 2");
  change([](auto &m) { m.program.set_micro_batches(1); },
         "segment 'PROLOGUE': expected 1 iterations, got 3");
  change([](auto &m) { m.segment(2).set_repeat(3); }, "segment 'EPILOGUE': expected 1 iterations");
  change([](auto &m) { m.segment(1).add_inputs(3); }, "a segment writes input 3 of 3");
  change([](auto &m) { m.segment(1).mutable_commands(1)->set_when(proto::Command::When(9)); },
         "it runs in iterations that this runtime does not know");
  change([](auto &m) { m.program.mutable_kernels(0)->mutable_stored()->RemoveLast(); },
         "kernel 'forward': expected the types of 4 arguments, got 3");
  change([](auto &m) { m.program.mutable_kernels(1)->set_stored(0, proto::F64); },
         "kernel 'backward': an argument is stored in a type that is not read");
  change([](auto &m) { m.program.mutable_kernels(2)->add_stored(proto::DType(99)); },
         "kernel 'count_labels': an argument of an unknown type");
  change(
      [](auto &m) {
        for (int i = 0; i < 9; ++i)
          m.program.mutable_kernels(2)->add_stored(proto::BF16);
      },
      "wrong number of arguments for its kernel");
  auto reduce = [](auto &m) { return m.segment(1).mutable_commands(7)->mutable_collective(); };
  change([&](auto &m) { reduce(m)->set_arithmetic(proto::F16); }, "'reduce w': a sum over ranks");
  change([&](auto &m) { reduce(m)->set_arithmetic(proto::DType(99)); }, "'reduce w': a sum over");
  change([&](auto &m) { reduce(m)->set_dtype(proto::I8); }, "'reduce w': a sum over ranks");
  auto master = [](auto &m) { return m.program.mutable_tensors(1); };
  change([&](auto &m) { master(m)->set_role(proto::PARAMETER); },
         "'w.master': a master or an average that is no f32 state of the");
  change([&](auto &m) { master(m)->set_of("v"); }, "'w.master': the master or the average of no");
  change([&](auto &m) { master(m)->set_of("b"); },
         "'w.master': its parameter has another shape or type");
  change([&](auto &m) { *m.program.add_tensors() = *master(m); },
         "'w.master': its parameter has another one");
  change([&](auto &m) { master(m)->set_average(true); }, "'w.master': a master that is an average");
  auto addAverage = [&](auto &m) {
    proto::Tensor &average = *m.program.add_tensors();
    average = *master(m);
    average.set_name("w.average");
    average.set_master(false);
    average.set_average(true);
    return &average;
  };
  change([&](auto &m) { addAverage(m)->set_role(proto::CONSTANT); },
         "'w.average': a master or an average that is no f32 state of the");
  change([&](auto &m) { addAverage(m), addAverage(m); },
         "'w.average': its parameter has another one");
  change([](auto &m) { *m.program.add_tensors() = m.program.tensors(0); },
         "'w': another parameter has its name");
  change([&](auto &m) { m.program.mutable_gradients(0)->mutable_scale()->set_offset(m.at.end); },
         "an address lies outside the arena");
  change([&](auto &m) { m.program.mutable_gradients(0)->mutable_buffer()->set_dtype(proto::I32); },
         "gradient 'w': a scale of a gradient whose type has no scale");
  change(
      [](auto &m) {
        m.program.mutable_tensors(0)->mutable_init()->mutable_data()->set_stored(proto::F64);
      },
      "tensor 'w': its initial values are of a type that is not read");
}

} // namespace
