//===- Homes.cpp - place the states that owners have whole ----------------===//

#include "zero/Planning/Homes.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace zero::planning {

namespace {
/// What a rank has in its slice of a home.
struct Part {
  int64_t elements = 0;
  std::vector<size_t> states;
};
} // namespace

/// Gives the states `indices`, the largest first, homes. If they are `filled`, small states are put
/// beside others, as long as the largest one has as many elements.
static void addHomes(const std::vector<WholeState> &states, const std::vector<size_t> &indices,
                     int64_t alignment, bool filled, Homes &homes) {
  auto spaceOf = [&](size_t index) {
    return (states[index].elements + alignment - 1) / alignment * alignment;
  };
  const int64_t capacity = filled && !indices.empty() ? spaceOf(indices.front()) : 0;
  std::map<int64_t, std::vector<Part>> parts; // by rank
  for (size_t index : indices) {
    std::vector<Part> &own = parts[states[index].rank];
    auto part = std::find_if(own.begin(), own.end(), [&](const Part &each) {
      return each.elements + spaceOf(index) <= capacity;
    });
    if (part == own.end())
      part = own.insert(own.end(), Part());
    homes.states[index].start = part->elements;
    part->elements += spaceOf(index);
    part->states.push_back(index);
  }
  const size_t first = homes.slices.size();
  for (auto &[rank, own] : parts) {
    std::stable_sort(own.begin(), own.end(),
                     [](const Part &a, const Part &b) { return a.elements > b.elements; });
    homes.slices.resize(std::max(homes.slices.size(), first + own.size()), 0);
    for (size_t number = 0; number < own.size(); ++number) {
      int64_t &slice = homes.slices[first + number];
      slice = std::max(slice, own[number].elements);
      for (size_t index : own[number].states)
        homes.states[index].number = first + number;
    }
  }
}

/// Divides states, the largest first: the small ones of matrices that have one of the largest are
/// apart. A state beside others is copied with the whole slice, and those matrices need most
/// memory.
static std::array<std::vector<size_t>, 2> divideByMatrix(const std::vector<WholeState> &states,
                                                         const std::vector<size_t> &indices) {
  const int64_t largest = states[indices.front()].elements;
  std::set<size_t> matrices;
  for (size_t index : indices)
    if (states[index].elements == largest)
      matrices.insert(states[index].matrix);
  std::array<std::vector<size_t>, 2> divided;
  for (size_t index : indices) {
    const WholeState &state = states[index];
    divided[state.elements < largest && matrices.contains(state.matrix)].push_back(index);
  }
  return divided;
}

Homes planHomes(const std::vector<WholeState> &states, int64_t alignment) {
  std::vector<size_t> order(states.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return states[a].elements > states[b].elements; });
  std::map<int64_t, std::vector<size_t>> groups;
  for (size_t index : order)
    groups[states[index].group].push_back(index);
  Homes homes{std::vector<Home>(states.size()), {}};
  auto sum = [](const Homes &each) {
    return std::accumulate(each.slices.begin(), each.slices.end(), int64_t(0));
  };
  for (const auto &[group, indices] : groups) {
    Homes alone = homes, filled = homes;
    addHomes(states, indices, alignment, /*filled=*/false, alone);
    for (const std::vector<size_t> &part : divideByMatrix(states, indices))
      addHomes(states, part, alignment, /*filled=*/true, filled);
    homes = std::move(sum(filled) < sum(alone) ? filled : alone);
  }
  return homes;
}

} // namespace zero::planning
