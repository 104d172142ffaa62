//===- processes_test.cpp - a process for each rank -----------------------===//

#include "processes.h"
#include "tools/zero-run/train.h"

using namespace zero::rt;

namespace {

TEST_F(Processes, TrainAsOneProcessDoes) {
  TinyProgram tiny(kRanks, 2);
  Trial trial(tiny);
  if (isRank()) {
    adopt(trial);
    trial.start();
    trial.bind(24);
    const std::vector<double> found = losses(trial);
    EXPECT_OK(save(trial, "state"));
    std::ofstream(folder + ownRank()) << testing::PrintToString(found);
    EXPECT_FALSE(fs::exists(join));
    return;
  }
  trial.options.gpus = "0,1";
  trial.start();
  trial.bind(24);
  const std::vector<double> expected = losses(trial);
  for (const char *rank : {"0", "1"})
    EXPECT_EQ(contents(folder + rank), testing::PrintToString(expected));
  EXPECT_OK(save(trial, "whole"));
  for (const char *file : {"rank-00000.safetensors", "rank-00001.safetensors", "manifest.json"})
    EXPECT_EQ(contents(folder + "state/step-00000003/" + file),
              contents(folder + "whole/step-00000003/" + file))
        << file;
  EXPECT_FALSE(contents(folder + "state/step-00000003/rank-00001.safetensors").empty());
}

TEST_F(Processes, GoOnFromACheckpoint) {
  TinyProgram tiny(kRanks);
  if (isRank()) {
    Trial first(tiny), second(tiny), third(tiny);
    adopt(first);
    first.start();
    first.bind(24);
    losses(first);
    EXPECT_OK(save(first, "state"));
    const std::vector<double> expected = losses(first);
    adopt(second, "id2");
    second.start();
    second.bind(24);
    EXPECT_OK(load(second, "state"));
    EXPECT_EQ(losses(second), expected);
    adopt(third, "id3");
    third.start();
    EXPECT_FAILS(load(third, "nowhere"), ZERO_RT_NOT_FOUND, "no checkpoint in");
    // One rank does not find the checkpoint, so no rank resumes.
    EXPECT_FAILS(load(third, number() == 0 ? "state" : "nowhere"), ZERO_RT_BAD_FILE,
                 "/step-00000003' is missing on host '");
  }
}

TEST_F(Processes, SaveAllOrNothing) {
  TinyProgram tiny(kRanks);
  if (isRank()) {
    Trial trial(tiny);
    adopt(trial);
    trial.start();
    trial.bind(24);
    losses(trial);
    // Only rank 0 creates the folder. Rank 1 gets another path, where no folder exists.
    const bool makes = number() == 0;
    EXPECT_FAILS(save(trial, makes ? "one" : "other"), makes ? ZERO_RT_ABORTED : ZERO_RT_IO,
                 "checkpoint of step 3: rank 1 on host '");
    EXPECT_OK(trial.step()); // the session remains usable
    EXPECT_OK(save(trial, "state"));
    EXPECT_EQ(fs::is_empty(folder + "one"), true);
  }
}

TEST_F(Processes, AnswerTheFirst) {
  TinyProgram tiny(kRanks);
  if (isRank()) {
    Trial trial(tiny);
    adopt(trial);
    trial.start();
    trial.bind(24);
    losses(trial);
    EXPECT_OK(trial.step(ZERO_RT_KEEP_GRADIENTS));
    if (number() == 1) {
      EXPECT_OK(zero_rt_session_serve(trial.session));
    } else {
      float values[12];
      zero_rt_stats stats;
      EXPECT_OK(zero_rt_session_read_tensor(trial.session, "w", values, 48));
      EXPECT_OK(zero_rt_session_save(trial.session, (folder + "w.safetensors").c_str()));
      EXPECT_OK(zero_rt_session_save_gradients(trial.session, (folder + "g.safetensors").c_str()));
      EXPECT_OK(zero_rt_session_stats(trial.session, 1, &stats));
      EXPECT_EQ(stats.steps, 4u);
      EXPECT_OK(zero_rt_session_end_service(trial.session));
    }
    int any = -1;
    EXPECT_OK(zero_rt_session_any(trial.session, number(), &any));
    EXPECT_EQ(any, 1);
    EXPECT_OK(zero_rt_session_any(trial.session, 0, &any));
    EXPECT_EQ(any, 0);
    EXPECT_OK(trial.step());
    return;
  }
  Trial trial(tiny); // in one process
  trial.options.gpus = "0,1";
  trial.start();
  trial.bind(24);
  losses(trial);
  EXPECT_OK(trial.step(ZERO_RT_KEEP_GRADIENTS));
  EXPECT_OK(zero_rt_session_save(trial.session, (folder + "w1.safetensors").c_str()));
  EXPECT_OK(zero_rt_session_save_gradients(trial.session, (folder + "g1.safetensors").c_str()));
  EXPECT_EQ(contents(folder + "w.safetensors"), contents(folder + "w1.safetensors"));
  EXPECT_EQ(contents(folder + "g.safetensors"), contents(folder + "g1.safetensors"));
}

TEST_F(Processes, ThatShareAGpuAreRefused) {
  if (isRank()) {
    Trial trial((TinyProgram(kRanks)));
    adopt(trial);
    trial.options.gpus = "0";
    EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
                 ZERO_RT_INTERNAL,
                 "NCCL's start: as the recording library says; each rank needs a "
                 "GPU of its own");
  }
}

