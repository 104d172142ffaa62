//===- rank.cpp - one rank of a session -----------------------------------===//

#include "runtime/execute/rank.h"

namespace zero::rt {

Rank::Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator,
           const DiskOptions &disk)
    : program(std::move(program)), memory(disk), communicator(std::move(communicator)) {}

Status Rank::prepare(Device &device, const InitialFiles &files, const RankOptions &options) {
  const int self = number();
  const proto::Program &tables = program->tables();
  for (size_t shape = 0; shape < program->shapes(); ++shape) {
    shapes.push_back(std::make_unique<ShapeSteps>());
    ZERO_RT_TRY(device.makeQueue(self, shapes.back()->queue));
  }
  ZERO_RT_TRY(memory.reserve(device, tables, self, options.checkMemory, *options.meter));
  ZERO_RT_TRY(communicator->use(memory.device().base(), memory.device().bytes()));
  ZERO_RT_TRY(initialiseTensors(*program, files, self, memory.byTier(), options.initialThreads,
                                *options.meter));
  for (size_t shape = 0; shape < program->shapes(); ++shape)
    ZERO_RT_TRY(openShape(shape, device, options));
  return {};
}

Status Rank::openShape(size_t shape, Device &device, const RankOptions &options) {
  const proto::Program &tables = program->tablesOf(shape);
  ShapeSteps &steps = *shapes[shape];
  steps.data.emplace(*program, shape, *communicator, memory, *steps.queue);
  ZERO_RT_TRY(steps.data->open());
  steps.executor.emplace(tables, *communicator, memory, *steps.queue, *steps.data,
                         checks.emplace_back(), vote);
  if (options.checkMemory)
    steps.executor->getObservers().attach(steps.check.emplace(tables, number(), memory.bases()));
  return steps.executor->open(device, {options.checkMemory, options.hasIdleCores, options.graphs,
                                       options.timeoutSeconds, options.owner});
}

Status Rank::any(Device &device, bool mine, bool &result) {
  Status status = vote.any(device, *shapes.front()->queue, *communicator, mine, result);
  if (!status.ok())
    communicator->abort(status);
  return status;
}

Status Rank::gather(const Call &call, DType dtype, const void *source, void *destination,
                    uint64_t elements) {
  Queue &queue = *shapes.front()->queue;
  Status status = queue.meet();
  if (status.ok())
    status = communicator->allGather(call, dtype, source, destination, elements);
  if (status.ok())
    status = queue.finish();
  if (status.ok())
    status = communicator->check();
  if (!status.ok())
    communicator->abort(status);
  return status;
}

Status Rank::step(const StepRequest &request) {
  Status status;
  if (request.shape != current)
    status = writeConstants(*program, request.shape, number(), memory.byTier());
  current = request.shape;
  Executor &executor = *shapes[current]->executor;
  if (status.ok())
    status = executor.run(request);
  // Consequences are not passed on: the cause has been, or will be, by its own rank.
  if (!status.ok() && status.getCode() != ZERO_RT_ABORTED)
    communicator->abort(status);
  if (!status.ok())
    executor.settle();
  return status;
}

/// A wait also ends with the failure of another rank, once. What runs is waited for all the same.
void Rank::settle() {
  for (const auto &steps : shapes)
    if (steps->queue && !steps->queue->finish().ok())
      (void)steps->queue->finish();
}

void Rank::leave() {
  for (const auto &steps : shapes)
    steps->executor.reset();
  stopRecording(); // no lane adds to it any more
  communicator.reset();
}

void Rank::dropGraphs() {
  for (const auto &shape : shapes)
    shape->executor->dropGraphs();
}

void Rank::findNan() {
  for (size_t shape = 0; shape < shapes.size(); ++shape) {
    ShapeSteps &steps = *shapes[shape];
    if (!steps.search)
      steps.executor->getObservers().attach(
          steps.search.emplace(program->tablesOf(shape), number()));
  }
}

void Rank::stopRecording() {
  for (const auto &steps : shapes) {
    if (steps->recording && steps->executor)
      steps->executor->getObservers().detach(*steps->recording);
    steps->recording.reset();
  }
  recorder.reset();
}

void Rank::record(uint64_t steps, Recorder::Clock::time_point origin) {
  stopRecording(); // its memory first
  if (steps == 0)
    return;
  std::vector<uint64_t> most; // of all shapes, by thread
  for (const auto &each : shapes) {
    const std::vector<uint64_t> events = each->executor->eventsPerStep();
    most.resize(std::max(most.size(), events.size()));
    for (size_t thread = 0; thread < events.size(); ++thread)
      most[thread] = std::max(most[thread], events[thread]);
  }
  recorder.emplace(steps, most, origin);
  size_t first = 0;
  for (size_t shape = 0; shape < shapes.size(); ++shape) {
    ShapeSteps &each = *shapes[shape];
    each.executor->getObservers().attach(each.recording.emplace(
        *recorder, *each.queue, *communicator, most.front(), uint32_t(first)));
    first += countCommands(program->tablesOf(shape));
  }
}

LaneUse Rank::laneUse() const {
  LaneUse all;
  for (const auto &steps : shapes)
    all += steps->executor->use();
  return all;
}

uint64_t Rank::measuredPeak(proto::Tier tier) const {
  uint64_t peak = 0;
  for (const auto &steps : shapes)
    peak = std::max(peak, steps->check ? steps->check->peak(tier) : 0);
  return peak;
}

uint64_t Rank::measuredLive(proto::Tier tier) const {
  uint64_t live = 0;
  for (const auto &steps : shapes)
    live = std::max(live, steps->check ? steps->check->mostLive(tier) : 0);
  return live;
}

zero_rt_recording Rank::recording() const {
  return recorder ? recorder->recording() : zero_rt_recording{};
}

} // namespace zero::rt
