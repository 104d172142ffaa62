//===- RematMoves.h - savings of saving one more value ----------*- C++ -*-===//

#ifndef LIB_PLANNING_REMATMOVES_H
#define LIB_PLANNING_REMATMOVES_H

#include "RematStep.h"

#include <map>
#include <string>

namespace zero::planning {

/// By how many seconds a layer's runs for its own backward change when one of its values is kept,
/// or dropped. Layers that are alike are one, and what was found once is known from then on: a
/// model of many equal layers costs as much as one of them.
class LayerMoves {
public:
  explicit LayerMoves(const Step &step);

  /// Of each value of `layer`, in the order of its nodes and of what they write.
  const std::vector<double> &changes(int layer, const Kept &kept);
  /// Values in that order.
  const std::vector<int> &valuesOf(int layer) const { return values[layer]; }
  /// Times that a value was looked at: what planning takes, without a clock.
  uint64_t getWeighed() const { return weighed; }

private:
  struct Node {
    double seconds = 0;
    std::vector<int> reads, writes; ///< places among the values of the layer
    bool operator<(const Node &other) const;
  };
  /// A layer, whatever its values are called.
  struct Shape {
    std::vector<Node> nodes;
    std::string needed; ///< by value: whether something reads it that is not of the layer's runs
    bool operator<(const Shape &other) const;
  };
  struct Known {
    Shape shape;
    std::map<std::string, std::vector<double>> changes; ///< by what is kept
  };

  Shape describe(const Step &step, int layer, std::vector<int> &places) const;
  static double seconds(const Shape &shape, const std::string &kept, std::string &needed);
  std::vector<double> compute(const Shape &shape, std::string kept);

  std::vector<std::vector<int>> values; ///< by layer
  std::vector<size_t> shapeOf;          ///< by layer
  std::vector<Known> known;
  std::string mask; ///< scratch: what is kept of a layer
  uint64_t weighed = 0;
};

} // namespace zero::planning

#endif // LIB_PLANNING_REMATMOVES_H
