//===- RematGreedy.cpp - choose values to save one by one -----------------===//

#include "RematGreedy.h"

#include <algorithm>
#include <optional>
#include <queue>

namespace zero::planning {

/// The maximal number of simulations of a step while values are added to the kept ones. The limit
/// keeps planning linear in the step and exceeds the need of small steps.
static constexpr int kPlays = 48;

namespace {

/// Bytes that are live at each run of a step, and the most of any row of them, in logarithmic
/// time.
class LiveBytes {
public:
  void reset(const std::vector<int64_t> &live) {
    count = live.size();
    nodes.assign(4 * std::max<size_t>(count, 1), {});
    if (count > 0)
      build(1, 0, count - 1, live);
  }
  /// The maximum of the runs from `first` to `last`, both included.
  int64_t most(size_t first, size_t last) const { return most(1, 0, count - 1, first, last); }
  void add(size_t first, size_t last, int64_t bytes) { add(1, 0, count - 1, first, last, bytes); }

private:
  struct Node {
    int64_t most = 0;
    int64_t all = 0; ///< the part of `most` that holds for all of its runs
  };

  void build(size_t node, size_t low, size_t high, const std::vector<int64_t> &live) {
    if (low == high) {
      nodes[node].most = live[low];
      return;
    }
    const size_t middle = (low + high) / 2;
    build(2 * node, low, middle, live);
    build(2 * node + 1, middle + 1, high, live);
    nodes[node].most = std::max(nodes[2 * node].most, nodes[2 * node + 1].most);
  }
  int64_t most(size_t node, size_t low, size_t high, size_t first, size_t last) const {
    if (first <= low && high <= last)
      return nodes[node].most;
    const size_t middle = (low + high) / 2;
    int64_t bytes = 0;
    if (first <= middle)
      bytes = most(2 * node, low, middle, first, last);
    if (middle < last)
      bytes = std::max(bytes, most(2 * node + 1, middle + 1, high, first, last));
    return bytes + nodes[node].all;
  }
  void add(size_t node, size_t low, size_t high, size_t first, size_t last, int64_t bytes) {
    if (first <= low && high <= last) {
      nodes[node].most += bytes;
      nodes[node].all += bytes;
      return;
    }
    const size_t middle = (low + high) / 2;
    if (first <= middle)
      add(2 * node, low, middle, first, last, bytes);
    if (middle < last)
      add(2 * node + 1, middle + 1, high, first, last, bytes);
    nodes[node].most = std::max(nodes[2 * node].most, nodes[2 * node + 1].most) + nodes[node].all;
  }

  size_t count = 0;
  std::vector<Node> nodes;
};

/// The unit by which the seconds of a move are divided to compare moves.
enum class Worth { ByteSeconds, Bytes, Nothing };

/// Changes the set of kept values, one value at a time.
class Greedy {
public:
  Greedy(RematSearch &search, Kept kept, int64_t budget, Worth by)
      : search(search), step(search.step), kept(std::move(kept)), budget(budget), by(by),
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
    int version; ///< version of its layer for which `worth` is valid

    /// For std::priority_queue: of two moves of equal worth, the earlier value comes first.
    bool operator<(const Move &other) const {
      return worth != other.worth ? worth < other.worth : value > other.value;
    }
  };
  /// Runs of the step as it was played, from `first` to `last`.
  struct Runs {
    size_t first, last;
  };

  double price(int value) const;
  void addMoves(int layer, bool keep);
  void addAllMoves(bool keep);
  std::optional<Move> takeMove(bool keep);
  bool fits(int value);
  bool fitsAsPlayed(int value);
  std::optional<Runs> runsWithout(int value) const;
  bool addsToPeak(int value) const;
  void playNow();
  void playLast();

  RematSearch &search;
  const Step &step;
  Kept kept;
  int64_t budget;
  Worth by;
  std::vector<int> versions;
  std::priority_queue<Move> moves;
  Played played; ///< the simulation of the kept values without `added`
  /// Of that simulation and of `added`. A value kept since then is live until its recomputation.
  LiveBytes live;
  std::vector<int> added; ///< values that were kept since the last simulation
  int plays = 0;
};

} // namespace

/// The price of keeping `value`, in the unit that `by` selects.
double Greedy::price(int value) const {
  const double bytes = static_cast<double>(std::max<int64_t>(step.problem.bytes[value], 1));
  switch (by) {
  case Worth::ByteSeconds:
    return bytes * std::max(step.lastReads[value] - step.starts[step.producers[value]], 1e-9);
  case Worth::Bytes:
    return bytes;
  case Worth::Nothing:
    break;
  }
  return 1;
}

