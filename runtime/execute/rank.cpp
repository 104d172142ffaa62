//===- rank.cpp - one rank of a session -----------------------------------===//

#include "runtime/execute/rank.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zero::rt {

Rank::Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator,
           const DiskOptions &disk)
    : program(std::move(program)), communicator(std::move(communicator)), memory(disk) {}

Status Rank::prepare(Device &device, const InitialFiles &files, const RankOptions &options) {
  const int self = communicator->rank();
  ZERO_RT_TRY(device.makeQueue(self, queue));
  ZERO_RT_TRY(memory.reserve(device, tables(), self, options.checkMemory, *options.meter));
  ZERO_RT_TRY(initialiseTensors(*program, files, self, memory.byTier(), *options.meter));
  windows = StepWindows(tables(), self);
  ZERO_RT_TRY(queue->open(memory.device(), windows.all));
  known.resize(size_t(tables().predicates_size()));
  segments = resolveCommands(tables(), self, memory.bases(), windows.checks);
  if (queue->hasLanes())
    ZERO_RT_TRY(queue->makeSignals(numberSignals(tables(), self, segments)));
  for (const proto::Output &output : tables().outputs())
    outputs.emplace_back(elementsOf(output.shape()) * sizeOf(toDType(output.dtype())));
  for (const CommandSegment &segment : segments)
    for (const Command &command : segment.commands)
      if (const auto *disk = std::get_if<DiskCommand>(&command.body); disk && disk->writes)
        (command.forward ? evaluationWrites : stepWrites) = true;
  if (options.checkMemory)
    check.emplace(tables(), self, memory.bases());
  return queue->hasLanes() ? Status() : openLanes(device, options);
}

/// Of a device that has no lanes itself: threads for those beside this one; none where
/// commands must run as they are listed.
Status Rank::openLanes(Device &device, const RankOptions &options) {
  LanePlan plan(tables());
  for (size_t thread = 1; thread < plan.threads() && options.checkMemory; ++thread)
    if (proto::Lane lane = plan.laneOf(thread); lane != proto::COLLECTIVE)
      ZERO_RT_TRY(LaneWork::open(lane, *communicator, device, memory, laneWork[size_t(lane)]));
  if (plan.threads() == 1 || options.checkMemory)
    return {};
  LaneSetup setup{communicator.get(),     &segments,    {}, &device, &memory,
                  options.timeoutSeconds, options.owner};
  for (uint32_t i = 0; i < known.size(); ++i)
    setup.predicates.push_back(windows.at<uint8_t>(windows.predicates + i));
  return Lanes::create(std::move(plan), std::move(setup), lanes);
}

Status Rank::exchange(Device &device, const Note &own, std::vector<Note> &all) {
  Status status = tell(device, own, all);
  if (!status.ok())
    communicator->abort(status);
  return status;
}

Status Rank::tell(Device &device, const Note &own, std::vector<Note> &all) {
  const int self = communicator->rank();
  const uint64_t mine = uint64_t(self) * sizeof(Note);
  all.resize(size_t(communicator->ranks()));
  if (!notes)
    ZERO_RT_TRY(device.reserve(self, all.size() * sizeof(Note), /*guarded=*/false, notes));
  ZERO_RT_TRY(notes->write(mine, sizeof(Note), [&](char *piece, uint64_t, uint64_t) {
    std::memcpy(piece, &own, sizeof(Note));
    return Status();
  }));
  ZERO_RT_TRY(queue->meet());
  ZERO_RT_TRY(communicator->allGather({"what ranks tell each other", 0, /*control=*/true},
                                      ZERO_RT_I64, notes->base() + mine, notes->base(),
                                      sizeof(Note) / sizeof(int64_t)));
  ZERO_RT_TRY(queue->finish());
  ZERO_RT_TRY(communicator->check());
  return notes->read(0, all.size() * sizeof(Note),
                     [&](const char *piece, uint64_t done, uint64_t count) {
                       std::memcpy(reinterpret_cast<char *>(all.data()) + done, piece, count);
                       return Status();
                     });
}

void Rank::record(uint64_t steps, Recorder::Clock::time_point origin) {
  recorder.reset(); // its memory first
  if (steps > 0)
    recorder.emplace(steps, lanes ? lanes->eventsPerStep() : std::vector{commandsPerStep(tables())},
                     origin);
}

