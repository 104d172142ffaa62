//===- schedule_test.cpp - real schedules on the recording driver ---------===//
//
// Runs executables that zeroc makes for GPUs. Nothing is used before it is ready or after its end,
// in any order that the events allow; a step makes no objects; and the memory equals the numbers of
// the certificate. That the numbers are right is tested with zero-run (test/execute). Without one
// of its barriers, the code is found to be wrong.
//
//===----------------------------------------------------------------------===//

#include "../runtime/trial.h"
#include "recording.h"
#include "runtime/format/tables.h"

#include <cstdlib>
#include <filesystem>

using namespace zero::rt;

namespace {

struct Schedule {
  const char *graph, *flags;
  int stage, ranks;
  size_t needed = 0; ///< barriers; more calls than are allowed with graphs
};

class Schedules : public testing::TestWithParam<Schedule> {
protected:
  void SetUp() override {
    path = testing::TempDir() + "zero-" + std::to_string(::getpid()) + ".zexe";
    std::filesystem::create_directory(disk = path + ".nvme");
  }
  void TearDown() override {
    stop();
    ::unlink(path.c_str());
    EXPECT_EQ(::rmdir(disk.c_str()), 0) << "something is left on the disk";
  }
  void stop() {
    zero_rt_session_free(std::exchange(session, nullptr));
    zero_rt_data_free(std::exchange(data, nullptr));
    zero_rt_executable_free(std::exchange(executable, nullptr));
  }

