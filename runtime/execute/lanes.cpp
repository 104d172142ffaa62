//===- lanes.cpp - the threads of a rank's lanes --------------------------===//

#include "runtime/execute/lanes.h"

#include "runtime/format/tables.h"
#include "runtime/support/thread.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>
#include <optional>
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

/// Commands and iterations that a sequence has finished; for sequence 0, iterations that the rank's
/// own thread has started.
static size_t commandsOf(size_t sequence) { return 2 * sequence; }
static size_t iterationCounter(size_t sequence) { return 2 * sequence + 1; }
/// A thread asks so often for an event.
static constexpr std::chrono::microseconds kAsk{20};
/// The rank's own thread looks that often at the device while it waits for lanes.
static constexpr std::chrono::milliseconds kLook{1};

/// Held by each thread, too: one that is left behind finds it valid.
struct Lanes::Shared {
  Shared(LanePlan plan, LaneSetup setup)
      : plan(std::move(plan)), setup(std::move(setup)), rank(this->setup.communicator->rank()),
        progress(2 * this->plan.sequences(), this->plan.sequences()), work(this->plan.sequences()),
        bases(this->plan.sequences()) {}

  void serve(size_t sequence);
  Status open(size_t sequence);
  Status runOwned(size_t sequence, bool opens);
  Status runIteration(size_t sequence);
  Status awaitSignal(uint32_t signal);
  Status awaitWaits(size_t sequence, const LaneStep &step);
  uint64_t countOf(const LaneStep::Wait &wait) const {
    return bases[wait.sequence] + wait.commands;
  }
  std::optional<uint32_t> signalOf(const LaneStep::Wait &wait) const;
  bool runs(const Command &command, const CommandSegment &segment) const;
  bool isReady(const LaneStep &step) const;
  bool isDone(const LaneStep &step) const;
  size_t collect(size_t sequence, const std::vector<LaneStep> &steps, size_t first,
                 LaneWork::Batch &batch) const;
  Status run(size_t sequence, LaneWork::Batch &batch);
  void fail(const Status &status);
  /// Longer than a collective waits, which knows who is missing.
  std::chrono::duration<double> patience() const {
    return std::chrono::duration<double>(1.1 * setup.timeoutSeconds + 0.1);
  }

