//===- mpi.cpp - MPI in this process --------------------------------------===//

#include "runtime/comm/mpi/mpi.h"

#include "runtime/comm/mpi/transfers.h"
#include "runtime/support/thread.h"

#include <condition_variable>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

/// How often MPI makes progress while no rank calls it.
static constexpr std::chrono::milliseconds kProgress{1};

/// MPI_Init and MPI_Finalize wait for all processes without a deadline, and must be called by one
/// thread. This thread calls them, so that others can stop waiting; it keeps its state itself.
///
/// In between it lets MPI make progress. The last bytes of a message may still be in a queue of MPI
/// when its sender has been told that it is complete. If the sender then waits for ranks of its
/// node, and these in turn for the receiver, nobody else would call MPI.
struct Mpi::Thread {
  enum class Stage { Starting, Started, Finalizing, Leaving, Ended };

  const ZeroMpiPlugin *plugin;
  std::mutex mutex;
  std::condition_variable change; ///< of `stage` and `rests`
  std::mutex calls;               ///< of MPI, if it does not allow several threads
  bool rests = false;
  Stage stage = Stage::Starting;
  ZeroMpiWorld world = {};
  int code = 0;

  void run() {
    ZeroMpiWorld result = {};
    const int initCode = plugin->init(&result);
    std::unique_lock<std::mutex> lock(mutex);
    world = result;
    code = initCode;
    if (stage == Stage::Starting)
      become(Stage::Started);
    // The lock is held: after rest(), MPI writes no more to memory of dropped messages.
    while (!change.wait_for(lock, kProgress, [&] { return rests || stage != Stage::Started; }))
      progress();
    change.wait(lock, [&] { return stage != Stage::Started; });
    if (stage == Stage::Finalizing) {
      lock.unlock();
      plugin->finalize();
      lock.lock();
    }
    become(Stage::Ended);
  }

  void progress() {
    if (code != 0 || !world.anyThread)
      return;
    const auto guard = guardCalls();
    (void)plugin->progress(); // a rank that waits gets the error, too
  }

  /// Excludes other threads if MPI needs it.
  std::unique_lock<std::mutex> guardCalls() {
    return world.manyThreads ? std::unique_lock<std::mutex>() : std::unique_lock(calls);
  }

  void become(Stage next) {
    stage = next;
    change.notify_all();
  }

  /// Returns false if the stage still is `now` after the time.
  bool awaitEndOf(Stage now, double seconds) {
    std::unique_lock<std::mutex> lock(mutex);
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    return change.wait_until(lock, std::chrono::time_point_cast<Clock::duration>(deadline),
                             [&] { return stage != now; });
  }
};

Status Mpi::open(const MpiOptions &options, std::shared_ptr<Mpi> &mpi) {
  std::shared_ptr<Mpi> made(new Mpi);
  made->timeoutSeconds = options.timeoutSeconds;
  if (options.processes > 1)
    ZERO_RT_TRY(checkStartedByMpi(options.environment));
  ZERO_RT_TRY(loadMpi(options.environment, made->plugin));
  ZERO_RT_TRY(made->start(options));
  mpi = std::move(made);
  return {};
}

Status Mpi::start(const MpiOptions &options) {
  auto state = std::make_shared<Thread>();
  state->plugin = plugin;
  std::thread started;
  ZERO_RT_TRY(startThread("MPI", started, [state] { state->run(); }));
  started.detach();
  const bool inTime = state->awaitEndOf(Thread::Stage::Starting, timeoutSeconds);
  std::lock_guard<std::mutex> lock(state->mutex);
  Status status;
  if (!inTime && state->stage == Thread::Stage::Starting)
    status = fail(ZERO_RT_TIMEOUT,
                  "MPI_Init did not return within %g s: a process of the job is missing or stopped",
                  timeoutSeconds);
  else if (status = check(state->code, "MPI_Init"); status.ok()) {
    world = state->world;
    status = checkWorld(options);
  }
  if (!status.ok()) {
    state->become(Thread::Stage::Leaving);
    return status;
  }
  thread = std::move(state);
  return {};
}

Status Mpi::checkWorld(const MpiOptions &options) const {
  if (!world.anyThread)
    return fail(ZERO_RT_UNSUPPORTED,
                "%s was initialized for calls of one thread only: use MPI_THREAD_MULTIPLE",
                world.library);
  if (options.processes && options.processes != world.processes)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "the launcher started %d processes, but %s knows %d: it is not the library of this "
                "launcher; set ZERO_MPI to the path of its libmpi.so",
                options.processes, world.library, world.processes);
  return {};
}

Mpi::~Mpi() {
  if (!thread)
    return;
  {
    std::lock_guard<std::mutex> lock(thread->mutex);
    thread->become(abandoned ? Thread::Stage::Leaving : Thread::Stage::Finalizing);
  }
  if (!abandoned)
    thread->awaitEndOf(Thread::Stage::Finalizing, timeoutSeconds);
}

void Mpi::rest() {
  std::lock_guard<std::mutex> lock(thread->mutex);
  thread->rests = true;
  thread->change.notify_all();
}

std::unique_lock<std::mutex> Mpi::guard() { return thread->guardCalls(); }

Status Mpi::check(int code, const char *call) const {
  if (code == 0)
    return {};
  char text[512];
  plugin->errorText(code, text, sizeof(text));
  return fail(ZERO_RT_INTERNAL, "%s: %s", call, escape(text).c_str());
}

/// Sends `own` to all processes, and receives theirs of the sizes in `all`.
Status Mpi::gather(const char *what, const void *own, uint64_t ownBytes,
                   const std::vector<std::pair<void *, uint64_t>> &all) {
  std::vector<Transfer> list;
  for (int p = 0; p < processes(); ++p) {
    if (p == process())
      continue;
    list.push_back({p, 0, all[p].first, all[p].second, false});
    list.push_back({p, 0, const_cast<void *>(own), ownBytes, true});
  }
  Transfers transfers(*this, Transfers::kMostPieceBytes);
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  const std::atomic<bool> never{false};
  Status status =
      transfers.run(list, std::chrono::time_point_cast<Clock::duration>(deadline), never);
  if (status.ok() && transfers.complete())
    return {};
  abandon();
  if (!status.ok())
    return fail(status.getCode(), "%s: %s", what, status.getMessage().c_str());
  std::string missing;
  int count = 0;
  for (size_t i = 0; i < list.size(); i += 2)
    if (!transfers.complete(i) || !transfers.complete(i + 1))
      missing += (count++ ? ", " : "") + std::to_string(list[i].process);
  return fail(ZERO_RT_TIMEOUT, "process%s %s did not arrive at the %s within %g s",
              count == 1 ? "" : "es", missing.c_str(), what, timeoutSeconds);
}

Status Mpi::allGather(const char *what, std::string_view own, std::vector<std::string> &all) {
  const uint64_t ownBytes = own.size();
  std::vector<uint64_t> sizes(processes());
  std::vector<std::pair<void *, uint64_t>> places;
  for (uint64_t &size : sizes)
    places.emplace_back(&size, sizeof(size));
  ZERO_RT_TRY(gather(what, &ownBytes, sizeof(ownBytes), places));

  all.assign(processes(), "");
  for (int p = 0; p < processes(); ++p) {
    all[p].resize(p == process() ? 0 : sizes[p]);
    places[p] = {all[p].data(), all[p].size()};
  }
  all[process()] = own;
  return gather(what, own.data(), ownBytes, places);
}

} // namespace zero::rt