  /// Returns false if this compiler has no code for GPUs.
  bool compile() const {
    const Schedule &schedule = GetParam();
    const std::string command =
        std::string("CUDA_HOME=/nonexistent ") + ZEROC + " " + ZERO_TEST_DATA + "/" +
        schedule.graph +
        "/model.onnx --device=cuda --zero-stage=" + std::to_string(schedule.stage) +
        " --ranks=" + std::to_string(schedule.ranks) + " " + schedule.flags + " -o " + path +
        " > /dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  }

  void read() {
    ASSERT_EQ(readExecutable(path, file), "");
    program = file.program;
    ASSERT_EQ(program.gpu_images(0).kind(), proto::GpuImage::PTX);
  }

  void start(int graphs = 1) {
    zero_rt_session_options options;
    zero_rt_session_options_default(&options);
    options.gpu_graphs = graphs;
    options.allow_nan = 1;
    options.nvme_dir = disk.c_str();
    options.timeout_seconds = 60;
    EXPECT_OK(zero_rt_executable_load(path.c_str(), &executable));
    EXPECT_OK(zero_rt_session_create(executable, &options, &session));
    EXPECT_OK(zero_rt_data_create(executable, &data));
    for (const proto::Input &input : program.inputs()) {
      if (input.kind() != proto::Input::DATA)
        continue;
      std::vector<uint64_t> shape(input.shape().begin(), input.shape().end());
      shape[0] *= program.ranks() * microBatchesOf(program);
      uint64_t count = 1;
      for (uint64_t dim : shape)
        count *= dim;
      std::vector<int64_t> zeros(count, input.dtype() == proto::I64 ? integer : 0); // for any type
      EXPECT_OK(zero_rt_data_bind_memory(data, input.name().c_str(), toDType(input.dtype()),
                                         shape.data(), shape.size(), zeros.data()));
    }
    EXPECT_OK(zero_rt_session_set_data(session, data));
  }

  int64_t integer = 0; ///< in the data
  std::string path, disk;
  Executable file;
  proto::Program program;
  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
};

TEST_P(Schedules, RunInAnyOrder) {
  if (!compile())
    GTEST_SKIP() << "this compiler has no code for GPUs";
  recording::reset({.seed = uint64_t(GetParam().stage + 1)});
  read();
  if (HasFatalFailure())
    return;
  start();
  if (HasFailure())
    return;
  const recording::Counts before = recording::counts();
  EXPECT_EQ(before.deviceAllocations, program.ranks());
  EXPECT_EQ(before.deviceBytes, program.ranks() * program.arenas(0).bytes());
  zero_rt_step_result got;
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(zero_rt_session_step(session, 0, &got));
  for (int time = 0; time < 2; ++time)
    EXPECT_OK(zero_rt_session_evaluate(session, data, 0, &got));
  const uint64_t graphs = recording::counts().graphs;
  EXPECT_OK(zero_rt_session_step(session, 0, &got));
  EXPECT_OK(zero_rt_session_evaluate(session, data, 0, &got));
  const recording::Counts after = recording::counts();
  EXPECT_EQ(after.made, before.made);
  EXPECT_EQ(after.graphs, graphs) << "a later step makes graphs";
  EXPECT_EQ(after.hostAllocations, before.hostAllocations);
  EXPECT_GT(after.launches, before.launches);
  EXPECT_GT(after.products, before.products);
  EXPECT_GT(after.calls, before.calls) << "no check is deferred";
}

/// Kernels behind a failed check run, and stay in their operands whatever the index is.
class WrongIndices : public Schedules {};
TEST_P(WrongIndices, FailTheirCheckOnly) {
  if (!compile())
    GTEST_SKIP() << "this compiler has no code for GPUs";
  read();
  if (HasFatalFailure())
    return;
  for (int64_t index : {int64_t(70000), int64_t(-70000), INT64_MAX, INT64_MIN}) {
    recording::reset();
    integer = index;
    start();
    zero_rt_step_result got;
    EXPECT_FAILS(zero_rt_session_step(session, 0, &got), ZERO_RT_CHECK_FAILED, "lies outside");
    stop();
    EXPECT_EQ(recording::problems(), std::vector<std::string>()) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, WrongIndices, testing::Values(Schedule{"gpt2-tiny", "", 0, 1}),
                         [](const auto &) { return "gpt2_tiny"; });

class Launches : public Schedules {
protected:
  /// Calls that start work in the third step.
  uint64_t count(int graphs) {
    recording::reset();
    start(graphs);
    zero_rt_step_result got;
    for (int step = 0; step < 2; ++step)
      EXPECT_OK(zero_rt_session_step(session, 0, &got));
    const uint64_t before = recording::counts().starts;
    EXPECT_OK(zero_rt_session_step(session, 0, &got));
    stop();
    return recording::counts().starts - before;
  }
};

/// Beside the graphs there are copies of inputs and outputs, and of predicates.
TEST_P(Launches, BecomeGraphs) {
  if (!compile())
    GTEST_SKIP() << "this compiler has no code for GPUs";
  read();
  if (HasFatalFailure())
    return;
  const uint64_t streams = count(0), graphs = count(1);
  std::printf("%s %s: calls that start work in a step: %llu on streams, %llu with graphs\n",
              GetParam().graph, GetParam().flags, static_cast<unsigned long long>(streams),
              static_cast<unsigned long long>(graphs));
  EXPECT_LT(graphs, GetParam().needed);
  EXPECT_GT(streams, 2 * graphs);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, Launches,
    testing::Values(Schedule{"mlp", "", 0, 1, 13}, Schedule{"gpt2-tiny", "", 0, 1, 13},
                    Schedule{"gpt2-tiny", "--micro-batches=4 --clip-norm=1", 0, 1, 32},
                    Schedule{"gpt2-tiny", "--precision=fp16", 0, 1, 28}),
    [](const auto &info) { return "schedule_" + std::to_string(info.index); });

std::string nameOf(const testing::TestParamInfo<Schedule> &info) {
  std::string name = info.param.graph;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_stage" + std::to_string(info.param.stage) + "_ranks" +
         std::to_string(info.param.ranks);
}

class Barriers : public Schedules {
protected:
  /// The places of the barriers in the code, and their lengths.
  std::vector<std::pair<size_t, size_t>> find(const std::string &code) const {
    std::vector<std::pair<size_t, size_t>> found;
    const proto::GpuImage &image = program.gpu_images(0);
    for (size_t at = image.offset(); at < image.offset() + image.bytes(); ++at)
      if (code.compare(at, 9, "bar.sync ") == 0 || code.compare(at, 14, "bar.warp.sync ") == 0)
        found.emplace_back(at, code.find(';', at) + 1 - at);
    return found;
  }

  /// The result of a step with `code`.
  std::string step(const std::string &code) {
    EXPECT_EQ(writeExecutable(path, program, code,
                              {reinterpret_cast<const char *>(file.data.data()), file.data.size()},
                              file.isa),
              "");
    start();
    zero_rt_step_result got;
    const Result result(zero_rt_session_step(session, 0, &got));
    stop();
    recording::reset();
    return result.text;
  }
};

TEST_P(Barriers, AreMissed) {
  if (!compile())
    GTEST_SKIP() << "this compiler has no code for GPUs";
  recording::reset();
  read();
  if (HasFatalFailure())
    return;
  ASSERT_EQ(program.gpu_images_size(), 1);
  const std::string code(reinterpret_cast<const char *>(file.code.data()), file.code.size());
  EXPECT_EQ(step(code), "");
  const auto barriers = find(code);
  size_t missed = 0;
  for (auto [place, length] : barriers) {
    std::string without = code;
    std::fill_n(without.begin() + place, length, ' ');
    const std::string result = step(without);
    missed += result.find("without a barrier between them") != std::string::npos ||
              result.find("nobody has written") != std::string::npos;
  }
  // The others order accesses to different parts of one buffer.
  EXPECT_GE(missed, GetParam().needed) << "of " << barriers.size();
}

INSTANTIATE_TEST_SUITE_P(Graphs, Barriers,
                         testing::Values(Schedule{"mlp", "--clip-norm=1", 0, 1, 6},
                                         Schedule{"gpt2-tiny", "--clip-norm=1", 0, 1, 17}),
                         [](const auto &info) {
                           return std::string(info.param.graph) == "mlp" ? "mlp" : "gpt2_tiny";
                         });

INSTANTIATE_TEST_SUITE_P(Graphs, Schedules,
                         testing::Values(Schedule{"mlp", "", 0, 1}, Schedule{"mlp", "", 1, 2},
                                         Schedule{"mlp", "", 2, 4},
                                         Schedule{"mlp", "--micro-batches=2", 3, 4},
                                         Schedule{"gpt2-tiny", "--micro-batches=2", 0, 2},
                                         Schedule{"gpt2-tiny", "", 2, 2},
                                         Schedule{"gpt2-tiny", "--micro-batches=2", 3, 2}),
                         nameOf);

/// Flags of offloading: one tier for each kind, and with updates that wait for a norm.
constexpr const char *kOffloads[] = {
    "--offload-params=host --optimizer=adamw --lr=1e-3",
    "--offload-optimizer=host --optimizer=adamw --lr=1e-3",
    "--offload-params=nvme --offload-optimizer=nvme --optimizer=adamw --lr=1e-3",
    "--offload-activations=host",
    "--offload-gradients=host --micro-batches=2 --clip-norm=1",
    "--offload-params=host --offload-optimizer=nvme --offload-activations=nvme "
    "--offload-gradients=nvme --micro-batches=2 --clip-norm=1 --optimizer=adamw --lr=1e-3"};

std::vector<Schedule> offloads() {
  std::vector<Schedule> all;
  for (const char *flags : kOffloads)
    all.insert(all.end(), {{"mlp", flags, 3, 2}, {"gpt2-tiny", flags, 3, 2}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Offloads, Schedules, testing::ValuesIn(offloads()), [](const auto &info) {
  return nameOf(info) + "_" + std::to_string(info.index);
});

} // namespace
