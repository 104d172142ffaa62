//===- algorithms_test.cpp - algorithms of products from a file -----------===//
//
// The recording library offers several algorithms of each product, with different bits, of which
// the settings make one the fastest. Sessions time them once, and share the choice by a file.
//
//===----------------------------------------------------------------------===//

#include "../runtime/mixed_program.h"
#include "../runtime/trial.h"
#include "recording.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

class GpuAlgorithms : public testing::Test {
protected:
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string contents() const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string &text) const { std::ofstream(file, std::ios::binary) << text; }
  /// Replaces the first `part` of the file behind `after`.
  void edit(const std::string &part, const std::string &instead,
            const std::string &after = "") const {
    std::string text = contents();
    const size_t from = text.find(after), at = text.find(part, from);
    ASSERT_NE(at, text.npos) << text;
    write(text.replace(at, part.size(), instead));
  }

  /// What a session has computed, and how.
  struct Run {
    std::vector<float> values;                                 ///< losses and weights
    recording::Counts start;                                   ///< when the session was made
    std::array<uint64_t, recording::kAlgorithms> algorithms{}; ///< of the products of its steps
  };

  /// Trains `program` for some steps on a driver with `settings`, with the file if `useFile`.
  Run train(const HandMadeProgram &program, const recording::Settings &settings,
            const char *gpus = nullptr, bool useFile = true) const {
    recording::reset(settings);
    Trial trial(program);
    trial.options.gpus = gpus;
    trial.options.gpu_algorithms = useFile ? file.c_str() : nullptr;
    trial.start();
    Run run;
    run.start = recording::counts();
    trial.bind(24);
    std::vector<float> x(size_t(24) * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(float(i)); // sums in another order have other bits
    const uint64_t shape[] = {24, 4};
    EXPECT_OK(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_F32, shape, 2, x.data()));
    for (int step = 0; step < 4; ++step) {
      EXPECT_OK(trial.step());
      run.values.push_back(float(trial.result.loss));
    }
    const std::vector<float> w = trial.weights();
    run.values.insert(run.values.end(), w.begin(), w.end());
    for (size_t i = 0; i < run.algorithms.size(); ++i)
      run.algorithms[i] = recording::counts().algorithms[i] - run.start.algorithms[i];
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
    return run;
  }

  /// The session of a program of one rank is refused with this error, and the file stays.
  void expectRefused(const recording::Settings &settings, zero_rt_code code,
                     const std::string &part) const {
    recording::reset(settings);
    const std::string before = contents();
    Trial trial((TinyProgram(1)));
    trial.options.gpu_algorithms = file.c_str();
    EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session), code,
                 part);
    EXPECT_EQ(contents(), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), fs::exists(file)) << "temporaries";
  }

  /// Whether all products of `run` have run `algorithm`.
  static void expectAll(const Run &run, int algorithm) {
    for (int i = 0; i < recording::kAlgorithms; ++i)
      EXPECT_EQ(run.algorithms[size_t(i)] > 0, i == algorithm) << i;
  }

  const std::string folder =
      testing::TempDir() + "zero-algorithms-" + std::to_string(::getpid()) + "/";
  const std::string file = folder + "algorithms.json";
};

TEST_F(GpuAlgorithms, AreTheFastest) {
  const TinyProgram tiny(2, 2);
  const Run plain = train(tiny, {.fastest = 3}, nullptr, /*useFile=*/false);
  expectAll(plain, 0);
  EXPECT_EQ(plain.start.timings, 0u);
  for (int fastest : {0, 1, 3}) {
    fs::remove(file);
    const Run run = train(tiny, {.fastest = fastest});
    expectAll(run, fastest);
    EXPECT_GT(run.start.timings, 0u);
    EXPECT_EQ(run.values == plain.values, fastest == 0) << "algorithms with the same bits";
    // The memory of an arena is taken for it, and is free again.
    EXPECT_EQ(run.start.deviceBytes, 3 * tiny.at.end);
    EXPECT_EQ(run.start.mostDeviceBytes, 2 * tiny.at.end);
    const char *const times = fastest == 0 ? "10000000}" : "12000000}";
    EXPECT_NE(
        contents().find("\"nanoseconds\": 10000000, \"first_nanoseconds\": " + std::string(times)),
        std::string::npos)
        << contents();
  }
}

TEST_F(GpuAlgorithms, AreReadAndNotTimed) {
  const Run first = train(TinyProgram(2, 2), {.fastest = 1});
  const std::string before = contents();
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Run second = train(TinyProgram(2, 2), {.seed = seed, .fastest = 3});
    EXPECT_EQ(second.start.timings, 0u);
    EXPECT_EQ(second.start.products, 0u);
    EXPECT_EQ(second.values, first.values);
    EXPECT_EQ(contents(), before);
  }
}

