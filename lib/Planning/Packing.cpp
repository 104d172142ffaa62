//===- Packing.cpp - assign lifetimes to offsets in an arena --------------===//

#include "zero/Planning/Packing.h"

#include "Occupancy.h"
#include "PackingSearch.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace zero::planning {

std::vector<std::pair<int64_t, int64_t>> liveBytes(const std::vector<Lifetime> &lifetimes,
                                                   int64_t alignment) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime &lifetime : lifetimes) {
    int64_t bytes = alignUp(lifetime.bytes, alignment);
    change[lifetime.begin] += bytes;
    change[lifetime.end + 1] -= bytes;
  }
  std::vector<std::pair<int64_t, int64_t>> live;
  live.reserve(change.size());
  int64_t sum = 0;
  for (auto [command, bytes] : change)
    live.emplace_back(command, sum += bytes);
  return live;
}

namespace {

/// Lifetimes that come and go, in slots of time.
struct Problem {
  std::vector<Piece> pieces;
  std::vector<size_t> lifetimeOf; ///< the index of each piece's lifetime
  int64_t slots = 0;
  int64_t ground = 0; ///< bytes below the pieces: lifetimes that are there throughout
  int64_t bound = 0;  ///< no layout of the pieces ends lower
};

/// A table that tells the largest of a row of values in constant time.
class RangeMaximum {
public:
  explicit RangeMaximum(std::vector<int64_t> values) : largest{std::move(values)} {
    for (size_t width = 1; 2 * width <= largest[0].size(); width *= 2) {
      const std::vector<int64_t> &half = largest.back();
      std::vector<int64_t> whole(half.size() - width);
      for (size_t i = 0; i < whole.size(); ++i)
        whole[i] = std::max(half[i], half[i + width]);
      largest.push_back(std::move(whole));
    }
  }
  int64_t operator()(size_t first, size_t last) const {
    size_t level = std::bit_width(last - first + 1) - 1;
    return std::max(largest[level][first], largest[level][last + 1 - (size_t(1) << level)]);
  }

private:
  std::vector<std::vector<int64_t>> largest; ///< of 1, 2, 4 ... values from each on
};

} // namespace

/// Assigns slots to lifetimes: the moments at which a lifetime ends after another one began. Two
/// pieces share a slot if and only if their lifetimes overlap. Lifetimes in all slots get their
/// offset immediately.
static Problem reduce(const std::vector<Lifetime> &lifetimes, int64_t alignment,
                      std::vector<int64_t> &offsets) {
  std::vector<std::tuple<int64_t, bool, size_t>> events;
  for (size_t i = 0; i < lifetimes.size(); ++i)
    if (lifetimes[i].bytes > 0) {
      events.emplace_back(lifetimes[i].begin, false, i);
      events.emplace_back(lifetimes[i].end, true, i);
    }
  std::sort(events.begin(), events.end());
  Problem problem;
  std::vector<std::pair<int64_t, int64_t>> slotsOf(lifetimes.size());
  bool isNew = true;
  for (auto [command, ends, index] : events) {
    problem.slots += !ends && isNew;
    isNew = ends;
    (ends ? slotsOf[index].second : slotsOf[index].first) = problem.slots - 1;
  }
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    int64_t bytes = alignUp(lifetimes[i].bytes, alignment);
    auto [first, last] = slotsOf[i];
    if (bytes > 0 && last - first + 1 == problem.slots) {
      offsets[i] = problem.ground;
      problem.ground += bytes;
    } else if (bytes > 0) {
      problem.pieces.push_back({first, last, bytes});
      problem.lifetimeOf.push_back(i);
    }
  }
  return problem;
}

