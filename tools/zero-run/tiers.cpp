//===- tiers.cpp - bytes and wear of tiers --------------------------------===//

#include "tiers.h"

#include "progress.h"
#include "report.h"
#include "runtime/io/drive_folders.h"

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
                  const Options &options) {
  const zero_rt_program_info info = infoOf(executable);
  DriveUse drive;
  zero_rt_nvme_info nvme;
  if (!zero_rt_session_nvme(session.get(), &nvme))
    return drive;
  drive.read = nvme.read;
  drive.written = nvme.written;
  const auto ranks = double(info.ranks);
  DriveFolders drives;
  (void)DriveFolders::parse(options.nvmeDir, drives); // as the session did
  drive.wear = {ranks * double(info.nvme_read), ranks * double(info.nvme_written),
                results.secondsPerStep(), double(options.endurance) * double(drives.drives())};
  return drive;
}

std::string driveText(const DriveUse &drive) {
  std::string text = format("nvme in this run, all ranks: %s read, %s written",
                            bytesText(drive.read).c_str(), bytesText(drive.written).c_str());
  if (const double endurance = drive.wear.endurance; endurance > 0)
    text += format(", %.2g %% of an endurance of %g TB", 100.0 * double(drive.written) / endurance,
                   endurance / 1e12);
  return drive.wear.writtenPerDay() > 0 ? text + "; " + planning::wearText(drive.wear) : text;
}

void writeDrive(JsonWriter &json, const DriveUse &drive) {
  const planning::DriveWear &wear = drive.wear;
  json.object([&] {
    json.member("read", drive.read);
    json.member("written", drive.written);
    json.member("written_per_step", uint64_t(wear.written));
    json.member("written_per_day", wear.writtenPerDay());
    if (wear.endurance == 0)
      return;
    json.member("endurance", uint64_t(wear.endurance));
    json.member("endurance_share", double(drive.written) / wear.endurance);
    json.member("years", wear.years());
  });
}

} // namespace zero::run
