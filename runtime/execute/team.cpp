//===- team.cpp - one thread per rank -------------------------------------===//

#include "runtime/execute/team.h"

#include "runtime/support/thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <sched.h>
#include <thread>

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

/// Binds rank `rank` to its cores: by default only when the ranks use up the machine,
/// because then moving can only hurt, while a smaller job should make way. OpenMP's
/// threads of the rank inherit the cores, also those that it starts later on: so all are
/// bound to them as a set.
static void pinTo(const TeamOptions &options, int rank) {
  cpu_set_t allowed;
  if (options.pin == 0 || ::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  int wanted = options.ranks * options.threadsPerRank;
  int cores = CPU_COUNT(&allowed);
  if (wanted > cores || (options.pin < 0 && wanted != cores))
    return;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  int first = rank * options.threadsPerRank;
  for (int core = 0, index = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed))
      continue;
    if (index >= first && index < first + options.threadsPerRank)
      CPU_SET(core, &mine);
    ++index;
  }
  ::sched_setaffinity(0, sizeof(mine), &mine);
}

Team::Team(const TeamOptions &options)
    : options(options), firstRank(options.only < 0 ? 0 : options.only),
      members(options.only < 0 ? options.ranks : 1), shared(std::make_shared<Shared>()) {
  shared->results.resize(members);
  shared->finished.resize(members, true);
  for (int index = 0; index < members && started.ok(); ++index) {
    std::thread thread;
    const int rank = firstRank + index;
    started =
        startThread("rank " + std::to_string(rank), thread, [state = shared, options, index, rank] {
          pinTo(options, rank);
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
  for (int index = 0; index < members; ++index)
    if (!shared->finished[index])
      missing += (missing.empty() ? "" : ", ") + std::to_string(firstRank + index);
  return fail(first->getCode(), "%s; rank %s did not return", first->getMessage().c_str(),
              missing.c_str());
}

Status Team::run(std::function<Status(int)> job) {
  ZERO_RT_TRY(started);
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->job = std::move(job);
  shared->results.assign(members, Status());
  shared->finished.assign(members, false);
  shared->running = members;
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