Status Rank::step(const StepRequest &request) {
  active = recorder && !recorder->isFull() && !request.evaluate ? &*recorder : nullptr;
  if (active)
    active->beginStep(request.step);
  Status status = runStep(request);
  if (active && status.ok())
    active->endStep();
  // Consequences are not passed on: the cause has been, or will be, by its own rank.
  if (!status.ok() && status.getCode() != ZERO_RT_ABORTED)
    communicator->abort(status);
  if (!status.ok() && lanes)
    lanes->settle();
  return status;
}

/// Evaluations included.
LaneUse Rank::useSoFar() const {
  LaneUse all = lanes ? lanes->use() : LaneUse();
  for (size_t lane = 0; lane < laneWork.size(); ++lane)
    if (laneWork[lane])
      all.lanes[lane] = laneWork[lane]->use();
  return all;
}

/// As long as a step is under way, the rank's file says so: what a process leaves that dies
/// there is of no use.
Status Rank::runStep(const StepRequest &request) {
  const LaneUse before = useSoFar();
  const bool writesFile = evaluationWrites || (stepWrites && !request.evaluate);
  if (writesFile)
    ZERO_RT_TRY(memory.getFile().beginStep());
  ZERO_RT_TRY(runSegments(request));
  if (writesFile)
    ZERO_RT_TRY(memory.getFile().endStep());
  if (!request.evaluate)
    allSteps += lastStep = useSoFar() - before;
  return {};
}

Status Rank::runSegments(const StepRequest &request) {
  collectives = 0;
  if (check)
    check->begin(request.evaluate);
  ZERO_RT_TRY(queue->meet());
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
  if (check)
    ZERO_RT_TRY(check->atEnd());
  return captureOutputs();
}

/// Whether the predicate of a command is set. It is brought to the host, where that has
/// memory of its own, once after each command that may have changed it.
Status Rank::holds(const Command &command, bool &result) {
  if (command.predicate == 0)
    return {};
  const uint32_t index = command.predicate - 1, window = windows.predicates + index;
  if (!known[index]) {
    ZERO_RT_TRY(queue->pull(window));
    ZERO_RT_TRY(queue->await(window));
    known[index] = queue->hasLanes(); // without lanes that window is the predicate itself
  }
  result = *windows.at<uint8_t>(window) != 0;
  return {};
}

Status Rank::runUnlessSkipped(const Command &command, const CommandSegment &segment,
                              uint64_t turn) {
  bool runs = runsInTurn(command.when, turn, segment.repeat);
  if (runs)
    ZERO_RT_TRY(holds(command, runs));
  if (check)
    ZERO_RT_TRY(check->beforeCommand(!runs));
  if (runs) {
    const auto index = uint32_t(&command - segment.commands.data()) + segment.first;
    ZERO_RT_TRY(active ? runRecorded(command, index, turn) : run(command));
    for (uint32_t predicate : command.settles)
      known[predicate] = false;
  }
  return check ? check->after() : Status();
}

/// Also a command that is left out keeps its place among the lanes: others may wait for it
/// because of one before it.
Status Rank::visit(const Command &command, const CommandSegment &segment, uint64_t turn,
                   const StepRequest &request) {
  const bool lanes = queue->hasLanes();
  if (lanes)
    ZERO_RT_TRY(queue->begin(command.order));
  if (command.forward || !request.evaluate)
    ZERO_RT_TRY(runUnlessSkipped(command, segment, turn));
  return lanes ? queue->end(command.order) : Status();
}

/// Runs the commands as they are listed. That is a total order in which each command
/// stands behind those it waits for, so lanes need nothing more on one thread. Those of lanes
/// with a thread are left to it.
Status Rank::runTurn(const CommandSegment &segment, uint64_t turn, const StepRequest &request) {
  if (!lanes) {
    for (const Command &command : segment.commands)
      ZERO_RT_TRY(visit(command, segment, turn, request));
    return {};
  }
  lanes->beginTurn({size_t(&segment - segments.data()), turn, request.evaluate, active});
  for (const LaneStep &step : lanes->ownSteps()) {
    ZERO_RT_TRY(lanes->await(step));
    ZERO_RT_TRY(visit(segment.commands[step.command], segment, turn, request));
    lanes->advance();
  }
  return lanes->endTurn();
}