TEST_F(Processes, WithDifferentExecutablesAreRefused) {
  if (isRank()) {
    Trial trial((TinyProgram(kRanks, 1 + std::stoi(ownRank()))));
    adopt(trial);
    EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
                 ZERO_RT_INVALID_ARGUMENT, "has another executable than process 0");
  }
}

/// NCCL's collectives are part of the graphs of a process that has one rank.
TEST_F(Processes, LaunchGraphs) {
  TinyProgram tiny(kRanks, 2);
  tiny.program.add_volumes()->add_axes(0);
  if (isRank()) {
    std::vector<double> found[2];
    std::array<uint64_t, 6> received[2]; // by both ranks
    for (int graphs : {0, 1}) {
      Trial trial(tiny);
      adopt(trial, graphs ? "on" : "off");
      trial.options.gpu_graphs = graphs;
      trial.start();
      trial.bind(24);
      const uint64_t before = recording::counts().graphs;
      found[graphs] = losses(trial, 6);
      EXPECT_EQ(recording::counts().graphs > before, graphs == 1);
      if (number() == 1) {
        EXPECT_OK(zero_rt_session_serve(trial.session));
        continue;
      }
      for (int rank : {0, 1}) {
        zero_rt_stats stats;
        EXPECT_OK(zero_rt_session_stats(trial.session, rank, &stats));
        received[graphs][size_t(3 * rank)] = stats.model_elements;
        received[graphs][size_t(3 * rank) + 1] = stats.control_elements;
        received[graphs][size_t(3 * rank) + 2] = stats.volume_elements[0];
      }
      EXPECT_OK(zero_rt_session_end_service(trial.session));
    }
    EXPECT_EQ(found[1], found[0]);
    if (number() == 0) {
      EXPECT_EQ(received[1], received[0]);
      EXPECT_GT(received[0][0], 0u);
      EXPECT_EQ(received[0][2], received[0][0]);
    }
  }
}

