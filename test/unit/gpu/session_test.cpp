//===- session_test.cpp - tests of sessions that need a GPU ---------------===//

#include "../runtime/mixed_program.h"
#include "../runtime/parts.h"
#include "../runtime/trial.h"
#include "recording.h"

using namespace zero::rt;

namespace {

TEST(GpuSession, MakesNothingInAStep) {
  TinyProgram tiny(3, 2);
  Trial trial(tiny);
  trial.start();
  const recording::Counts started = recording::counts();
  EXPECT_EQ(started.deviceAllocations, 3u); // one arena per rank
  EXPECT_EQ(started.deviceBytes, 3 * tiny.at.end);
  trial.bind(24);
  for (int step = 0; step < 5; ++step)
    EXPECT_OK(trial.step());
  zero_rt_step_result got;
  EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, 0, &got));
  const recording::Counts ended = recording::counts();
  EXPECT_EQ(ended.made, started.made);
  EXPECT_EQ(ended.deviceAllocations, started.deviceAllocations);
  EXPECT_EQ(ended.hostAllocations, started.hostAllocations);
  EXPECT_GT(ended.waits, started.waits); // lanes wait for each other
}

/// The results are bitwise identical in every order between streams that the events allow.
TEST(GpuSession, ComputesTheSameInAnyOrder) {
  std::vector<float> first;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    recording::reset({.seed = seed});
    Trial trial((TinyProgram(3, 2)));
    trial.start();
    trial.bind(36);
    std::vector<float> found;
    for (int step = 0; step < 4; ++step) {
      EXPECT_OK(trial.step(ZERO_RT_KEEP_GRADIENTS));
      std::vector<float> gradient(12);
      EXPECT_OK(zero_rt_session_read_gradient(trial.session, "w", gradient.data(), 48));
      found.push_back(float(trial.result.loss));
      found.insert(found.end(), gradient.begin(), gradient.end());
    }
    const std::vector<float> w = trial.weights();
    found.insert(found.end(), w.begin(), w.end());
    if (seed == 1)
      first = found;
    EXPECT_EQ(found, first) << "seed " << seed;
    EXPECT_EQ(recording::problems(), std::vector<std::string>()) << "seed " << seed;
  }
}

TEST(GpuSession, ComputesMixedPrecisionInAnyOrder) {
  std::vector<float> first;
  for (uint64_t seed = 1; seed <= 15; ++seed) {
    recording::reset({.seed = seed});
    Trial trial(MixedProgram(2, 2));
    trial.start();
    trial.bind(32);
    for (int step = 0; step < 3; ++step)
      EXPECT_OK(trial.step());
    if (seed == 1)
      first = trial.weights();
    EXPECT_EQ(trial.weights(), first) << "seed " << seed;
  }
}

/// The predicate is copied to the host once each time it may have changed, not once for each
/// command that depends on it.
TEST(GpuSession, LooksAtAPredicateOnce) {
  uint64_t copies[2];
  for (int more : {0, 1}) {
    MixedProgram mixed(1, 1);
    Segment &epilogue = mixed.segment(2);
    const int update = epilogue.commands_size() - 2;
    ASSERT_EQ(epilogue.commands(update).predicate(), 1u);
    for (int i = 0; i < 3 * more; ++i) {
      *epilogue.add_commands() = epilogue.commands(update);
      epilogue.mutable_commands()->SwapElements(epilogue.commands_size() - 1,
                                                epilogue.commands_size() - 2);
    }
    Trial trial(mixed);
    trial.start();
    trial.bind(8);
    EXPECT_OK(trial.step());
    const uint64_t before = recording::counts().copies;
    EXPECT_OK(trial.step());
    copies[more] = recording::counts().copies - before;
  }
  EXPECT_EQ(copies[0], copies[1]);
}

TEST(GpuSession, EndsInTimeWhenTheGpuDoesNot) {
  recording::stall("sgd");
  Trial trial((TinyProgram(2)));
  trial.options.timeout_seconds = 1;
  trial.start();
  trial.bind(4);
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT, "GPU 0 has finished no work within 1 s");
  recording::release(); // so that the rest can be destroyed
}

TEST(GpuSession, RefusesWhatDoesNotFit) {
  auto expect = [](auto edit, zero_rt_code code, const char *part) {
    Trial trial((TinyProgram(3)));
    edit(trial.options);
    EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session), code,
                 part);
  };
  expect([](auto &options) { options.device = "cpu"; }, ZERO_RT_UNSUPPORTED,
         "the executable is compiled for cuda, not for cpu: compile the model with --device=cpu");
  expect([](auto &options) { options.device = "tpu"; }, ZERO_RT_INVALID_ARGUMENT,
         "expected device 'cpu' or 'cuda', got 'tpu'");
  expect([](auto &options) { options.gpus = "0,x"; }, ZERO_RT_INVALID_ARGUMENT,
         "expected numbers of GPUs such as '0,1', got '0,x'");
  expect([](auto &options) { options.gpus = "0,1"; }, ZERO_RT_INVALID_ARGUMENT,
         "expected one GPU for all ranks or one for each of the 3, got 2");
  expect([](auto &options) { options.gpus = "7"; }, ZERO_RT_INVALID_ARGUMENT,
         "no GPU 7: the driver sees 1");
  expect([](auto &options) { options.check_memory = 1; }, ZERO_RT_UNSUPPORTED,
         "the memory of a GPU cannot be watched");
}

TEST(GpuSession, RefusesCodeForOtherGpus) {
  recording::reset({.capability = 75});
  Trial trial((TinyProgram(1)));
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_UNSUPPORTED,
               "no code for GPU 0 (recording, sm_75): the executable has PTX for sm_80");
}

TEST(GpuSession, WithoutADriverSaysWhatWasLookedFor) {
  ::setenv("ZERO_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  Trial trial((TinyProgram(1)));
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_NOT_FOUND,
               "the CUDA driver was not found: looked for '/nonexistent/libcuda.so.1'");
  ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
}

TEST(GpuSession, TablesAreRefusedByName) {
  auto change = [](auto edit, zero_rt_code code, const char *part) {
    TinyProgram tiny(2);
    zero_rt_session_options options;
    moveTrial(tiny, options);
    edit(tiny);
    expectRefused(tiny, code, part);
  };
  change([](auto &t) { t.program.set_target(proto::CPU); }, ZERO_RT_BAD_FILE,
         "code for a GPU in a program for the CPU");
  change([](auto &t) { t.program.mutable_gpu_images(0)->set_bytes(1 << 30); }, ZERO_RT_BAD_FILE,
         "GPU code for sm_80: it lies outside the code section");
  change([](auto &t) { t.program.mutable_gpu_images(0)->set_bytes(10); }, ZERO_RT_BAD_FILE,
         "GPU code for sm_80: a text without end");
  change([](auto &t) { t.program.mutable_kernels(2)->set_symbol("mean_loss"); }, ZERO_RT_BAD_FILE,
         "command 'kernel 2': code for the CPU on lane COMPUTE, expected HOST_COMPUTE");
  change([](auto &t) { t.program.mutable_kernels(2)->mutable_convolution(); }, ZERO_RT_UNSUPPORTED,
         "kernel 'mean_loss': this runtime has no such kernel for a GPU");
  change(
      [](auto &t) {
        t.program.mutable_kernels(3)->mutable_gpu()->mutable_entries(0)->set_threads(2048);
      },
      ZERO_RT_BAD_FILE, "kernel 'sgd': a launch of no threads, or of too many");
}

} // namespace
