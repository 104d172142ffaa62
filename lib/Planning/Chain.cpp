//===- Chain.cpp - activation checkpoints of a chain ----------------------===//

#include "zero/Planning/Chain.h"

#include <algorithm>

namespace zero::planning {

int64_t leastAdvances(int64_t layers, int64_t slots) {
  if (layers <= 1)
    return 0;
  slots = std::min(slots, layers); // more hold nothing, and products of them could overflow
  // reach = (slots + repeats choose slots): the layers that `repeats` runs of each can
  // reverse; `before` is the same for one slot more and one run less.
  int64_t repeats = 0, reach = 1, before = 0;
  while (reach < layers) {
    before += reach;
    ++repeats;
    reach = reach * (slots + repeats) / repeats;
  }
  return repeats * layers - before;
}

/// The position of the next stored state of `layers` layers, the first of which is stored.
static int64_t bestSplit(int64_t layers, int64_t slots) {
  auto cost = [&](int64_t k) {
    return k + leastAdvances(layers - k, slots - 1) + leastAdvances(k, slots);
  };
  int64_t low = 1, high = layers - 1;
  while (low < high) { // the cost is convex
    int64_t middle = (low + high) / 2;
    if (cost(middle) <= cost(middle + 1))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Reverses layers [begin, end); state `begin` is one of `slots` stored ones.
static void reverse(int64_t begin, int64_t end, int64_t slots, std::vector<ChainAction> &actions) {
  using Kind = ChainAction::Kind;
  while (end - begin > 1) {
    int64_t next = slots == 1 ? end - 1 : begin + bestSplit(end - begin, slots);
    actions.push_back({Kind::Advance, begin, next});
    if (slots == 1) {
      actions.push_back({Kind::Tape, next});
    } else {
      actions.push_back({Kind::Store, next});
      reverse(next, end, slots - 1, actions);
    }
    end = next;
  }
  actions.push_back({Kind::Tape, begin});
}

std::vector<ChainAction> revolve(int64_t layers, int64_t slots) {
  std::vector<ChainAction> actions;
  if (layers > 0)
    reverse(0, layers, std::min(slots, layers), actions);
  return actions;
}

namespace {
struct Segments {
  std::vector<int64_t> begins;
  int64_t bytes = 0; ///< of states between them and of the largest one
};
} // namespace

/// Closes a segment where the next layer would take it over `limit` bytes.
static Segments fillSegments(const std::vector<ChainLayer> &layers, int64_t limit) {
  Segments result;
  int64_t open = 0, largest = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    int64_t bytes = layers[i].inner + layers[i].output;
    if (i == 0 || open + bytes > limit) {
      result.begins.push_back(i);
      result.bytes += i == 0 ? 0 : layers[i - 1].output;
      open = 0;
    }
    open += bytes;
    largest = std::max(largest, open);
  }
  result.bytes += largest;
  return result;
}

std::vector<int64_t> sublinearSegments(const std::vector<ChainLayer> &layers) {
  int64_t total = 0;
  for (const ChainLayer &layer : layers)
    total += layer.inner + layer.output;
  Segments best = fillSegments(layers, total);
  // One limit for each number of segments, sparser where they are many.
  const int64_t count = layers.size();
  for (int64_t number = 2; number <= count; number += std::max<int64_t>(1, number / 32)) {
    Segments next = fillSegments(layers, (total + number - 1) / number);
    if (next.bytes < best.bytes)
      best = std::move(next);
  }
  return best.begins;
}

} // namespace zero::planning