/// Rank 1 has another fastest algorithm, and does not even know the file.
TEST_F(Processes, RunTheAlgorithmsOfTheFirst) {
  TinyProgram tiny(kRanks, 2);
  const std::string file = folder + "algorithms.json";
  if (isRank()) {
    const bool isFirst = number() == 0;
    for (const char *meeting : {"timed", "read"}) {
      recording::reset({.devices = 2, .fastest = isFirst ? 1 : 2});
      Trial trial(tiny);
      adopt(trial, meeting);
      if (isFirst)
        trial.options.gpu_algorithms = file.c_str();
      const bool isTimed = isFirst && !fs::exists(file);
      trial.start();
      trial.bind(24);
      const recording::Counts before = recording::counts();
      EXPECT_EQ(before.timings > 0, isTimed);
      losses(trial);
      const recording::Counts after = recording::counts();
      EXPECT_EQ(after.algorithms[1] - before.algorithms[1], after.products - before.products);
      EXPECT_EQ(recording::problems(), std::vector<std::string>());
    }
    Trial damaged(tiny);
    adopt(damaged, "damaged");
    if (isFirst) {
      std::ofstream(file) << "{}";
      damaged.options.gpu_algorithms = file.c_str();
    }
    EXPECT_FAILS(zero_rt_session_create(damaged.executable, &damaged.options, &damaged.session),
                 ZERO_RT_BAD_FILE, "expected algorithms of products");
    return;
  }
  EXPECT_EQ(contents(file), "{}");
}

/// All ranks end when one of them has a wrong index in the data.
TEST_F(Processes, EndWhenACheckFails) {
  TinyProgram tiny(kRanks, 2);
  if (isRank()) {
    Trial trial(tiny);
    adopt(trial);
    trial.options.timeout_seconds = 20;
    trial.start();
    trial.bind(24);
    losses(trial);
    trial.bind(24, 0, UINT64_MAX, number() == 1 ? 12 : 3);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FAILS(trial.step(), ZERO_RT_CHECK_FAILED,
                 "rank 1, node 'gather_nodes': index out of range: expected 0 to 9, got 12");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "the session has ended");
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
}

/// Runs zero-run with command-line arguments.
class Tool : public Processes {
protected:
  void SetUp() override {
    Processes::SetUp();
    if (ownRank())
      return;
    HandMadeProgram program = TinyProgram(kRanks);
    zero_rt_session_options ignored;
    moveTrial(program, ignored);
    fs::rename(program.write("tool.zexe"), folder + "tiny.zexe");
    write("x.bin", std::vector<float>(12 * 4, 0.5f));
    write("label.bin", std::vector<int64_t>(12, 3));
  }
  template <typename T>
  void write(const char *name, const std::vector<T> &values) const {
    std::ofstream(folder + name, std::ios::binary)
        .write(reinterpret_cast<const char *>(values.data()),
               std::streamsize(values.size() * sizeof(T)));
  }

  static Status parse(std::vector<std::string> words, zero::run::Options &options) {
    words.insert(words.begin(), "zero-run");
    std::vector<char *> arguments;
    arguments.reserve(words.size());
    for (std::string &word : words)
      arguments.push_back(word.data());
    return zero::run::parseOptions(int(arguments.size()), arguments.data(), options);
  }
  Status run(std::vector<std::string> words) const {
    zero::run::Options options;
    zero::run::Executable executable;
    int code;
    words.insert(words.end(),
                 {folder + "tiny.zexe", "--data",
                  "x=" + folder + "x.bin:float32,label=" + folder + "label.bin:int64"});
    ZERO_RT_TRY(parse(words, options));
    zero::run::Job job;
    ZERO_RT_TRY(job.find(options));
    ZERO_RT_TRY(zero::run::load(options.model, executable));
    ZERO_RT_TRY(job.open(options, zero::run::infoOf(executable).ranks));
    return zero::run::train(options, job, executable, code);
  }
};

