//===- lanes.cpp - the threads of a rank's lanes --------------------------===//

#include "runtime/execute/lanes.h"

#include "runtime/format/tables.h"
#include "runtime/support/thread.h"
#include "runtime/verify/lifetimes.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zero::rt {

/// Requests short time slices on a core, so that a lane whose bytes have arrived does not wait for
/// the time slice of a kernel's thread: later work depends on it, on all ranks. Supported by Linux
/// from 6.12 on; without it the step is only slower.
static void takeShortTurns() {
  struct { // sched_attr of sched_setattr(2), which not all C libraries have
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wish{};
  wish.size = sizeof(wish);
  wish.policy = SCHED_OTHER;
  wish.nice = ::getpriority(PRIO_PROCESS, 0);
  wish.runtime = 100'000; // nanoseconds, the least there is
  ::syscall(SYS_sched_setattr, 0, &wish, 0);
}

/// Commands and iterations that a thread has finished; for thread 0, iterations that it has
/// started.
static size_t commandsOf(size_t thread) { return 2 * thread; }
static size_t iterationCounter(size_t thread) { return 2 * thread + 1; }

/// Held by each thread, too: one that is left behind finds it valid.
struct Lanes::Shared {
  Shared(LanePlan plan, LaneSetup setup)
      : plan(std::move(plan)), setup(std::move(setup)), rank(this->setup.communicator->rank()),
        progress(2 * this->plan.threads(), this->plan.threads()), work(this->plan.threads()),
        bases(this->plan.threads()) {}

  void serve(size_t thread);
  Status open(size_t thread);
  Status runOwned(size_t thread, bool opens);
  Status runIteration(size_t thread);
  bool runs(const Command &command, const CommandSegment &segment) const;
  bool isReady(const LaneStep &step) const;
  size_t collect(size_t thread, const std::vector<LaneStep> &steps, size_t first,
                 LaneWork::Batch &batch) const;
  Status run(size_t thread, LaneWork::Batch &batch);
  void fail(const Status &status);
  /// Longer than a collective waits, which knows who is missing.
  std::chrono::duration<double> patience() const {
    return std::chrono::duration<double>(1.1 * setup.timeoutSeconds + 0.1);
  }

  const LanePlan plan;
  const LaneSetup setup;
  const int rank;
  Progress progress;
  std::vector<std::unique_ptr<LaneWork>> work; ///< by thread; none of the first
  // Written between iterations by thread 0.
  LaneIteration iteration;
  std::vector<uint64_t> bases; ///< commands that each thread had finished before the iteration
  std::mutex mutex;
  Status failure; ///< the first one
};

void Lanes::Shared::fail(const Status &status) {
  {
    std::lock_guard lock(mutex);
    if (failure.ok())
      failure = status;
  }
  progress.stop();
}

Status Lanes::Shared::open(size_t thread) {
  return LaneWork::open(plan.laneOf(thread), *setup.communicator, *setup.device, *setup.memory,
                        work[thread]);
}

/// Whether neither the iteration nor the predicate of `command` skips it.
bool Lanes::Shared::runs(const Command &command, const CommandSegment &segment) const {
  return (!iteration.evaluates || command.forward) &&
         runsInIteration(command.when, iteration.number, segment.repeat) &&
         (command.predicate == 0 || *setup.predicates[command.predicate - 1] != 0);
}

/// Whether the commands that `step` waits for have finished.
bool Lanes::Shared::isReady(const LaneStep &step) const {
  return std::all_of(step.waits.begin(), step.waits.end(), [&](const LaneStep::Wait &wait) {
    return progress.at(commandsOf(wait.thread)) >= bases[wait.thread] + wait.commands;
  });
}

/// Fills `batch` with the command of step `first`, which is ready, and with later ones that are
/// ready and may run together with it. Returns the number of steps, of which some may be skipped.
size_t Lanes::Shared::collect(size_t thread, const std::vector<LaneStep> &steps, size_t first,
                              LaneWork::Batch &batch) const {
  const CommandSegment &segment = (*setup.segments)[iteration.segment];
  size_t next = first;
  for (; next < steps.size() && (next == first || isReady(steps[next])); ++next) {
    const Command &command = segment.commands[steps[next].command];
    if (!runs(command, segment))
      continue;
    if (batch.size > 0 && !LaneWork::accepts(batch, command))
      break;
    batch.add(command);
  }
  return next - first;
}

Status Lanes::Shared::run(size_t thread, LaneWork::Batch &batch) {
  const CommandSegment &segment = (*setup.segments)[iteration.segment];
  Status status = work[thread]->run(batch);
  for (size_t i = 0; i < batch.size; ++i) {
    const Command &command = *batch.commands[i];
    iteration.observers->ranOnLane(thread, {&command, segment.indexOf(command), iteration.number},
                                   batch.spans[i]);
  }
  return status.ok()
             ? status
             : zero::rt::fail(status.getCode(), "rank %d, lane %s, '%s': %s", rank,
                              nameOf(plan.laneOf(thread)), escape(batch.commands[0]->label).c_str(),
                              status.getMessage().c_str());
}

Status Lanes::Shared::runIteration(size_t thread) {
  if (iteration.segment == 0 && iteration.number == 0)
    work[thread]->beginStep();
  const std::vector<LaneStep> &steps = plan.steps(iteration.segment, thread);
  for (size_t next = 0; next < steps.size();) {
    for (const LaneStep::Wait &wait : steps[next].waits)
      if (progress.await(thread, commandsOf(wait.thread), bases[wait.thread] + wait.commands) !=
          Progress::Reached)
        return {};
    if (progress.isStopped())
      return {};
    LaneWork::Batch batch;
    const size_t count = collect(thread, steps, next, batch);
    if (batch.size > 0)
      ZERO_RT_TRY(run(thread, batch));
    for (size_t i = 0; i < count; ++i)
      progress.advance(commandsOf(thread));
    next += count;
  }
  return {};
}

/// Keeps the objects that commands access alive while one runs.
Status Lanes::Shared::runOwned(size_t thread, bool opens) {
  const std::shared_ptr<const void> owner = setup.owner.lock();
  try {
    return opens ? open(thread) : runIteration(thread);
  } catch (const std::bad_alloc &) {
    return zero::rt::fail(ZERO_RT_INTERNAL, "rank %d, lane %s: out of memory", rank,
                          nameOf(plan.laneOf(thread)));
  } catch (const std::exception &error) {
    return zero::rt::fail(ZERO_RT_INTERNAL, "rank %d, lane %s: %s", rank,
                          nameOf(plan.laneOf(thread)), error.what());
  }
}

/// The loop of a thread: its first iteration creates its working state.
void Lanes::Shared::serve(size_t thread) {
  takeShortTurns();
  for (uint64_t begun = 0; progress.await(thread, iterationCounter(0), begun) == Progress::Reached;
       ++begun) {
    if (Status status = runOwned(thread, begun == 0); !status.ok())
      fail(status);
    progress.advance(iterationCounter(thread));
  }
  // An iteration that the thread does not start counts as finished.
  progress.advance(iterationCounter(thread));
}

Status Lanes::create(LanePlan plan, LaneSetup setup, std::unique_ptr<Lanes> &lanes) {
  std::unique_ptr<Lanes> made(
      new Lanes(std::make_shared<Shared>(std::move(plan), std::move(setup))));
  for (size_t thread = 1; thread < made->shared->plan.threads(); ++thread) {
    const std::string what =
        format("lane %s of rank %d", nameOf(made->shared->plan.laneOf(thread)), made->shared->rank);
    std::thread started;
    ZERO_RT_TRY(
        startThread(what, started, [shared = made->shared, thread] { shared->serve(thread); }));
    made->threads.push_back(std::move(started));
  }
  ZERO_RT_TRY(made->endIteration());
  lanes = std::move(made);
  return {};
}

Lanes::~Lanes() {
  shared->progress.stop();
  for (std::thread &thread : threads) {
    // The last owner may be a lane's thread that returned after all others were destroyed.
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }
}

void Lanes::beginIteration(const LaneIteration &iteration) {
  shared->iteration = iteration;
  for (size_t thread = 0; thread < shared->plan.threads(); ++thread)
    shared->bases[thread] = shared->progress.at(commandsOf(thread));
  shared->progress.advance(iterationCounter(0));
}

const std::vector<LaneStep> &Lanes::ownSteps() const {
  return shared->plan.steps(shared->iteration.segment, 0);
}

/// Converts the outcome of thread 0's wait for `thread` to a status.
Status Lanes::outcome(Progress::Outcome outcome, size_t thread) {
  if (outcome == Progress::Reached)
    return {};
  if (outcome == Progress::TimedOut) {
    gaveUp = true;
    return fail(ZERO_RT_TIMEOUT, "rank %d: lane %s has done nothing for %g s", shared->rank,
                nameOf(shared->plan.laneOf(thread)), shared->setup.timeoutSeconds);
  }
  std::lock_guard lock(shared->mutex);
  return shared->failure;
}

/// Waits until `thread` has counted so far, and adds how long that takes.
Status Lanes::awaitCounter(size_t counter, uint64_t count, size_t thread) {
  if (shared->progress.at(counter) >= count && !shared->progress.isStopped())
    return {};
  const auto begin = Progress::Clock::now();
  const Progress::Outcome end = shared->progress.await(0, counter, count, shared->patience());
  stalled += Progress::Clock::now() - begin;
  return outcome(end, thread);
}

Status Lanes::await(const LaneStep &step) {
  for (const LaneStep::Wait &wait : step.waits)
    ZERO_RT_TRY(awaitCounter(commandsOf(wait.thread), shared->bases[wait.thread] + wait.commands,
                             wait.thread));
  return shared->progress.isStopped() ? outcome(Progress::Stopped, 0) : Status();
}

void Lanes::advance() { shared->progress.advance(commandsOf(0)); }

Status Lanes::endIteration() {
  const uint64_t iterations = shared->progress.at(iterationCounter(0)) + 1;
  for (size_t thread = 1; thread < shared->plan.threads(); ++thread)
    ZERO_RT_TRY(awaitCounter(iterationCounter(thread), iterations, thread));
  return shared->progress.isStopped() ? outcome(Progress::Stopped, 0) : Status();
}

void Lanes::settle() {
  shared->progress.stop();
  const auto patience = shared->patience();
  const uint64_t iterations = shared->progress.at(iterationCounter(0)) + 1;
  for (size_t thread = 1; thread < shared->plan.threads() && !gaveUp; ++thread)
    gaveUp = shared->progress.awaitLast(0, iterationCounter(thread), iterations, patience) ==
             Progress::TimedOut;
}

std::vector<uint64_t> Lanes::eventsPerStep() const {
  std::vector<uint64_t> events(shared->plan.threads());
  for (size_t segment = 0; segment < shared->setup.segments->size(); ++segment)
    for (size_t thread = 0; thread < events.size(); ++thread)
      events[thread] +=
          shared->plan.steps(segment, thread).size() * (*shared->setup.segments)[segment].repeat;
  return events;
}

LaneUse Lanes::use() const {
  LaneUse all;
  for (size_t thread = 1; thread < shared->plan.threads(); ++thread)
    all.lanes[size_t(shared->plan.laneOf(thread))] = shared->work[thread]->use();
  all.stalled = stalled;
  return all;
}

} // namespace zero::rt
