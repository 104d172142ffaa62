//===- ranks.cpp - a session's ranks in this process ----------------------===//

#include "runtime/session/ranks.h"

#include "runtime/format/limits.h"
#include "runtime/processes/fields.h"
#include "runtime/session/process_group.h"
#include "runtime/session/session_device.h"
#include "runtime/support/checked.h"
#include "runtime/support/thread.h"
#include "runtime/verify/value_check.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace zero::rt {

Status checkOptions(const zero_rt_session_options &options) {
  if (options.threads_per_rank < 0 || options.threads_per_rank > int(kMostThreads))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected at most %u threads per rank, got %d",
                kMostThreads, options.threads_per_rank);
  if (!(options.timeout_seconds > 0) || options.timeout_seconds > 1e9)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a timeout above 0 s, got %g",
                options.timeout_seconds);
  return {};
}

TeamOptions teamOf(const proto::Program &program, const zero_rt_session_options &options) {
  TeamOptions team =
      TeamOptions::ofAll(int(program.ranks()), options.threads_per_rank, options.pin);
  team.graceSeconds = options.timeout_seconds + 1;
  if (options.world) {
    const World &world = *options.world->world;
    const Placement placement = placementOf(world, int(program.ranks()));
    team.ranks = placement.ranksPerProcess();
    team.firstRank = placement.firstRank(world.process());
    team.neighbours = int(placement.ranksOf(world.node()).size());
    team.place = placement.placeOf(team.firstRank);
  }
  if (team.threadsPerRank == 0)
    team.threadsPerRank = defaultThreads(program, team.neighbours);
  return team;
}

Ranks::Ranks(std::shared_ptr<Body> body, const zero_rt_session_options &options)
    : body(std::move(body)), options(options), hasAutomaticAlgorithms(choosesAlgorithms(options)),
      world(options.world ? options.world->world : nullptr),
      team(teamOf(this->body->program->tables(), options)) {}

Ranks::~Ranks() {
  if (world) {
    world->control().onFailure([](const Status &) {});
    world->control().onProgress([] { return std::string(); });
  }
}

/// How a session reaches the nvme tier.
static Status diskOptions(const zero_rt_session_options &options, DiskOptions &disk) {
  const std::string queue = options.nvme_io ? options.nvme_io : "auto";
  ZERO_RT_TRY(DriveFolders::parse(options.nvme_dir ? options.nvme_dir : "", disk.folders));
  if (queue == "io_uring")
    disk.queue = DiskQueue::Kind::Ring;
  else if (queue == "threads")
    disk.queue = DiskQueue::Kind::Threads;
  else if (queue != "auto")
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected 'auto', 'io_uring' or 'threads' for the nvme tier, got '%s'",
                escape(queue).c_str());
  return {};
}

/// Whether there are cores besides those that the threads of all ranks use. Lanes of a rank that is
/// pinned share its cores.
static bool hasIdleCores(const TeamOptions &team) {
  return team.pin <= 0 && usableCores() > team.neighbours * team.threadsPerRank;
}

Status Ranks::create(const std::shared_ptr<const LoadedProgram> &program,
                     const zero_rt_session_options &wanted, std::unique_ptr<Ranks> &ranks) {
  ZERO_RT_TRY(checkOptions(wanted));
  if (wanted.check_memory)
    for (size_t shape = 0; shape < program->shapes(); ++shape)
      ZERO_RT_TRY(checkValues(program->tablesOf(shape), program->executable.data));
  if (wanted.world)
    ZERO_RT_TRY(checkDivides(*wanted.world->world, program->ranks()));
  zero_rt_session_options options = wanted;
  options.threads_per_rank = teamOf(program->tables(), wanted).threadsPerRank;
  auto body = std::make_shared<Body>(options);
  body->program = program;
  std::unique_ptr<Ranks> made(new Ranks(body, options));
  if (made->world)
    ZERO_RT_TRY(made->checkSameProgram());
  ZERO_RT_TRY(made->agree("start of the ranks", made->prepare()));
  ranks = std::move(made);
  return {};
}

