//===- profile_json.cpp - a profile as JSON -------------------------------===//

#include "profile_text.h"

using namespace zero::rt;

namespace zero::run {

static void writeParts(JsonWriter &json, const Parts &parts) {
  json.object([&] {
    json.member("seconds", parts.total);
    json.member("compute", parts.compute);
    json.member("collectives", parts.collectives);
    json.member("waiting", parts.waiting);
    json.member("between", parts.between);
    json.member("transfers", parts.transfers);
    json.member("host_compute", parts.hostCompute);
  });
}

static void writeRow(JsonWriter &json, const ProfileRow &row, double step) {
  if (!row.axis.empty())
    json.member("axis", row.axis);
  json.member("launches", row.launches);
  json.member("seconds", row.seconds);
  json.member("recomputed", row.recomputed);
  json.member("share", row.seconds / step);
  json.key("flops").fixed(row.flops);
  json.key("bytes").fixed(row.bytes);
  if (row.least > 0)
    json.member("fraction_of_roofline", row.fractionOfRoofline());
  else
    json.key("fraction_of_roofline").null();
  if (row.least == 0)
    json.key("bound").null();
  else
    json.member("bound", row.boundByFlops ? "peak" : "bandwidth");
}

/// What `write` makes of each element, each on a line.
template <typename Element, typename Write>
static void writeList(JsonWriter &json, const char *name, const std::vector<Element> &elements,
                      Write write) {
  json.key(name).array(
      [&] {
        for (const Element &element : elements)
          write(element);
      },
      JsonWriter::Lines);
}

static void writeMembers(JsonWriter &json, const Profile &profile) {
  const zero_rt_machine &machine = profile.machine;
  const double step = profile.seconds();
  if (!profile.shape.empty())
    json.member("shape", profile.shape);
  json.key("machine").object([&] {
    json.member("flops_per_second", machine.flops);
    json.member("half_flops_per_second", machine.half_flops);
    json.member("triad_bytes_per_second", machine.triad_bandwidth);
    json.member("copy_bytes_per_second", machine.copy_bandwidth);
  });
  json.key("flops").fixed(profile.flops());
  json.member("fraction_of_peak", profile.fractionOfPeak());
  json.key("reorders").fixed(profile.reorders);
  json.member("recomputed", profile.recomputed());
  if (const auto received = profile.receivedAlong(); !received.empty())
    json.key("received_bytes_along").object([&] {
      for (const auto &[axis, bytes] : received)
        json.key(axis).fixed(bytes);
    });
  auto parts = [&](const Parts &each) { writeParts(json, each); };
  writeList(json, "ranks", profile.ranks, parts);
  json.member("first_step", profile.steps.front());
  writeList(json, "steps", profile.parts, parts);
  writeList(json, "kinds", profile.kinds, [&](const ProfileRow &row) {
    json.object([&] {
      json.member("kind", row.name);
      writeRow(json, row, step);
    });
  });
  writeList(json, "kernels", profile.kernels, [&](const ProfileRow &row) {
    json.object([&] {
      json.member("kernel", row.name);
      json.member("kind", row.kind);
      json.member("node", row.label);
      writeRow(json, row, step);
    });
  });
}

void writeProfile(JsonWriter &json, const Profile &profile) {
  json.object([&] { writeMembers(json, profile); }, JsonWriter::Lines);
}

void writeProfiles(JsonWriter &json, const std::vector<Profile> &profiles) {
  if (profiles.empty())
    return;
  writeProfile(json.key("profile"), profiles.front());
  if (profiles.size() == 1)
    return;
  const std::vector<Profile> others(profiles.begin() + 1, profiles.end());
  writeList(json, "other_profiles", others,
            [&](const Profile &profile) { writeProfile(json, profile); });
}

} // namespace zero::run
