//===- RematStep.cpp - simulate a step with dropped values ----------------===//

#include "RematStep.h"

namespace zero::planning {

Step::Step(const RematProblem &problem)
    : problem(problem), producers(problem.bytes.size(), -1),
      readInBackward(problem.bytes.size(), false), lastReads(problem.bytes.size(), 0),
      lastForward(problem.bytes.size(), 0) {
  double time = 0;
  for (size_t index = 0; index < problem.nodes.size(); ++index) {
    const RematProblem::Node &node = problem.nodes[index];
    starts.push_back(time);
    for (int value : node.writes) {
      producers[value] = static_cast<int>(index);
      lastForward[value] = index;
    }
    for (int value : node.reads) {
      lastReads[value] = time;
      if (node.forward)
        lastForward[value] = index;
      readInBackward[value] |= !node.forward;
    }
    time += node.seconds;
    if (node.layer < 0)
      continue;
    if (static_cast<size_t>(node.layer) >= layers.size())
      layers.resize(node.layer + 1);
    layers[node.layer].push_back(static_cast<int>(index));
  }
}

static std::vector<char> findRepeated(const Step &step, const Kept &kept) {
  std::vector<char> repeated(step.problem.nodes.size(), false);
  std::vector<char> needed = step.readInBackward;
  for (int layer = static_cast<int>(step.layers.size()) - 1; layer >= 0; --layer)
    markLayer(step, layer, kept, needed, [&](int node) { repeated[node] = true; });
  return repeated;
}

std::vector<char> findRepeated(const RematProblem &problem, const Kept &kept) {
  return findRepeated(Step(problem), kept);
}

Player::Player(const Step &step)
    : step(step), problem(step.problem), lastUse(problem.bytes.size()) {
  played.ranAt.resize(problem.nodes.size());
  played.againAt.resize(problem.nodes.size());
  played.live.reserve(2 * problem.nodes.size() + 1);
}

/// Ends the instance of `value` that readers see, behind its last use.
void Player::close(int value) {
  if (lastUse[value] != kNever)
    played.live[lastUse[value] + 1] -= problem.bytes[value];
}

void Player::execute(const RematProblem::Node &node) {
  for (int value : node.reads)
    if (lastUse[value] != kNever)
      lastUse[value] = now;
  for (int value : node.writes) {
    close(value);
    lastUse[value] = now;
    played.live[now] += problem.bytes[value];
  }
  ++now;
}

/// Recomputes the node of `value`, after the nodes of the dropped values that it reads.
void Player::recompute(int value) {
  const int producer = step.producers[value];
  if (played.againAt[producer] != kNever)
    return;
  const RematProblem::Node &node = problem.nodes[producer];
  for (int read : node.reads)
    if (isDropped(read))
      recompute(read);
  played.againAt[producer] = now;
  execute(node);
  played.cost.seconds += node.seconds;
}

const Played &Player::play(const Kept &wanted) {
  kept = &wanted;
  now = 0;
  played.cost = {};
  played.peakAt = 0;
  std::fill(lastUse.begin(), lastUse.end(), kNever);
  std::fill(played.againAt.begin(), played.againAt.end(), kNever);
  played.live.assign(2 * problem.nodes.size() + 1, 0); // by change, until all is played
  for (size_t index = 0; index < problem.nodes.size(); ++index) {
    const RematProblem::Node &node = problem.nodes[index];
    if (!node.forward)
      for (int value : node.reads)
        if (isDropped(value))
          recompute(value);
    played.ranAt[index] = now;
    execute(node);
  }
  for (size_t value = 0; value < lastUse.size(); ++value)
    close(static_cast<int>(value));
  played.live.resize(now);
  int64_t live = 0;
  for (size_t at = 0; at < now; ++at) {
    played.live[at] = live += played.live[at];
    if (live > played.cost.peak) {
      played.cost.peak = live;
      played.peakAt = at;
    }
  }
  runs += now;
  return played;
}

RematCost simulate(const RematProblem &problem, const Kept &kept) {
  Step step(problem);
  return Player(step).play(kept).cost;
}

} // namespace zero::planning
