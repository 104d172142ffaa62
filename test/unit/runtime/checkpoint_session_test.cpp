//===- checkpoint_session_test.cpp - sessions that resume -----------------===//

#include "trial.h"

#include "runtime/checkpoint/data_position.h"
#include "zero_rt/saving.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

class Resume : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "zero-resume-" + std::to_string(::getpid());
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static int64_t countOf(Trial &trial) {
    int64_t count = 0;
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, 8));
    return count;
  }
  static std::string remark(Trial &trial) {
    const char *text = zero_rt_session_next_remark(trial.session);
    return text ? text : "";
  }
  zero_rt_status save(Trial &trial) {
    return zero_rt_session_save_state(trial.session, folder.c_str());
  }
  zero_rt_status load(Trial &trial, uint32_t flags = 0) {
    return zero_rt_session_load_state(trial.session, folder.c_str(), flags, &from);
  }

  std::string folder;
  zero_rt_state_result from{};
};

TEST_F(Resume, GoesOnAsIfNothingHadHappened) {
  for (int ranks : {1, 2, 5})
    for (int microBatches : {1, 2}) {
      TinyProgram tiny(ranks, microBatches);
      Trial whole(tiny), first(tiny), second(tiny);
      for (Trial *each : {&whole, &first, &second}) {
        each->start();
        each->bind(uint64_t(7 * 2 * ranks * microBatches + 1));
        EXPECT_OK(zero_rt_data_shuffle(each->data, 3));
      }
      for (int step = 0; step < 3; ++step) {
        EXPECT_OK(whole.step());
        EXPECT_OK(first.step());
      }
      EXPECT_OK(save(first));
      EXPECT_OK(second.step()); // discards what the session did before
      EXPECT_OK(load(second));
      EXPECT_EQ(from.step, 3u);
      EXPECT_EQ(from.batch, 3u);
      EXPECT_EQ(from.generation, folder + "/step-00000003");
      EXPECT_EQ(remark(second), "");
      for (int step = 3; step < 9; ++step) { // continues into the next epoch
        EXPECT_OK(whole.step());
        EXPECT_OK(second.step());
        EXPECT_EQ(second.result.step, whole.result.step);
        EXPECT_EQ(second.result.loss, whole.result.loss) << step;
      }
      EXPECT_EQ(second.weights(), whole.weights());
      EXPECT_EQ(countOf(second), countOf(whole));
      zero_rt_stats stats;
      EXPECT_OK(zero_rt_session_stats(second.session, 0, &stats));
      EXPECT_EQ(stats.steps, 7u); // steps of this session
      fs::remove_all(folder);
    }
}

TEST_F(Resume, OnOtherRanksTheDataGoesOnWithAWholeBatch) {
  Trial first((TinyProgram(4))), second((TinyProgram(3)));
  first.start();
  first.bind(24); // for batches of 8 and of 6
  for (int step = 0; step < 4; ++step)
    EXPECT_OK(first.step());
  EXPECT_OK(save(first));
  second.start();
  second.bind(24);
  EXPECT_OK(load(second));
  EXPECT_EQ(from.step, 4u);
  // 8 samples of the second epoch have been read, so batches 0 and 1 are skipped
  EXPECT_EQ(from.batch, 4u + 2);
  EXPECT_EQ(remark(second),
            "a global batch was 8 samples and is 6; the data continues at sample 12 "
            "of epoch 1, from sample 8 of epoch 1");
  EXPECT_EQ(remark(second), "");
  EXPECT_EQ(second.weights(), first.weights());
  EXPECT_EQ(countOf(second), countOf(first));
  zero_rt_step_result expected;
  EXPECT_OK(zero_rt_session_evaluate(second.session, second.data, 2, &expected));
  EXPECT_OK(second.step());
  EXPECT_EQ(second.result.loss, expected.loss);
  EXPECT_EQ(second.result.step, 4u);
}

