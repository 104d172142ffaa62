//===- lanes.cpp - measured and planned times of lanes --------------------===//

#include "lanes.h"

#include "progress.h"
#include "tools/profiling/profile_text.h"

#include <algorithm>
#include <optional>

using namespace zero::rt;

namespace zero::run {

static std::optional<zero_rt_plan> planOf(const Executable &executable) {
  zero_rt_plan plan;
  if (!take(zero_rt_executable_plan(executable.get(), &plan)).ok())
    return std::nullopt;
  return plan;
}

static std::string milliseconds(double seconds) { return format("%.2f ms", seconds * 1e3); }

/// In the mean over steps.
static zero_rt_lane_use perStep(const zero_rt_lane_use &use, uint64_t steps) {
  return {use.seconds / double(steps), use.bytes / steps};
}

static bool hasLanes(const zero_rt_stats &stats) {
  return stats.steps > 0 && std::any_of(std::begin(stats.lanes), std::end(stats.lanes),
                                        [](const auto &use) { return use.seconds > 0; });
}

static std::string lineOf(zero_rt_lane lane, const zero_rt_lane_use &use,
                          const zero_rt_plan *plan) {
  std::string text = format("lane %-12s busy %s a step", zero_rt_lane_name(lane),
                            milliseconds(use.seconds).c_str());
  if (plan)
    text += format(" (planned: %s)", milliseconds(plan->lanes[lane].seconds).c_str());
  if (use.bytes > 0)
    text += format(", %s at %.2f GB/s", bytesText(use.bytes).c_str(),
                   double(use.bytes) / use.seconds * 1e-9);
  return text + "\n";
}

std::string lanesText(const Executable &executable, const zero_rt_stats &stats) {
  if (!hasLanes(stats))
    return "";
  const std::optional<zero_rt_plan> plan = planOf(executable);
  std::string text;
  for (int lane = 0; lane < ZERO_RT_LANES; ++lane)
    if (stats.lanes[lane].seconds > 0)
      text += lineOf(zero_rt_lane(lane), perStep(stats.lanes[lane], stats.steps),
                     plan ? &*plan : nullptr);
  const auto steps = double(stats.steps);
  text += format("compute stalled %s of %s a step, waiting for lanes",
                 milliseconds(stats.stalled / steps).c_str(),
                 milliseconds(stats.seconds / steps).c_str());
  if (plan)
    text += format(" (planned: %s of %s, on '%s')", milliseconds(plan->stalled).c_str(),
                   milliseconds(plan->seconds).c_str(), escape(plan->machine).c_str());
  return text + "\n";
}

static void writeLanes(JsonWriter &json, const zero_rt_lane_use (&lanes)[ZERO_RT_LANES],
                       uint64_t steps) {
  json.key("lanes").object([&] {
    for (int lane = 0; lane < ZERO_RT_LANES; ++lane) {
      if (lanes[lane].seconds <= 0)
        continue;
      const zero_rt_lane_use use = perStep(lanes[lane], steps);
      json.key(zero_rt_lane_name(zero_rt_lane(lane))).object([&] {
        json.member("seconds", use.seconds);
        json.member("bytes", use.bytes);
      });
    }
  });
}

void writeLaneMembers(JsonWriter &json, const zero_rt_stats &stats) {
  if (!hasLanes(stats))
    return;
  writeLanes(json, stats.lanes, stats.steps);
  json.member("stalled", stats.stalled / double(stats.steps));
}

void writePlan(JsonWriter &json, const Executable &executable) {
  const std::optional<zero_rt_plan> plan = planOf(executable);
  if (!plan)
    return;
  json.key("plan").object([&] {
    json.member("machine", plan->machine);
    json.member("seconds", plan->seconds);
    json.member("stalled", plan->stalled);
    writeLanes(json, plan->lanes, 1);
  });
}

} // namespace zero::run
