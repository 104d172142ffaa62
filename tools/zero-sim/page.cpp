//===- page.cpp - a simulated step as a web page --------------------------===//

#include "page.h"

#include "runtime/support/status.h"
#include "tools/zero-sim/page_style.h"
#include "zero/Planning/ByteSize.h"

#include <algorithm>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

/// Columns of the timeline: what is closer than one of them is drawn together.
static constexpr double kColumns = 1500;
static constexpr double kRowHeight = 26, kBarHeight = 18, kNames = 110;

/// Names come from an untrusted model.
static std::string html(const std::string &text) {
  std::string safe;
  for (char c : text)
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      safe += c;
  return safe;
}

static std::string percent(double part, double whole) {
  return format("%.1f %%", whole > 0 ? 100 * part / whole : 0);
}
static const char *laneName(size_t lane) { return zero_rt_lane_name(zero_rt_lane(lane)); }

namespace {
/// A table whose first column has names and whose others have numbers.
class Table {
public:
  explicit Table(std::vector<std::string> titles) {
    add("th scope=\"col\"", titles);
    text = "<thead>" + text + "</thead><tbody>";
  }
  void row(const std::vector<std::string> &cells) { add("td", cells); }
  std::string finish() const {
    return "<div class=\"scroll\"><table>" + text + "</tbody></table></div>\n";
  }

private:
  void add(const std::string &tag, const std::vector<std::string> &cells) {
    text += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i)
      text += "<" + tag + (i ? " class=\"number\"" : "") + ">" + html(cells[i]) + "</" +
              tag.substr(0, 2) + ">";
    text += "</tr>";
  }

  std::string text;
};

/// Commands of a lane that are drawn as one bar.
struct Bar {
  double begin = 0, end = 0; ///< seconds
  size_t first = 0, count = 0;
  bool recomputes = false;
};
} // namespace

static std::string section(const std::string &title, const std::string &note,
                           const std::string &content) {
  return "<section><h2>" + html(title) + "</h2>" +
         (note.empty() ? "" : "<p class=\"note\">" + html(note) + "</p>") + content +
         "</section>\n";
}

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

static std::string barSvg(const Bar &bar, const Replay &replay, double scale, double y) {
  const zero_rt_command_info &first = replay.commands[bar.first];
  std::string name = *first.label ? std::string(first.label) + " (" + first.name + ")" : first.name;
  if (bar.count > 1)
    name += format(" and %zu more", bar.count - 1);
  return format("<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"%s><title>",
                kNames + bar.begin * scale, y, std::max((bar.end - bar.begin) * scale, 0.3),
                kBarHeight, bar.recomputes ? " class=\"again\"" : "") +
         html(name) + ": " + secondsText(bar.begin) + " to " + secondsText(bar.end) +
         "</title></rect>\n";
}

static std::string timelineSvg(const Replay &replay) {
  const std::vector<std::vector<Bar>> lanes = barsOf(replay);
  const double width = 1100, seconds = std::max(replay.timeline.seconds, 1e-12);
  const double scale = (width - kNames) / seconds;
  std::string text;
  double y = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].empty())
      continue;
    text += format("<text x=\"0\" y=\"%.0f\">%s</text><g class=\"lane-%zu\">\n", y + 14,
                   laneName(lane), lane);
    for (const Bar &bar : lanes[lane])
      text += barSvg(bar, replay, scale, y);
    text += "</g>";
    y += kRowHeight;
  }
  for (int tick = 0; tick <= 4; ++tick)
    text += format("<text class=\"tick\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>",
                   kNames + (width - kNames) * tick / 4, y + 14,
                   tick == 0   ? "start"
                   : tick == 4 ? "end"
                               : "middle",
                   secondsText(seconds * tick / 4).c_str());
  return format(
             "<div class=\"scroll\"><svg class=\"timeline\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
             "aria-label=\"What each lane does over the step\">",
             width, y + 20) +
         text + "</svg></div>\n";
}