TEST_F(Resume, OtherDataIsRefusedUnlessItBeginsAnew) {
  Trial first((TinyProgram(2))), second((TinyProgram(2)));
  first.start();
  first.bind(16);
  EXPECT_OK(zero_rt_data_shuffle(first.data, 3));
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(first.step());
  EXPECT_OK(save(first));
  second.start();
  second.bind(20);
  const std::vector<float> before = second.weights();
  EXPECT_FAILS(load(second), ZERO_RT_BAD_DATA, "expected 16 samples, got 20; restart the data");
  second.bind(16);
  EXPECT_FAILS(load(second), ZERO_RT_BAD_DATA, "expected shuffled with seed 3, got not shuffled");
  EXPECT_OK(zero_rt_data_shuffle(second.data, 4));
  EXPECT_FAILS(load(second), ZERO_RT_BAD_DATA,
               "expected shuffled with seed 3, got shuffled with seed 4");
  EXPECT_EQ(second.weights(), before);
  EXPECT_OK(load(second, ZERO_RT_RESTART_DATA));
  EXPECT_EQ(from.step, 3u);
  EXPECT_EQ(from.batch, 0u);
  EXPECT_EQ(second.weights(), first.weights());
  zero_rt_step_result expected;
  EXPECT_OK(zero_rt_session_evaluate(second.session, second.data, 0, &expected));
  EXPECT_OK(second.step());
  EXPECT_EQ(second.result.loss, expected.loss);
}

/// The position in the data survives sessions that have no data.
TEST_F(Resume, WithoutDataThePlaceIsKept) {
  TinyProgram tiny(2);
  Trial first(tiny), bare(tiny), second(tiny);
  first.start();
  first.bind(16);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(first.step());
  EXPECT_OK(save(first));
  EXPECT_OK(first.step());
  bare.start();
  EXPECT_OK(load(bare));
  EXPECT_EQ(from.batch, 0u);
  EXPECT_OK(save(bare)); // saves the same step a second time
  second.start();
  EXPECT_OK(load(second));
  EXPECT_FAILS(second.step(), ZERO_RT_INVALID_ARGUMENT, "no data for input 'x'");
  second.bind(16);
  EXPECT_OK(second.step());
  EXPECT_EQ(second.result.loss, first.result.loss);
  EXPECT_EQ(second.weights(), first.weights());
}

TEST_F(Resume, WhatDoesNotFitChangesNothing) {
  Trial first((TinyProgram(2)));
  first.start();
  first.bind(8);
  EXPECT_OK(first.step());
  EXPECT_OK(save(first));
  TinyProgram other(3);
  other.program.mutable_tensors(0)->set_shape(0, 3);
  other.program.mutable_tensors(0)->set_shape(1, 4);
  other.program.mutable_tensors(1)->set_name("counter");
  Trial second(other);
  second.start();
  second.bind(12);
  const std::vector<float> before = second.weights();
  EXPECT_FAILS(load(second), ZERO_RT_BAD_DATA,
               "step-00000001' does not fit: 1 of another shape or type: 'w' (expected [3, 4], got "
               "[4, 3]); 1 missing: 'counter'");
  EXPECT_EQ(second.weights(), before);
  EXPECT_OK(second.step());
  EXPECT_EQ(second.result.step, 0u);
}

TEST_F(Resume, ADamagedGenerationIsPassedOverAndReplaced) {
  TinyProgram tiny(2);
  Trial first(tiny), second(tiny);
  for (Trial *each : {&first, &second}) {
    each->start();
    each->bind(16);
  }
  for (int step = 0; step < 4; ++step) {
    EXPECT_OK(first.step());
    if (step != 1)
      EXPECT_OK(save(first));
  }
  const std::string shard = folder + "/step-00000004/rank-00001.safetensors";
  fs::resize_file(shard, fs::file_size(shard) - 1);
  EXPECT_OK(zero_rt_session_set_learning_rate(second.session, 0.25f));
  EXPECT_OK(load(second));
  EXPECT_EQ(from.step, 3u);
  const std::string told = remark(second);
  EXPECT_NE(told.find("'" + shard + "': truncated"), std::string::npos) << told;
  EXPECT_NE(told.find("; '" + folder + "/step-00000003' is used instead"), std::string::npos)
      << told;
  EXPECT_EQ(remark(second), "saved with a learning rate of 0.5, resumed with 0.25");
  EXPECT_OK(save(second)); // although step 4 exists
  EXPECT_FALSE(fs::exists(folder + "/step-00000004"));
  EXPECT_TRUE(fs::exists(folder + "/step-00000003"));
}

