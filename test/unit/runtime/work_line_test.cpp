//===- work_line_test.cpp - the progress of long work ---------------------===//

#include "tools/zero-run/work_line.h"

#include <gtest/gtest.h>

using zero::run::WorkLine;

namespace {

constexpr uint64_t kMiB = uint64_t(1) << 20;

/// Returns the printed text while three pieces are processed.
std::string printed(bool quiet, double least, double pause) {
  testing::internal::CaptureStdout();
  WorkLine line(quiet, least, pause);
  for (uint64_t done : {0, 1, 2, 3})
    WorkLine::report(&line, "initial values", done * kMiB, 3 * kMiB);
  return testing::internal::GetCapturedStdout();
}

TEST(WorkLine, TellsBytesRateAndWhatIsLeft) {
  const std::string text = printed(false, 0, 0);
  EXPECT_TRUE(testing::internal::RE::PartialMatch(
      text, "initial values: 1.0 MiB of 3.0 MiB, .*B/s, 0 s left\n"
            "initial values: 2.0 MiB of 3.0 MiB, .*B/s, 0 s left\n"
            "initial values: 3.0 MiB in 0.0 s, .*B/s\n"))
      << text;
}

TEST(WorkLine, WhatIsShortOrQuietGetsNone) {
  EXPECT_EQ(printed(false, 1e9, 1e9), "");
  EXPECT_EQ(printed(true, 0, 0), "");
}

} // namespace
