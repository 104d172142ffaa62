//===- RematStep.cpp - a step, played with values dropped -----------------===//

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

namespace {

/// Plays the step once: forward, then backward with the runs that it asks for.
class Player {
public:
  Player(const Step &step, const Kept &kept)
      : step(step), problem(step.problem), kept(kept), current(problem.bytes.size(), -1),
        againAt(problem.nodes.size(), kNever) {}

  Played play();

private:
  static constexpr size_t kNever = SIZE_MAX;

  struct Instance {
    int64_t bytes;
    size_t begin, end;
  };

  void execute(const RematProblem::Node &node);
  void makeAgain(int value);
  bool isDropped(int value) const { return step.layerOf(value) >= 0 && !kept[value]; }

  const Step &step;
  const RematProblem &problem;
  const Kept &kept;
  std::vector<int> current;    ///< the instance of each value that readers see
  std::vector<size_t> againAt; ///< by node
  std::vector<Instance> instances;
  size_t now = 0; ///< nodes executed so far
  double seconds = 0;
};

} // namespace

void Player::execute(const RematProblem::Node &node) {
  for (int value : node.reads)
    if (current[value] >= 0)
      instances[current[value]].end = now;
  for (int value : node.writes) {
    current[value] = static_cast<int>(instances.size());
    instances.push_back({problem.bytes[value], now, now});
  }
  ++now;
}

/// Runs the node of `value` again, after those that it reads dropped values of.
void Player::makeAgain(int value) {
  const int producer = step.producers[value];
  if (againAt[producer] != kNever)
    return;
  const RematProblem::Node &node = problem.nodes[producer];
  for (int read : node.reads)
    if (isDropped(read))
      makeAgain(read);
  againAt[producer] = now;
  execute(node);
  seconds += node.seconds;
}

Played Player::play() {
  for (const RematProblem::Node &node : problem.nodes) {
    if (!node.forward)
      for (int value : node.reads)
        if (isDropped(value))
          makeAgain(value);
    execute(node);
  }
  std::vector<int64_t> change(now + 1, 0);
  for (const Instance &instance : instances) {
    change[instance.begin] += instance.bytes;
    change[instance.end + 1] -= instance.bytes;
  }
  Played played{{seconds, 0}, 0, std::move(againAt)};
  int64_t live = 0;
  for (size_t at = 0; at < now; ++at) {
    live += change[at];
    if (live > played.cost.peak) {
      played.cost.peak = live;
      played.peakAt = at;
    }
  }
  return played;
}

Played play(const Step &step, const Kept &kept) { return Player(step, kept).play(); }

RematCost simulate(const RematProblem &problem, const Kept &kept) {
  return play(Step(problem), kept).cost;
}

} // namespace zero::planning
