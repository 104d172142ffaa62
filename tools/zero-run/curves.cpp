//===- curves.cpp - figures over the steps of a run -----------------------===//

#include "curves.h"

#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"

#include <algorithm>
#include <limits>

using namespace zero::rt;

namespace zero::run {

/// A page draws no more than this many points beside each other.
static constexpr size_t kMostPoints = 2000;

void Curves::add(uint64_t step, const Values &values) {
  if (names.empty())
    for (const auto &[name, value] : values)
      names.push_back(name);
  if (last == 0) {
    if (points.size() == kMostPoints)
      halve();
    steps.push_back(step);
    points.emplace_back(names.size(), 0.0);
  }
  steps.back() = step;
  const double before = double(last), count = before + 1;
  for (size_t i = 0; i < std::min(names.size(), values.size()); ++i)
    points.back()[i] = (points.back()[i] * before + values[i].second) / count;
  last = (last + 1) % each;
}

/// Joins points in pairs.
void Curves::halve() {
  for (size_t to = 0; 2 * to + 1 < points.size(); ++to) {
    const std::vector<double> &left = points[2 * to], &right = points[2 * to + 1];
    std::vector<double> mean(names.size());
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] = (left[i] + right[i]) / 2;
    points[to] = std::move(mean);
    steps[to] = steps[2 * to + 1];
  }
  points.resize(points.size() / 2);
  steps.resize(points.size());
  each *= 2;
}

void Curves::writeMembers(JsonWriter &json) const {
  json.member("steps_of_point", each);
  json.key("names").array([&] {
    for (const std::string &name : names)
      json.value(name);
  });
  json.key("points").array([&] {
    for (size_t i = 0; i < points.size(); ++i)
      json.array([&] {
        json.value(steps[i]);
        for (const double value : points[i])
          json.value(value);
      });
  });
}

/// Reads a list of numbers; NaN of null.
static bool takeNumbers(JsonReader &json, std::string_view text, std::vector<double> &numbers) {
  return json.takeList([&] {
    const size_t begin = json.position();
    if (!json.skipValue())
      return false;
    double number;
    const bool isNumber = parseReal(text.substr(begin, json.position() - begin), number);
    numbers.push_back(isNumber ? number : std::numeric_limits<double>::quiet_NaN());
    return true;
  });
}

bool Curves::read(const JsonObject &object, uint64_t end) {
  Curves curves;
  JsonReader name(object.find("names"));
  const bool hasNames = name.takeList([&] { return name.takeString(curves.names.emplace_back()); });
  curves.each = object.findInteger("steps_of_point").value_or(0);
  const std::string_view text = object.find("points");
  JsonReader json(text);
  const bool hasPoints = json.takeList([&] {
    std::vector<double> row;
    if (!takeNumbers(json, text, row) || row.size() != curves.names.size() + 1 || !(row[0] >= 0))
      return false;
    if (row[0] < double(end) && curves.points.size() < kMostPoints) {
      curves.steps.push_back(uint64_t(row[0]));
      curves.points.emplace_back(row.begin() + 1, row.end());
    }
    return true;
  });
  if (!hasNames || !hasPoints || curves.each == 0)
    return false;
  *this = std::move(curves);
  return true;
}

} // namespace zero::run
