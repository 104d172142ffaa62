//===- figures.h - the figures of a machine by name -------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_FIGURES_H
#define TOOLS_ZERO_SIM_FIGURES_H

#include "zero/Planning/Machine.h"

#include <span>
#include <vector>

namespace zero::sim {

/// A figure of a machine, which --what-if changes and --sensitivity varies.
struct Figure {
  const char *name;
  const char *unit; ///< with a prefix: "GB/s"; null: a number or seconds
  /// Its values, of which a change of the first changes the others by the same factor. Empty, or 0:
  /// the machine does not have it.
  std::vector<double *> (*of)(planning::Machine &machine);
};

std::span<const Figure> machineFigures();

/// Whether `machine` has the figure.
bool hasFigure(const Figure &figure, planning::Machine &machine);

/// Multiplies the values of the figure; those that are not known stay 0.
void scaleFigure(const Figure &figure, planning::Machine &machine, double factor);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_FIGURES_H
