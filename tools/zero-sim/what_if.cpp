//===- what_if.cpp - a step on changed machines ---------------------------===//

#include "what_if.h"

#include "figures.h"
#include "runtime/format/limits.h"
#include "runtime/support/checked.h"
#include "scale_ranks.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

namespace {
/// What is simulated.
struct Setting {
  Machine machine;
  uint32_t ranks;
  double slowest; ///< see replay()
};
} // namespace

static std::string changeNames() {
  std::string names = "ranks";
  for (const Figure &figure : machineFigures())
    names += ", " + std::string(figure.name);
  return names;
}

/// A positive number that is followed by `suffix`, times `scale`.
static bool parse(std::string text, std::string_view suffix, double scale, double &number) {
  if (!text.ends_with(suffix))
    return false;
  text.resize(text.size() - suffix.size());
  if (!parseReal(text, number))
    return false;
  number *= scale;
  return number > 0 && std::isfinite(number);
}

/// A number of the figure's unit.
static bool parseNumber(const Figure &figure, const std::string &text, double &number) {
  static constexpr std::pair<const char *, double> kPrefixes[] = {
      {"T", 1e12}, {"G", 1e9}, {"M", 1e6}};
  if (parse(text, "", 1, number))
    return true;
  return figure.unit && std::ranges::any_of(kPrefixes, [&](const auto &prefix) {
           return parse(text, std::string(prefix.first) + figure.unit, prefix.second, number);
         });
}

static Status setFigure(const Figure &figure, const std::string &value, Machine &machine) {
  double number = 0;
  const bool isFactor = parse(value, "x", 1, number);
  const std::string rate = figure.unit ? format(", a rate as '25G%s'", figure.unit) : "";
  if (!isFactor && !parseNumber(figure, value, number))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected a positive number%s, or a factor as '2x', got '%s'", rate.c_str(),
                escape(value).c_str());
  if (!hasFigure(figure, machine))
    return Status(ZERO_RT_INVALID_ARGUMENT, "the machine description has no such figure");
  scaleFigure(figure, machine, isFactor ? number : number / *figure.of(machine).front());
  return {};
}

static Status setRanks(const std::string &value, uint32_t &ranks) {
  double number = 0;
  uint32_t whole = 0;
  if (parse(value, "x", ranks, number) && number == std::floor(number) && number <= kMostRanks)
    whole = uint32_t(number);
  else if (!parseInteger(value, whole))
    whole = 0;
  if (whole < 1 || whole > kMostRanks)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected 1 to %u ranks, or a factor as '2x' of the program's %u, got '%s'",
                kMostRanks, ranks, escape(value).c_str());
  ranks = whole;
  return {};
}

static Status apply(const std::string &name, const std::string &value, Setting &setting) {
  if (name == "ranks")
    return setRanks(value, setting.ranks);
  const auto figures = machineFigures();
  const auto figure =
      std::ranges::find_if(figures, [&](const Figure &f) { return name == f.name; });
  if (figure == figures.end())
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected one of %s, got '%s'", changeNames().c_str(),
                escape(name).c_str());
  return setFigure(*figure, value, setting.machine);
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

static Status simulate(const proto::Program &program, const Setting &setting,
                       const std::string &name, std::vector<WhatIf> &found) {
  proto::Program scaled;
  const bool isSame = setting.ranks == program.ranks();
  if (!isSame) {
    scaled = program;
    ZERO_RT_TRY(scaleRanks(scaled, setting.ranks));
  }
  const proto::Program &step = isSame ? program : scaled;
  const Replay replayed = replay(step, setting.machine, setting.slowest);
  found.push_back(
      {name, setting.ranks, replayed.timeline.seconds, explain(step, setting.machine, replayed)});
  return {};
}

/// Applies a change to both `alone` and `all`, which has the changes before it.
static Status applyBoth(const std::string &change, std::set<std::string> &changed, Setting &alone,
                        Setting &all) {
  const size_t equals = change.find('=');
  const std::string name = change.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : change.substr(equals + 1);
  ZERO_RT_TRY(apply(name, value, alone));
  ZERO_RT_TRY(apply(name, value, all));
  return changed.insert(name).second
             ? Status()
             : fail(ZERO_RT_INVALID_ARGUMENT, "expected one change of %s, got two", name.c_str());
}

Status findWhatIfs(const proto::Program &program, const Machine &machine, double slowest,
                   const std::string &changes, std::vector<WhatIf> &found) {
  Setting all{machine, program.ranks(), slowest};
  std::set<std::string> changed;
  for (const std::string &change : split(changes)) {
    Setting alone{machine, program.ranks(), slowest};
    Status status = applyBoth(change, changed, alone, all);
    if (status.ok())
      status = simulate(program, alone, change, found);
    if (!status.ok())
      return fail(status.getCode(), "--what-if: '%s': %s", escape(change).c_str(),
                  status.getMessage().c_str());
  }
  return found.size() > 1 ? simulate(program, all, "all of these", found) : Status();
}

std::vector<std::string> ranksNotes(const std::vector<WhatIf> &found, const proto::Program &program,
                                    const Machine &machine) {
  std::vector<std::string> notes;
  const auto isOther = [&](const WhatIf &each) { return each.ranks != program.ranks(); };
  if (std::ranges::any_of(found, isOther))
    notes.push_back(format("On other ranks than %u, each rank keeps its batch, so that the global "
                           "batch changes, and commands keep their order.",
                           program.ranks()));
  const auto isBeyond = [&](const WhatIf &each) {
    return isOther(each) && int64_t(each.ranks) > machine.ranks;
  };
  if (machine.network.ranksPerNode == 0 && std::ranges::any_of(found, isBeyond))
    notes.emplace_back("The machine description has no network: all ranks are on one node.");
  return notes;
}

Rows whatIfRows(const std::vector<WhatIf> &found, double seconds) {
  const auto hasTokens = [](const WhatIf &each) { return each.explanation.tokens > 0; };
  const bool tokens = std::ranges::any_of(found, hasTokens);
  const bool price = tokens && found.front().explanation.tokensPerPrice.has_value();
  Rows rows{{"what if", "ms a step", "change"}};
  if (tokens)
    rows.front().emplace_back("tokens/s");
  if (price)
    rows.front().emplace_back("tokens/price");
  for (const WhatIf &each : found) {
    rows.push_back({each.change, format("%.4g", each.seconds * 1e3),
                    format("%+.1f %%", 100 * (each.seconds / seconds - 1))});
    if (tokens)
      rows.back().push_back(countText(each.explanation.tokensPerSecond));
    if (price)
      rows.back().push_back(format("%.4g", each.explanation.tokensPerPrice.value_or(0)));
  }
  return rows;
}

void writeWhatIf(JsonWriter &json, const std::vector<WhatIf> &found) {
  json.object([&] {
    for (const WhatIf &each : found)
      json.key(each.change).object([&] {
        json.member("ranks", each.ranks);
        json.member("seconds", each.seconds);
        writeTokens(json, each.explanation);
      });
  });
}

} // namespace zero::sim
