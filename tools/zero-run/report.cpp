//===- report.cpp - a run as JSON -----------------------------------------===//

#include "report.h"

#include "figures.h"
#include "lanes.h"
#include "tiers.h"

#include <cmath>

using namespace zero::rt;

namespace zero::run {

using Number = unsigned long long;

static std::string list(const std::vector<zero_rt_step_result> &results,
                        double zero_rt_step_result::*field) {
  std::string text;
  for (const zero_rt_step_result &result : results)
    text += (text.empty() ? "" : ", ") + jsonNumber(result.*field);
  return "[" + text + "]";
}

static std::string roles(const uint64_t *bytes) {
  std::string text;
  for (int role = 1; role < ZERO_RT_ROLES; ++role)
    text += format("%s\"%s\": %llu", role == 1 ? "" : ", ",
                   zero_rt_role_name(static_cast<zero_rt_role>(role)),
                   static_cast<Number>(bytes[role]));
  return "{" + text + "}";
}

static std::string memory(const Executable &executable) {
  std::string text;
  for (size_t i = 0; i < infoOf(executable).certificates; ++i) {
    zero_rt_certificate from;
    if (zero_rt_executable_certificate(executable.get(), i, &from).code != ZERO_RT_OK)
      continue;
    text += format("%s    \"%s\": {\"peak\": %llu, \"lower_bound\": %llu, \"peak_at\": \"%s\",\n"
                   "      \"most\": %s,\n      \"at_peak\": %s}",
                   text.empty() ? "" : ",\n", from.tier, static_cast<Number>(from.peak),
                   static_cast<Number>(from.lower_bound), escape(from.peak_at).c_str(),
                   roles(from.most).c_str(), roles(from.at_peak).c_str());
  }
  return text;
}

/// What a rank has beside the device, if anything.
static std::string tiers(const zero_rt_program_info &info, const zero_rt_stats &stats) {
  std::string text;
  for (zero_rt_tier tier : {ZERO_RT_HOST, ZERO_RT_NVME})
    if (stats.arena_bytes[tier] > 0)
      text += format(", \"%s\": {\"arena_bytes\": %llu, \"measured_peak\": %llu, "
                     "\"measured_live\": %llu}",
                     tier == ZERO_RT_HOST ? "host" : "nvme",
                     static_cast<Number>(stats.arena_bytes[tier]),
                     static_cast<Number>(stats.measured_peak[tier]),
                     static_cast<Number>(stats.measured_live[tier]));
  if (stats.arena_bytes[ZERO_RT_NVME] > 0)
    text += format(", \"nvme_read\": %llu, \"nvme_written\": %llu, \"planned_nvme_read\": %llu, "
                   "\"planned_nvme_written\": %llu",
                   static_cast<Number>(stats.nvme_read), static_cast<Number>(stats.nvme_written),
                   static_cast<Number>(info.nvme_read), static_cast<Number>(info.nvme_written));
  return text + laneFields(stats);
}

static std::string ranks(const Executable &executable, const Session &session) {
  std::string text;
  for (int rank = 0; rank < infoOf(executable).ranks; ++rank) {
    zero_rt_stats stats{};
    if (!take(zero_rt_session_stats(session.get(), rank, &stats)).ok())
      continue; // it is in another process
    text +=
        format("%s    {\"arena_bytes\": %llu, \"measured_peak\": %llu, \"measured_live\": %llu, "
               "\"received_elements\": %llu, \"control_elements\": %llu, "
               "\"received_bytes\": %llu, \"control_bytes\": %llu%s}",
               text.empty() ? "" : ",\n", static_cast<Number>(stats.arena_bytes[ZERO_RT_DEVICE]),
               static_cast<Number>(stats.measured_peak[ZERO_RT_DEVICE]),
               static_cast<Number>(stats.measured_live[ZERO_RT_DEVICE]),
               static_cast<Number>(stats.model_elements),
               static_cast<Number>(stats.control_elements), static_cast<Number>(stats.model_bytes),
               static_cast<Number>(stats.control_bytes), tiers(infoOf(executable), stats).c_str());
  }
  return text;
}

static std::string evaluations(const std::vector<Evaluation> &results) {
  std::string text;
  for (const Evaluation &result : results)
    text += format("%s\n    {\"step\": %llu, \"eval_loss\": %s, \"batches\": %llu, "
                   "\"seconds\": %s}",
                   text.empty() ? "" : ",", static_cast<Number>(result.step),
                   jsonNumber(result.loss).c_str(), static_cast<Number>(result.batches),
                   jsonNumber(result.seconds).c_str());
  return "[" + text + "]";
}

std::string reportJson(const Executable &executable, const Session &session,
                       const Results &results) {
  const zero_rt_program_info info = infoOf(executable);
  std::string text = format("{\n  \"model\": \"%s\",\n  \"optimizer\": \"%s\",\n",
                            escape(info.name).c_str(), escape(info.optimizer).c_str());
  text += format("  \"ranks\": %d,\n  \"stage\": %d,\n  \"micro_batches\": %d,\n", info.ranks,
                 info.stage, info.micro_batches);
  text += format("  \"first_step\": %llu,\n  \"steps\": %zu,\n"
                 "  \"planned_elements_per_step\": %llu,\n",
                 static_cast<Number>(results.first), results.steps.size(),
                 static_cast<Number>(info.planned_elements));
  text += format("  \"interrupted\": %s,\n", results.interrupted ? "true" : "false");
  text += "  \"memory\": {\n" + memory(executable) + "\n  },\n";
  text += planJson(executable);
  const RankBytes bytes = rankBytes(executable);
  text += format("  \"memory_bytes_per_rank\": %llu,\n", static_cast<Number>(bytes.memory));
  if (bytes.disk > 0)
    text += format("  \"nvme_bytes_per_rank\": %llu,\n  \"nvme\": {%s},\n",
                   static_cast<Number>(bytes.disk), driveFields(results.drive).c_str());
  text += "  \"per_rank\": [\n" + ranks(executable, session) + "\n  ],\n";
  text += "  \"evaluations\": " + evaluations(results.evaluations) + ",\n";
  text += "  \"losses\": " + list(results.steps, &zero_rt_step_result::loss) + ",\n";
  text += Figures(executable).lists(results.steps);
  if (results.profile)
    text += "  \"profile\": " + profileJson(*results.profile) + ",\n";
  return text + "  \"seconds\": " + list(results.steps, &zero_rt_step_result::seconds) + "\n}\n";
}

} // namespace zero::run