Status Rank::runSegment(const CommandSegment &segment, const StepRequest &request, bool isFirst) {
  for (uint64_t turn = 0; turn < segment.repeat; ++turn) {
    ZERO_RT_TRY(queue->meet());
    std::fill(known.begin(), known.end(), false);
    if (turn > 0 || !isFirst) // the first one finds all inputs of the first micro-batch
      ZERO_RT_TRY(bindInputs(request, turn, &segment.inputs));
    ZERO_RT_TRY(runTurn(segment, turn, request));
  }
  return {};
}

Status Rank::finishMicroBatches(const StepRequest &request) {
  if (check)
    ZERO_RT_TRY(check->beforeFinish());
  ZERO_RT_TRY(queue->meet());
  ZERO_RT_TRY(pullOutputs(/*all=*/false));
  ZERO_RT_TRY(queue->finish());
  ZERO_RT_TRY(communicator->check());
  if (request.gradients)
    ZERO_RT_TRY(captureGradients(*request.gradients));
  if (!request.allowNan)
    ZERO_RT_TRY(checkLoss());
  return check ? check->after() : Status();
}

/// Brings the outputs, or the losses among them, to the host.
Status Rank::pullOutputs(bool all) {
  for (int i = 0; i < tables().outputs_size(); ++i)
    if (all || isLoss(tables().outputs(i).name()))
      ZERO_RT_TRY(queue->pull(windows.outputs + uint32_t(i)));
  return {};
}

/// The output of one element that is called `name`, or -1.
static int scalarNamed(const proto::Program &program, const char *name) {
  for (int i = 0; i < program.outputs_size(); ++i)
    if (program.outputs(i).name() == name && elementsOf(program.outputs(i).shape()) == 1)
      return i;
  return -1;
}

/// The element at `place`, if it is of a type that scalars have.
static std::optional<double> scalarValue(const proto::Output &output, const void *place) {
  auto read = [place](auto value) {
    std::memcpy(&value, place, sizeof(value));
    return static_cast<double>(value);
  };
  switch (output.dtype()) {
  case proto::F32:
    return read(float());
  case proto::F64:
    return read(double());
  case proto::I1:
    return read(uint8_t()) != 0;
  default:
    return std::nullopt;
  }
}

Status Rank::checkLoss() const {
  auto now = [&](const char *name) {
    const int index = scalarNamed(tables(), name);
    return index < 0 ? std::nullopt
                     : scalarValue(tables().outputs(index),
                                   windows.at<char>(windows.outputs + uint32_t(index)));
  };
  std::optional<double> local = now("local_loss"), global = now("loss");
  auto text = [](double value) { return std::isnan(value) ? "NaN" : "infinite"; };
  if (std::optional<double> own = local ? local : global; own && !std::isfinite(*own))
    return fail(ZERO_RT_NOT_FINITE, "rank %d: the loss is %s", communicator->rank(), text(*own));
  // The mean tells that another rank has it; that one names itself.
  if (global && !std::isfinite(*global))
    return fail(ZERO_RT_ABORTED, "the mean of the loss over ranks is %s", text(*global));
  return {};
}

/// A scalar that is not the user's data.
void Rank::writeScalar(proto::Input::Kind kind, const StepRequest &request, uint64_t microBatch,
                       char *target) const {
  auto write = [target](auto value) { std::memcpy(target, &value, sizeof(value)); };
  if (kind == proto::Input::LEARNING_RATE)
    write(request.learningRate);
  else if (kind == proto::Input::STEP)
    write(int64_t(request.step));
  else if (kind == proto::Input::PART)
    write(int64_t(microBatch) * program->ranks() + communicator->rank());
  else
    write(uint8_t(!request.evaluate));
}

Status Rank::bindInputs(const StepRequest &request, uint64_t microBatch,
                        const std::vector<bool> *which) {
  if (check)
    ZERO_RT_TRY(check->beforeInputs());
  ZERO_RT_TRY(writeInputs(request, microBatch, which));
  return check ? check->after() : Status();
}

