//===- restarts.cpp - go on after a failure -------------------------------===//

#include "restarts.h"

#include "compile.h"
#include "flags.h"
#include "runtime/checkpoint/generations.h"
#include "runtime/io/tier_files.h"
#include "runtime/support/file.h"
#include "runtime/support/temporary.h"

#include <cstdio>
#include <cstdlib>

using namespace zero::rt;

namespace zero::run {

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The newest checkpoint that this run has saved; empty: none.
static std::string newestSaved(const Options &options) {
  std::vector<Generation> generations;
  if (!listGenerations(options.saveState, generations).ok() || generations.empty())
    return {}; // whoever reads there says why
  return generations.front().path;
}

Status goOnFromSaved(Options &options, const Job &job) {
  const bool resumesElsewhere =
      !options.resume.empty() && !isSameFile(options.resume, options.saveState);
  // Also where only another process sees one: all resume from the same path.
  uint64_t saved = newestSaved(options).empty() ? 0 : 1;
  ZERO_RT_TRY(job.sum("checkpoints of earlier attempts", saved));
  if (saved == 0 && resumesElsewhere)
    return {};
  options.resume = options.saveState;
  options.resumeIfAny = true;
  options.restartData = false;
  return {};
}

void removeLeft(const Options &options) {
  for (const std::string *path : {&options.log, &options.gradients, &options.outputs,
                                  &options.report, &options.trace, &options.ratePicture})
    if (!path->empty())
      sweepTemporaries(*path);
  for (const std::vector<std::string> *paths : {&options.saves, &options.averageSaves})
    for (const std::string &path : *paths)
      for (const char *suffix : {"", ".data"})
        sweepTemporaries(path + suffix);
  sweepTemporaries(compilerFolder());
  if (!options.saveState.empty())
    sweepDrafts(options.saveState);
  DriveFolders drives;
  if (DriveFolders::parse(options.nvmeDir, drives).ok())
    for (const std::string &path : drives.paths())
      TierFile::sweep(path);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Replaces a flag, of which the command line has at most one.
static void setFlag(std::vector<std::string> &arguments, const std::string &name, uint64_t value) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const bool isWhole = arguments[i].starts_with(name + "=");
    if (!isWhole && arguments[i] != name)
      continue;
    const auto at = arguments.begin() + ptrdiff_t(i);
    arguments.erase(at, at + (isWhole || i + 1 == arguments.size() ? 1 : 2));
    break;
  }
  arguments.push_back(name + "=" + std::to_string(value));
}

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

Restarts::Restarts(const Options &options, char **arguments) : options(options) {
  for (; *arguments; ++arguments)
    start.arguments.emplace_back(*arguments);
  start.processes = int(*options.processes);
  ranksEach = options.ranksPerProcess.value_or(
      std::max<uint64_t>(1, options.ranks.value_or(0) / uint64_t(start.processes)));
  if (std::optional<std::string> given = options.compilerFlag("micro-batches"))
    (void)parseCount(*given, microBatches);
  if (options.restarts)
    from = newestSaved(options);
}

/// Takes fewer processes: so many that each rank gets a whole multiple of its micro-batches and the
/// global batch stays the same, otherwise one less.
bool Restarts::shrink() {
  if (!options.minRanks)
    return false;
  const int before = start.processes;
  auto isEnough = [&](int processes) {
    return uint64_t(processes) * ranksEach >= *options.minRanks;
  };
  int fewer = before - 1;
  while (fewer > 0 && isEnough(fewer) && before % fewer != 0)
    --fewer;
  if (fewer == 0 || !isEnough(fewer))
    fewer = before - 1;
  if (fewer == 0 || !isEnough(fewer))
    return false;
  start.processes = fewer;
  setFlag(start.arguments, "--ranks", ranks());
  if (before % fewer == 0) {
    microBatches *= uint64_t(before / fewer);
    setFlag(start.arguments, "--micro-batches", microBatches);
  }
  return true;
}

void Restarts::announce(const std::string &why, uint64_t ranksBefore) const {
  std::string with;
  if (ranks() != ranksBefore)
    with = format(" with %llu instead of %llu ranks and %llu micro-batch%s",
                  static_cast<unsigned long long>(ranks()),
                  static_cast<unsigned long long>(ranksBefore),
                  static_cast<unsigned long long>(microBatches), microBatches == 1 ? "" : "es");
  if (ranksBefore % ranks() != 0)
    with += format(", so that the global batch is smaller by %.2g %%",
                   100.0 * double(ranksBefore - ranks()) / double(ranksBefore));
  const std::string &begin = from.empty() ? options.resume : from;
  std::fprintf(stderr, "zero-run: warning: %s; starts again%s (%d of %llu), %s\n", why.c_str(),
               with.c_str(), start.attempt, static_cast<unsigned long long>(*options.restarts),
               begin.empty() ? "from the beginning"
                             : format("from '%s'", escape(begin).c_str()).c_str());
}

bool Restarts::prepare(const Status &started, const End &first) {
  if (uint64_t(start.attempt) >= options.restarts.value_or(0))
    return false;
  const std::string newest = newestSaved(options);
  const bool isStuck = start.attempt > 0 && newest == from; // a restart that has come nowhere
  const uint64_t before = ranks();
  const bool hasShrunk = (isStuck || !started.ok()) && shrink();
  if (!started.ok() && !hasShrunk)
    return false;
  ++start.attempt;
  from = newest;
  announce(started.ok() ? first.text() : started.getMessage(), before);
  return true;
}

} // namespace zero::run
