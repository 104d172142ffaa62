//===- what_if.cpp - a step on changed machines ---------------------------===//

#include "what_if.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

namespace {
/// A name, and the figures of a machine that it changes.
struct Knob {
  const char *name;
  std::vector<double *> (*of)(Machine &machine);
};
} // namespace

static constexpr Knob kKnobs[] = {
    {"peak", [](Machine &m) { return std::vector{&m.peakFlops, &m.halfFlops}; }},
    {"memory", [](Machine &m) { return std::vector{&m.memoryBandwidth, &m.copyBandwidth}; }},
    {"node", [](Machine &m) { return std::vector{&m.gather.bandwidth, &m.reduce.bandwidth}; }},
    {"network", [](Machine &m) { return std::vector{&m.network.bandwidth}; }},
    {"h2d", [](Machine &m) { return std::vector{&m.hostToDevice.bandwidth}; }},
    {"d2h", [](Machine &m) { return std::vector{&m.deviceToHost.bandwidth}; }},
    {"host", [](Machine &m) { return std::vector{&m.host.memoryBandwidth}; }},
    {"disks", [](Machine &m) { return std::vector{&m.disk.count}; }},
    {"disk-read", [](Machine &m) { return std::vector{&m.disk.read}; }},
    {"disk-write", [](Machine &m) { return std::vector{&m.disk.write}; }},
    {"disk-bus", [](Machine &m) { return std::vector{&m.disk.bus}; }},
};

static std::string knobNames() {
  std::string names;
  for (const Knob &knob : kKnobs)
    names += (names.empty() ? "" : ", ") + std::string(knob.name);
  return names;
}

/// A number that may be followed by `suffix`.
static bool parse(std::string text, std::string_view suffix, double scale, double &number) {
  if (!text.ends_with(suffix))
    return false;
  text.resize(text.size() - suffix.size());
  if (!parseReal(text, number) || !(number > 0))
    return false;
  number *= scale;
  return true;
}

static Status setFigures(const std::vector<double *> &figures, const std::string &value) {
  double number = 0;
  const bool isFactor = parse(value, "x", 1, number);
  const bool isGiven = isFactor || parse(value, "TB/s", 1e12, number) ||
                       parse(value, "GB/s", 1e9, number) || parse(value, "MB/s", 1e6, number) ||
                       parse(value, "", 1, number);
  if (!isGiven)
    return Status(ZERO_RT_INVALID_ARGUMENT,
                  "expected a positive number, a rate as '25GB/s', or a factor as '2x'");
  for (double *figure : figures) {
    if (*figure <= 0)
      return Status(ZERO_RT_INVALID_ARGUMENT, "the machine description has no such figure");
    *figure = isFactor ? *figure * number : number;
  }
  return {};
}

static Status apply(const std::string &change, Machine &machine) {
  const size_t equals = change.find('=');
  const std::string name = change.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : change.substr(equals + 1);
  if (name == "ranks")
    return Status(ZERO_RT_INVALID_ARGUMENT,
                  "a program has the ranks that it was compiled for: use zeroc --ranks");
  const auto *knob = std::ranges::find_if(kKnobs, [&](const Knob &k) { return name == k.name; });
  if (knob == std::end(kKnobs))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected one of %s", knobNames().c_str());
  return setFigures(knob->of(machine), value);
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char each : text)
    if (each == ',')
      parts.emplace_back();
    else
      parts.back() += each;
  return parts;
}

Status findWhatIfs(const proto::Program &program, const Machine &machine,
                   const std::string &changes, std::vector<WhatIf> &found) {
  auto simulate = [&](const Machine &changed, const std::string &name) {
    const Replay step = replay(program, changed, /*slowest=*/1);
    found.push_back({name, step.timeline.seconds});
  };
  Machine all = machine;
  for (const std::string &change : split(changes)) {
    Machine one = machine;
    for (Machine *changed : {&one, &all})
      if (Status status = apply(change, *changed); !status.ok())
        return fail(status.getCode(), "--what-if: '%s': %s", escape(change).c_str(),
                    status.getMessage().c_str());
    simulate(one, change);
  }
  if (found.size() > 1)
    simulate(all, "all of these");
  return {};
}

std::string whatIfText(const std::vector<WhatIf> &found, double seconds) {
  size_t width = std::size("what if") - 1;
  for (const WhatIf &each : found)
    width = std::max(width, each.change.size());
  std::string text = format("%-*s  %12s  %8s\n", int(width), "what if", "ms a step", "change");
  for (const WhatIf &each : found)
    text += format("%-*s  %12.4g  %+7.1f %%\n", int(width), each.change.c_str(), each.seconds * 1e3,
                   100 * (each.seconds / seconds - 1));
  return text;
}

void writeWhatIf(JsonWriter &json, const std::vector<WhatIf> &found) {
  json.object([&] {
    for (const WhatIf &each : found)
      json.member(each.change, each.seconds);
  });
}

} // namespace zero::sim