TEST_F(Resume, AnotherRunsFolderIsRefused) {
  TinyProgram tiny(1);
  Trial first(tiny), second(tiny);
  for (Trial *each : {&first, &second}) {
    each->start();
    each->bind(16);
  }
  EXPECT_FAILS(load(second), ZERO_RT_NOT_FOUND, "no checkpoint in '" + folder + "'");
  EXPECT_OK(first.step());
  EXPECT_OK(save(first));
  EXPECT_FAILS(save(second), ZERO_RT_INVALID_ARGUMENT, "is of a later step than 0");
  EXPECT_FAILS(zero_rt_session_save_state(first.session, "/proc/nothing"), ZERO_RT_IO,
               "checkpoint of step 1: cannot make folder '/proc/nothing'");
  EXPECT_OK(first.step()); // a failed save does not end the session
  EXPECT_OK(save(first));
}

/// The bytes of the files of a generation, by name.
std::map<std::string, std::string> contents(const std::string &generation) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(generation)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

TEST_F(Resume, StepsGoOnBesideASave) {
  TinyProgram tiny(2);
  Trial between(tiny), beside(tiny);
  const std::string other = folder + "/other";
  for (Trial *each : {&between, &beside}) {
    each->start();
    each->bind(16);
  }
  for (int step = 0; step < 4; ++step) {
    EXPECT_OK(between.step());
    EXPECT_OK(save(between));
    EXPECT_OK(beside.step());
    EXPECT_OK(zero_rt_session_start_save(beside.session, other.c_str()));
  }
  EXPECT_OK(beside.step());
  EXPECT_OK(zero_rt_session_finish_save(beside.session));
  for (const char *generation : {"/step-00000003", "/step-00000004"})
    EXPECT_EQ(contents(folder + generation), contents(other + generation)) << generation;
  EXPECT_FALSE(fs::exists(other + "/step-00000002"));
  EXPECT_EQ(remark(beside), "");
}

TEST_F(Resume, ASessionThatEndsCompletesItsSave) {
  TinyProgram tiny(2);
  {
    Trial trial(tiny);
    trial.start();
    trial.bind(16);
    EXPECT_OK(trial.step());
    EXPECT_OK(zero_rt_session_start_save(trial.session, folder.c_str()));
  }
  EXPECT_TRUE(fs::exists(folder + "/step-00000001"));
}

TEST_F(Resume, AFailedSaveIsToldByAnotherCall) {
  TinyProgram tiny(1);
  Trial trial(tiny);
  trial.start();
  trial.bind(16);
  EXPECT_OK(trial.step());
  const std::vector<float> values(12, NAN);
  const uint64_t shape[] = {4, 3};
  const zero_rt_array array = {"w", ZERO_RT_F32, shape, 2, values.data()};
  zero_rt_load_result loaded;
  EXPECT_OK(zero_rt_session_load_arrays(trial.session, &array, 1, /*partial=*/1, &loaded));
  EXPECT_OK(zero_rt_session_start_save(trial.session, folder.c_str()));
  EXPECT_FAILS(zero_rt_session_finish_save(trial.session), ZERO_RT_NOT_FINITE,
               "checkpoint of step 1: 'w' is not finite");
  EXPECT_FALSE(fs::exists(folder + "/step-00000001"));
  EXPECT_OK(zero_rt_session_finish_save(trial.session)); // nothing is left of it
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// No sample is read twice in an epoch, and less than one batch of samples is skipped.
TEST(SampleOrderPosition, GoesOnAtTheFirstWholeBatch) {
  for (uint64_t samples : {1, 5, 12, 40})
    for (uint64_t before : {1, 3, 4, 8, 16})
      for (uint64_t after : {1, 2, 4, 6, 16, 50}) {
        SampleOrder saved(samples, before, std::nullopt), next(samples, after, std::nullopt);
        for (uint64_t step = 0; step < 30; ++step) {
          const auto from = saved.positionOf(step);
          EXPECT_EQ(saved.stepAt(from), step);
          const uint64_t batch = next.stepAt(from);
          const auto to = next.positionOf(batch);
          EXPECT_GE(std::pair(to.epoch, to.index), std::pair(from.epoch, from.index));
          if (batch > 0) {
            const auto one = next.positionOf(batch - 1);
            EXPECT_LT(std::pair(one.epoch, one.index), std::pair(from.epoch, from.index));
          }
        }
      }
}

} // namespace
