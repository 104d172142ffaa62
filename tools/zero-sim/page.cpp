//===- page.cpp - a simulated step as a web page --------------------------===//

#include "page.h"

#include "runtime/support/json_writer.h"
#include "runtime/support/status.h"
#include "zero/Page/Page.h"
#include "zero/Planning/ByteSize.h"

#include <algorithm>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

static constexpr char kPage[] =
#include "tools/zero-sim/page.inc"
    ;

/// Columns of the timeline: what is closer than one of them is drawn together.
static constexpr double kColumns = 1500;

static std::string percent(double part, double whole) {
  return format("%.1f %%", whole > 0 ? 100 * part / whole : 0);
}
static const char *laneName(size_t lane) { return zero_rt_lane_name(zero_rt_lane(lane)); }

namespace {
/// Commands of a lane that are drawn as one bar.
struct Bar {
  double begin = 0, end = 0; ///< seconds
  size_t first = 0, count = 0;
  bool recomputes = false;
};
} // namespace

/// The bars of each lane of rank 0.
static std::vector<std::vector<Bar>> barsOf(const Replay &replay) {
  std::vector<std::vector<Bar>> lanes(ZERO_RT_LANES);
  const double column = replay.timeline.seconds / kColumns;
  for (const zero_rt_event &event : replay.timeline.events[0]) {
    const zero_rt_command_info &command = replay.commands[event.command];
    std::vector<Bar> &bars = lanes[size_t(command.lane)];
    const double begin = double(event.begin) * 1e-9, end = double(event.end) * 1e-9;
    const bool recomputes = command.recomputed != 0;
    if (end <= begin)
      continue;
    if (!bars.empty() && bars.back().recomputes == recomputes && begin - bars.back().end < column &&
        end - bars.back().begin < 8 * column) {
      bars.back().end = std::max(bars.back().end, end);
      ++bars.back().count;
    } else {
      bars.push_back({begin, end, event.command, 1, recomputes});
    }
  }
  return lanes;
}

static std::string textOf(const Bar &bar, const Replay &replay) {
  const zero_rt_command_info &first = replay.commands[bar.first];
  std::string name = *first.label ? std::string(first.label) + " (" + first.name + ")" : first.name;
  if (bar.count > 1)
    name += format(" and %zu more", bar.count - 1);
  return name + ": " + secondsText(bar.begin) + " to " + secondsText(bar.end);
}

static void writeBars(JsonWriter &json, const std::vector<Bar> &bars, const Replay &replay,
                      double scale) {
  json.array([&] {
    for (const Bar &bar : bars)
      json.array([&] {
        json.fixed(bar.begin * scale, 2), json.fixed(bar.end * scale, 2);
        json.value(textOf(bar, replay)), json.value(bar.recomputes);
      });
  });
}

static void writeTimeline(JsonWriter &json, const Replay &replay) {
  const std::vector<std::vector<Bar>> lanes = barsOf(replay);
  const double seconds = std::max(replay.timeline.seconds, 1e-12);
  json.key("lanes").array([&] {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      if (!lanes[lane].empty())
        json.object([&] {
          json.member("name", laneName(lane));
          json.member("number", lane);
          writeBars(json.key("bars"), lanes[lane], replay, 1000 / seconds);
        });
  });
  json.key("ticks").array([&] {
    for (int tick = 0; tick <= 4; ++tick)
      json.value(secondsText(seconds * tick / 4));
  });
}

