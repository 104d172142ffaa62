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

/// Arenas of ranks with a GPU each are NCCL's, registered once, and freed behind communicators:
/// the recording library says what is wrong. Those of ranks that share a GPU are the driver's.
TEST(GpuSession, RegistersArenasWithNccl) {
  const TinyProgram tiny(3, 2);
  for (const char *gpus : {"0,1,2", "0"}) {
    const uint64_t count = std::string(gpus) == "0" ? 0 : 3;
    recording::reset({.devices = 3});
    {
      Trial trial(tiny);
      trial.options.gpus = gpus;
      trial.start();
      trial.bind(36);
      for (int step = 0; step < 3; ++step)
        EXPECT_OK(trial.step());
      EXPECT_EQ(recording::counts().allocationsOfNccl, count);
      EXPECT_EQ(recording::counts().registrations, count);
      EXPECT_EQ(recording::counts().deviceBytes, 3 * tiny.at.end);
    }
    EXPECT_EQ(recording::counts().alive, 0u);
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
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

/// The losses and weights of some steps and an evaluation.
std::vector<float> train(const HandMadeProgram &program, int graphs) {
  Trial trial(program);
  trial.options.gpu_graphs = graphs;
  trial.start();
  trial.bind(120);
  std::vector<float> found;
  for (int step = 0; step < 5; ++step) {
    EXPECT_OK(trial.step());
    found.push_back(float(trial.result.loss));
    if (step > 1) {
      EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, 1, &trial.result));
      found.push_back(float(trial.result.loss));
    }
  }
  const std::vector<float> w = trial.weights();
  found.insert(found.end(), w.begin(), w.end());
  EXPECT_EQ(recording::counts().graphs > 0, graphs == 1);
  return found;
}

TEST(GpuGraphs, ComputeTheSameInAnyOrder) {
  const HandMadeProgram programs[] = {TinyProgram(1), TinyProgram(1, 3), TinyProgram(3, 2),
                                      MixedProgram(1, 2), MixedProgram(2, 1)};
  for (const HandMadeProgram &program : programs) {
    recording::reset();
    const std::vector<float> expected = train(program, 0);
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      recording::reset({.seed = seed});
      EXPECT_EQ(train(program, 1), expected) << program.program.name() << ", seed " << seed;
      EXPECT_EQ(recording::problems(), std::vector<std::string>());
    }
  }
}

/// By events: the host does not wait for each command.
TEST(GpuRecordings, HaveTheTimesOfTheGpu) {
  recording::reset();
  Trial trial((TinyProgram(1, 4)));
  trial.options.gpu_graphs = 0;
  trial.start();
  trial.bind(8);
  EXPECT_OK(trial.step());
  EXPECT_OK(zero_rt_session_record(trial.session, 1));
  const recording::Counts before = recording::counts();
  EXPECT_OK(trial.step());
  const recording::Counts after = recording::counts();
  zero_rt_recording found;
  EXPECT_OK(zero_rt_session_recording(trial.session, 0, &found));
  ASSERT_EQ(found.step_count, 1u);
  const zero_rt_recorded_step &step = found.steps[0];
  ASSERT_GT(step.events, 4u);
  EXPECT_EQ(after.timings - before.timings, 2 * step.events);
  uint64_t last = step.begin;
  for (uint64_t i = 0; i < step.events; ++i) {
    const zero_rt_event &event = found.events[step.first_event + i];
    EXPECT_LE(last, event.begin);
    EXPECT_LE(event.begin, event.end);
    last = event.begin;
  }
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
}

/// The calls of a step that start work, once all graphs are made.
uint64_t startsOfAStep(int graphs) {
  recording::reset();
  Trial trial((TinyProgram(1, 4)));
  trial.options.gpu_graphs = graphs;
  trial.start();
  trial.bind(8);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  const recording::Counts before = recording::counts();
  EXPECT_OK(trial.step());
  const recording::Counts after = recording::counts();
  EXPECT_EQ(after.graphs, before.graphs) << "a step makes graphs";
  EXPECT_EQ(after.made, before.made);
  return after.starts - before.starts;
}

