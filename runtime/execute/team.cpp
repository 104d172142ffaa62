//===- team.cpp - one thread per rank -------------------------------------===//

#include "runtime/execute/team.h"

#include "runtime/support/thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace zero::rt {

/// Held by the team and by each thread, so that a thread left behind finds it valid.
struct Team::Shared {
  std::mutex mutex;
  std::condition_variable start, done;
  std::vector<std::thread> threads;
  uint64_t generation = 0; ///< of jobs
  bool stop = false;
  std::function<Status(int)> job;
  std::vector<Status> results;
  std::vector<bool> finished;
  int running = 0;
  bool failed = false;

  void work(int index, int rank);
};

void Team::Shared::work(int index, int rank) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    start.wait(lock, [&] { return stop || generation > seen; });
    if (stop)
      return;
    seen = generation;
    auto mine = job; // a copy: the thread keeps the objects of the job alive
    lock.unlock();
    Status result;
    try {
      result = mine(rank);
    } catch (const std::bad_alloc &) {
      result = fail(ZERO_RT_INTERNAL, "rank %d: out of memory", rank);
    } catch (const std::exception &error) {
      result = fail(ZERO_RT_INTERNAL, "rank %d: %s", rank, error.what());
    }
    mine = nullptr;
    lock.lock();
    failed = failed || !result.ok();
    results[index] = std::move(result);
    finished[index] = true;
    --running;
    done.notify_one();
  }
}

/// Whether this process may use all cores of the machine, or a launcher has bound it to some.
static bool mayUseAllCores(const cpu_set_t &allowed) {
  return CPU_COUNT(&allowed) >= int(::sysconf(_SC_NPROCESSORS_ONLN));
}

/// Binds the rank of index `index` to its cores: by default only when the ranks use up the machine,
/// because then moving can only hurt, while a smaller job should make way. OpenMP's
/// threads of the rank inherit the cores, also those that it starts later on: so all are
/// bound to them as a set.
static void pinTo(const TeamOptions &options, int index) {
  cpu_set_t allowed;
  if (options.pin == 0 || ::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  const bool shares = mayUseAllCores(allowed); // with other processes of this node
  const int wanted = (shares ? options.neighbours : options.ranks) * options.threadsPerRank;
  const int cores = CPU_COUNT(&allowed);
  if (wanted > cores || (options.pin < 0 && wanted != cores))
    return;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const int first = ((shares ? options.place : 0) + index) * options.threadsPerRank;
  for (int core = 0, number = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed))
      continue;
    if (number >= first && number < first + options.threadsPerRank)
      CPU_SET(core, &mine);
    ++number;
  }
  ::sched_setaffinity(0, sizeof(mine), &mine);
}

Team::Team(const TeamOptions &options) : options(options), shared(std::make_shared<Shared>()) {
  shared->results.resize(options.ranks);
  shared->finished.resize(options.ranks, true);
  for (int index = 0; index < options.ranks && started.ok(); ++index) {
    std::thread thread;
    const int rank = options.firstRank + index;
    started =
        startThread("rank " + std::to_string(rank), thread, [state = shared, options, index, rank] {
          pinTo(options, index);
          state->work(index, rank);
        });
    if (started.ok())
      shared->threads.push_back(std::move(thread));
  }
}

Team::~Team() {
  {
    std::lock_guard<std::mutex> lock(shared->mutex);
    shared->stop = true;
    shared->start.notify_all();
  }
  for (size_t index = 0; index < shared->threads.size(); ++index) {
    if (shared->finished[index])
      shared->threads[index].join();
    else
      shared->threads[index].detach();
  }
}

Status Team::collect(bool complete) const {
  const Status *first = nullptr;
  for (const Status &result : shared->results) {
    if (result.ok() || (first && first->getCode() != ZERO_RT_ABORTED))
      continue;
    if (!first || result.getCode() != ZERO_RT_ABORTED)
      first = &result;
  }
  if (complete || !first)
    return first ? *first : Status();
  std::string missing;
  for (int index = 0; index < options.ranks; ++index)
    if (!shared->finished[index])
      missing += (missing.empty() ? "" : ", ") + std::to_string(options.firstRank + index);
  return fail(first->getCode(), "%s; rank %s did not return", first->getMessage().c_str(),
              missing.c_str());
}

Status Team::run(std::function<Status(int)> job) {
  ZERO_RT_TRY(started);
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->job = std::move(job);
  shared->results.assign(options.ranks, Status());
  shared->finished.assign(options.ranks, false);
  shared->running = options.ranks;
  shared->failed = false;
  ++shared->generation;
  shared->start.notify_all();
  shared->done.wait(lock, [&] { return shared->running == 0 || shared->failed; });
  auto grace = std::chrono::duration<double>(options.graceSeconds);
  bool complete = shared->done.wait_for(lock, grace, [&] { return shared->running == 0; });
  shared->job = nullptr;
  lost = !complete;
  return collect(complete);
}

} // namespace zero::rt
