//===- automatic.cpp - leave a run to the planner -------------------------===//

#include "automatic.h"

#include "handles.h"
#include "runtime/io/drive_folders.h"
#include "runtime/support/available_memory.h"
#include "runtime/support/cache_folder.h"
#include "runtime/support/temporary.h"
#include "tools/process/known_machine.h"
#include "warnings.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Planning/ProcessMemory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace zero::rt;

namespace zero::run {

/// The part of the available memory that is planned with. The rest is for the data and for what
/// other processes need meanwhile.
static constexpr double kPart = 0.9;
/// Its parts for the device and for the host, if a flag gives one of them.
static constexpr double kDevicePart = 0.75, kHostPart = 0.1;

/// Whether the user gave zeroc's flag.
static bool isGiven(const Options &options, const std::string &name) {
  return options.compilerFlag(name).has_value();
}

/// The folder that zeroc caches in; empty: none.
static std::string cacheFolder(const Options &options) {
  if (isGiven(options, "no-cache"))
    return "";
  std::optional<std::string> given = options.compilerFlag("cache-dir");
  return given ? *given : rt::cacheFolder();
}

/// Copies the description at `from` to the cache, where it appears complete or not at all. Returns
/// whether it is there.
static bool cache(const std::string &from, const std::string &path) {
  const std::string draft = temporaryPath(path, randomToken());
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (!error)
    std::filesystem::copy_file(from, draft, error);
  if (!error)
    std::filesystem::rename(draft, path, error);
  if (error)
    warn(
        format("cannot cache the description of this machine in '%s': %s; it is measured each time",
               path.c_str(), error.message().c_str()));
  return !error;
}

/// The description of this machine: the cached one, or a new one in `folder`.
static Status findMachine(const Options &options, uint64_t ranks, const std::string &folder,
                          std::string &path) {
  const auto threads = uint64_t(std::max(options.session.threads_per_rank, 1));
  const uint64_t measured = process::measuredRanks(ranks, threads);
  const std::string cached = process::machineFile(cacheFolder(options), measured, threads);
  if (!cached.empty() && process::isCurrent(cached, measured, threads)) {
    path = cached;
    if (!options.quiet)
      std::printf("machine: measured before, cached in '%s'\n", path.c_str());
    return {};
  }
  if (!options.quiet)
    std::printf("machine: measuring its speed, which takes some seconds\n");
  zero_rt_calibration_options calibration;
  zero_rt_calibration_options_default(&calibration);
  calibration.ranks = int(measured);
  calibration.threads_per_rank = int(threads);
  calibration.pin = options.session.pin;
  path = folder + "/machine.json";
  ZERO_RT_TRY(take(zero_rt_calibrate(&calibration, path.c_str())));
  if (!cached.empty() && cache(path, cached))
    path = cached;
  return {};
}

static std::string flagText(const char *flag, uint64_t bytes) {
  return format("--%s=%llu", flag, static_cast<unsigned long long>(bytes));
}

/// The budget of the device or of the host, if a flag gives the other one.
static void addOtherBudget(const Options &options, uint64_t ranks,
                           std::vector<std::string> &words) {
  const bool isHost = isGiven(options, "memory-budget");
  const char *flag = isHost ? "host-budget" : "memory-budget";
  if (isGiven(options, flag))
    return;
  const double part = isHost ? kHostPart : kDevicePart;
  const auto bytes = uint64_t(double(availableMemory()) / double(ranks) * part);
  words.push_back(flagText(flag, bytes));
  if (!options.quiet)
    std::printf("%s of each rank: %s, %.0f %% of the available memory over %llu ranks\n", flag,
                planning::formatBytes(double(bytes)).c_str(), part * 100,
                static_cast<unsigned long long>(ranks));
}

/// The memory of all ranks in one process. Each other process takes some of it for itself.
static void addMemoryBudget(const Options &options, const Job &job,
                            std::vector<std::string> &words) {
  const auto available = uint64_t(double(availableMemory()) * kPart);
  const uint64_t others = uint64_t(std::max(job.processes(), 1) - 1) * planning::processBytes(0, 0);
  const uint64_t bytes = available > others ? available - others : 1;
  words.push_back(flagText("ram-budget", bytes));
  if (!options.quiet)
    std::printf("ram-budget: %s, %.0f %% of the available memory\n",
                planning::formatBytes(double(bytes)).c_str(), kPart * 100);
}

/// Leaves the budgets that no flag says to what memory there is.
static Status addBudgets(const Options &options, const Job &job, uint64_t ranks,
                         std::vector<std::string> &words) {
  DriveFolders drives;
  ZERO_RT_TRY(DriveFolders::parse(options.nvmeDir, drives));
  if (isGiven(options, "memory-budget") || isGiven(options, "host-budget"))
    addOtherBudget(options, ranks, words);
  else if (!isGiven(options, "ram-budget"))
    addMemoryBudget(options, job, words);
  const auto inMemory = std::ranges::find_if(drives.paths(), isInMemory);
  const bool isMemory = inMemory != drives.paths().end();
  if (isMemory)
    warn(format("files in '%s' are in memory: with --auto nothing is placed on drives",
                escape(*inMemory).c_str()));
  if ((drives.empty() || isMemory) && !isGiven(options, "nvme-budget"))
    words.push_back("--nvme-budget=1"); // no disk is given: nothing fits there
  return {};
}

Status addAutomaticFlags(const Options &options, const Job &job, uint64_t ranks,
                         const std::string &folder, std::vector<std::string> &words) {
  if (!isGiven(options, "machine")) {
    std::string machine;
    ZERO_RT_TRY(findMachine(options, ranks, folder, machine));
    words.push_back("--machine=" + machine);
  }
  ZERO_RT_TRY(addBudgets(options, job, ranks, words));
  const bool saysStage = isGiven(options, "zero-stage") || isGiven(options, "persist-under");
  if (!saysStage && !isGiven(options, "zero") && !isGiven(options, "forward-only"))
    words.push_back("--zero=auto");
  if (!isGiven(options, "offload"))
    words.push_back("--offload=auto");
  std::fflush(stdout); // before zeroc prints
  return {};
}

} // namespace zero::run
