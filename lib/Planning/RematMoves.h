//===- RematMoves.h - savings of saving one more value ----------*- C++ -*-===//

#ifndef LIB_PLANNING_REMATMOVES_H
#define LIB_PLANNING_REMATMOVES_H

#include "RematStep.h"

#include <map>
#include <string>

namespace zero::planning {

/// The change in seconds of a layer's runs for its own backward if one of its values is kept or
/// dropped. Equal layers share their results, which are cached, so a model of many equal layers
/// costs as much as one of them.
class LayerMoves {
public:
  explicit LayerMoves(const Step &step);

  /// The changes for each value of `layer`, in the order of its nodes and of their results.
  const std::vector<double> &changes(int layer, const Kept &kept);
  /// Values in that order.
  const std::vector<int> &valuesOf(int layer) const { return values[layer]; }
  /// The number of values that were evaluated: the cost of planning, independent of a clock.
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
    std::map<std::string, std::vector<double>> changes; ///< by the set of kept values
  };

  Shape describe(const Step &step, int layer, std::vector<int> &places) const;
  static double seconds(const Shape &shape, const std::string &kept, std::string &needed);
  std::vector<double> compute(const Shape &shape, std::string kept);

  std::vector<std::vector<int>> values; ///< by layer
  std::vector<size_t> shapeOf;          ///< by layer
  std::vector<Known> known;
  std::string mask; ///< scratch: the kept values of a layer
  uint64_t weighed = 0;
};

} // namespace zero::planning

#endif // LIB_PLANNING_REMATMOVES_H