static Rows laneRows(const Replay &replay) {
  const Timeline &timeline = replay.timeline;
  Rows rows{{"lane", "busy", "of the step", "moved", "on the critical path"}};
  for (size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    if (const auto [busy, bytes] = timeline.lanes[lane]; busy > 0)
      rows.push_back({laneName(lane), secondsText(busy), percent(busy, timeline.seconds),
                      bytes ? formatBytes(double(bytes)) : "",
                      percent(timeline.critical[lane], timeline.seconds)});
  return rows;
}

static Rows kindRows(const run::Profile &profile) {
  Rows rows{{"kind", "launches", "a step", "recomputed", "of the step", "of the roofline"}};
  for (const run::ProfileRow &row : profile.kinds)
    rows.push_back({row.title(), format("%.0f", row.launches), secondsText(row.seconds),
                    row.recomputed > 0 ? secondsText(row.recomputed) : "",
                    percent(row.seconds, profile.seconds()), row.rooflineText()});
  return rows;
}

static void writeRows(JsonWriter &json, const Rows &rows) {
  json.array([&] {
    for (const std::vector<std::string> &row : rows)
      json.array([&] {
        for (const std::string &cell : row)
          json.value(cell);
      });
  });
}

/// A section with a table.
static void writeSection(JsonWriter &json, const char *id, const char *title,
                         const std::string &note, const Rows &rows) {
  json.object([&] {
    json.member("id", id), json.member("title", title), json.member("note", note);
    writeRows(json.key("rows"), rows);
  });
}

static void writeSections(JsonWriter &json, const Subject &subject, const Replay &replay,
                          const Explanation &explanation) {
  json.object([&] {
    json.member("id", "timeline"), json.member("title", "Timeline of rank 0");
    json.member("note",
                "Bars that are close together are drawn as one. Lighter bars are recomputed.");
    json.key("drawing").object([&] { writeTimeline(json, replay); });
  });
  writeSection(json, "lanes", "Lanes", "", laneRows(replay));
  if (!explanation.links.empty())
    writeSection(json, "links", "Links",
                 "A link needs the bandwidth with which it would take as long as computing takes: "
                 "the operations a second over the operations for each byte.",
                 linkRows(explanation));
  if (!subject.whatIfs.empty()) {
    std::string note = "The same step after one change, or after all of them.";
    for (const std::string &more : ranksNotes(subject.whatIfs, subject.program, subject.machine))
      note += " " + more;
    writeSection(json, "what-if", "What if", note,
                 whatIfRows(subject.whatIfs, replay.timeline.seconds));
  }
  if (!subject.sensitivities.empty())
    writeSection(
        json, "sensitivity", "Sensitivity",
        "By how many percent the time of the step changes if a figure of the machine grows "
        "by one percent.",
        sensitivityRows(subject.sensitivities));
  writeSection(json, "kinds", "Kernels and transfers", "",
               kindRows(profileOf(subject.machine, replay)));
}

static Rows factsOf(const Subject &subject, const Explanation &explanation) {
  const proto::Program &program = subject.program;
  Rows facts{{"machine", subject.machine.name + (subject.isDefault ? " (the default)" : "")},
             {"ranks", std::to_string(program.ranks())},
             {"ZeRO stage", std::to_string(program.stage())},
             {"micro-batches", std::to_string(std::max(program.micro_batches(), 1u))}};
  if (explanation.flops > 0) {
    facts.push_back({"each rank", format("%.4g TFLOP/s", explanation.flopsPerSecond * 1e-12)});
    facts.push_back({"of the peak", percent(explanation.peakShare, 1)});
  }
  if (explanation.tokens > 0)
    facts.push_back({"all ranks", countText(explanation.tokensPerSecond) + " tokens/s"});
  if (explanation.tokens > 0 && explanation.tokensPerPrice)
    facts.push_back({"for a price of 1", format("%.4g tokens", *explanation.tokensPerPrice)});
  return facts;
}

std::string reportPage(const Subject &subject, const Replay &replay) {
  const Explanation explanation = explain(subject.program, subject.machine, replay);
  JsonWriter json(JsonWriter::Compact);
  json.object([&] {
    json.member("title", "Simulated step");
    json.member("kicker", subject.program.name());
    json.member("heading", "A step takes " + secondsText(replay.timeline.seconds));
    json.member("lead", "Simulated, not run: each lane executes its commands in order, after "
                        "those that they wait for.");
    writeRows(json.key("facts"), factsOf(subject, explanation));
    json.key("sections").array([&] { writeSections(json, subject, replay, explanation); });
  });
  return fillPage(kPage, embeddable(json.text()));
}

} // namespace zero::sim