TEST_F(Tool, TrainsWithAProcessForEachRank) {
  TinyProgram tiny(kRanks);
  Trial kernels(tiny); // registers the kernels with the recording driver
  const std::string log = "--log=" + folder;
  if (isRank()) {
    ::setenv("RANK", ownRank(), 1);
    ::setenv("LOCAL_RANK", ownRank(), 1);
    const std::string state = folder + "state";
    Status status = run({"--join=" + folder + "id", log + "many", "--steps=3", "--save-state",
                         state, "--report-json=" + folder + "report"});
    EXPECT_TRUE(status.ok()) << status.getMessage();
    status = run({"--join=" + folder + "id", log + "many", "--steps=5", "--resume=" + state});
    EXPECT_TRUE(status.ok()) << status.getMessage();
    return;
  }
  EXPECT_NE(contents(folder + "report").find("\"losses\": ["), std::string::npos);
  Status status = run({"--gpus=0,1", log + "one", "--steps=5"});
  EXPECT_TRUE(status.ok()) << status.getMessage();
  EXPECT_EQ(contents(folder + "many"), contents(folder + "one"));
  EXPECT_NE(contents(folder + "one").find("\"step\":4"), std::string::npos);
  // Tests --save with one process per rank.
  status = run({"--resume=" + folder + "state", "--steps=3", "--save=" + folder + "w.safetensors"});
  EXPECT_TRUE(status.ok()) << status.getMessage();
  EXPECT_TRUE(fs::exists(folder + "w.safetensors"));
}

TEST_F(Tool, TrainsUnderTorchrun) {
  TinyProgram tiny(kRanks);
  Trial kernels(tiny); // registers the kernels with the recording driver
  if (isRank()) {
    for (const char *name : {"RANK", "LOCAL_RANK"})
      ::setenv(name, ownRank(), 1);
    for (const char *name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"})
      ::setenv(name, std::to_string(kRanks).c_str(), 1);
    Status status = run({"--steps=3", "--log=" + folder + "many", "--save-outputs",
                         folder + "o.safetensors", "--save", folder + "w.safetensors"});
    EXPECT_TRUE(status.ok()) << status.getMessage();
    return;
  }
  Status status = run({"--gpus=0,1", "--steps=3", "--log=" + folder + "one", "--save-outputs",
                       folder + "o1.safetensors", "--save", folder + "w1.safetensors"});
  EXPECT_TRUE(status.ok()) << status.getMessage();
  EXPECT_EQ(contents(folder + "many"), contents(folder + "one"));
  EXPECT_EQ(contents(folder + "w.safetensors"), contents(folder + "w1.safetensors"));
  EXPECT_EQ(contents(folder + "o.safetensors"), contents(folder + "o1.safetensors"));
}

TEST_F(Tool, RefusesContradictions) {
  ::unsetenv("RANK");
  auto expect = [](std::vector<std::string> words, const char *part) {
    zero::run::Options options;
    zero::run::Job job;
    words.push_back("tiny.zexe");
    Status status = parse(words, options);
    if (status.ok())
      status = job.find(options);
    EXPECT_EQ(status.getCode(), ZERO_RT_INVALID_ARGUMENT);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  };
  expect({"--rank=1"}, "--rank needs --join");
  expect({"--join=id"}, "--join needs --rank, or the variable RANK");
  expect({"--join=id", "--rank=0", "model.onnx"}, "expected one model");
  expect({"--join=id", "--rank=0", "--processes=2"}, "expected --processes or --join, got both");
  expect({"--processes=0"}, "expected --processes from 1 to");
  expect({"--ranks-per-process=2"}, "--ranks-per-process needs several processes");
  ::setenv("RANK", "one", 1);
  expect({"--join=id"}, "the variable RANK: expected a rank, got 'one'");
  ::unsetenv("RANK");
}

TEST_F(Processes, AreRefusedWhereTheyCannotBe) {
  if (isRank()) {
    Trial stalls((TinyProgram(kRanks))), odd((TinyProgram(3)));
    adopt(stalls);
    stalls.options.stall_rank = 1;
    EXPECT_FAILS(zero_rt_session_create(stalls.executable, &stalls.options, &stalls.session),
                 ZERO_RT_INVALID_ARGUMENT,
                 "ranks can be stalled where they are threads of one process");
    adopt(odd, "id2");
    EXPECT_FAILS(zero_rt_session_create(odd.executable, &odd.options, &odd.session),
                 ZERO_RT_INVALID_ARGUMENT,
                 "the executable has 3 ranks, which do not divide among 2 processes: start 3 "
                 "processes, or compile with --ranks=2");
  }
}

} // namespace
