//===- profile_json.cpp - a profile as JSON -------------------------------===//

#include "profile_text.h"
#include "runtime/support/status.h"

#include <cmath>

using namespace zero::rt;

namespace zero::run {

std::string jsonNumber(double value) {
  return std::isfinite(value) ? format("%.9g", value) : "null";
}

static std::string fields(const Parts &parts) {
  return format("\"seconds\": %s, \"compute\": %s, \"collectives\": %s, \"waiting\": %s, "
                "\"between\": %s, \"transfers\": %s, \"host_compute\": %s",
                jsonNumber(parts.total).c_str(), jsonNumber(parts.compute).c_str(),
                jsonNumber(parts.collectives).c_str(), jsonNumber(parts.waiting).c_str(),
                jsonNumber(parts.between).c_str(), jsonNumber(parts.transfers).c_str(),
                jsonNumber(parts.hostCompute).c_str());
}

static std::string fields(const ProfileRow &row, double step) {
  const char *bound = row.least == 0 ? "null" : row.boundByFlops ? "\"peak\"" : "\"bandwidth\"";
  return format("\"launches\": %s, \"seconds\": %s, \"recomputed\": %s, \"share\": %s, \"flops\": "
                "%.0f, \"bytes\": %.0f, "
                "\"fraction_of_roofline\": %s, \"bound\": %s",
                jsonNumber(row.launches).c_str(), jsonNumber(row.seconds).c_str(),
                jsonNumber(row.recomputed).c_str(), jsonNumber(row.seconds / step).c_str(),
                row.flops, row.bytes,
                row.least > 0 ? jsonNumber(row.fractionOfRoofline()).c_str() : "null", bound);
}

/// "[\n    {...},\n    {...}\n  ]" of what `text` makes of each element.
template <typename Element, typename Text>
static std::string list(const std::vector<Element> &elements, Text text) {
  std::string all;
  for (const Element &element : elements)
    all += format("%s\n      {%s}", all.empty() ? "" : ",", text(element).c_str());
  return "[" + all + "]";
}

std::string profileJson(const Profile &profile) {
  const zero_rt_machine &machine = profile.machine;
  const double step = profile.seconds();
  std::string text = "{\n    \"machine\": {";
  text += format("\"flops_per_second\": %s, \"triad_bytes_per_second\": %s, "
                 "\"copy_bytes_per_second\": %s},\n",
                 jsonNumber(machine.flops).c_str(), jsonNumber(machine.triad_bandwidth).c_str(),
                 jsonNumber(machine.copy_bandwidth).c_str());
  text += format("    \"flops\": %.0f,\n    \"fraction_of_peak\": %s,\n", profile.flops(),
                 jsonNumber(profile.fractionOfPeak()).c_str());
  text += format("    \"reorders\": %.0f,\n    \"recomputed\": %s,\n", profile.reorders,
                 jsonNumber(profile.recomputed()).c_str());
  auto parts = [](const Parts &parts) { return fields(parts); };
  text += "    \"ranks\": " + list(profile.ranks, parts) + ",\n";
  text +=
      format("    \"first_step\": %llu,\n", static_cast<unsigned long long>(profile.steps.front()));
  text += "    \"steps\": " + list(profile.parts, parts) + ",\n";
  text +=
      "    \"kinds\": " + list(profile.kinds, [&](const ProfileRow &row) {
        return format("\"kind\": \"%s\", %s", escape(row.name).c_str(), fields(row, step).c_str());
      });
  text += ",\n    \"kernels\": " + list(profile.kernels, [&](const ProfileRow &row) {
            return format("\"kernel\": \"%s\", \"kind\": \"%s\", \"node\": \"%s\", %s",
                          escape(row.name).c_str(), escape(row.kind).c_str(),
                          escape(row.label).c_str(), fields(row, step).c_str());
          });
  return text + "\n  }";
}

} // namespace zero::run