Status Ranks::prepare() {
  const proto::Program &tables = program().tables();
  std::vector<std::unique_ptr<Communicator>> ends;
  ZERO_RT_TRY(openDevice(program(), options, world.get(), body->device, ends));
  ZERO_RT_TRY(InitialFiles::open(tables, body->files));
  DiskOptions disk;
  ZERO_RT_TRY(diskOptions(options, disk));
  // one rank at a time, so that each finds the disk space that the others left
  for (auto &end : ends) {
    body->ranks.push_back(std::make_unique<Rank>(body->program, std::move(end), disk));
    ZERO_RT_TRY(body->ranks.back()->openFiles());
  }
  ZERO_RT_TRY(body->device->prepare(tables, options.threads_per_rank));
  const TeamOptions members = teamOf(tables, options);
  const RankOptions common{options.check_memory != 0,
                           hasIdleCores(members),
                           std::max(1, usableCores() / members.neighbours),
                           options.gpu_graphs != 0,
                           options.timeout_seconds,
                           body,
                           &body->meter};
  body->meter.begin("memory and initial values");
  ZERO_RT_TRY(team.run([body = body, common](int rank) {
    return body->rank(rank).prepare(*body->device, body->files, common);
  }));
  body->meter.end();
  if (world)
    listen();
  return {};
}

Status Ranks::checkAlive() const {
  return failure.ok()
             ? Status()
             : fail(ZERO_RT_ABORTED, "the session has ended: %s", failure.getMessage().c_str());
}

bool Ranks::has(int number) const {
  const int first = here().front()->number();
  return number >= first && number < first + int(here().size());
}

Status Ranks::find(int number, Rank *&rank) const {
  if (number < 0 || number >= program().ranks())
    return fail(ZERO_RT_INVALID_ARGUMENT, "no rank %d among %d", number, program().ranks());
  if (!has(number))
    return fail(ZERO_RT_UNSUPPORTED, "rank %d is in another process", number);
  rank = &body->rank(number);
  return {};
}

Status Ranks::run(const Job &job) {
  return team.run([body = body, job](int rank) { return job(*body, rank); });
}

Status Ranks::runBetweenSteps(const Job &job) {
  Status status = run(job);
  return team.isLost() ? end(Status(ZERO_RT_ABORTED, status.getMessage())) : status;
}

//===----------------------------------------------------------------------===//
// Other processes
//===----------------------------------------------------------------------===//

/// A failure of another process ends the waits of the ranks that are here, and others may ask how
/// far these are.
void Ranks::listen() {
  std::weak_ptr<Body> weak = body;
  world->control().onProgress([weak] {
    const auto alive = weak.lock();
    std::string counts;
    for (size_t i = 0; alive && i < alive->ranks.size(); ++i)
      append(counts, alive->ranks[i]->collectives());
    return counts;
  });
  world->control().onFailure([weak](const Status &reason) {
    if (const auto alive = weak.lock())
      for (const auto &rank : alive->ranks)
        rank->abort(reason);
  });
}

static std::string onHost(const World &world, size_t process) {
  return format(" on host '%s'", escape(world.getProcesses()[process].host).c_str());
}

/// Adds `name` to a list.
static void list(std::string &names, const std::string &name) {
  names += (names.empty() ? "" : ", ") + name;
}