/// Queues every value of `layer` that may be kept or dropped, with its current worth.
void Greedy::addMoves(int layer, bool keep) {
  const std::vector<double> &changes = search.moves.changes(layer, kept);
  const std::vector<int> &values = search.moves.valuesOf(layer);
  for (size_t place = 0; place < values.size(); ++place) {
    const int value = values[place];
    if (kept[value] == keep || step.fateOf(value) != RematProblem::Fate::Free)
      continue;
    if (!keep)
      moves.push({price(value) / std::max(changes[place], 1e-12), value, versions[layer]});
    else if (changes[place] > 0)
      moves.push({changes[place] / price(value), value, versions[layer]});
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

/// The range in which `value`, which is dropped, is not live but would be if it were saved: from
/// its last reader in forward to its recomputation.
std::optional<Greedy::Runs> Greedy::runsWithout(int value) const {
  const size_t first = played.ranAt[step.lastForward[value]] + 1;
  const size_t last = std::min(played.againAt[step.producers[value]], played.live.size());
  if (first >= last)
    return std::nullopt;
  return Runs{first, last - 1};
}

/// Whether `value` fits where nothing else changes but that it is there; if so it is added.
bool Greedy::fitsAsPlayed(int value) {
  const std::optional<Runs> runs = runsWithout(value);
  const int64_t bytes = step.problem.bytes[value];
  if (runs && live.most(runs->first, runs->last) + bytes > budget)
    return false;
  if (runs)
    live.add(runs->first, runs->last, bytes);
  added.push_back(value);
  return true;
}

/// Whether the saved values, including `value`, which was just added, fit. Recomputations that are
/// no longer needed may free space: the current step gives a bound, and is simulated if that may
/// help.
bool Greedy::fits(int value) {
  if (fitsAsPlayed(value))
    return true;
  if (plays >= kPlays)
    return false;
  if (!added.empty()) {
    kept[value] = false;
    playNow();
    kept[value] = true;
    return fits(value);
  }
  if (addsToPeak(value))
    return false;
  ++plays;
  const Played &with = search.player.play(kept);
  if (with.cost.peak > budget)
    return false;
  played = with;
  live.reset(played.live);
  return true;
}

void Greedy::playNow() {
  ++plays;
  played = search.player.play(kept);
  live.reset(played.live);
  added.clear();
}

/// If runs begin later than before, more bytes may be live than `live` says. Removes the values
/// that were added last until the plan fits.
void Greedy::playLast() {
  if (search.player.play(kept).cost.peak <= budget)
    return;
  size_t fitting = 0, most = added.size(); // so many of them fit; so many do not
  auto keepFirst = [&](size_t count) {
    for (size_t i = 0; i < added.size(); ++i)
      kept[added[i]] = i < count;
  };
  while (fitting + 1 < most) {
    const size_t middle = (fitting + most) / 2;
    keepFirst(middle);
    (search.player.play(kept).cost.peak <= budget ? fitting : most) = middle;
  }
  keepFirst(fitting);
}

/// Whether keeping `value` makes the peak larger by its bytes: nothing asks for it before the
/// peak, so all is the same until then, but that it is there.
bool Greedy::addsToPeak(int value) const {
  const int producer = step.producers[value];
  return step.problem.nodes[producer].writes.size() == 1 &&
         played.againAt[producer] > played.peakAt &&
         played.ranAt[step.lastForward[value]] < played.peakAt &&
         played.cost.peak + step.problem.bytes[value] > budget;
}

void Greedy::fill() {
  addAllMoves(true);
  plays = 0;
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
  playLast();
}

void Greedy::drain() {
  addAllMoves(false);
  for (playNow(); played.cost.peak > budget; playNow())
    for (int64_t peak = played.cost.peak; peak > budget;) {
      std::optional<Move> move = takeMove(false);
      if (!move)
        return;
      kept[move->value] = false;
      peak -= step.problem.bytes[move->value];
      const int layer = step.layerOf(move->value);
      ++versions[layer];
      addMoves(layer, false);
    }
}

Kept keepGreedily(RematSearch &search, const Kept &kept, int64_t budget) {
  Kept best = kept;
  double seconds = search.costOf(kept).seconds;
  auto offer = [&](Kept other) {
    const RematCost cost = search.costOf(other);
    if (cost.peak <= budget && cost.seconds < seconds) {
      seconds = cost.seconds;
      best = std::move(other);
    }
  };
  for (Worth by : {Worth::ByteSeconds, Worth::Bytes, Worth::Nothing}) {
    Greedy up(search, kept, budget, by);
    up.fill();
    offer(up.takeKept());
  }
  Greedy down(search, keepAll(search.step.problem), budget, Worth::Bytes);
  down.drain();
  down.fill();
  offer(down.takeKept());
  return best;
}

} // namespace zero::planning
