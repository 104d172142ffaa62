//===- figures.h - figures of a step besides its loss -----------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_FIGURES_H
#define TOOLS_ZERO_RUN_FIGURES_H

#include "handles.h"
#include "results.h"
#include "runtime/support/json_writer.h"

#include <string>
#include <vector>

namespace zero::run {

/// Whether a program has an optimizer rather than being forward only.
inline bool trains(const zero_rt_program_info &info) { return *info.optimizer; }

/// The norm of the gradients, the learning rate, the loss scale and whether the step was
/// applied: those that a program has.
class Figures {
public:
  explicit Figures(const Executable &executable);

  /// For progress lines, each followed by ", ": "norm 1.83, lr 1.0e-04, ".
  std::string text(const zero_rt_step_result &result) const;
  /// By name.
  std::vector<std::pair<std::string, double>> values(const zero_rt_step_result &result) const;
  /// The members of the object of a step: its number, its loss and these.
  void writeStep(rt::JsonWriter &json, const zero_rt_step_result &result) const;
  /// Lists over all steps, as members.
  void writeLists(rt::JsonWriter &json, const std::vector<zero_rt_step_result> &results) const;

private:
  struct Figure;
  static const std::vector<Figure> &all();
  std::vector<const Figure *> present;
  bool canSkip = false;
};

/// How many of `results` changed nothing.
size_t countSkipped(const std::vector<zero_rt_step_result> &results);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_FIGURES_H
