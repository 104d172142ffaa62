//===- curves.h - figures over the steps of a run ---------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_CURVES_H
#define TOOLS_ZERO_RUN_CURVES_H

#include "runtime/support/json_object.h"
#include "runtime/support/json_writer.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zero::run {

/// Figures by step in bounded memory: a point has the means over equally many steps, twice as many
/// whenever there are too many points.
class Curves {
public:
  using Values = std::vector<std::pair<std::string, double>>; ///< by name, the same for all steps

  void add(uint64_t step, const Values &values);
  /// As members: "names" of the figures, and "points", each a step and its figures.
  void writeMembers(rt::JsonWriter &json) const;
  /// Takes the points up to, not including, step `end` of what writeMembers() wrote. False if it is
  /// something else.
  bool read(const rt::JsonObject &object, uint64_t end);

private:
  void halve();

  std::vector<std::string> names;
  std::vector<uint64_t> steps;             ///< the last one of each point
  std::vector<std::vector<double>> points; ///< values, in the order of the names
  uint64_t each = 1, last = 0;             ///< steps of a point, and of the last one so far
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_CURVES_H