/// Three of each product fit, since there is no workspace, and have two runs each. Those that are
/// not far off have two turns more.
TEST_F(GpuAlgorithms, ThatAreFarOffAreTimedNoMore) {
  EXPECT_EQ(train(TinyProgram(1), {.fastest = 0}).start.timings, 2u * (3 * 2 + 2 * 2));
  fs::remove(file);
  EXPECT_EQ(train(TinyProgram(1), {.fastest = 3}).start.timings, 2u * (3 * 2 + 3 * 2));
}

/// GPUs differ in what is the fastest, so ranks would differ if each timed by itself.
TEST_F(GpuAlgorithms, AreThoseOfTheFirstGpu) {
  expectAll(train(TinyProgram(3, 2), {.devices = 3, .fastest = 3}, "0,1,2"), 3);
  expectAll(train(TinyProgram(3, 2), {.devices = 3, .fastest = 0}, "0,1,2"), 3);
  fs::remove(file);
  expectAll(train(TinyProgram(3, 2), {.devices = 3, .fastest = 3}, "2,1,0"), 1);
}

TEST_F(GpuAlgorithms, AreAddedWhereTheyAreMissing) {
  const TinyProgram tiny(1);
  train(tiny, {.fastest = 1});
  const std::string whole = contents();
  const size_t first = whole.find("    {"), second = whole.find("    {", first + 1);
  ASSERT_NE(second, whole.npos);
  write(std::string(whole).erase(first, second - first));
  const Run run = train(tiny, {.fastest = 3});
  EXPECT_GT(run.start.timings, 0u);
  EXPECT_EQ(run.algorithms[1], run.algorithms[3]); // one product each
  EXPECT_EQ(contents().substr(contents().find("    {", first + 1)), whole.substr(second));
  EXPECT_EQ(train(tiny, {.fastest = 0}).start.timings, 0u);
}

TEST_F(GpuAlgorithms, OfOtherGpusOrLibrariesAreRefused) {
  train(TinyProgram(1), {.fastest = 1});
  const std::string whole = contents();
  const std::string remove = "; remove it to time products again, or name another file";
  edit("\"recording\"", "\"GPU X\"");
  expectRefused({}, ZERO_RT_UNSUPPORTED,
                "'" + file +
                    "': expected algorithms for GPU 'recording' (sm_90) and cuBLASLt 130000, got "
                    "those for GPU 'GPU X' (sm_90) and cuBLASLt 130000" +
                    remove);
  write(whole);
  edit("130000", "120000");
  expectRefused({}, ZERO_RT_UNSUPPORTED, "'recording' (sm_90) and cuBLASLt 120000" + remove);
  write(whole);
  expectRefused({.capability = 100}, ZERO_RT_UNSUPPORTED,
                "expected algorithms for GPU "
                "'recording' (sm_100)");
  edit("\"driver\": 13000", "\"driver\": 12000"); // algorithms are the library's
  EXPECT_EQ(train(TinyProgram(1), {}).start.timings, 0u);
}

TEST_F(GpuAlgorithms, OfDamagedFilesAreRefused) {
  train(TinyProgram(1), {.fastest = 1});
  const std::string whole = contents(), hex = "\"algorithm\": \"";
  auto expect = [&](const std::string &part, const std::string &instead, const std::string &error,
                    const std::string &after = "") {
    write(whole);
    edit(part, instead, after);
    expectRefused({}, ZERO_RT_BAD_FILE, "'" + file + "': " + error);
  };
  const std::string form = "expected algorithms of products (zero-gpu-algorithms-1), got something "
                           "else at byte ";
  expect("algorithms-1", "algorithms-2", form);
  expect("\"driver\"", "\"pilot\"", form);
  expect(hex, hex + "0", form);
  expect(hex + "1", hex + "g", form);
  expect("]", "", form);
  expect("]", ", {}]", form);
  expect(hex + "1", hex + "2",
         "kernel 'forward': cublasLtMatmulAlgoCheck: as the recording library says; remove it to "
         "time products again",
         "float32 3x2");
  write("");
  expectRefused({}, ZERO_RT_BAD_FILE, form);
}

/// A second algorithm of a product would leave open which one counts.
TEST_F(GpuAlgorithms, OfTheSameProductAreRefused) {
  train(TinyProgram(1), {.fastest = 1});
  const std::string whole = contents();
  const size_t begin = whole.find("    {"), end = whole.find("}", begin);
  write(std::string(whole).insert(begin, whole.substr(begin, end + 1 - begin) + ",\n"));
  expectRefused({}, ZERO_RT_BAD_FILE, "got something else at byte ");
}

TEST_F(GpuAlgorithms, ThatFailNameTheProduct) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    expectRefused({.seed = seed, .fastest = 3, .refused = 1}, ZERO_RT_INTERNAL,
                  "kernel 'forward': while algorithms were timed: cublasLtMatmul: as the recording "
                  "library says");
    EXPECT_EQ(recording::problems(), std::vector<std::string>()) << "seed " << seed;
  }
  // Of a file that has the other product it stays.
  train(TinyProgram(1), {.fastest = 3});
  edit("aligned to", "aligned by");
  expectRefused({.refused = 1}, ZERO_RT_INTERNAL, "while algorithms were timed");
}

