//===- tiers.cpp - bytes and wear of tiers --------------------------------===//

#include "tiers.h"

#include "progress.h"
#include "report.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::run {

RankBytes rankBytes(const Executable &executable) {
  RankBytes bytes;
  for (size_t i = 0; i < infoOf(executable).certificates; ++i) {
    zero_rt_certificate from;
    if (zero_rt_executable_certificate(executable.get(), i, &from).code != ZERO_RT_OK)
      continue;
    (from.tier == std::string_view("nvme") ? bytes.disk : bytes.memory) += from.peak;
    bytes.host += from.tier == std::string_view("host") ? from.peak : 0;
  }
  return bytes;
}

std::string memoryText(const RankBytes &bytes) {
  std::string memory = bytesText(bytes.memory);
  return bytes.disk ? memory + " and " + bytesText(bytes.disk) + " on disk" : memory;
}

std::string measuredText(const Executable &executable, const Results &results) {
  const uint64_t measured =
      results.stats.measured_peak[ZERO_RT_DEVICE] + results.stats.measured_peak[ZERO_RT_HOST];
  if (measured == 0)
    return "";
  std::string text = format("memory of rank 0: %s used, %s planned", bytesText(measured).c_str(),
                            bytesText(rankBytes(executable).memory).c_str());
  if (!results.mpiBytes.empty())
    text += format("; MPI takes %s of each process beside it",
                   bytesText(std::ranges::max(results.mpiBytes)).c_str());
  return text + "\n";
}

DriveUse driveUse(const Executable &executable, const Session &session, const Results &results,
                  uint64_t endurance) {
  constexpr double kDay = 24 * 60 * 60;
  const zero_rt_program_info info = infoOf(executable);
  DriveUse drive;
  zero_rt_nvme_info nvme;
  if (!zero_rt_session_nvme(session.get(), &nvme))
    return drive;
  drive.read = nvme.read;
  drive.written = nvme.written;
  drive.perStep = uint64_t(info.ranks) * info.nvme_written;
  drive.endurance = endurance;
  if (const double seconds = results.secondsPerStep(); seconds > 0)
    drive.perDay = double(drive.perStep) * kDay / seconds;
  return drive;
}

std::string driveText(const DriveUse &drive) {
  std::string text = format("nvme in this run, all ranks: %s read, %s written",
                            bytesText(drive.read).c_str(), bytesText(drive.written).c_str());
  if (drive.endurance > 0)
    text += format(", %.2g %% of an endurance of %g TB",
                   100.0 * double(drive.written) / double(drive.endurance),
                   double(drive.endurance) / 1e12);
  if (drive.perDay <= 0)
    return text;
  text += format("; %s a step is %s a day", bytesText(drive.perStep).c_str(),
                 bytesText(static_cast<uint64_t>(drive.perDay)).c_str());
  if (drive.endurance > 0)
    text += format(", which uses up the endurance in %.3g days",
                   double(drive.endurance) / drive.perDay);
  return text;
}

void writeDrive(JsonWriter &json, const DriveUse &drive) {
  json.object([&] {
    json.member("read", drive.read);
    json.member("written", drive.written);
    json.member("written_per_step", drive.perStep);
    json.member("written_per_day", drive.perDay);
    if (drive.endurance == 0)
      return;
    json.member("endurance", drive.endurance);
    json.member("endurance_share", double(drive.written) / double(drive.endurance));
  });
}

} // namespace zero::run
