//===- ranks.cpp - a session's ranks in this process ----------------------===//

#include "runtime/session/ranks.h"

#include "runtime/format/limits.h"
#include "runtime/session/session_device.h"
#include "runtime/support/thread.h"
#include "runtime/verify/value_check.h"

#include <cstring>

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

static TeamOptions teamOptions(int ranks, const zero_rt_session_options &options) {
  return {ranks, options.threads_per_rank, options.pin, options.timeout_seconds + 1, options.rank};
}

Ranks::Ranks(std::shared_ptr<Body> body, const zero_rt_session_options &options)
    : body(std::move(body)), options(options),
      team(teamOptions(this->body->program->ranks(), options)) {}

/// How a session reaches the nvme tier.
static Status diskOptions(const zero_rt_session_options &options, DiskOptions &disk) {
  const std::string queue = options.nvme_io ? options.nvme_io : "auto";
  disk.folder = options.nvme_dir ? options.nvme_dir : "";
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
static bool hasIdleCores(const proto::Program &program, const zero_rt_session_options &options) {
  const int busy = int(program.ranks()) * options.threads_per_rank;
  return options.pin <= 0 && usableCores() > busy;
}

Status Ranks::create(const std::shared_ptr<const LoadedProgram> &program,
                     const zero_rt_session_options &wanted, std::unique_ptr<Ranks> &ranks) {
  ZERO_RT_TRY(checkOptions(wanted));
  if (wanted.check_memory)
    ZERO_RT_TRY(checkValues(program->tables()));
  zero_rt_session_options options = wanted;
  if (options.threads_per_rank == 0)
    options.threads_per_rank = defaultThreads(program->tables());
  auto body = std::make_shared<Body>(options);
  body->program = program;
  std::vector<std::unique_ptr<Communicator>> ends;
  ZERO_RT_TRY(openDevice(*program, options, body->device, ends));
  ZERO_RT_TRY(InitialFiles::open(program->tables(), body->files));
  DiskOptions disk;
  ZERO_RT_TRY(diskOptions(options, disk));
  // one rank at a time, so that each finds the disk space that the others left
  for (auto &end : ends) {
    body->ranks.push_back(std::make_unique<Rank>(program, std::move(end), disk));
    ZERO_RT_TRY(body->ranks.back()->openFile());
  }
  std::unique_ptr<Ranks> made(new Ranks(body, options));
  ZERO_RT_TRY(body->device->prepare(program->tables(), options.threads_per_rank));
  const RankOptions common{options.check_memory != 0, hasIdleCores(program->tables(), options),
                           options.timeout_seconds, body, &body->meter};
  body->meter.begin("memory and initial values");
  ZERO_RT_TRY(made->team.run([body, common](int rank) {
    return body->rank(rank).prepare(*body->device, body->files, common);
  }));
  body->meter.end();
  if (made->isOneOfMany())
    ZERO_RT_TRY(made->checkSameProgram());
  ranks = std::move(made);
  return {};
}

Status Ranks::checkAlive() const {
  return failure.ok()
             ? Status()
             : fail(ZERO_RT_ABORTED, "the session has ended: %s", failure.getMessage().c_str());
}

Status Ranks::find(int number, Rank *&rank) const {
  if (number < 0 || number >= program().ranks())
    return fail(ZERO_RT_INVALID_ARGUMENT, "no rank %d among %d", number, program().ranks());
  if (isOneOfMany() && number != options.rank)
    return fail(ZERO_RT_UNSUPPORTED, "rank %d is in another process", number);
  rank = &body->rank(number);
  return {};
}

Status Ranks::checkHasAll(const char *what) const {
  if (int(body->ranks.size()) == body->program->ranks())
    return {};
  return fail(ZERO_RT_UNSUPPORTED,
              "%s are assembled from the memory of all ranks, and this process has rank %d: save a "
              "checkpoint, and load it in one process with all ranks",
              what, options.rank);
}

Status Ranks::run(const Job &job) {
  return team.run([body = body, job](int rank) { return job(*body, rank); });
}

Status Ranks::runBetweenSteps(const Job &job) {
  Status status = run(job);
  return team.isLost() ? end(Status(ZERO_RT_ABORTED, status.getMessage())) : status;
}

Status Ranks::end(Status status) { return failure = std::move(status); }

//===----------------------------------------------------------------------===//
// Processes exchange the result of an action: then all know whether all have succeeded, and none
// continues alone.
//===----------------------------------------------------------------------===//

Status Ranks::exchange(const Note &own, std::vector<Note> &all) {
  auto heard = std::make_shared<std::vector<Note>>(); // as long as the thread may write it
  Status status = runBetweenSteps([heard, own](Body &body, int rank) {
    return body.rank(rank).exchange(*body.device, own, *heard);
  });
  if (!status.ok())
    return end(status);
  all = std::move(*heard);
  return {};
}

Status Ranks::agree(const Status &own, Note note, std::vector<Note> &all) {
  note.code = own.getCode();
  ZERO_RT_TRY(exchange(note, all));
  ZERO_RT_TRY(own);
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].code != ZERO_RT_OK)
      return fail(ZERO_RT_ABORTED, "rank %zu failed; its process reports the reason", rank);
  return {};
}

/// Whether all processes run the same file.
Status Ranks::checkSameProgram() {
  Header header;
  std::memcpy(&header, body->program->executable.file.bytes().data(), sizeof(header));
  std::vector<Note> all;
  ZERO_RT_TRY(agree({}, {0, {int64_t(header.checksum)}}, all));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      return fail(ZERO_RT_INVALID_ARGUMENT, "rank %zu has another executable than rank 0", rank);
  return {};
}

} // namespace zero::rt
