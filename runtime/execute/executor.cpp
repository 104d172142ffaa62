//===- executor.cpp - execute the commands of a rank ----------------------===//

#include "runtime/execute/executor.h"

#include "runtime/format/tables.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>

namespace zero::rt {

Status Executor::open(Device &device, const ExecutorOptions &options) {
  known.resize(size_t(program.predicates_size()));
  this->device = &device;
  graphsAllowed = options.graphs && queue.hasGraphs();
  segments = resolveCommands(program, communicator.rank(), memory.bases(), data.places().checks);
  checks.open(segments, data.places());
  gradientChecks.open(program, communicator.rank(), /*onDevice=*/!queue.hasLanes(), segments);
  for (const CommandSegment &segment : segments)
    for (const Command &command : segment.commands)
      if (const auto *disk = std::get_if<DiskCommand>(&command.body); disk && disk->writes)
        for (Mode mode : {Mode::Step, Mode::FirstStep, Mode::Evaluation, Mode::Finish})
          if (runsIn(mode, command.forward, command.delayed))
            writing.insert(mode);
  return queue.hasLanes() ? openDeviceLanes(device, options) : openLanes(device, options, 0);
}

/// Threads for the lanes of the host beside a device that has lanes itself.
Status Executor::openDeviceLanes(Device &device, const ExecutorOptions &options) {
  const uint32_t signals = numberSignals(program, communicator.rank(), segments);
  start.signal = int32_t(signals);
  ZERO_RT_TRY(queue.makeSignals(signals + 1));
  asked.resize(known.size());
  bool any = false;
  for (const CommandSegment &segment : segments)
    for (const Command &command : segment.commands) {
      const bool isOfHost = isHostLane(proto::Lane(command.order.lane));
      any |= isOfHost;
      if (isOfHost && command.predicate > 0)
        asked[command.predicate - 1] = true;
    }
  return any ? openLanes(device, options, signals) : Status();
}

/// Starts threads for the lanes that the device does not have itself, in addition to this thread.
/// Starts none if commands must run in the listed order. `start`: the signal between iterations.
Status Executor::openLanes(Device &device, const ExecutorOptions &options, uint32_t start) {
  LanePlan plan =
      queue.hasLanes() ? LanePlan::ofDeviceLanes(program) : LanePlan(program, options.hasIdleCores);
  for (size_t thread = 1; thread < plan.threads() && options.inOrder; ++thread)
    if (proto::Lane lane = plan.laneOf(thread); lane != proto::COLLECTIVE)
      ZERO_RT_TRY(LaneWork::open(lane, communicator, device, memory, laneWork[size_t(lane)]));
  if (plan.threads() == 1 || options.inOrder)
    return {};
  LaneSetup setup{.communicator = &communicator,
                  .segments = &segments,
                  .predicates = {},
                  .device = &device,
                  .memory = &memory,
                  .queue = queue.hasLanes() ? &queue : nullptr,
                  .start = start,
                  .timeoutSeconds = options.timeoutSeconds,
                  .owner = options.owner};
  const StepWindows &windows = data.places();
  for (uint32_t i = 0; i < known.size(); ++i)
    setup.predicates.push_back(windows.at<uint8_t>(windows.predicates + i));
  return Lanes::create(std::move(plan), std::move(setup), lanes);
}

Status Executor::run(const StepRequest &request) {
  observers.begin(request.step, request.mode);
  ZERO_RT_TRY(runStep(request));
  observers.endStep();
  return {};
}

void Executor::settle() {
  if (lanes)
    lanes->settle();
}

std::vector<uint64_t> Executor::eventsPerStep() const {
  return lanes ? lanes->eventsPerStep() : std::vector{commandsPerStep(program)};
}

/// Evaluations included.
LaneUse Executor::useSoFar() const {
  LaneUse all = lanes ? lanes->use() : LaneUse();
  for (size_t lane = 0; lane < laneWork.size(); ++lane)
    if (laneWork[lane])
      all.lanes[lane] = laneWork[lane]->use();
  return all;
}

/// The rank's files are marked while a step is in progress, because those of a process that ends
/// then are not usable.
Status Executor::runStep(const StepRequest &request) {
  const LaneUse before = useSoFar();
  const bool writesFile = writing.contains(request.mode);
  if (writesFile)
    ZERO_RT_TRY(memory.getFiles().beginStep());
  ZERO_RT_TRY(request.mode == Mode::Finish ? finishStep(request) : runSegments(request));
  if (writesFile)
    ZERO_RT_TRY(memory.getFiles().endStep());
  if (request.mode != Mode::Evaluation)
    allSteps += lastStep = useSoFar() - before;
  return {};
}

Status Executor::runSegments(const StepRequest &request) {
  collectives = 0;
  checks.clear();
  gradientChecks.clear();
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(bindInputs(request, 0, nullptr));
  bool finished = false;
  for (const CommandSegment &segment : segments) {
    if (segment.kind == proto::Segment::EPILOGUE && !finished) {
      ZERO_RT_TRY(finishMicroBatches(request));
      finished = true;
    }
    ZERO_RT_TRY(runSegment(segment, request, &segment == &segments.front()));
  }
  if (!finished)
    ZERO_RT_TRY(finishMicroBatches(request));
  ZERO_RT_TRY(observers.atEnd());
  ZERO_RT_TRY(data.finishStep());
  return !isTraining(request.mode) || request.allowNan ? Status() : checkGradients();
}

/// Runs the delayed commands alone, which belong to the first micro-batch.
Status Executor::finishStep(const StepRequest &request) {
  collectives = 0;
  gradientChecks.clear();
  for (const CommandSegment &segment : segments)
    if (segment.kind == proto::Segment::MICRO_BATCH) {
      ZERO_RT_TRY(queue.meet());
      std::fill(known.begin(), known.end(), false);
      ZERO_RT_TRY(runIteration(segment, /*iteration=*/0, request));
    }
  ZERO_RT_TRY(observers.atEnd());
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(queue.finish());
  ZERO_RT_TRY(communicator.check());
  return request.allowNan ? Status() : gradientChecks.outcome(communicator.rank());
}

/// Fails if an update has read a gradient that is not finite, or was scaled by the norm of such
/// gradients.
Status Executor::checkGradients() const {
  if (data.isSkipped())
    return {};
  ZERO_RT_TRY(gradientChecks.outcome(communicator.rank()));
  return data.checkNorm();
}

/// A command may have changed the predicate. Lanes with threads see its window as soon as the
/// device signals the command, so the copy comes before that.
Status Executor::forget(uint32_t predicate) {
  known[predicate] = false;
  return !asked.empty() && asked[predicate] ? queue.pull(data.places().predicates + predicate)
                                            : Status();
}

/// Whether the predicate of a command is set. If the host has separate memory, the predicate is
/// copied to it once after each command that may have changed it.
Status Executor::holds(const Command &command, bool &result) {
  if (command.predicate == 0)
    return {};
  const StepWindows &windows = data.places();
  const uint32_t index = command.predicate - 1, window = windows.predicates + index;
  if (!known[index]) {
    if (asked.empty() || !asked[index]) // else it has been since it may have changed
      ZERO_RT_TRY(queue.pull(window));
    ZERO_RT_TRY(queue.await(window));
    known[index] = queue.hasLanes(); // without lanes that window is the predicate itself
  }
  result = *windows.at<uint8_t>(window) != 0;
  return {};
}

Status Executor::bindInputs(const StepRequest &request, uint64_t microBatch,
                            const std::vector<bool> *which) {
  ZERO_RT_TRY(observers.beforeInputs());
  ZERO_RT_TRY(data.writeInputs(request, microBatch, which));
  return observers.after();
}

/// Where a check has failed on one rank, all learn that before they update anything.
Status Executor::agreeOnChecks() {
  Status own = checks.outcome(communicator.rank());
  if (checks.isEmpty())
    return own;
  if (communicator.isOneProcess()) {
    ZERO_RT_TRY(own);
    return communicator.meet({"end of the micro-batches", collectives});
  }
  bool any = false;
  Status voted = vote.any(*device, queue, communicator, !own.ok(), any);
  ZERO_RT_TRY(own);
  ZERO_RT_TRY(voted);
  return any ? Status(ZERO_RT_ABORTED, "a check has failed on another rank") : Status();
}

Status Executor::finishMicroBatches(const StepRequest &request) {
  ZERO_RT_TRY(observers.beforeFinish());
  ZERO_RT_TRY(data.awaitMicroBatches());
  ZERO_RT_TRY(agreeOnChecks());
  ZERO_RT_TRY(data.finishMicroBatches(request));
  return observers.after();
}

Status Executor::runUnlessSkipped(const Command &command, const CommandSegment &segment,
                                  uint64_t iteration) {
  bool runs = runsInIteration(command.when, iteration, segment.repeat);
  if (runs) {
    ZERO_RT_TRY(holds(command, runs));
    if (!runs) // by its predicate
      GradientChecks::lookSkipped(command);
  }
  ZERO_RT_TRY(observers.beforeCommand({&command, segment.indexOf(command), iteration, !runs}));
  if (runs) {
    ZERO_RT_TRY(run(command));
    for (uint32_t predicate : command.settles)
      ZERO_RT_TRY(forget(predicate));
  }
  return observers.after();
}

/// A skipped command also keeps its place among the lanes, because others may wait for it instead
/// of for a command before it.
Status Executor::visit(const Command &command, const CommandSegment &segment, uint64_t iteration,
                       const StepRequest &request) {
  const bool lanes = queue.hasLanes();
  if (lanes)
    ZERO_RT_TRY(queue.begin(command.order));
  if (runsIn(request.mode, command.forward, command.delayed))
    ZERO_RT_TRY(runUnlessSkipped(command, segment, iteration));
  return lanes ? queue.end(command.order) : Status();
}

/// Lets the lanes with threads begin an iteration when the device is done with all before it.
Status Executor::startLanes(const CommandSegment &segment, uint64_t iteration,
                            const StepRequest &request) {
  if (queue.hasLanes()) {
    ZERO_RT_TRY(queue.begin(start));
    for (uint32_t predicate = 0; predicate < asked.size(); ++predicate)
      ZERO_RT_TRY(forget(predicate));
    ZERO_RT_TRY(queue.end(start));
  }
  lanes->beginIteration({size_t(&segment - segments.data()), iteration, request.mode, &observers});
  return {};
}

/// Runs the commands in the listed order. In this total order each command follows those it waits
/// for, so lanes need no synchronization on one thread. Commands of lanes with a thread are left to
/// that thread; of the others, each that may begin is given to its lane of the device.
Status Executor::runIteration(const CommandSegment &segment, uint64_t iteration,
                              const StepRequest &request) {
  if (usesGraphs())
    return runInGraphs(segment, iteration, request);
  if (!lanes) {
    for (const Command &command : segment.commands)
      ZERO_RT_TRY(visit(command, segment, iteration, request));
    return {};
  }
  ZERO_RT_TRY(startLanes(segment, iteration, request));
  const LaneStep *step = nullptr;
  for (;;) {
    ZERO_RT_TRY(lanes->next(step));
    if (!step)
      return lanes->endIteration();
    ZERO_RT_TRY(visit(segment.commands[step->command], segment, iteration, request));
    lanes->advance();
  }
}

Status Executor::runSegment(const CommandSegment &segment, const StepRequest &request,
                            bool isFirst) {
  for (uint64_t iteration = 0; iteration < segment.repeat; ++iteration) {
    ZERO_RT_TRY(queue.meet());
    std::fill(known.begin(), known.end(), false);
    if (iteration > 0 || !isFirst) // the first one finds all inputs of the first micro-batch
      ZERO_RT_TRY(bindInputs(request, iteration, &segment.inputs));
    ZERO_RT_TRY(runIteration(segment, iteration, request));
  }
  return {};
}

Status Executor::run(const Command &command) {
  LaneWork::Span span;
  if (LaneWork *work = laneWork[command.order.lane].get())
    return work->run(command, span);
  return std::visit([&](const auto &body) { return execute(body, command); }, command.body);
}

Status Executor::execute(const LaunchCommand &launch, const Command &) {
  return zero::rt::launch(queue, launch);
}

Status Executor::execute(const CollectiveCommand &collective, const Command &command) {
  return runCollective(communicator, collective, command.label, collectives++);
}

Status Executor::execute(const CheckCommand &check, const Command &command) {
  if (check.deferred)
    return queue.pullAndCall(check.window, DeferredChecks::look, checks.entry(check.window));
  // Now, not later: with an index out of range the commands behind it write anywhere.
  ZERO_RT_TRY(queue.pull(check.window));
  ZERO_RT_TRY(queue.await(check.window));
  return outcomeOf(check, command.label, communicator.rank(),
                   data.places().at<const int64_t>(check.window));
}

/// Only lanes of a disk have these.
Status Executor::execute(const DiskCommand &, const Command &command) {
  return fail(ZERO_RT_INTERNAL, "'%s': no lane accesses the disk", escape(command.label).c_str());
}

Status Executor::execute(const CopyCommand &copy, const Command &) {
  return queue.copy(copy.destination, copy.source, copy.bytes, copy.kind);
}

} // namespace zero::rt