/// Writes the inputs that `which` has, or all.
Status Rank::writeInputs(const StepRequest &request, uint64_t microBatch,
                         const std::vector<bool> *which) {
  size_t data = 0;
  for (int i = 0; i < tables().inputs_size(); ++i) {
    const proto::Input &input = tables().inputs(i);
    const bool isData = input.kind() == proto::Input::DATA;
    const size_t index = data;
    data += isData;
    if (which && !(*which)[size_t(i)])
      continue;
    ZERO_RT_TRY(queue->await(uint32_t(i)));
    char *target = windows.at<char>(uint32_t(i));
    if (isData)
      request.data->read(index, request.batch, microBatch, communicator->rank(), target);
    else
      writeScalar(input.kind(), request, microBatch, target);
    ZERO_RT_TRY(queue->push(uint32_t(i)));
  }
  return {};
}

Status Rank::captureOutputs() {
  ZERO_RT_TRY(queue->meet());
  ZERO_RT_TRY(pullOutputs(/*all=*/true));
  ZERO_RT_TRY(queue->finish());
  ZERO_RT_TRY(communicator->check());
  for (size_t i = 0; i < outputs.size(); ++i)
    std::copy_n(windows.at<char>(windows.outputs + uint32_t(i)), outputs[i].size(),
                outputs[i].data());
  return {};
}

Status Rank::captureGradients(std::vector<std::vector<uint8_t>> &gradients) {
  const MemoryByTier places = memory.byTier();
  for (int i = 0; i < tables().gradients_size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(i);
    for (const Block &block : blocksOf(gradient, program->parameterOf(gradient)))
      ZERO_RT_TRY(
          copyOwnGradient(gradient, block, communicator->rank(), places, gradients[i].data()));
  }
  return {};
}

void Rank::settle() {
  if (queue)
    (void)queue->finish();
}

std::optional<double> Rank::scalar(const char *name) const {
  const int index = scalarNamed(tables(), name);
  return index < 0 ? std::nullopt : scalarValue(tables().outputs(index), outputs[index].data());
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Status Rank::run(const Command &command) {
  LaneWork::Span span;
  if (LaneWork *work = laneWork[command.order.lane].get())
    return work->run(command, span);
  return std::visit([&](const auto &body) { return execute(body, command); }, command.body);
}

Status Rank::runRecorded(const Command &command, uint32_t index, uint64_t turn) {
  const bool collects = std::holds_alternative<CollectiveCommand>(command.body);
  zero_rt_event event{index, uint32_t(turn), 0, 0, collects ? communicator->waited() : 0};
  event.begin = active->now();
  Status status = run(command);
  if (status.ok())
    status = queue->finish(); // what runs behind us has no other time
  event.end = active->now();
  event.waited = collects ? communicator->waited() - event.waited : 0;
  active->add(event);
  return status;
}

Status Rank::execute(const LaunchCommand &launch, const Command &) {
  return queue->launch(launch.kernel, launch.args.data(), launch.length);
}

Status Rank::execute(const CollectiveCommand &collective, const Command &command) {
  return runCollective(*communicator, collective, command.label, collectives++);
}

Status Rank::execute(const CheckCommand &check, const Command &command) {
  // Now, not later: with an index out of range the commands behind it write anywhere.
  ZERO_RT_TRY(queue->pull(check.window));
  ZERO_RT_TRY(queue->await(check.window));
  const auto *value = windows.at<const int64_t>(check.window);
  for (int i = 0; i < 2; ++i)
    if (value[i] < check.lower || value[i] > check.upper)
      return fail(ZERO_RT_CHECK_FAILED, "rank %d, node '%s': %s: expected %lld to %lld, got %lld",
                  communicator->rank(), escape(command.label).c_str(),
                  escape(check.message).c_str(), static_cast<long long>(check.lower),
                  static_cast<long long>(check.upper), static_cast<long long>(value[i]));
  return {};
}

/// Only lanes of a disk have these.
Status Rank::execute(const DiskCommand &, const Command &command) {
  return fail(ZERO_RT_INTERNAL, "'%s': no lane reaches the disk", escape(command.label).c_str());
}

Status Rank::execute(const CopyCommand &copy, const Command &) {
  return queue->copy(copy.destination, copy.source, copy.bytes);
}

} // namespace zero::rt
