//===- job.cpp - the processes of a run -----------------------------------===//

#include "job.h"

#include "flags.h"
#include "progress.h"
#include "runtime/processes/fields.h"
#include "runtime/processes/secret.h"
#include "runtime/processes/world.h"
#include "tools/process/limit_end.h"
#include "tools/process/process.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace zero::rt;

namespace zero::run {

static const char *variable(const char *name) { return std::getenv(name); }

/// With --join: the rank of --rank or RANK, among as many processes as the program has ranks.
Status Job::findJoined(const Options &options) {
  if (options.needsCompiler())
    return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                    "--join takes an executable: compile the model with zeroc first");
  meeting = "file:" + options.join;
  uint64_t local;
  if (const char *text = variable("LOCAL_RANK"); text && parseCount(text, local).ok())
    localProcess = int(local);
  process = options.rank;
  if (process >= 0)
    return {};
  const char *rank = variable("RANK");
  uint64_t number;
  if (!rank)
    return rt::fail(ZERO_RT_INVALID_ARGUMENT, "--join needs --rank, or the variable RANK");
  if (Status status = parseCount(rank, number); !status.ok() || number > 1024)
    return rt::fail(ZERO_RT_INVALID_ARGUMENT, "the variable RANK: expected a rank, got '%s'",
                    escape(rank).c_str());
  process = int(number);
  return {};
}

/// Only some launchers start processes again.
static Status checkRestarts(const Options &options, Launcher launcher) {
  if (!options.restarts || launcher == Launcher::ZeroRun || launcher == Launcher::Torchrun)
    return {};
  return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                  "--restarts needs --processes=N or torchrun, which start processes again; in "
                  "other jobs start the command again, with --resume=DIR and --resume-if-any");
}

Status Job::find(const Options &options) {
  if (!options.join.empty())
    return findJoined(options);
  if (options.rank >= 0)
    return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                    "--rank needs --join: a file through which the ranks find each other");
  LaunchInfo launch;
  ZERO_RT_TRY(detectLauncher(variable, launch));
  process = launch.process;
  count = launch.processes;
  localProcess = launch.localProcess;
  attempts = launch.attempt;
  ZERO_RT_TRY(checkRestarts(options, launch.launcher));
  if (options.ranksPerProcess && launch.launcher == Launcher::None)
    return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                    "--ranks-per-process needs several processes: start them with mpirun, srun or "
                    "torchrun, or with --processes=N");
  return {};
}

static Status checkRanks(const Options &options, int ranks, int processes) {
  const uint64_t each = options.ranksPerProcess.value_or(0);
  if (!each || ranks == 0 || each * uint64_t(processes) == uint64_t(ranks))
    return {};
  return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                  "%d processes of %llu ranks are %llu ranks, and the executable has %d", processes,
                  static_cast<unsigned long long>(each),
                  static_cast<unsigned long long>(each) * uint64_t(processes), ranks);
}

Status Job::open(Options &options, int ranks) {
  if (!meeting.empty()) {
    count = ranks;
    if (process >= count)
      return rt::fail(ZERO_RT_INVALID_ARGUMENT, "no rank %d among %d", process, count);
  }
  if (!isOneOfMany())
    return {};
  ZERO_RT_TRY(checkRanks(options, ranks, count));
  const int each = ranks / count;
  const std::string about = ranks > 0 && ranks % count == 0 ? ranksText(process * each, each)
                                                            : "process " + std::to_string(process);
  zero_rt_world_options wanted;
  zero_rt_world_options_default(&wanted);
  std::string secret;
  if (!options.joinSecret.empty()) {
    ZERO_RT_TRY(readSecret(options.joinSecret, secret));
    wanted.secret = secret.c_str();
  }
  if (!options.interface.empty())
    wanted.interface = options.interface.c_str();
  wanted.about = about.c_str();
  wanted.timeout_seconds = options.session.timeout_seconds;
  if (!meeting.empty()) {
    wanted.process = process;
    wanted.processes = count;
    wanted.meeting = meeting.c_str();
  }
  zero_rt_world *made = nullptr;
  ZERO_RT_TRY(take(zero_rt_world_open(&wanted, &made)));
  world.reset(made);
  options.session.world = made;
  timeout = options.session.timeout_seconds;
  announce(options);
  if (!isFirst()) {
    options.quiet = true;
    options.printsJson = false;
  }
  return {};
}

Job::~Job() {
  if (!world || !isOneOfMany())
    return;
  // To leave takes at most the timeout, twice: the others may not come, nor may MPI's end.
  const double limit = 2 * timeout;
  process::limitEnd(limit, format("zero-run: error: %s does not end, %g s after its work: it was "
                                  "stopped or hangs, and is killed",
                                  nameOf(process).c_str(), limit));
}

