//===- schedule_test.cpp - real schedules on the recording driver ---------===//
//
// Runs executables that zeroc makes for GPUs with kernels that do nothing. The tests check
// everything else: symbols, parameters and products exist; nothing is used before it is ready or
// after its end, in any order that the events allow; a step makes no objects; and the memory equals
// the numbers of the certificate.
//
//===----------------------------------------------------------------------===//

#include "../runtime/trial.h"
#include "recording.h"
#include "runtime/format/tables.h"
#include "sum_kernels.h"

#include <cstdlib>

using namespace zero::rt;

namespace {

struct Schedule {
  const char *graph, *flags;
  int stage, ranks;
};

/// Parses ".entry NAME(.param ..., .param ...)" of a text. Returns the number of parameters by
/// name.
std::map<std::string, int> entriesOf(const std::string &text) {
  std::map<std::string, int> entries;
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    const size_t begin = at + 7, open = text.find('(', begin), close = text.find(')', open);
    int parameters = 0;
    for (size_t next = open; (next = text.find(".param", next)) < close; ++next)
      ++parameters;
    entries[text.substr(begin, open - begin)] = parameters;
    at = close;
  }
  return entries;
}

class Schedules : public testing::TestWithParam<Schedule> {
protected:
  void SetUp() override {
    path = testing::TempDir() + "zero-" + std::to_string(::getpid()) + ".zexe";
  }
  void TearDown() override {
    zero_rt_session_free(session);
    zero_rt_data_free(data);
    zero_rt_executable_free(executable);
    ::unlink(path.c_str());
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

  /// Reads the program, replaces its kernels by kernels that do nothing, and makes every check
  /// pass.
  void adapt() {
    Executable read;
    ASSERT_EQ(readExecutable(path, read), "");
    program = read.program;
    const auto *code = reinterpret_cast<const char *>(read.code.data());
    ASSERT_EQ(program.gpu_images(0).kind(), proto::GpuImage::PTX);
    const auto entries = entriesOf(code + program.gpu_images(0).offset());
    for (const auto &[name, parameters] : entries)
      recording::addKernel(name, parameters - 1, 1, [](const auto &, const auto &, uint64_t) {});
    for (proto::Segment &segment : *program.mutable_segments())
      for (proto::Command &command : *segment.mutable_commands()) {
        if (command.has_launch())
          for (const proto::GpuEntry &entry :
               program.kernels(int(command.launch().kernel())).gpu().entries())
            EXPECT_EQ(entries.at(entry.symbol()), command.launch().args_size() + 1);
        if (command.has_check()) {
          command.mutable_check()->set_lower(INT64_MIN);
          command.mutable_check()->set_upper(INT64_MAX);
        }
      }
    EXPECT_EQ(writeExecutable(path, program, {code, read.code.size()},
                              {reinterpret_cast<const char *>(read.data.data()), read.data.size()},
                              read.isa),
              "");
  }

  void start() {
    zero_rt_session_options options;
    zero_rt_session_options_default(&options);
    options.allow_nan = 1;
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
      std::vector<int64_t> zeros(count); // for any type
      EXPECT_OK(zero_rt_data_bind_memory(data, input.name().c_str(), toDType(input.dtype()),
                                         shape.data(), shape.size(), zeros.data()));
    }
    EXPECT_OK(zero_rt_session_set_data(session, data));
  }

  std::string path;
  proto::Program program;
  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
};

TEST_P(Schedules, RunInAnyOrder) {
  if (!compile())
    GTEST_SKIP() << "this compiler has no code for GPUs";
  recording::reset({.seed = uint64_t(GetParam().stage + 1), .products = false});
  adapt();
  if (HasFatalFailure())
    return;
  addSumKernels(int(program.ranks()), int(program.ranks_per_node()));
  start();
  if (HasFailure())
    return;
  const recording::Counts before = recording::counts();
  EXPECT_EQ(before.deviceAllocations, program.ranks());
  EXPECT_EQ(before.deviceBytes, program.ranks() * program.arenas(0).bytes());
  zero_rt_step_result got;
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(zero_rt_session_step(session, 0, &got));
  EXPECT_OK(zero_rt_session_evaluate(session, data, 0, &got));
  const recording::Counts after = recording::counts();
  EXPECT_EQ(after.made, before.made);
  EXPECT_EQ(after.hostAllocations, before.hostAllocations);
  EXPECT_GT(after.launches, before.launches);
  EXPECT_GT(after.products, before.products);
}

INSTANTIATE_TEST_SUITE_P(Graphs, Schedules,
                         testing::Values(Schedule{"mlp", "", 0, 1}, Schedule{"mlp", "", 1, 2},
                                         Schedule{"mlp", "", 2, 4},
                                         Schedule{"mlp", "--micro-batches=2", 3, 4},
                                         Schedule{"gpt2-tiny", "--micro-batches=2", 0, 2},
                                         Schedule{"gpt2-tiny", "", 2, 2},
                                         Schedule{"gpt2-tiny", "--micro-batches=2", 3, 2}),
                         [](const auto &info) {
                           std::string name = info.param.graph;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_stage" + std::to_string(info.param.stage) + "_ranks" +
                                  std::to_string(info.param.ranks);
                         });

} // namespace
