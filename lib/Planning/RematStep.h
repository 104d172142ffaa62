//===- RematStep.h - simulate a step with dropped values --------*- C++ -*-===//

#ifndef LIB_PLANNING_REMATSTEP_H
#define LIB_PLANNING_REMATSTEP_H

#include "zero/Planning/Remat.h"

#include <algorithm>
#include <cstddef>

namespace zero::planning {

/// The part of a step that does not depend on the kept values.
class Step {
public:
  explicit Step(const RematProblem &problem);

  RematProblem::Fate fateOf(int value) const {
    if (layerOf(value) < 0)
      return RematProblem::Fate::Saved;
    return problem.fates.empty() ? RematProblem::Fate::Free : problem.fates[value];
  }
  int layerOf(int value) const {
    return producers[value] < 0 ? -1 : problem.nodes[producers[value]].layer;
  }

  const RematProblem &problem;
  std::vector<int> producers;           ///< node of each value, or -1
  std::vector<char> readInBackward;     ///< by value
  std::vector<std::vector<int>> layers; ///< forward nodes of each layer, in order
  std::vector<double> starts;           ///< seconds from the step's start to each node
  std::vector<double> lastReads;        ///< of each value, in the same seconds
  std::vector<size_t> lastForward;      ///< of each value: the last node of forward that has it
};

/// Calls `repeat(node)` on the recomputed nodes of `layer`, last first; `needed` contains the
/// values that are read after forward, and is extended by those that these nodes read.
template <typename Repeat>
void markLayer(const Step &step, int layer, const Kept &kept, std::vector<char> &needed,
               Repeat repeat) {
  const std::vector<int> &nodes = step.layers[layer];
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const RematProblem::Node &node = step.problem.nodes[*it];
    bool runs = std::any_of(node.writes.begin(), node.writes.end(),
                            [&](int value) { return needed[value] && !kept[value]; });
    if (!runs)
      continue;
    repeat(*it);
    for (int value : node.reads)
      needed[value] = true;
  }
}

/// A step that was played. Runs of nodes are counted from 0.
struct Played {
  RematCost cost;
  size_t peakAt = 0;           ///< the run with the peak
  std::vector<size_t> ranAt;   ///< by node: its first run
  std::vector<size_t> againAt; ///< by node: the run that was the second; beyond all: never
  std::vector<int64_t> live;   ///< by run: the bytes that are there
};

/// Plays steps: forward, then backward with the runs that it asks for. Each time linear in the
/// step; memory is taken once.
class Player {
public:
  explicit Player(const Step &step);

  /// The result of simulating with `kept`. It is valid until the next simulation.
  const Played &play(const Kept &kept);
  /// The number of simulated runs of nodes: the cost of planning, independent of a clock.
  uint64_t getRuns() const { return runs; }

private:
  static constexpr size_t kNever = SIZE_MAX;

  void execute(const RematProblem::Node &node);
  void recompute(int value);
  void close(int value);
  bool isDropped(int value) const { return step.layerOf(value) >= 0 && !(*kept)[value]; }

  const Step &step;
  const RematProblem &problem;
  const Kept *kept = nullptr;
  std::vector<size_t> lastUse; ///< by value: the last run that has the instance readers see
  Played played;
  uint64_t runs = 0;
  size_t now = 0; ///< nodes executed so far
};

} // namespace zero::planning

#endif // LIB_PLANNING_REMATSTEP_H
