//===- measurements.h - figures that all ranks measure ----------*- C++ -*-===//

#ifndef RUNTIME_MEASURE_MEASUREMENTS_H
#define RUNTIME_MEASURE_MEASUREMENTS_H

#include "runtime/comm/communicator.h"
#include "runtime/execute/team.h"
#include "runtime/measure/roofline.h"

namespace zero::rt {

/// The tools with which a rank measures.
struct Probe {
  int threads = 1;
  std::unique_ptr<Roofline> roofline;
  std::unique_ptr<Communicator> communicator;
};

/// Figures that all ranks measure at the same time, on separate threads that end with this object.
/// They share memory and caches as in a step.
class Measurements {
public:
  /// Measures a rate, of which more is better, on the calling rank.
  using Measure = std::function<Status(Probe &probe, double &rate)>;

  /// `least`: bytes that each rank must have to measure in.
  explicit Measurements(const TeamOptions &options, uint64_t least = 0);

  /// Returns its number.
  size_t add(Measure measure);
  /// Measures all of them a number of times in alternating rounds, so that a short disturbance
  /// spoils none of them.
  Status run(int rounds);
  /// The best of each rank; the mean over ranks.
  double rate(size_t number) const;

private:
  struct Figure {
    Measure measure;
    std::vector<double> best; ///< of each rank
  };
  /// Shared with the team's threads: one that never comes back keeps it alive.
  struct Shared {
    std::vector<Probe> probes;
    std::vector<Figure> figures;
  };
  Status open();

  TeamOptions options;
  uint64_t bytes; ///< of each rank
  std::shared_ptr<Shared> shared;
  Team team;
};

} // namespace zero::rt

#endif // RUNTIME_MEASURE_MEASUREMENTS_H
