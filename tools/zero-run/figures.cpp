//===- figures.cpp - figures of a step besides its loss -------------------===//

#include "figures.h"

#include "report.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;

namespace zero::run {

struct Figures::Figure {
  const char *output; ///< its name in the program and in JSON
  std::string (*text)(double value);
  double zero_rt_step_result::*field;
};

const std::vector<Figures::Figure> &Figures::all() {
  static const std::vector<Figure> figures = {
      {"gradient_norm", [](double value) { return format("norm %.3g, ", value); },
       &zero_rt_step_result::gradient_norm},
      {"learning_rate", [](double value) { return format("lr %.1e, ", value); },
       &zero_rt_step_result::learning_rate},
      {"loss_scale", [](double value) { return format("scale %.6g, ", value); },
       &zero_rt_step_result::loss_scale},
  };
  return figures;
}

/// Whether a program has the scalar output `name`.
static bool has(const Executable &executable, const std::string &name, zero_rt_dtype dtype) {
  zero_rt_value_info info;
  for (size_t i = 0; i < infoOf(executable).outputs; ++i)
    if (zero_rt_executable_output(executable.get(), i, &info).code == ZERO_RT_OK &&
        info.name == name && info.dtype == dtype &&
        std::all_of(info.shape, info.shape + info.dimensions, [](uint64_t n) { return n == 1; }))
      return true;
  return false;
}

Figures::Figures(const Executable &executable) {
  if (!trains(infoOf(executable)))
    return;
  canSkip = has(executable, "applied", ZERO_RT_BOOL);
  for (const Figure &figure : all())
    if (has(executable, figure.output, ZERO_RT_F32))
      present.push_back(&figure);
}

std::string Figures::text(const zero_rt_step_result &result) const {
  std::string text;
  for (const Figure *figure : present)
    text += figure->text(result.*figure->field);
  if (!result.skipped)
    return text;
  const bool isScaled = std::any_of(present.begin(), present.end(), [](const Figure *figure) {
    return figure->output == std::string_view("loss_scale");
  });
  if (std::isfinite(result.gradient_norm))
    return text + "skipped: beyond a limit, ";
  return text +
         (isScaled ? "skipped: the gradients overflow, " : "skipped: a gradient is not finite, ");
}

std::vector<std::pair<std::string, double>>
Figures::values(const zero_rt_step_result &result) const {
  std::vector<std::pair<std::string, double>> values;
  for (const Figure *figure : present)
    values.emplace_back(figure->output, double(result.*figure->field));
  if (canSkip)
    values.emplace_back("skipped", result.skipped != 0);
  return values;
}

void Figures::writeStep(JsonWriter &json, const zero_rt_step_result &result) const {
  json.member("step", result.step);
  json.member("loss", double(result.loss));
  for (const Figure *figure : present)
    json.member(figure->output, double(result.*figure->field));
  if (canSkip)
    json.member("skipped", result.skipped != 0);
}

void Figures::writeLists(JsonWriter &json, const std::vector<zero_rt_step_result> &results) const {
  auto list = [&](const char *name, auto element) {
    json.key(name).array([&] {
      for (const zero_rt_step_result &result : results)
        json.value(element(result));
    });
  };
  for (const Figure *figure : present)
    list(figure->output, [&](const auto &result) { return double(result.*figure->field); });
  if (canSkip)
    list("skipped", [](const auto &result) { return result.skipped != 0; });
}

size_t countSkipped(const std::vector<zero_rt_step_result> &results) {
  return size_t(std::count_if(results.begin(), results.end(),
                              [](const auto &result) { return result.skipped != 0; }));
}

} // namespace zero::run
