//===- evaluation_test.cpp - the mean loss over any number of samples -----===//

#include "runtime/session/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zero::rt {
namespace {

struct Sample {
  double loss, weight;
};

/// A program with a global batch of `batch` samples. Counts its evaluations.
struct Program {
  std::vector<Sample> data;
  uint64_t batch;
  bool hasWeight = true; ///< returns the sum of weights
  bool mixes = false;    ///< the loss is the square of the mean
  int evaluations = 0;

  EvaluateBatch evaluate() {
    return [this](const SampleChoice &choice, BatchLoss &result) {
      ++evaluations;
      double loss = 0, weight = 0;
      for (uint64_t i = 0; i < batch; ++i) {
        const Sample &sample = data.at(choice.sample(i));
        loss += sample.loss * sample.weight;
        weight += sample.weight;
      }
      result.loss = float(loss / weight);
      if (mixes)
        result.loss *= result.loss;
      result.weight = hasWeight ? float(weight / double(batch)) : 1;
      return Status();
    };
  }

  zero_rt_evaluation all() {
    zero_rt_evaluation total{};
    for (uint64_t first = 0; first < data.size(); first += batch)
      EXPECT_TRUE(
          evaluateSamples(evaluate(), first, std::min(batch, data.size() - first), batch, total)
              .ok());
    return total;
  }
};

std::vector<Sample> samples(uint64_t count, bool labels) {
  std::vector<Sample> data;
  for (uint64_t i = 0; i < count; ++i)
    data.push_back({1 + std::sin(double(7 * i)), labels ? double(i * i % 5) : 1.0});
  return data;
}

double meanOf(const std::vector<Sample> &data) {
  double loss = 0, weight = 0;
  for (const Sample &sample : data)
    loss += sample.loss * sample.weight, weight += sample.weight;
  return loss / weight;
}

TEST(Evaluation, CountsEachSampleOnce) {
  for (uint64_t batch : {1, 2, 5, 12, 64})
    for (uint64_t count : {1, 2, 3, 5, 6, 7, 11, 12, 13, 33, 63, 65, 100})
      for (bool labels : {false, true}) {
        Program program{samples(count, labels), batch, labels};
        if (labels && count == 1)
          program.data[0].weight = 3;
        const zero_rt_evaluation total = program.all();
        EXPECT_NEAR(total.loss, meanOf(program.data), 1e-6) << count << " of " << batch;
        EXPECT_EQ(total.samples, count);
        EXPECT_EQ(total.left_out + total.repeated + total.not_finite, 0u);
        EXPECT_LE(program.evaluations, int(count / batch) + 4);
      }
}

TEST(Evaluation, LeavesOutWhatCannotBeSeparated) {
  Program program{samples(17, false), 5, false, /*mixes=*/true};
  zero_rt_evaluation total = program.all();
  EXPECT_EQ(total.samples, 15u);
  EXPECT_EQ(total.left_out, 2u);
  program.data.resize(3);
  total = program.all();
  EXPECT_EQ(total.samples, 3u);
  EXPECT_EQ(total.repeated, 3u);
  // A mean over labels whose number the program does not return.
  Program masked{samples(8, true), 5, false};
  EXPECT_EQ(masked.all().left_out, 3u);
}

TEST(Evaluation, BatchesWithoutLabelsAddNothing) {
  Program program{samples(11, true), 4};
  for (int i : {4, 5, 6, 7})
    program.data[size_t(i)].weight = 0;
  zero_rt_evaluation total = program.all();
  EXPECT_EQ(total.unlabelled, 1u);
  EXPECT_NEAR(total.loss, meanOf(program.data), 1e-6);
  for (int i : {8, 9, 10}) // the rest
    program.data[size_t(i)].weight = 0;
  total = program.all();
  EXPECT_EQ(total.unlabelled, 2u);
  EXPECT_NEAR(total.loss, meanOf(program.data), 1e-6);
  for (Sample &sample : program.data)
    sample.weight = 0;
  EXPECT_TRUE(std::isnan(program.all().loss));
}

TEST(Evaluation, ReportsLossesThatAreNotFinite) {
  for (size_t bad : {1, 9}) {
    Program program{samples(11, true), 4};
    program.data[bad] = {NAN, 1};
    const zero_rt_evaluation total = program.all();
    EXPECT_EQ(total.not_finite, 1u);
    EXPECT_TRUE(std::isnan(total.loss));
    EXPECT_EQ(warningsOf(total).size(), 1u);
  }
}

} // namespace
} // namespace zero::rt