void Job::announce(const Options &options) const {
  if (!isFirst() || options.quiet)
    return;
  zero_rt_world_info info;
  zero_rt_world_describe(world.get(), &info);
  std::string library;
  if (info.library_bytes > 0)
    library = "; MPI takes " + bytesText(info.library_bytes) + " of each";
  const std::string listens(info.listens_at);
  std::printf("%d processes on %d node%s, started by %s%s%s%s\n", info.processes, info.nodes,
              info.nodes == 1 ? "" : "s", meeting.empty() ? info.launcher : "hand (--join)",
              listens.empty() ? "" : "; process 0 listens at ", listens.c_str(), library.c_str());
  std::fflush(stdout);
}

bool Job::makesFolder(const Options &options) const {
  if (!world || !options.session.local_state)
    return isFirst();
  const rt::World &met = *world->world;
  return met.leaders()[size_t(met.node())] == met.process();
}

Status Job::agree(const Status &own) const {
  return world ? world->world->agree("start of the run", own) : own;
}

static constexpr char kBusy[] = "busy";

static Status meetFirst(const zero_rt_world &world, std::string_view sign, bool &isBusy) {
  std::vector<std::string> all;
  ZERO_RT_TRY(world.world->control().allGather("work of process 0", sign, all));
  isBusy = all.front() == kBusy;
  return {};
}

Status Job::sayBusy() const {
  if (!world)
    return {};
  ZERO_RT_TRY(world->world->control().failure());
  const auto now = std::chrono::steady_clock::now();
  if (now < lastSign + std::chrono::duration<double>(timeout / 4))
    return {};
  lastSign = now;
  bool isBusy;
  return meetFirst(*world, kBusy, isBusy);
}

Status Job::awaitFirst(const Status &own) const {
  if (!own.ok())
    return agree(own);
  for (bool isBusy = true; isBusy;)
    ZERO_RT_TRY(meetFirst(*world, "", isBusy));
  return {};
}

void Job::fail(const Status &reason) const {
  if (!world)
    return;
  const bool isConsequence = reason.getCode() == ZERO_RT_ABORTED; // whose cause is told first
  if (!isConsequence)
    zero_rt_world_fail(world.get(), reason.getMessage().c_str());
  // mpirun ends all processes as soon as one has failed, and what they have not printed is lost.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (isConsequence)
    zero_rt_world_fail(world.get(), reason.getMessage().c_str());
}

Status Job::share(std::string &path) const {
  const char *shared = nullptr;
  ZERO_RT_TRY(take(zero_rt_world_share(world.get(), path.c_str(), &shared)));
  path = shared;
  return {};
}

Status Job::any(const Session &session, bool own, bool &found) const {
  found = own;
  if (!world)
    return {};
  int any = 0;
  ZERO_RT_TRY(take(zero_rt_session_any(session.get(), own, &any)));
  found = any != 0;
  return {};
}

Status Job::shallStop(const Session &session, bool &stops) const {
  return any(session, process::interruption() != 0, stops);
}

Status Job::gatherTexts(const char *what, std::string_view own,
                        std::vector<std::string> &all) const {
  return world->world->control().allGather(what, own, all);
}

std::string Job::nameOf(int process) const {
  return format("process %d on host '%s'", process,
                escape(world->world->getProcesses()[size_t(process)].host).c_str());
}

int Job::processesOfNode() const {
  if (!world)
    return 1;
  const std::vector<rt::World::Process> &all = world->world->getProcesses();
  return int(std::ranges::count(all, world->world->node(), &rt::World::Process::node));
}

/// The numbers of all processes, by process.
Status Job::gather(const char *what, uint64_t own, std::vector<uint64_t> &all) const {
  all = {own};
  if (!world)
    return {};
  std::string text;
  append(text, own);
  std::vector<std::string> texts;
  ZERO_RT_TRY(gatherTexts(what, text, texts));
  all.clear();
  for (const std::string &each : texts)
    all.push_back(Fields(each).number());
  return {};
}

Status Job::sum(const char *what, uint64_t &count) const {
  std::vector<uint64_t> all;
  ZERO_RT_TRY(gather(what, count, all));
  count = std::accumulate(all.begin(), all.end(), uint64_t(0));
  return {};
}

Status Job::mpiBytes(std::vector<uint64_t> &bytes) const {
  zero_rt_world_info info{};
  if (world)
    zero_rt_world_describe(world.get(), &info);
  ZERO_RT_TRY(gather("memory of MPI", info.library_bytes, bytes));
  if (std::ranges::all_of(bytes, [](uint64_t each) { return each == 0; }))
    bytes.clear();
  return {};
}

int Job::interruption() const {
  const int own = process::interruption();
  std::vector<uint64_t> all;
  if (!gather("signal", uint64_t(own), all).ok())
    all = {uint64_t(own)};
  for (const uint64_t signal : all) // the first process that has got one decides
    if (signal != 0)
      return int(signal);
  return SIGTERM;
}

} // namespace zero::run