static std::string lanesTable(const Replay &replay) {
  const Timeline &timeline = replay.timeline;
  Table table({"lane", "busy", "of the step", "moved", "on the critical path"});
  for (size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    if (const auto [busy, bytes] = timeline.lanes[lane]; busy > 0)
      table.row({laneName(lane), secondsText(busy), percent(busy, timeline.seconds),
                 bytes ? formatBytes(double(bytes)) : "",
                 percent(timeline.critical[lane], timeline.seconds)});
  return table.finish();
}

static std::string tableOf(const Rows &rows) {
  Table table(rows.front());
  for (size_t i = 1; i < rows.size(); ++i)
    table.row(rows[i]);
  return table.finish();
}

static std::string whatIfSection(const Subject &subject, double seconds) {
  std::string note = "The same step after one change, or after all of them.";
  for (const std::string &more : ranksNotes(subject.whatIfs, subject.program, subject.machine))
    note += " " + more;
  return section("What if", note, tableOf(whatIfRows(subject.whatIfs, seconds)));
}

static std::string kindsTable(const run::Profile &profile) {
  Table table({"kind", "launches", "a step", "recomputed", "of the step", "of the roofline"});
  for (const run::ProfileRow &row : profile.kinds)
    table.row({row.title(), format("%.0f", row.launches), secondsText(row.seconds),
               row.recomputed > 0 ? secondsText(row.recomputed) : "",
               percent(row.seconds, profile.seconds()), row.rooflineText()});
  return table.finish();
}

static std::string factsOf(const Subject &subject, const Explanation &explanation) {
  std::string text = "<dl class=\"facts\">";
  auto fact = [&](const char *name, const std::string &value) {
    text += format("<div><dt>%s</dt><dd>", name) + html(value) + "</dd></div>";
  };
  fact("machine", subject.machine.name + (subject.isDefault ? " (the default)" : ""));
  fact("ranks", std::to_string(subject.program.ranks()));
  fact("ZeRO stage", std::to_string(subject.program.stage()));
  fact("micro-batches", std::to_string(std::max(subject.program.micro_batches(), 1u)));
  if (explanation.flops > 0) {
    fact("each rank", format("%.4g TFLOP/s", explanation.flopsPerSecond * 1e-12));
    fact("of the peak", percent(explanation.peakShare, 1));
  }
  if (explanation.tokens > 0)
    fact("all ranks", countText(explanation.tokensPerSecond) + " tokens/s");
  if (explanation.tokens > 0 && explanation.tokensPerPrice)
    fact("for a price of 1", format("%.4g tokens", *explanation.tokensPerPrice));
  return text + "</dl>";
}

std::string reportPage(const Subject &subject, const Replay &replay) {
  const double seconds = replay.timeline.seconds;
  const Explanation explanation = explain(subject.program, subject.machine, replay);
  std::string body =
      "<main><header><p class=\"kicker\">" + html(subject.program.name()) +
      "</p><h1>A step takes " + secondsText(seconds) +
      "</h1><p class=\"lead\">Simulated, not run: each lane executes its commands in order, after "
      "those that they wait for.</p>" +
      factsOf(subject, explanation) + "</header>\n";
  body += section("Timeline of rank 0",
                  "Bars that are close together are drawn as one. Lighter bars are recomputed.",
                  timelineSvg(replay));
  body += section("Lanes", "", lanesTable(replay));
  if (!explanation.links.empty())
    body += section("Links",
                    "A link needs the bandwidth with which it would take as long as computing "
                    "takes: the operations a second over the operations for each byte.",
                    tableOf(linkRows(explanation)));
  if (!subject.whatIfs.empty())
    body += whatIfSection(subject, seconds);
  body += section("Kernels and transfers", "", kindsTable(profileOf(subject.machine, replay)));
  return std::string("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'\">\n<title>Simulated step</title>\n<style>\n") +
         kPageStyle + "</style></head><body>\n" + body + "</main></body></html>\n";
}

} // namespace zero::sim
