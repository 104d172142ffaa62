//===- report.cpp - report of a simulated step ----------------------------===//

#include "report.h"

#include "runtime/support/status.h"
#include "tools/profiling/profile_text.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Planning/DriveWear.h"

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

run::Profile profileOf(const Machine &machine, const Replay &replay) {
  return run::makeProfile(
      {machine.peakFlops, machine.memoryBandwidth, machine.copyBandwidth, machine.halfFlops},
      replay.commands, replay.recordings());
}

static const proto::Certificate *deviceMemory(const proto::Program &program) {
  for (const proto::Certificate &certificate : program.certificates())
    if (certificate.tier() == proto::DEVICE)
      return &certificate;
  return nullptr;
}

static std::string memoryText(const Subject &subject) {
  const proto::Certificate *memory = deviceMemory(subject.program);
  if (!memory)
    return "";
  std::string text =
      format("memory per rank: %s at the peak ('%s')", formatBytes(double(memory->peak())).c_str(),
             escape(memory->peak_at()).c_str());
  const double there = subject.machine.memoryBytes;
  if (there > 0)
    text +=
        format(", %s %s that this machine has",
               double(memory->peak()) > there ? "more than the" : "of", formatBytes(there).c_str());
  return text + "\n";
}

/// Where a description was made with other ranks or threads than the step has.
static std::string mismatchText(const Subject &subject) {
  const Machine &machine = subject.machine;
  if (machine.ranks == int64_t(subject.program.ranks()))
    return "";
  return format("note: the machine was measured with %lld rank%s in parallel\n",
                static_cast<long long>(machine.ranks), machine.ranks == 1 ? "" : "s");
}

/// A note for a disk that was not measured.
static std::string diskText(const Subject &subject, const Replay &replay) {
  const auto &lanes = replay.timeline.lanes;
  const bool isUnknown = (lanes[ZERO_RT_NVME_READ].bytes > 0 && subject.machine.disk.read <= 0) ||
                         (lanes[ZERO_RT_NVME_WRITE].bytes > 0 && subject.machine.disk.write <= 0);
  return isUnknown ? "note: the machine description has no disk; 1 GB/s is assumed\n" : "";
}

static std::string lanesText(const Timeline &timeline) {
  std::string text;
  for (size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const auto [busy, bytes] = timeline.lanes[lane];
    if (busy <= 0)
      continue;
    text += format("lane %-12s busy %.4g ms, %.1f %%", zero_rt_lane_name(zero_rt_lane(lane)),
                   busy * 1e3, 100 * busy / timeline.seconds);
    if (bytes > 0)
      text += format(", %s at %.3g GB/s", formatBytes(double(bytes)).c_str(),
                     double(bytes) / busy * 1e-9);
    text += "\n";
  }
  if (timeline.stalled > 0)
    text += format("compute stalled %.4g ms, %.1f %%: it waits for other lanes\n",
                   timeline.stalled * 1e3, 100 * timeline.stalled / timeline.seconds);
  return text;
}

/// What the step reads from and writes to the drives of a node; none: it uses none.
static std::optional<DriveWear> drivesOf(const Subject &subject, const Timeline &timeline) {
  const auto bytes = [&](zero_rt_lane lane) { return double(timeline.lanes[lane].bytes); };
  const double read = bytes(ZERO_RT_NVME_READ), written = bytes(ZERO_RT_NVME_WRITE);
  if (read + written == 0)
    return std::nullopt;
  return nodeDriveWear(subject.machine, read, written, int64_t(subject.program.ranks()),
                       timeline.seconds);
}

/// Prints nothing where nothing is written.
static std::string drivesText(const Subject &subject, const Timeline &timeline) {
  const std::optional<DriveWear> drives = drivesOf(subject, timeline);
  return drives && drives->written > 0 ? "drives of a node: " + wearText(*drives) + "\n" : "";
}

/// What is 0 is not known.
static void writeDrives(JsonWriter &json, const DriveWear &wear) {
  json.object([&] {
    json.member("read_per_step", wear.read);
    json.member("written_per_step", wear.written);
    json.member("written_per_day", wear.writtenPerDay());
    json.member("endurance", wear.endurance);
    json.member("years", wear.years());
  });
}

