//===- Remat.cpp - what backward computes again ---------------------------===//

#include "zero/Planning/Remat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>

namespace zero::planning {

namespace {

/// What does not depend on what is kept.
class Step {
public:
  explicit Step(const RematProblem &problem);

  RematProblem::Fate fateOf(int value) const {
    if (layerOf(value) < 0)
      return RematProblem::Fate::Stays;
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
};

} // namespace

Step::Step(const RematProblem &problem)
    : problem(problem), producers(problem.bytes.size(), -1),
      readInBackward(problem.bytes.size(), false), lastReads(problem.bytes.size(), 0) {
  double time = 0;
  for (size_t index = 0; index < problem.nodes.size(); ++index) {
    const RematProblem::Node &node = problem.nodes[index];
    starts.push_back(time);
    for (int value : node.writes)
      producers[value] = static_cast<int>(index);
    for (int value : node.reads) {
      lastReads[value] = time;
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

/// Calls `repeat(node)` on what of `layer` runs again, last first; `needed` holds the values
/// that something reads after forward, and gains those that these runs read.
template <typename Repeat>
static void markLayer(const Step &step, int layer, const Kept &kept, std::vector<char> &needed,
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
        done(problem.nodes.size(), false) {}

  RematCost play();

private:
  struct Instance {
    int64_t bytes;
    size_t begin, end;
  };

  void execute(const RematProblem::Node &node, int64_t fixedBytes);
  void makeAgain(int value, int64_t fixedBytes);
  bool isDropped(int value) const { return step.layerOf(value) >= 0 && !kept[value]; }

  const Step &step;
  const RematProblem &problem;
  const Kept &kept;
  std::vector<int> current; ///< the instance of each value that readers see
  std::vector<char> done;   ///< by node: whether it ran again
  std::vector<Instance> instances;
  std::vector<int64_t> fixed; ///< by executed node
  double seconds = 0;
};

} // namespace

void Player::execute(const RematProblem::Node &node, int64_t fixedBytes) {
  const size_t now = fixed.size();
  fixed.push_back(fixedBytes);
  for (int value : node.reads)
    if (current[value] >= 0)
      instances[current[value]].end = now;
  for (int value : node.writes) {
    current[value] = static_cast<int>(instances.size());
    instances.push_back({problem.bytes[value], now, now});
  }
}

/// Runs the node of `value` again, after those that it reads dropped values of.
void Player::makeAgain(int value, int64_t fixedBytes) {
  const int producer = step.producers[value];
  if (done[producer])
    return;
  done[producer] = true;
  const RematProblem::Node &node = problem.nodes[producer];
  for (int read : node.reads)
    if (isDropped(read))
      makeAgain(read, fixedBytes);
  execute(node, fixedBytes);
  seconds += node.seconds;
}

RematCost Player::play() {
  for (const RematProblem::Node &node : problem.nodes) {
    if (!node.forward)
      for (int value : node.reads)
        if (isDropped(value))
          makeAgain(value, node.fixed);
    execute(node, node.fixed);
  }
  std::vector<int64_t> change(fixed.size() + 1, 0);
  for (const Instance &instance : instances) {
    change[instance.begin] += instance.bytes;
    change[instance.end + 1] -= instance.bytes;
  }
  RematCost cost;
  cost.seconds = seconds;
  int64_t live = 0;
  for (size_t now = 0; now < fixed.size(); ++now) {
    live += change[now];
    cost.peak = std::max(cost.peak, live + fixed[now]);
  }
  return cost;
}

static RematCost simulate(const Step &step, const Kept &kept) { return Player(step, kept).play(); }

RematCost simulate(const RematProblem &problem, const Kept &kept) {
  return simulate(Step(problem), kept);
}

Kept keepAll(const RematProblem &problem) {
  Kept kept(problem.bytes.size(), true);
  for (size_t value = 0; value < problem.fates.size(); ++value)
    kept[value] = problem.fates[value] != RematProblem::Fate::Goes;
  return kept;
}

static Kept keepBoundaries(const Step &step, int stride) {
  Kept kept(step.problem.bytes.size());
  for (size_t value = 0; value < kept.size(); ++value)
    kept[value] = step.fateOf(static_cast<int>(value)) == RematProblem::Fate::Stays;
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

namespace {

/// What a move is worth its seconds by.
enum class Worth { ByteSeconds, Bytes, Nothing };

/// Changes what is kept, one value at a time.
class Greedy {
public:
  Greedy(const Step &step, Kept kept, int64_t budget, Worth by)
      : step(step), kept(std::move(kept)), budget(budget), by(by), needed(step.readInBackward),
        versions(step.layers.size(), 0) {}

  /// Keeps more, as long as it fits.
  void fill();
  /// Keeps less, until it fits or nothing is left to drop.
  void drain();

  Kept takeKept() { return std::move(kept); }

private:
  struct Move {
    double worth;
    int value;
    int version; ///< of its layer, for which `worth` holds

    /// For std::priority_queue: of equal worth the earlier value comes first.
    bool operator<(const Move &other) const {
      return worth != other.worth ? worth < other.worth : value > other.value;
    }
  };

  double layerSeconds(int layer);
  double price(int value, int index) const;
  void addMoves(int layer, bool keep);
  void addAllMoves(bool keep);
  std::optional<Move> takeMove(bool keep);

  const Step &step;
  Kept kept;
  int64_t budget;
  Worth by;
  std::vector<char> needed; ///< scratch: what backward reads
  std::vector<int> versions;
  std::priority_queue<Move> moves;
};

} // namespace

/// Seconds of what of `layer` runs again for its own backward. A boundary that the next layer
/// must have again counts as read.
double Greedy::layerSeconds(int layer) {
  if (static_cast<size_t>(layer) < step.problem.boundaries.size())
    for (int value : step.problem.boundaries[layer])
      needed[value] = true;
  double seconds = 0;
  markLayer(step, layer, kept, needed,
            [&](int node) { seconds += step.problem.nodes[node].seconds; });
  for (int index : step.layers[layer]) {
    const RematProblem::Node &node = step.problem.nodes[index];
    for (const std::vector<int> *values : {&node.reads, &node.writes})
      for (int value : *values)
        needed[value] = step.readInBackward[value];
  }
  return seconds;
}

/// What keeping `value`, which node `index` makes, takes.
double Greedy::price(int value, int index) const {
  const double bytes = static_cast<double>(std::max<int64_t>(step.problem.bytes[value], 1));
  switch (by) {
  case Worth::ByteSeconds:
    return bytes * std::max(step.lastReads[value] - step.starts[index], 1e-9);
  case Worth::Bytes:
    return bytes;
  case Worth::Nothing:
    break;
  }
  return 1;
}

/// Queues every value of `layer` that may be kept, or dropped, with what that is worth now.
void Greedy::addMoves(int layer, bool keep) {
  const double before = layerSeconds(layer);
  for (int index : step.layers[layer])
    for (int value : step.problem.nodes[index].writes) {
      if (kept[value] == keep || step.fateOf(value) != RematProblem::Fate::Free)
        continue;
      kept[value] = keep;
      const double change = std::abs(before - layerSeconds(layer));
      kept[value] = !keep;
      const double cost = price(value, index);
      if (!keep)
        moves.push({cost / std::max(change, 1e-12), value, versions[layer]});
      else if (change > 0)
        moves.push({change / cost, value, versions[layer]});
    }
}

void Greedy::addAllMoves(bool keep) {
  moves = {};
  for (size_t layer = 0; layer < step.layers.size(); ++layer)
    addMoves(static_cast<int>(layer), keep);
}

/// The best move that still holds.
std::optional<Greedy::Move> Greedy::takeMove(bool keep) {
  while (!moves.empty()) {
    Move move = moves.top();
    moves.pop();
    if (kept[move.value] != keep && move.version == versions[step.layerOf(move.value)])
      return move;
  }
  return std::nullopt;
}

void Greedy::fill() {
  addAllMoves(true);
  std::vector<char> skipped(kept.size(), false);
  while (std::optional<Move> move = takeMove(true)) {
    if (skipped[move->value])
      continue;
    kept[move->value] = true;
    if (simulate(step, kept).peak <= budget) {
      const int layer = step.layerOf(move->value);
      ++versions[layer];
      addMoves(layer, true);
    } else {
      kept[move->value] = false;
      skipped[move->value] = true;
    }
  }
}

void Greedy::drain() {
  addAllMoves(false);
  while (simulate(step, kept).peak > budget) {
    std::optional<Move> move = takeMove(false);
    if (!move)
      return;
    kept[move->value] = false;
    const int layer = step.layerOf(move->value);
    ++versions[layer];
    addMoves(layer, false);
  }
}

static Kept keepGreedily(const Step &step, const Kept &kept, int64_t budget) {
  Kept best = kept;
  double seconds = simulate(step, kept).seconds;
  auto offer = [&](Kept other) {
    RematCost cost = simulate(step, other);
    if (cost.peak <= budget && cost.seconds < seconds) {
      seconds = cost.seconds;
      best = std::move(other);
    }
  };
  for (Worth by : {Worth::ByteSeconds, Worth::Bytes, Worth::Nothing}) {
    Greedy up(step, kept, budget, by);
    up.fill();
    offer(up.takeKept());
  }
  Greedy down(step, keepAll(step.problem), budget, Worth::Bytes);
  down.drain();
  down.fill();
  offer(down.takeKept());
  return best;
}

Kept keepGreedily(const RematProblem &problem, const Kept &kept, int64_t budget) {
  return keepGreedily(Step(problem), kept, budget);
}

/// Distances between kept boundaries that are worth a look: 1, 2, 3, 4, 6, 8, 12, ... and all.
static std::vector<int> strides(int layers) {
  std::vector<int> result;
  for (int stride = 1; stride < layers; stride += std::max(1, stride / 2))
    result.push_back(stride);
  result.push_back(0);
  return result;
}

/// Of those that fit, the smallest distances are the most likely to leave room for more.
static constexpr int kStartsPerBudget = 2;

std::vector<Kept> planLadder(const RematProblem &problem, int rungs) {
  Step step(problem);
  struct Start {
    Kept kept;
    int64_t peak;
  };
  std::vector<Start> starts;
  int64_t least = simulate(step, keepAll(problem)).peak;
  const int64_t most = least;
  for (int stride : strides(static_cast<int>(problem.boundaries.size()))) {
    Kept kept = keepBoundaries(step, stride);
    starts.push_back({kept, simulate(step, kept).peak});
    least = std::min(least, starts.back().peak);
  }
  // By peak: the fastest plan found for it.
  std::map<int64_t, std::pair<double, Kept>> best;
  auto offer = [&](const Kept &kept) {
    RematCost cost = simulate(step, kept);
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
        offer(keepGreedily(step, start->kept, budget));
        --tries;
      }
  }
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
