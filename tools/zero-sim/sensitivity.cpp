//===- sensitivity.cpp - which figures of a machine a step depends on ------===//

#include "sensitivity.h"

#include "figures.h"
#include "runtime/support/status.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

/// The factor between the machines that are compared.
static constexpr double kStep = 1.01;
static constexpr double kLeast = 0.005;

/// The logarithm of the time of a step on `machine` with `figure` times `factor`.
static double logSeconds(const proto::Program &program, Machine machine, double slowest,
                         const Figure &figure, double factor) {
  scaleFigure(figure, machine, factor);
  return std::log(replay(program, machine, slowest).timeline.seconds);
}

std::vector<Sensitivity> findSensitivities(const proto::Program &program, const Machine &machine,
                                           double slowest) {
  std::vector<Sensitivity> found;
  for (const Figure &figure : machineFigures()) {
    const double slope = (logSeconds(program, machine, slowest, figure, kStep) -
                          logSeconds(program, machine, slowest, figure, 1 / kStep)) /
                         (2 * std::log(kStep));
    if (std::abs(slope) >= kLeast)
      found.push_back({figure.name, slope});
  }
  std::ranges::sort(found, std::ranges::greater(),
                    [](const Sensitivity &each) { return std::abs(each.slope); });
  return found;
}

Rows sensitivityRows(const std::vector<Sensitivity> &found) {
  Rows rows{{"figure of the machine", "d log time / d log figure"}};
  for (const auto &[figure, slope] : found)
    rows.push_back({figure, format("%+.3f", slope)});
  return rows;
}

void writeSensitivities(JsonWriter &json, const std::vector<Sensitivity> &found) {
  json.object([&] {
    for (const auto &[figure, slope] : found)
      json.member(figure, slope);
  });
}

} // namespace zero::sim
