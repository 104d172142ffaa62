//===- Remat.cpp - what backward computes again ---------------------------===//

#include "RematStep.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>

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
  bool fits(int value);
  bool addsToPeak(int value) const;
  void playNow();

  const Step &step;
  Kept kept;
  int64_t budget;
  Worth by;
  std::vector<char> needed; ///< scratch: what backward reads
  std::vector<int> versions;
  std::priority_queue<Move> moves;
  Played played;         ///< of some time ago, unless isPlayed
  bool isPlayed = false; ///< what is kept now
  int64_t bound = 0;     ///< of the peak: what is kept since adds its bytes at most
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

/// Whether what is kept fits with `value`, which has just been added to it.
bool Greedy::fits(int value) {
  const int64_t bytes = step.problem.bytes[value];
  if (bound + bytes <= budget) {
    bound += bytes;
    isPlayed = false;
    return true;
  }
  if (!isPlayed) {
    kept[value] = false;
    playNow();
    kept[value] = true;
    return fits(value);
  }
  if (addsToPeak(value))
    return false;
  Played with = play(step, kept);
  if (with.cost.peak > budget)
    return false;
  bound = with.cost.peak;
  played = std::move(with);
  return true;
}

void Greedy::playNow() {
  played = play(step, kept);
  bound = played.cost.peak;
  isPlayed = true;
}

/// Whether keeping `value` makes the peak larger by its bytes: nothing asks for it before the
/// peak, so all is the same until then, but that it is there.
bool Greedy::addsToPeak(int value) const {
  const int producer = step.producers[value];
  return step.problem.nodes[producer].writes.size() == 1 &&
         played.againAt[producer] > played.peakAt && step.lastForward[value] < played.peakAt;
}

void Greedy::fill() {
  addAllMoves(true);
  playNow();
  std::vector<char> skipped(kept.size(), false);
  while (std::optional<Move> move = takeMove(true)) {
    if (skipped[move->value])
      continue;
    kept[move->value] = true;
    if (fits(move->value)) {
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
  for (playNow(); bound > budget; playNow())
    while (bound > budget) {
      std::optional<Move> move = takeMove(false);
      if (!move)
        return;
      kept[move->value] = false;
      bound -= step.problem.bytes[move->value];
      const int layer = step.layerOf(move->value);
      ++versions[layer];
      addMoves(layer, false);
    }
}

static Kept keepGreedily(const Step &step, const Kept &kept, int64_t budget) {
  Kept best = kept;
  double seconds = play(step, kept).cost.seconds;
  auto offer = [&](Kept other) {
    RematCost cost = play(step, other).cost;
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
  int64_t least = play(step, keepAll(problem)).cost.peak;
  const int64_t most = least;
  for (int stride : strides(static_cast<int>(problem.boundaries.size()))) {
    Kept kept = keepBoundaries(step, stride);
    starts.push_back({kept, play(step, kept).cost.peak});
    least = std::min(least, starts.back().peak);
  }
  // By peak: the fastest plan found for it.
  std::map<int64_t, std::pair<double, Kept>> best;
  auto offer = [&](const Kept &kept) {
    RematCost cost = play(step, kept).cost;
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
