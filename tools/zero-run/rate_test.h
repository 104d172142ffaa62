//===- rate_test.h - which learning rate suits a model ----------*- C++ -*-===//
//
// Smith, Cyclical Learning Rates for Training Neural Networks, arXiv 1506.01186, section 3.3: the
// learning rate rises from step to step, and the loss shows at which rates a model learns and where
// it diverges.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZERO_RUN_RATE_TEST_H
#define TOOLS_ZERO_RUN_RATE_TEST_H

#include "results.h"

#include <vector>

namespace zero::run {

/// The rates of a test of `steps` steps, geometrically from the lowest to the highest, and what
/// their losses say.
class RateTest {
public:
  RateTest(double lowest, double highest, uint64_t steps)
      : lowest(lowest), highest(highest), steps(steps) {}

  float rateOf(uint64_t step) const;
  /// Adds the result of the next step. Returns whether the loss has diverged, which ends the test.
  bool add(const zero_rt_step_result &result);
  /// The rate at which the smoothed loss falls most steeply, as fast.ai and Lightning choose it;
  /// none if it never falls.
  std::optional<double> suggestion() const;
  /// What users read.
  std::string text() const;
  /// The losses over the rates, as SVG.
  std::string picture() const;

private:
  struct Point {
    double rate, loss; ///< of the step, with its schedule; smoothed
  };

  double lowest, highest;
  uint64_t steps;
  double sum = 0, weight = 0; ///< of the smoothed loss
  double best = 0;            ///< the least one
  std::vector<Point> points;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RATE_TEST_H
