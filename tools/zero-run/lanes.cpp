//===- lanes.cpp - what lanes did beside what was planned -----------------===//

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

static std::string laneObjects(const zero_rt_lane_use (&lanes)[ZERO_RT_LANES], uint64_t steps) {
  std::string text;
  for (int lane = 0; lane < ZERO_RT_LANES; ++lane)
    if (lanes[lane].seconds > 0) {
      const zero_rt_lane_use use = perStep(lanes[lane], steps);
      text += format("%s\"%s\": {\"seconds\": %s, \"bytes\": %llu}", text.empty() ? "" : ", ",
                     zero_rt_lane_name(zero_rt_lane(lane)), jsonNumber(use.seconds).c_str(),
                     static_cast<unsigned long long>(use.bytes));
    }
  return "{" + text + "}";
}

std::string laneFields(const zero_rt_stats &stats) {
  if (!hasLanes(stats))
    return "";
  return format(", \"lanes\": %s, \"stalled\": %s", laneObjects(stats.lanes, stats.steps).c_str(),
                jsonNumber(stats.stalled / double(stats.steps)).c_str());
}

std::string planJson(const Executable &executable) {
  const std::optional<zero_rt_plan> plan = planOf(executable);
  if (!plan)
    return "";
  return format("  \"plan\": {\"machine\": \"%s\", \"seconds\": %s, \"stalled\": %s,\n"
                "    \"lanes\": %s},\n",
                escape(plan->machine).c_str(), jsonNumber(plan->seconds).c_str(),
                jsonNumber(plan->stalled).c_str(), laneObjects(plan->lanes, 1).c_str());
}

} // namespace zero::run