/// "8 ranks", or "4 x 2 ranks (data x tensor)".
static std::string ranksText(const proto::Program &program) {
  if (program.mesh_size() < 2)
    return format("%u rank%s", program.ranks(), program.ranks() == 1 ? "" : "s");
  std::string sizes, names;
  for (const proto::Axis &axis : program.mesh()) {
    const char *between = sizes.empty() ? "" : " x ";
    sizes += format("%s%u", between, axis.size());
    names += between + escape(axis.name());
  }
  return sizes + " ranks (" + names + ")";
}

std::string reportText(const Subject &subject, const Replay &replay) {
  const proto::Program &program = subject.program;
  std::string text =
      format("%s: ZeRO stage %u on %s, %u micro-batch%s, on %s (%s)%s\n",
             escape(program.name()).c_str(), program.stage(), ranksText(program).c_str(),
             std::max(program.micro_batches(), 1u), program.micro_batches() > 1 ? "es" : "",
             escape(subject.machine.name).c_str(), escape(subject.machine.isa).c_str(),
             subject.isDefault ? ", the default: --machine names another" : "");
  text += mismatchText(subject) + diskText(subject, replay);
  text += format("step: %.4g ms\n", replay.timeline.seconds * 1e3);
  text += memoryText(subject);
  text += lanesText(replay.timeline) + drivesText(subject, replay.timeline);
  text += explanationText(explain(program, subject.machine, replay), replay.timeline.seconds);
  if (!subject.whatIfs.empty())
    text += "\n" + rowsText(whatIfRows(subject.whatIfs, replay.timeline.seconds));
  if (!subject.sensitivities.empty())
    text += "\n" + rowsText(sensitivityRows(subject.sensitivities));
  for (const std::string &note : ranksNotes(subject.whatIfs, program, subject.machine))
    text += note + "\n";
  return text + "\n" + run::profileTables(profileOf(subject.machine, replay));
}

static void writeLanes(JsonWriter &json, const Timeline &timeline) {
  json.key("lanes").object([&] {
    for (size_t lane = 0; lane < timeline.lanes.size(); ++lane)
      json.member(zero_rt_lane_name(zero_rt_lane(lane)), timeline.lanes[lane].seconds);
  });
  json.key("moved_bytes").object([&] {
    for (size_t lane = 0; lane < timeline.lanes.size(); ++lane)
      if (timeline.lanes[lane].bytes > 0)
        json.member(zero_rt_lane_name(zero_rt_lane(lane)), timeline.lanes[lane].bytes);
  });
}

std::string reportJson(const Subject &subject, const Replay &replay) {
  const proto::Program &program = subject.program;
  const proto::Certificate *memory = deviceMemory(program);
  JsonWriter json;
  json.object(
      [&] {
        json.member("model", program.name());
        json.member("machine", subject.machine.name);
        json.member("isa", subject.machine.isa);
        json.member("ranks", program.ranks());
        json.key("mesh").object([&] {
          for (const proto::Axis &axis : program.mesh())
            json.member(axis.name(), axis.size());
        });
        json.member("stage", program.stage());
        json.member("micro_batches", std::max(program.micro_batches(), 1u));
        json.member("seconds", replay.timeline.seconds);
        json.member("peak_bytes", memory ? memory->peak() : 0);
        writeLanes(json, replay.timeline);
        if (const auto drives = drivesOf(subject, replay.timeline))
          writeDrives(json.key("drives"), *drives);
        json.member("stalled", replay.timeline.stalled);
        writeExplanation(json.key("explanation"), explain(program, subject.machine, replay));
        if (!subject.whatIfs.empty())
          writeWhatIf(json.key("what_if"), subject.whatIfs);
        if (!subject.sensitivities.empty())
          writeSensitivities(json.key("sensitivity"), subject.sensitivities);
        run::writeProfile(json.key("profile"), profileOf(subject.machine, replay));
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

} // namespace zero::sim
