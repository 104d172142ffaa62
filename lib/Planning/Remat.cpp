//===- Remat.cpp - values that backward recomputes ------------------------===//

#include "RematGreedy.h"

#include <limits>
#include <map>

namespace zero::planning {

Kept keepAll(const RematProblem &problem) {
  Kept kept(problem.bytes.size(), true);
  for (size_t value = 0; value < problem.fates.size(); ++value)
    kept[value] = problem.fates[value] != RematProblem::Fate::Goes;
  return kept;
}

static Kept keepBoundaries(const Step &step, int stride) {
  Kept kept(step.problem.bytes.size());
  for (size_t value = 0; value < kept.size(); ++value)
    kept[value] = step.fateOf(static_cast<int>(value)) == RematProblem::Fate::Saved;
  const auto &boundaries = step.problem.boundaries;
  for (size_t layer = 0; layer < boundaries.size(); ++layer)
    if (stride && (layer + 1) % stride == 0)
      for (int value : boundaries[layer])
        kept[value] = step.fateOf(value) != RematProblem::Fate::Goes;
  return kept;
}

int64_t savedBytes(const RematProblem &problem, const Kept &kept) {
  std::vector<char> repeated = findRepeated(problem, kept), saved(problem.bytes.size(), false);
  for (size_t index = 0; index < problem.nodes.size(); ++index)
    if (!problem.nodes[index].forward || repeated[index])
      for (int value : problem.nodes[index].reads)
        saved[value] = true;
  int64_t bytes = 0;
  for (const RematProblem::Node &node : problem.nodes)
    if (node.layer >= 0)
      for (int value : node.writes)
        bytes += saved[value] && kept[value] ? problem.bytes[value] : 0;
  return bytes;
}

Kept keepBoundaries(const RematProblem &problem, int stride) {
  return keepBoundaries(Step(problem), stride);
}

Kept keepGreedily(const RematProblem &problem, const Kept &kept, int64_t budget) {
  RematSearch search(problem);
  return keepGreedily(search, kept, budget);
}

/// Distances between kept boundaries that are tried: 1, 2, 3, 4, 6, 8, 12, ... and all.
static std::vector<int> strides(int layers) {
  std::vector<int> result;
  for (int stride = 1; stride < layers; stride += std::max(1, stride / 2))
    result.push_back(stride);
  result.push_back(0);
  return result;
}

/// Of the distances that fit, the smallest are the most likely to leave memory for more.
static constexpr int kStartsPerBudget = 2;

std::vector<Kept> planLadder(const RematProblem &problem, int rungs, RematWork *work) {
  RematSearch search(problem);
  const Step &step = search.step;
  struct Start {
    Kept kept;
    int64_t peak;
  };
  std::vector<Start> starts;
  int64_t least = search.costOf(keepAll(problem)).peak;
  const int64_t most = least;
  for (int stride : strides(static_cast<int>(problem.boundaries.size()))) {
    Kept kept = keepBoundaries(step, stride);
    starts.push_back({kept, search.costOf(kept).peak});
    least = std::min(least, starts.back().peak);
  }
  // The fastest plan found, by its peak.
  std::map<int64_t, std::pair<double, Kept>> best;
  auto offer = [&](const Kept &kept) {
    const RematCost cost = search.costOf(kept);
    auto [it, isNew] = best.try_emplace(cost.peak, cost.seconds, kept);
    if (!isNew && cost.seconds < it->second.first)
      it->second = {cost.seconds, kept};
  };
  offer(keepAll(problem));
  for (int rung = 0; rung < rungs; ++rung) {
    int64_t budget = least + (most - least) / rungs * rung;
    int tries = kStartsPerBudget;
    for (auto start = starts.begin(); start != starts.end() && tries; ++start)
      if (start->peak <= budget) {
        offer(keepGreedily(search, start->kept, budget));
        --tries;
      }
  }
  offer(Kept(search.smallest));
  if (work)
    *work = {search.player.getRuns(), search.moves.getWeighed()};
  // A larger plan that is no faster than a smaller one is none.
  std::vector<Kept> ladder;
  double fastest = std::numeric_limits<double>::infinity();
  for (auto &[peak, plan] : best)
    if (plan.first < fastest) {
      fastest = plan.first;
      ladder.push_back(std::move(plan.second));
    }
  std::reverse(ladder.begin(), ladder.end());
  return ladder;
}

} // namespace zero::planning
