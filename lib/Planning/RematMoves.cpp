//===- RematMoves.cpp - savings of saving one more value ------------------===//

#include "RematMoves.h"

#include <cmath>
#include <tuple>

namespace zero::planning {

/// The most that is remembered of layers of one shape, in numbers.
static constexpr size_t kRemembered = 1 << 20;

bool LayerMoves::Node::operator<(const Node &other) const {
  return std::tie(seconds, reads, writes) < std::tie(other.seconds, other.reads, other.writes);
}

bool LayerMoves::Shape::operator<(const Shape &other) const {
  return std::tie(needed, nodes) < std::tie(other.needed, other.nodes);
}

LayerMoves::LayerMoves(const Step &step) : values(step.layers.size()) {
  std::map<Shape, size_t> numbers;
  std::vector<int> places(step.problem.bytes.size(), -1);
  for (size_t layer = 0; layer < step.layers.size(); ++layer) {
    for (int index : step.layers[layer])
      for (int value : step.problem.nodes[index].writes)
        values[layer].push_back(value);
    auto [it, isNew] =
        numbers.try_emplace(describe(step, static_cast<int>(layer), places), known.size());
    if (isNew)
      known.push_back({it->first, {}});
    shapeOf.push_back(it->second);
  }
}

/// `places`: scratch, -1 for each value of the step.
LayerMoves::Shape LayerMoves::describe(const Step &step, int layer,
                                       std::vector<int> &places) const {
  const std::vector<int> &own = values[layer];
  Shape shape;
  for (size_t place = 0; place < own.size(); ++place) {
    places[own[place]] = static_cast<int>(place);
    shape.needed.push_back(step.readInBackward[own[place]]);
  }
  // A boundary that the recomputed next layer needs counts as read.
  if (static_cast<size_t>(layer) < step.problem.boundaries.size())
    for (int value : step.problem.boundaries[layer])
      if (places[value] >= 0)
        shape.needed[places[value]] = true;
  for (int index : step.layers[layer]) {
    const RematProblem::Node &from = step.problem.nodes[index];
    Node node{from.seconds, {}, {}};
    for (int value : from.reads)
      if (places[value] >= 0)
        node.reads.push_back(places[value]);
    for (int value : from.writes)
      node.writes.push_back(places[value]);
    shape.nodes.push_back(std::move(node));
  }
  for (int value : own)
    places[value] = -1;
  return shape;
}

/// Seconds of recomputation, last node first; `needed` is a temporary.
double LayerMoves::seconds(const Shape &shape, const std::string &kept, std::string &needed) {
  needed = shape.needed;
  double sum = 0;
  for (auto node = shape.nodes.rbegin(); node != shape.nodes.rend(); ++node) {
    if (std::none_of(node->writes.begin(), node->writes.end(),
                     [&](int value) { return needed[value] && !kept[value]; }))
      continue;
    sum += node->seconds;
    for (int value : node->reads)
      needed[value] = true;
  }
  return sum;
}

std::vector<double> LayerMoves::compute(const Shape &shape, std::string kept) {
  std::string needed;
  const double before = seconds(shape, kept, needed);
  std::vector<double> result(kept.size());
  for (size_t value = 0; value < kept.size(); ++value) {
    kept[value] = !kept[value];
    result[value] = std::abs(before - seconds(shape, kept, needed));
    kept[value] = !kept[value];
  }
  weighed += kept.size();
  return result;
}

const std::vector<double> &LayerMoves::changes(int layer, const Kept &kept) {
  mask.clear();
  for (int value : values[layer])
    mask.push_back(kept[value]);
  Known &own = known[shapeOf[layer]];
  auto found = own.changes.find(mask);
  if (found != own.changes.end())
    return found->second;
  if (own.changes.size() * mask.size() > kRemembered)
    own.changes.clear();
  return own.changes.emplace(mask, compute(own.shape, mask)).first->second;
}

} // namespace zero::planning