/// Adds to the error of a timeout which ranks are behind, as seen from all processes, if some are:
/// a rank that did not arrive may itself have waited for another.
Status Ranks::explain(const Status &status) const {
  if (status.getCode() != ZERO_RT_TIMEOUT)
    return status;
  const std::vector<std::optional<std::string>> answers =
      world->control().askProgress(std::min(1.0, options.timeout_seconds));
  std::string silent, behind;
  uint64_t least = UINT64_MAX, most = 0;
  for (size_t process = 0; process < answers.size(); ++process) {
    if (!answers[process])
      list(silent, nameOf(process));
    const std::string answer = answers[process].value_or("");
    Fields counts(answer);
    for (int rank = int(process * here().size()); !counts.isAtEnd() && counts.isOk(); ++rank) {
      const uint64_t count = counts.number();
      if (count < least)
        behind.clear();
      least = std::min(least, count), most = std::max(most, count);
      if (count == least)
        list(behind, ranksText(rank, 1) + onHost(*world, process));
    }
  }
  if (silent.empty() && least == most)
    return status; // all have come: something else takes long
  const std::string &who = silent.empty() ? behind : silent;
  return fail(status.getCode(), "%s; %s %s", status.getMessage().c_str(), who.c_str(),
              silent.empty() ? "is behind" : "does not answer");
}

/// Waits until the failure of another process is known, of which there is a consequence here: the
/// memory of a process that was killed is gone before its connection is.
static void awaitCause(ControlChannel &control) {
  for (int look = 0; look < 1000 && control.failure().ok(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Status Ranks::end(Status status, const std::string &where) {
  if (world) {
    if (status.getCode() == ZERO_RT_ABORTED)
      awaitCause(world->control());
    status = explain(status);
    world->control().fail(status);
    const Status first = world->control().failure();
    const bool isOwn = first.ok() || first.getMessage().ends_with(status.getMessage());
    if (!first.ok())
      status = isOwn || where.empty() ? first
                                      : fail(first.getCode(), "%s; this process was at %s",
                                             first.getMessage().c_str(), where.c_str());
  }
  return failure = std::move(status);
}

/// "rank 2 on host 'a'", or "ranks 2 to 3 on host 'a'".
std::string Ranks::nameOf(size_t process) const {
  const int each = program().ranks() / world->processes();
  return ranksText(int(process) * each, each) + onHost(*world, process);
}

/// Code, then the note or the message.
static std::string encode(const Status &status, const std::string &note) {
  return std::to_string(int(status.getCode())) + " " + (status.ok() ? note : status.getMessage());
}

Status Ranks::agree(const char *what, const Status &own, const std::string &note,
                    std::vector<std::string> &all) {
  if (!world) {
    all = {note};
    return own;
  }
  if (Status status = world->control().allGather(what, encode(own, note), all); !status.ok())
    return end(own.ok() ? status : own);
  const size_t self = size_t(world->process());
  if (!own.ok())
    return fail(own.getCode(), "%s: %s", nameOf(self).c_str(), own.getMessage().c_str());
  for (size_t process = 0; process < all.size(); ++process) {
    std::string &text = all[process];
    const size_t space = text.find(' ');
    int code = ZERO_RT_INTERNAL;
    if (!parseInteger(std::string_view(text).substr(0, space), code) || code != ZERO_RT_OK)
      return fail(ZERO_RT_ABORTED, "%s: %s", nameOf(process).c_str(),
                  text.substr(space + 1).c_str());
    text.erase(0, space + 1);
  }
  return {};
}

Status Ranks::agree(const char *what, const Status &own) {
  std::vector<std::string> all;
  return agree(what, own, "", all);
}

/// Whether all processes run the same file.
Status Ranks::checkSameProgram() {
  Header header;
  std::memcpy(&header, program().executable.file.bytes().data(), sizeof(header));
  std::vector<std::string> all;
  ZERO_RT_TRY(agree("executables", {}, std::to_string(header.checksum), all));
  for (size_t process = 1; process < all.size(); ++process)
    if (all[process] != all[0])
      return fail(ZERO_RT_INVALID_ARGUMENT, "process %zu%s has another executable than process 0%s",
                  process, onHost(*world, process).c_str(), onHost(*world, 0).c_str());
  return {};
}

} // namespace zero::rt