/// For each piece, the maximum of the live bytes during its lifetime.
static std::vector<int64_t> contention(const Problem &problem) {
  std::vector<int64_t> live(problem.slots + 1, 0);
  for (const Piece &piece : problem.pieces) {
    live[piece.first] += piece.bytes;
    live[piece.last + 1] -= piece.bytes;
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  RangeMaximum most(std::move(live));
  std::vector<int64_t> result;
  result.reserve(problem.pieces.size());
  for (const Piece &piece : problem.pieces)
    result.push_back(most(piece.first, piece.last));
  return result;
}

using Order = std::vector<size_t>;

/// The orders in which pieces are placed, the best one first.
static std::vector<Order> orders(const Problem &problem) {
  std::vector<int64_t> contended = contention(problem);
  auto sorted = [&](auto keyOf) {
    Order order(problem.pieces.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return keyOf(a) > keyOf(b); });
    return order;
  };
  const std::vector<Piece> &pieces = problem.pieces;
  return {
      sorted(
          [&](size_t i) { return std::tuple(contended[i], pieces[i].length(), pieces[i].bytes); }),
      // Places large pieces that follow each other alternately low and high.
      sorted([&](size_t i) { return std::tuple(contended[i], -pieces[i].first); }),
      sorted([&](size_t i) { return double(pieces[i].length()) * pieces[i].bytes; }),
      sorted([&](size_t i) { return std::tuple(pieces[i].length(), pieces[i].bytes); }),
      sorted([&](size_t i) { return pieces[i].bytes; }),
  };
}

/// Places pieces one after another, each at the lowest offset that is free.
static Layout firstFit(const Problem &problem, Occupancy &occupancy, const Order &order) {
  occupancy.clear();
  Layout layout{std::vector<int64_t>(order.size())};
  for (size_t index : order) {
    const Piece &piece = problem.pieces[index];
    int64_t offset = occupancy.lowestFree(piece.first, piece.last, piece.bytes);
    occupancy.take(piece.first, piece.last, offset, piece.bytes);
    layout.offsets[index] = offset;
    layout.top = std::max(layout.top, offset + piece.bytes);
  }
  return layout;
}

/// The piece that supports `piece` after `depth` steps down. Each step selects the largest
/// overlapping piece that ends where the current one begins.
static size_t supportOf(const Problem &problem, const Layout &layout, size_t piece, int depth) {
  const std::vector<Piece> &pieces = problem.pieces;
  for (; depth > 0; --depth) {
    size_t below = pieces.size();
    for (size_t i = 0; i < pieces.size(); ++i)
      if (layout.offsets[i] + pieces[i].bytes == layout.offsets[piece] &&
          pieces[i].meets(pieces[piece]) &&
          (below == pieces.size() || pieces[i].bytes > pieces[below].bytes))
        below = i;
    if (below == pieces.size())
      break;
    piece = below;
  }
  return piece;
}

/// `order` with one of the pieces that end highest, or one below it, moved before a piece that it
/// overlaps in time. Every other time the choice cycles through the largest of these, which free
/// space that small ones only shift, else it is random.
static Order promote(const Problem &problem, const Layout &layout, Order order, int64_t turn,
                     std::minstd_rand &random) {
  constexpr int kDepths = 2, kLargest = 4;
  const bool isRandom = turn % 2;
  turn /= 2;
  std::vector<size_t> highest, met;
  for (size_t piece : order)
    if (layout.offsets[piece] + problem.pieces[piece].bytes == layout.top)
      highest.push_back(piece);
  size_t piece = highest[random() % highest.size()];
  if (!isRandom)
    piece = supportOf(problem, layout, piece, turn % kDepths);
  const size_t from = std::find(order.begin(), order.end(), piece) - order.begin();
  for (size_t at = 0; at < from; ++at)
    if (problem.pieces[order[at]].meets(problem.pieces[piece]))
      met.push_back(at);
  if (met.empty())
    return order;
  size_t index = random() % met.size();
  if (!isRandom) {
    std::stable_sort(met.begin(), met.end(), [&](size_t a, size_t b) {
      return problem.pieces[order[a]].bytes > problem.pieces[order[b]].bytes;
    });
    index = std::min<size_t>(met.size() - 1, turn / kDepths % kLargest);
  }
  std::rotate(order.begin() + met[index], order.begin() + from, order.begin() + from + 1);
  return order;
}