TEST_F(GpuAlgorithms, NeedAFolderForTheirFile) {
  recording::reset();
  Trial trial((TinyProgram(1)));
  const std::string nowhere = folder + "nowhere/algorithms.json";
  trial.options.gpu_algorithms = nowhere.c_str();
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session), ZERO_RT_IO,
               nowhere.c_str());
  EXPECT_EQ(recording::counts().timings, 0u) << "time is spent before the error";
}

/// What is missing in one program may be in another.
TEST_F(GpuAlgorithms, AreSharedByPrograms) {
  train(TinyProgram(1), {.fastest = 1});
  const Run run = train(TinyProgram(3, 2), {.fastest = 3});
  EXPECT_EQ(run.start.timings, 0u);
  expectAll(run, 1);
}

/// In a folder each kind of GPU and version of the library has its own file.
TEST_F(GpuAlgorithms, OfAFolderAreThoseOfTheGpu) {
  recording::reset();
  for (int capability : {90, 100, 90}) {
    recording::reset({.capability = capability});
    Trial trial((TinyProgram(1)));
    trial.options.gpu_algorithms = folder.c_str();
    const std::string own = folder + "gpu-algorithms-recording-sm_" + std::to_string(capability) +
                            "-cublaslt-130000.json";
    const bool isTimed = !fs::exists(own);
    trial.start();
    EXPECT_TRUE(fs::exists(own)) << own;
    EXPECT_EQ(recording::counts().timings > 0, isTimed);
    const char *const remark = zero_rt_session_next_remark(trial.session);
    EXPECT_EQ(remark != nullptr, isTimed);
    if (remark)
      EXPECT_NE(std::string(remark).find("were timed on the GPU, and are in '" + folder),
                std::string::npos)
          << remark;
  }
}

/// A session that chooses by itself runs what a checkpoint's session ran, from then on.
TEST_F(GpuAlgorithms, OfACheckpointAreTaken) {
  const char *const name = "XDG_CACHE_HOME";
  const std::string before = std::getenv(name) ? std::getenv(name) : "", state = folder + "state";
  ::setenv(name, folder.c_str(), 1);
  fs::create_directory(folder + "zero");
  auto open = [&](Trial &trial, const recording::Settings &settings, const char *algorithms) {
    recording::reset(settings);
    trial.options.gpu_algorithms = algorithms;
    trial.start();
    trial.bind(24);
    while (zero_rt_session_next_remark(trial.session)) // what was timed
      ;
  };
  /// What `algorithm` of all products has run in some steps.
  auto steps = [](Trial &trial, size_t algorithm) {
    const recording::Counts begin = recording::counts();
    for (int step = 0; step < 4; ++step) // with graphs, too
      EXPECT_OK(trial.step());
    const recording::Counts end = recording::counts();
    return std::pair(end.algorithms[algorithm] - begin.algorithms[algorithm],
                     end.products - begin.products);
  };
  auto load = [&](Trial &trial) {
    zero_rt_state_result from;
    EXPECT_OK(zero_rt_session_load_state(trial.session, state.c_str(), 0, &from));
    const char *remark = zero_rt_session_next_remark(trial.session);
    return std::string(remark ? remark : "");
  };
  {
    Trial first((TinyProgram(1)));
    open(first, {.fastest = 1}, "auto");
    const auto [ran, all] = steps(first, 1);
    EXPECT_EQ(ran, all);
    EXPECT_OK(zero_rt_session_save_state(first.session, state.c_str()));
  }
  fs::remove_all(folder + "zero");
  fs::create_directory(folder + "zero");
  {
    Trial second((TinyProgram(1)));
    open(second, {.fastest = 3}, "auto");
    const auto [own, all] = steps(second, 3);
    EXPECT_EQ(own, all);
    EXPECT_EQ(load(second), "");
    const auto [taken, later] = steps(second, 1);
    EXPECT_EQ(taken, later);
    EXPECT_GT(later, 0u);
  }
  {
    Trial named((TinyProgram(1)));
    open(named, {.fastest = 3}, file.c_str());
    EXPECT_EQ(load(named), "");
    const auto [own, all] = steps(named, 3);
    EXPECT_EQ(own, all);
  }
  {
    Trial other((TinyProgram(1)));
    open(other, {.capability = 100, .fastest = 3}, "auto");
    const std::string remark = load(other);
    EXPECT_EQ(remark.find("matrix products run other algorithms than before the checkpoint, whose "
                          "sums may differ by rounding: the checkpoint: expected algorithms for "
                          "GPU 'recording' (sm_100)"),
              0u)
        << remark;
    const auto [own, all] = steps(other, 3);
    EXPECT_EQ(own, all);
  }
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
  before.empty() ? ::unsetenv(name) : ::setenv(name, before.c_str(), 1);
}

/// Its products are functions of the test.
TEST_F(GpuAlgorithms, OfNoProductsAreNoFile) {
  train(MixedProgram(2, 2), {});
  EXPECT_FALSE(fs::exists(file));
}

} // namespace