  const LanePlan plan;
  const LaneSetup setup;
  const int rank;
  Progress progress;
  std::vector<std::unique_ptr<LaneWork>> work; ///< by sequence; none of the own ones
  // Written between iterations by the rank's own thread.
  LaneIteration iteration;
  std::vector<uint64_t> bases; ///< commands that each sequence had finished before the iteration
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

Status Lanes::Shared::open(size_t sequence) {
  return LaneWork::open(plan.laneOf(sequence), *setup.communicator, *setup.device, *setup.memory,
                        work[sequence]);
}

/// Whether neither the iteration nor the predicate of `command` skips it.
bool Lanes::Shared::runs(const Command &command, const CommandSegment &segment) const {
  return runsIn(iteration.mode, command.forward, command.delayed) &&
         runsInIteration(command.when, iteration.number, segment.repeat) &&
         (command.predicate == 0 || *setup.predicates[command.predicate - 1] != 0);
}

/// Whether the sequences that `step` waits for are so far.
bool Lanes::Shared::isReady(const LaneStep &step) const {
  return std::ranges::all_of(step.waits, [&](const LaneStep::Wait &wait) {
    return progress.at(commandsOf(wait.sequence)) >= countOf(wait);
  });
}

/// What the device signals when it has done the commands of `wait`, which it was given.
std::optional<uint32_t> Lanes::Shared::signalOf(const LaneStep::Wait &wait) const {
  if (!setup.queue || wait.sequence >= plan.ownSequences())
    return std::nullopt;
  return uint32_t((*setup.segments)[iteration.segment].commands[wait.last].order.signal);
}

/// Whether the commands that `step` waits for have finished, those of the device, too. An error of
/// the device is found by who waits for it.
bool Lanes::Shared::isDone(const LaneStep &step) const {
  return isReady(step) && std::ranges::all_of(step.waits, [&](const LaneStep::Wait &wait) {
           const std::optional<uint32_t> signal = signalOf(wait);
           bool done = true;
           return !signal || (setup.queue->isDone(*signal, done).ok() && done);
         });
}

/// Returns when the device has given `signal`, or all lanes are stopped.
Status Lanes::Shared::awaitSignal(uint32_t signal) {
  for (bool done = false; !progress.isStopped(); std::this_thread::sleep_for(kAsk)) {
    ZERO_RT_TRY(setup.queue->isDone(signal, done));
    if (done)
      break;
  }
  return {};
}

/// Returns when the commands that `step` waits for have finished, or all lanes are stopped.
Status Lanes::Shared::awaitWaits(size_t sequence, const LaneStep &step) {
  for (const LaneStep::Wait &wait : step.waits) {
    if (progress.await(sequence, commandsOf(wait.sequence), countOf(wait)) != Progress::Reached)
      return {};
    if (const std::optional<uint32_t> signal = signalOf(wait))
      ZERO_RT_TRY(awaitSignal(*signal));
  }
  return {};
}

/// Fills `batch` with the command of step `first`, which is ready, and with later ones that are
/// ready and may run together with it. Returns the number of steps, of which some may be skipped.
size_t Lanes::Shared::collect(size_t sequence, const std::vector<LaneStep> &steps, size_t first,
                              LaneWork::Batch &batch) const {
  const CommandSegment &segment = (*setup.segments)[iteration.segment];
  size_t next = first;
  for (; next < steps.size() && (next == first || isDone(steps[next])); ++next) {
    const Command &command = segment.commands[steps[next].command];
    if (!runs(command, segment))
      continue;
    if (batch.size > 0 && !LaneWork::accepts(batch, command))
      break;
    batch.add(command);
  }
  return next - first;
}

Status Lanes::Shared::run(size_t sequence, LaneWork::Batch &batch) {
  const CommandSegment &segment = (*setup.segments)[iteration.segment];
  Status status = work[sequence]->run(batch);
  for (size_t i = 0; i < batch.size; ++i) {
    const Command &command = *batch.commands[i];
    iteration.observers->ranOnLane(plan.threadOf(sequence),
                                   {&command, segment.indexOf(command), iteration.number},
                                   batch.spans[i]);
  }
  return status.ok() ? status
                     : zero::rt::fail(status.getCode(), "rank %d, lane %s, '%s': %s", rank,
                                      nameOf(plan.laneOf(sequence)),
                                      escape(batch.commands[0]->label).c_str(),
                                      status.getMessage().c_str());
}

Status Lanes::Shared::runIteration(size_t sequence) {
  if (iteration.segment == 0 && iteration.number == 0)
    work[sequence]->beginStep();
  if (setup.queue)
    ZERO_RT_TRY(awaitSignal(setup.start));
  const std::vector<LaneStep> &steps = plan.steps(iteration.segment, sequence);
  for (size_t next = 0; next < steps.size();) {
    ZERO_RT_TRY(awaitWaits(sequence, steps[next]));
    if (progress.isStopped())
      return {};
    LaneWork::Batch batch = work[sequence]->makeBatch();
    const size_t count = collect(sequence, steps, next, batch);
    if (batch.size > 0)
      ZERO_RT_TRY(run(sequence, batch));
    for (size_t i = 0; i < count; ++i)
      progress.advance(commandsOf(sequence));
    next += count;
  }
  return {};
}

/// Keeps the objects that commands access alive while one runs.
Status Lanes::Shared::runOwned(size_t sequence, bool opens) {
  const std::shared_ptr<const void> owner = setup.owner.lock();
  try {
    return opens ? open(sequence) : runIteration(sequence);
  } catch (const std::bad_alloc &) {
    return zero::rt::fail(ZERO_RT_INTERNAL, "rank %d, lane %s: out of memory", rank,
                          nameOf(plan.laneOf(sequence)));
  } catch (const std::exception &error) {
    return zero::rt::fail(ZERO_RT_INTERNAL, "rank %d, lane %s: %s", rank,
                          nameOf(plan.laneOf(sequence)), error.what());
  }
}

/// The loop of a thread: its first iteration creates its working state.
void Lanes::Shared::serve(size_t sequence) {
  takeShortTurns();
  for (uint64_t begun = 0;
       progress.await(sequence, iterationCounter(0), begun) == Progress::Reached; ++begun) {
    if (Status status = runOwned(sequence, begun == 0); !status.ok())
      fail(status);
    progress.advance(iterationCounter(sequence));
  }
  // An iteration that the thread does not start counts as finished.
  progress.advance(iterationCounter(sequence));
}

Status Lanes::create(LanePlan plan, LaneSetup setup, std::unique_ptr<Lanes> &lanes) {
  std::unique_ptr<Lanes> made(
      new Lanes(std::make_shared<Shared>(std::move(plan), std::move(setup))));
  const LanePlan &known = made->shared->plan;
  made->positions.resize(known.ownSequences());
  for (size_t sequence = known.ownSequences(); sequence < known.sequences(); ++sequence) {
    const std::string what =
        format("lane %s of rank %d", nameOf(known.laneOf(sequence)), made->shared->rank);
    std::thread started;
    ZERO_RT_TRY(
        startThread(what, started, [shared = made->shared, sequence] { shared->serve(sequence); }));
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
  for (size_t sequence = 0; sequence < shared->plan.sequences(); ++sequence)
    shared->bases[sequence] = shared->progress.at(commandsOf(sequence));
  std::ranges::fill(positions, 0);
  shared->progress.advance(iterationCounter(0));
}

/// The next step of an own sequence; nullptr: none.
const LaneStep *Lanes::peek(size_t sequence) const {
  const std::vector<LaneStep> &steps = shared->plan.steps(shared->iteration.segment, sequence);
  return positions[sequence] < steps.size() ? &steps[positions[sequence]] : nullptr;
}

/// The waits for lanes with threads that hold up the next steps of the own sequences.
void Lanes::collectThresholds() {
  thresholds.clear();
  for (size_t sequence = 0; sequence < positions.size(); ++sequence)
    if (const LaneStep *step = peek(sequence))
      for (const LaneStep::Wait &wait : step->waits)
        if (wait.sequence >= positions.size() &&
            shared->progress.at(commandsOf(wait.sequence)) < shared->countOf(wait))
          thresholds.push_back({commandsOf(wait.sequence), shared->countOf(wait)});
}

/// Of the commands that may begin, the first one listed. The first of all that are left waits for
/// lanes with threads only, which never wait for a later one: some command always becomes ready.
Status Lanes::next(const LaneStep *&step) {
  for (;;) {
    collectThresholds(); // before the look at the steps: what is reached after it ends the wait
    bool isLeft = false;
    step = nullptr;
    for (size_t sequence = 0; sequence < positions.size(); ++sequence) {
      const LaneStep *each = peek(sequence);
      isLeft |= each != nullptr;
      if (each && (!step || each->command < step->command) && shared->isReady(*each))
        step = each, current = sequence;
    }
    if (shared->progress.isStopped())
      return outcome(Progress::Stopped, 0);
    if (step || !isLeft)
      return {};
    ZERO_RT_TRY(awaitAny());
  }
}

void Lanes::advance() {
  ++positions[current];
  shared->progress.advance(commandsOf(current));
}

/// Converts the outcome of the own thread's wait for `sequence` to a status.
Status Lanes::outcome(Progress::Outcome outcome, size_t sequence) {
  if (outcome == Progress::Reached)
    return {};
  if (outcome == Progress::TimedOut) {
    gaveUp = true;
    return fail(ZERO_RT_TIMEOUT, "rank %d: lane %s has done nothing for %g s", shared->rank,
                nameOf(shared->plan.laneOf(sequence)), shared->setup.timeoutSeconds);
  }
  std::lock_guard lock(shared->mutex);
  return shared->failure;
}

/// Waits until one of `thresholds` is reached, and adds how long that takes. Lanes may wait for
/// work of a device, which may take longer than their patience as long as it makes progress.
Status Lanes::awaitAny() {
  const auto begin = Progress::Clock::now();
  const auto patience = std::chrono::duration_cast<Progress::Clock::duration>(shared->patience());
  const bool looks = shared->setup.queue != nullptr;
  Progress::Outcome end = Progress::TimedOut;
  Status status;
  uint64_t sum = shared->progress.sum();
  for (auto deadline = begin + patience;;) {
    end = shared->progress.awaitAny(0, thresholds, looks ? kLook : patience);
    if (end != Progress::TimedOut || !looks)
      break;
    bool works = false;
    status = shared->setup.queue->look(works);
    const auto now = Progress::Clock::now();
    if (works || sum != shared->progress.sum())
      deadline = now + patience, sum = shared->progress.sum();
    if (!status.ok() || now > deadline)
      break;
  }
  stalled += Progress::Clock::now() - begin;
  return status.ok() ? outcome(end, thresholds.front().counter / 2) : status;
}

Status Lanes::endIteration() {
  const uint64_t iterations = shared->progress.at(iterationCounter(0)) + 1;
  for (size_t sequence = positions.size(); sequence < shared->plan.sequences(); ++sequence) {
    thresholds.assign(1, {iterationCounter(sequence), iterations});
    if (shared->progress.at(iterationCounter(sequence)) < iterations ||
        shared->progress.isStopped())
      ZERO_RT_TRY(awaitAny());
  }
  return shared->progress.isStopped() ? outcome(Progress::Stopped, 0) : Status();
}

void Lanes::settle() {
  shared->progress.stop();
  const auto patience = shared->patience();
  const uint64_t iterations = shared->progress.at(iterationCounter(0)) + 1;
  for (size_t sequence = positions.size(); sequence < shared->plan.sequences() && !gaveUp;
       ++sequence)
    gaveUp = shared->progress.awaitLast(0, iterationCounter(sequence), iterations, patience) ==
             Progress::TimedOut;
}

std::vector<uint64_t> Lanes::eventsPerStep() const {
  const LanePlan &plan = shared->plan;
  std::vector<uint64_t> events(plan.threads());
  for (size_t segment = 0; segment < shared->setup.segments->size(); ++segment)
    for (size_t sequence = 0; sequence < plan.sequences(); ++sequence)
      events[plan.threadOf(sequence)] +=
          plan.steps(segment, sequence).size() * (*shared->setup.segments)[segment].repeat;
  return events;
}

LaneUse Lanes::use() const {
  LaneUse all;
  for (size_t sequence = positions.size(); sequence < shared->plan.sequences(); ++sequence)
    all.lanes[size_t(shared->plan.laneOf(sequence))] = shared->work[sequence]->use();
  all.stalled = stalled;
  return all;
}

} // namespace zero::rt