/// Changes `order` for as long as it gets no worse.
static void improve(const Problem &problem, Occupancy &occupancy, Order order, Layout &best,
                    int64_t goal, int64_t tries) {
  std::minstd_rand random; // the same sequence everywhere
  int64_t turn = 0;        // since the last time that it got better
  for (; tries > 0 && best.top > goal; --tries) {
    Order changed = promote(problem, best, order, turn++, random);
    Layout layout = firstFit(problem, occupancy, changed);
    if (layout.top > best.top)
      continue;
    turn = layout.top < best.top ? 0 : turn;
    best = std::move(layout);
    order = std::move(changed);
  }
}

static constexpr size_t kSearched = 128;      ///< the most pieces that are searched
static constexpr int64_t kNodes = 20000;      ///< of the search, for each order
static constexpr int64_t kPlacements = 50000; ///< of first fit, to improve an order

/// The lowest layout that first fit finds in these orders, or the first that ends at `goal` or
/// below, and its order.
static std::pair<Layout, Order> fitOrders(const Problem &problem, Occupancy &occupancy,
                                          const std::vector<Order> &all, int64_t goal) {
  Layout best;
  Order bestOrder;
  for (const Order &order : all) {
    Layout layout = firstFit(problem, occupancy, order);
    if (!bestOrder.empty() && layout.top >= best.top)
      continue;
    best = std::move(layout);
    bestOrder = order;
    if (best.top <= goal)
      break;
  }
  return {std::move(best), std::move(bestOrder)};
}

/// The lowest layout found, or the first that ends at `goal` or below, and whether none is lower.
static std::pair<Layout, bool> solve(const Problem &problem, int64_t goal) {
  Occupancy occupancy(problem.slots);
  const std::vector<Order> all = orders(problem);
  auto [best, bestOrder] = fitOrders(problem, occupancy, all, goal);
  if (best.top <= goal)
    return {best, best.top == problem.bound};
  if (problem.pieces.size() <= kSearched)
    for (const Order &order : all) {
      int64_t nodes = kNodes;
      if (searchLower(problem.pieces, order, goal, best, nodes))
        return {best, best.top > goal || best.top == problem.bound};
    }
  improve(problem, occupancy, bestOrder, best, goal, kPlacements / problem.pieces.size());
  return {best, best.top == problem.bound};
}

/// Starts a packing: the lower bound, and the offsets of what is live during the whole step.
static Problem begin(const std::vector<Lifetime> &lifetimes, int64_t alignment, Packing &packing) {
  for (auto [command, bytes] : liveBytes(lifetimes, alignment))
    if (bytes > packing.lowerBound) {
      packing.lowerBound = bytes;
      packing.peak = command;
    }
  packing.offsets.assign(lifetimes.size(), 0);
  Problem problem = reduce(lifetimes, alignment, packing.offsets);
  problem.bound = packing.lowerBound - problem.ground;
  packing.bytes = problem.ground;
  return problem;
}

int64_t firstFitBytes(const std::vector<Lifetime> &lifetimes, int64_t alignment, int64_t enough) {
  Packing packing;
  const Problem problem = begin(lifetimes, alignment, packing);
  if (problem.pieces.empty())
    return packing.bytes;
  Occupancy occupancy(problem.slots);
  const int64_t goal = std::max(problem.bound, enough - problem.ground);
  return packing.bytes + fitOrders(problem, occupancy, orders(problem), goal).first.top;
}

Packing pack(const std::vector<Lifetime> &lifetimes, int64_t alignment, int64_t enough) {
  Packing packing;
  const Problem problem = begin(lifetimes, alignment, packing);
  packing.optimal = true;
  if (problem.pieces.empty())
    return packing;
  auto [layout, optimal] = solve(problem, std::max(problem.bound, enough - problem.ground));
  for (size_t i = 0; i < problem.pieces.size(); ++i)
    packing.offsets[problem.lifetimeOf[i]] = problem.ground + layout.offsets[i];
  packing.bytes += layout.top;
  packing.optimal = optimal;
  return packing;
}

} // namespace zero::planning
