//===- rank.cpp - one rank of a session -----------------------------------===//

#include "runtime/core/rank.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zero::rt {

Rank::Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator)
    : program(std::move(program)), communicator(std::move(communicator)) {}

Status Rank::prepare(Device &device, const InitialFiles &files, bool checkMemory) {
  const int self = communicator->rank();
  ZERO_RT_TRY(device.makeQueue(queue));
  ZERO_RT_TRY(device.reserve(deviceBytes(tables()), checkMemory, arena));
  arena->touch();
  ZERO_RT_TRY(initialiseTensors(*program, files, self, arena->base()));
  segments = resolveCommands(tables(), self, arena->base());
  for (const proto::Output &output : tables().outputs())
    outputs.emplace_back(elementsOf(output.shape()) * sizeOf(toDType(output.dtype())));
  if (checkMemory)
    memory.emplace(tables(), self, arena->base());
  return {};
}

void Rank::record(uint64_t steps, Recorder::Clock::time_point origin) {
  recorder.reset(); // its memory first
  if (steps > 0)
    recorder.emplace(steps, commandsPerStep(tables()), origin);
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
  return status;
}

Status Rank::runStep(const StepRequest &request) {
  collectives = 0;
  if (memory)
    memory->begin(request.evaluate);
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
  if (memory)
    ZERO_RT_TRY(memory->atEnd());
  captureOutputs();
  return {};
}

/// Runs the commands as they are listed. That is a total order in which each command
/// stands behind those it waits for, so lanes need nothing more on one thread.
Status Rank::runSegment(const CommandSegment &segment, const StepRequest &request, bool isFirst) {
  for (uint64_t turn = 0; turn < segment.repeat; ++turn) {
    if (turn > 0 || !isFirst) // the first one finds all inputs of the first micro-batch
      ZERO_RT_TRY(bindInputs(request, turn, &segment.inputs));
    for (const Command &command : segment.commands) {
      if (request.evaluate && !command.forward)
        continue;
      const bool skipped = !runsInTurn(command.when, turn, segment.repeat) ||
                           (command.predicate && !*command.predicate);
      const auto index = uint32_t(&command - segment.commands.data()) + segment.first;
      if (memory)
        ZERO_RT_TRY(memory->beforeCommand(skipped));
      if (!skipped)
        ZERO_RT_TRY(active ? runRecorded(command, index, turn) : run(command));
      if (memory)
        ZERO_RT_TRY(memory->after());
    }
  }
  return {};
}

Status Rank::finishMicroBatches(const StepRequest &request) {
  if (memory)
    ZERO_RT_TRY(memory->beforeFinish());
  if (request.gradients)
    captureGradients(*request.gradients);
  if (!request.allowNan)
    ZERO_RT_TRY(checkLoss());
  return memory ? memory->after() : Status();
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
                                   arena->base() + tables().outputs(index).offset());
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
  if (memory)
    ZERO_RT_TRY(memory->beforeInputs());
  writeInputs(request, microBatch, which);
  return memory ? memory->after() : Status();
}

/// Writes the inputs that `which` has, or all.
void Rank::writeInputs(const StepRequest &request, uint64_t microBatch,
                       const std::vector<bool> *which) {
  size_t data = 0;
  for (int i = 0; i < tables().inputs_size(); ++i) {
    const proto::Input &input = tables().inputs(i);
    const bool isData = input.kind() == proto::Input::DATA;
    const size_t index = data;
    data += isData;
    if (which && !(*which)[size_t(i)])
      continue;
    char *target = arena->base() + input.offset();
    if (isData)
      request.data->read(index, request.batch, microBatch, communicator->rank(), target);
    else
      writeScalar(input.kind(), request, microBatch, target);
  }
}

void Rank::captureOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const char *source = arena->base() + tables().outputs(static_cast<int>(i)).offset();
    std::copy_n(source, outputs[i].size(), outputs[i].data());
  }
}

void Rank::captureGradients(std::vector<std::vector<uint8_t>> &gradients) const {
  for (int i = 0; i < tables().gradients_size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(i);
    for (const Block &block : blocksOf(gradient, program->parameterOf(gradient)))
      copyOwnGradient(gradient, block, communicator->rank(), arena->base(), gradients[i].data());
  }
}

std::optional<double> Rank::scalar(const char *name) const {
  const int index = scalarNamed(tables(), name);
  return index < 0 ? std::nullopt : scalarValue(tables().outputs(index), outputs[index].data());
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Status Rank::run(const Command &command) {
  return std::visit([&](const auto &body) { return execute(body, command); }, command.body);
}

Status Rank::runRecorded(const Command &command, uint32_t index, uint64_t turn) {
  zero_rt_event event{index, uint32_t(turn), 0, 0, communicator->waited()};
  event.begin = active->now();
  Status status = run(command);
  event.end = active->now();
  event.waited = communicator->waited() - event.waited;
  active->add(event);
  return status;
}

Status Rank::execute(const LaunchCommand &launch, const Command &) {
  return queue->launch(launch.kernel, launch.args.data(), launch.length);
}

Status Rank::execute(const CollectiveCommand &collective, const Command &command) {
  Call call{command.label, collectives++, collective.control};
  switch (collective.kind) {
  case proto::Collective::ALL_GATHER:
    return communicator->allGather(call, collective.how.dtype, collective.source,
                                   collective.destination, collective.elements);
  case proto::Collective::REDUCE_SCATTER:
    return communicator->reduceScatter(call, collective.how, collective.source,
                                       collective.destination, collective.elements);
  default:
    return communicator->allReduce(call, collective.how, collective.destination,
                                   collective.elements);
  }
}

Status Rank::execute(const CheckCommand &check, const Command &command) {
  for (int i = 0; i < 2; ++i)
    if (check.value[i] < check.lower || check.value[i] > check.upper)
      return fail(ZERO_RT_CHECK_FAILED, "rank %d, node '%s': %s: expected %lld to %lld, got %lld",
                  communicator->rank(), escape(command.label).c_str(),
                  escape(check.message).c_str(), static_cast<long long>(check.lower),
                  static_cast<long long>(check.upper), static_cast<long long>(check.value[i]));
  return {};
}

Status Rank::execute(const CopyCommand &copy, const Command &) {
  if (copy.bytes > 0)
    std::memmove(copy.destination, copy.source, copy.bytes);
  return {};
}

} // namespace zero::rt