TEST(GpuGraphs, AreOneLaunchForEachMicroBatch) {
  const uint64_t streams = startsOfAStep(0), graphs = startsOfAStep(1);
  std::printf("calls that start work in a step: %llu on streams, %llu with graphs\n",
              static_cast<unsigned long long>(streams), static_cast<unsigned long long>(graphs));
  // Four micro-batches; the first one writes three inputs and the others two; two updates; the
  // losses at their end and again with the step's.
  EXPECT_EQ(graphs, 4u + 9u + 2u + 4u);
  EXPECT_GT(streams, 2 * graphs);
}

TEST(GpuGraphs, NameTheKernelsOfAFault) {
  Trial trial((TinyProgram(1)));
  trial.start();
  trial.bind(2);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  recording::fail("mean_loss", 0);
  EXPECT_FAILS(trial.step(), ZERO_RT_INTERNAL,
               "kernel 'mean_loss' is to fail), by one of the kernels from 'range' to 'backward'");
}

TEST(GpuGraphs, EndInTimeWhenTheGpuDoesNot) {
  Trial trial((TinyProgram(2)));
  trial.options.timeout_seconds = 1;
  trial.start();
  trial.bind(4);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  recording::stall("mean_loss");
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT, "GPU 0 has finished no work within 1 s");
  recording::release(); // so that the rest can be destroyed
}

/// A recorded step waits for each command.
TEST(GpuGraphs, AreNotUsedInRecordedSteps) {
  Trial trial((TinyProgram(1)));
  trial.start();
  trial.bind(2);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  EXPECT_OK(zero_rt_session_record(trial.session, 1));
  const uint64_t before = recording::counts().products;
  EXPECT_OK(trial.step());
  EXPECT_EQ(recording::counts().products, before + 2);
  EXPECT_OK(trial.step());
  EXPECT_EQ(recording::counts().products, before + 2);
}

/// Labels of row 3 on are `labels`, of the others 3.
void bindLabels(Trial &trial, uint64_t rows, std::vector<int64_t> labels) {
  trial.bind(rows);
  labels.insert(labels.begin(), 3, 3);
  labels.resize(rows, 3);
  EXPECT_OK(zero_rt_data_bind_memory(trial.data, "label", ZERO_RT_I64, &rows, 1, labels.data()));
}

/// The host gives both micro-batches to the GPU before the first check has a value.
TEST(GpuChecks, DoNotHoldUpTheHost) {
  Trial trial((TinyProgram(1, 2)));
  trial.options.timeout_seconds = 1;
  trial.start();
  trial.bind(4);
  recording::stall("range");
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT, "GPU 0 has finished no work within 1 s");
  EXPECT_EQ(recording::counts().products, 4u);
  recording::release(); // so that the rest can be destroyed
}

/// The first value out of range is named, and nothing is updated.
TEST(GpuChecks, NameTheFirstThatFails) {
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (int ranks : {1, 3}) {
      recording::reset({.seed = seed});
      Trial trial(TinyProgram(ranks, 3));
      trial.start();
      const uint64_t rows = uint64_t(6 * ranks);
      trial.bind(rows);
      for (int step = 0; step < int(seed % 4); ++step)
        EXPECT_OK(trial.step());
      const std::vector<float> before = trial.weights();
      std::vector<int64_t> labels(rows - 3, 3);
      // Rank 0 of the micro-batches 1 and 2.
      labels[size_t(2 * ranks) - 3 + 1] = 12;
      labels[size_t(4 * ranks) - 3 + 1] = -7;
      bindLabels(trial, rows, labels);
      EXPECT_FAILS(trial.step(), ZERO_RT_CHECK_FAILED,
                   "rank 0, node 'gather_nodes': index out of range: expected 0 to 9, got 12");
      EXPECT_EQ(trial.weights(), before) << "seed " << seed;
      EXPECT_EQ(recording::problems(), std::vector<std::string>());
    }
}

/// A check that is looked at later must be before anything is updated.
TEST(GpuChecks, AreNotDeferredBehindAnUpdate) {
  TinyProgram tiny(1);
  zero_rt_session_options options;
  moveTrial(tiny, options);
  *tiny.segment(1).add_commands() = tiny.segment(0).commands(2);
  expectRefused(tiny, ZERO_RT_BAD_FILE,
                "a check is deferred on a CPU, or with no epilogue behind it");
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
