//===- rank.cpp - one rank of a session -----------------------------------===//

#include "runtime/execute/rank.h"

namespace zero::rt {

Rank::Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator,
           const DiskOptions &disk)
    : program(std::move(program)), memory(disk), communicator(std::move(communicator)) {}

Status Rank::prepare(Device &device, const InitialFiles &files, const RankOptions &options) {
  const int self = number();
  const proto::Program &tables = program->tables();
  ZERO_RT_TRY(device.makeQueue(self, queue));
  ZERO_RT_TRY(memory.reserve(device, tables, self, options.checkMemory, *options.meter));
  ZERO_RT_TRY(initialiseTensors(*program, files, self, memory.byTier(), *options.meter));
  data.emplace(*program, *communicator, memory, *queue);
  ZERO_RT_TRY(data->open());
  executor.emplace(tables, *communicator, memory, *queue, *data, checks, vote);
  if (options.checkMemory)
    executor->getObservers().attach(check.emplace(tables, self, memory.bases()));
  return executor->open(device, {options.checkMemory, options.hasIdleCores, options.graphs,
                                 options.timeoutSeconds, options.owner});
}

Status Rank::any(Device &device, bool mine, bool &result) {
  Status status = vote.any(device, *queue, *communicator, mine, result);
  if (!status.ok())
    communicator->abort(status);
  return status;
}

Status Rank::step(const StepRequest &request) {
  Status status = executor->run(request);
  // Consequences are not passed on: the cause has been, or will be, by its own rank.
  if (!status.ok() && status.getCode() != ZERO_RT_ABORTED)
    communicator->abort(status);
  if (!status.ok())
    executor->settle();
  return status;
}

/// A wait also ends with the failure of another rank, once. What runs is waited for all the same.
void Rank::settle() {
  if (queue && !queue->finish().ok())
    (void)queue->finish();
}

void Rank::leave() {
  executor.reset();
  recorded.reset();
  communicator.reset();
}

void Rank::record(uint64_t steps, Recorder::Clock::time_point origin) {
  if (recorded)
    executor->getObservers().detach(*recorded);
  recorded.reset(); // its memory first
  if (steps == 0)
    return;
  const std::vector<uint64_t> events = executor->eventsPerStep();
  executor->getObservers().attach(
      recorded.emplace(Recorder(steps, events, origin), *queue, *communicator, events.front()));
}

zero_rt_recording Rank::recording() const {
  return recorded ? recorded->recording() : zero_rt_recording{};
}

} // namespace zero::rt
