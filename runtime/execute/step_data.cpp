//===- step_data.cpp - inputs and outputs of a rank's steps ---------------===//

#include "runtime/execute/step_data.h"

#include "runtime/execute/state.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace zero::rt {

StepData::StepData(const LoadedProgram &program, size_t shape, Communicator &communicator,
                   RankMemory &memory, Queue &queue)
    : program(program), shape(shape), communicator(communicator), memory(memory), queue(queue),
      dataRank(dataRankOf(program.tables(), communicator.rank())),
      windows(program.tablesOf(shape), communicator.rank()) {
  for (const proto::Output &output : tables().outputs())
    outputs.emplace_back(elementsOf(output.shape()) * sizeOf(toDType(output.dtype())));
  // In the order of makeDataSet.
  std::unordered_map<std::string_view, size_t> bound;
  size_t next = 0;
  for (const proto::Input &input : tables().inputs())
    if (isBound(input))
      bound.emplace(input.name(), next++);
  for (const proto::Input &input : tables().inputs())
    dataIndices.push_back(input.kind() == proto::Input::DATA ? bound.at(input.name()) : 0);
}

Status StepData::open() { return queue.open(memory.device(), windows.all); }

static const char *textOf(double value) { return std::isnan(value) ? "NaN" : "infinite"; }

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

/// A scalar that is not the user's data.
void StepData::writeScalar(const proto::Input &input, const StepRequest &request,
                           uint64_t microBatch, char *target) const {
  const proto::Input::Kind kind = input.kind();
  auto write = [target](auto value) { std::memcpy(target, &value, sizeof(value)); };
  if (kind == proto::Input::LEARNING_RATE)
    write(request.learningRate);
  else if (kind == proto::Input::STEP)
    write(int64_t(request.step));
  else if (kind == proto::Input::PART)
    write(int64_t(microBatch * dataRanksOf(tables())) + dataRank);
  else if (kind == proto::Input::COORDINATE)
    write(int64_t(program.mesh().coordinate(communicator.rank(), int(input.axis()))));
  else
    write(uint8_t(isTraining(request.mode)));
}

/// Writes the inputs that `which` has, or all.
Status StepData::writeInputs(const StepRequest &request, uint64_t microBatch,
                             const std::vector<bool> *which) {
  for (int i = 0; i < tables().inputs_size(); ++i) {
    const proto::Input &input = tables().inputs(i);
    const uint64_t part = microBatch + input.micro_batch();
    if (which && !(*which)[size_t(i)])
      continue;
    ZERO_RT_TRY(queue.await(uint32_t(i)));
    char *target = windows.at<char>(uint32_t(i));
    if (input.kind() == proto::Input::DATA && request.samples)
      request.data->read(dataIndices[size_t(i)], shape, *request.samples, part, dataRank, target);
    else if (input.kind() == proto::Input::DATA)
      request.data->read(dataIndices[size_t(i)], shape, request.batch, part, dataRank, target);
    else
      writeScalar(input, request, part, target);
    ZERO_RT_TRY(queue.push(uint32_t(i)));
  }
  return {};
}

/// Brings the outputs, or the losses among them, to the host.
Status StepData::pullOutputs(bool all) {
  for (int i = 0; i < tables().outputs_size(); ++i)
    if (all || isLoss(tables().outputs(i).name()))
      ZERO_RT_TRY(queue.pull(windows.outputs + uint32_t(i)));
  return {};
}

Status StepData::handOutGradients(const StepRequest &request) {
  const MemoryByTier places = memory.byTier();
  for (int i = 0; i < tables().gradients_size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(i);
    auto take = [&](uint64_t offset, const char *values, uint64_t bytes) {
      return request.takeGradient(i, offset, values, bytes);
    };
    for (const Block &block : blocksOf(tables(), gradient, program.parameterOf(gradient)))
      ZERO_RT_TRY(readOwnGradient(gradient, block, communicator.rank(), places, take));
  }
  return {};
}

Status StepData::checkLoss() const {
  auto now = [&](const char *name) {
    const int index = scalarNamed(tables(), name);
    return index < 0 ? std::nullopt
                     : scalarValue(tables().outputs(index),
                                   windows.at<char>(windows.outputs + uint32_t(index)));
  };
  std::optional<double> local = now("local_loss"), global = now("loss");
  if (std::optional<double> own = local ? local : global; own && !std::isfinite(*own))
    return fail(ZERO_RT_NOT_FINITE, "rank %d: the loss is %s", communicator.rank(), textOf(*own));
  // The mean shows that another rank has a non-finite loss; that rank names itself.
  if (global && !std::isfinite(*global))
    return fail(ZERO_RT_ABORTED, "the mean of the loss over ranks is %s", textOf(*global));
  return {};
}

Status StepData::awaitMicroBatches() {
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(pullOutputs(/*all=*/false));
  ZERO_RT_TRY(queue.finish());
  return communicator.check();
}

Status StepData::finishMicroBatches(const StepRequest &request) {
  if (request.takeGradient)
    ZERO_RT_TRY(handOutGradients(request));
  // An evaluation changes nothing: its caller decides what a loss that is not finite means.
  return request.allowNan || !isTraining(request.mode) ? Status() : checkLoss();
}

Status StepData::finishStep() {
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(pullOutputs(/*all=*/true));
  ZERO_RT_TRY(queue.finish());
  ZERO_RT_TRY(communicator.check());
  for (size_t i = 0; i < outputs.size(); ++i)
    std::copy_n(windows.at<char>(windows.outputs + uint32_t(i)), outputs[i].size(),
                outputs[i].data());
  return {};
}

Status StepData::checkNorm() const {
  const double norm = scalar("gradient_norm").value_or(0);
  return std::isfinite(norm)
             ? Status()
             : fail(ZERO_RT_NOT_FINITE,
                    "the norm of the gradients is %s: their squares exceed the range of fp32",
                    textOf(norm));
}

std::optional<double> StepData::scalar(const char *name) const {
  const int index = scalarNamed(tables(), name);
  return index < 0 ? std::nullopt : scalarValue(tables().outputs(index), outputs[index].data());
}

} // namespace zero::rt
