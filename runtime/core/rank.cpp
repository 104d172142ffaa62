//===- rank.cpp - one rank of a session -----------------------------------===//

#include "runtime/core/rank.h"

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
    poison.emplace(tables(), self, arena->base());
  return {};
}

Status Rank::step(const StepRequest &request) {
  Status status = runStep(request);
  // Consequences are not passed on: the cause has been, or will be, by its own rank.
  if (!status.ok() && status.getCode() != ZERO_RT_ABORTED)
    communicator->abort(status);
  return status;
}

Status Rank::runStep(const StepRequest &request) {
  collectives = 0;
  if (poison)
    poison->apply();
  writeInputs(request, 0);
  bool finished = false;
  for (const CommandSegment &segment : segments) {
    if (segment.kind == proto::Segment::EPILOGUE && !finished) {
      ZERO_RT_TRY(finishMicroBatches(request));
      finished = true;
    }
    ZERO_RT_TRY(runSegment(segment, request));
  }
  if (!finished)
    ZERO_RT_TRY(finishMicroBatches(request));
  if (poison)
    peak = poison->measurePeak();
  return {};
}

bool Rank::skips(const Command &command, const CommandSegment &segment, uint64_t turn,
                 const StepRequest &request) const {
  return (request.evaluate && !command.forward) ||
         (command.when == proto::Command::FIRST && turn != 0) ||
         (command.when == proto::Command::LAST && turn + 1 != segment.repeat) ||
         (command.predicate && !*command.predicate);
}

/// Runs the commands as they are listed. That is a total order in which each command
/// stands behind those it waits for, so lanes need nothing more on one thread.
Status Rank::runSegment(const CommandSegment &segment, const StepRequest &request) {
  for (uint64_t turn = 0; turn < segment.repeat; ++turn) {
    if (turn > 0)
      writeInputs(request, turn);
    for (const Command &command : segment.commands) {
      if (skips(command, segment, turn, request))
        continue;
      ZERO_RT_TRY(
          std::visit([&](const auto &body) { return execute(body, command); }, command.body));
    }
  }
  return {};
}

Status Rank::finishMicroBatches(const StepRequest &request) {
  captureOutputs();
  if (request.gradients)
    captureGradients(*request.gradients);
  return request.allowNan ? Status() : checkLoss();
}

Status Rank::checkLoss() const {
  std::optional<double> local = scalar("local_loss"), global = scalar("loss");
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

void Rank::writeInputs(const StepRequest &request, uint64_t microBatch) {
  size_t data = 0;
  for (const proto::Input &input : tables().inputs()) {
    char *target = arena->base() + input.offset();
    if (input.kind() == proto::Input::DATA)
      request.data->read(data++, request.batch, microBatch, communicator->rank(), target);
    else
      writeScalar(input.kind(), request, microBatch, target);
  }
}

void Rank::captureOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].data(), arena->base() + tables().outputs(static_cast<int>(i)).offset(),
                outputs[i].size());
}

void Rank::captureGradients(std::vector<std::vector<uint8_t>> &gradients) const {
  for (int i = 0; i < tables().gradients_size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(i);
    uint64_t count = gradients[i].size() / sizeOf(toDType(gradient.buffer().dtype()));
    copyOwnPart(gradient.buffer(), gradient.start(), count, communicator->rank(), arena->base(),
                gradients[i].data());
  }
}

std::optional<double> Rank::scalar(const char *name) const {
  for (int i = 0; i < tables().outputs_size(); ++i) {
    const proto::Output &output = tables().outputs(i);
    if (output.name() != name || elementsOf(output.shape()) != 1)
      continue;
    if (output.dtype() == proto::F32) {
      float value;
      std::memcpy(&value, outputs[i].data(), sizeof(value));
      return value;
    }
    if (output.dtype() == proto::F64) {
      double value;
      std::memcpy(&value, outputs[i].data(), sizeof(value));
      return value;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Status Rank::execute(const LaunchCommand &launch, const Command &) {
  return queue->launch(launch.kernel, launch.args.data(), launch.length);
}

Status Rank::execute(const CollectiveCommand &collective, const Command &command) {
  Call call{command.label, collectives++, collective.control};
  switch (collective.kind) {
  case proto::Collective::ALL_GATHER:
    return communicator->allGather(call, collective.dtype, collective.source,
                                   collective.destination, collective.elements);
  case proto::Collective::REDUCE_SCATTER:
    return communicator->reduceScatter(call, collective.dtype, collective.source,
                                       collective.destination, collective.elements,
                                       collective.mean);
  default:
    return communicator->allReduce(call, collective.dtype, collective.destination,
                                   collective.elements, collective.mean);
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
