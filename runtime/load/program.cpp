//===- program.cpp - an executable in memory ------------------------------===//

#include "runtime/load/program.h"

#include "runtime/device/cpu/attention_plan.h"
#include "runtime/device/cpu/reach.h"
#include "runtime/load/validate.h"
#include "runtime/support/thread.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>

namespace zero::rt {

int defaultThreads(const proto::Program &program, int ranks) {
  if (program.threads() > 0)
    return static_cast<int>(program.threads());
  return std::max(1, usableCores() / ranks);
}

uint64_t arenaBytes(const proto::Program &program, proto::Tier tier) {
  for (const proto::Arena &arena : program.arenas())
    if (arena.tier() == tier)
      return arena.bytes();
  return 0;
}

std::string shapeName(const proto::Program &program) {
  std::string name;
  for (const proto::Input &input : program.inputs()) {
    if (!isBound(input))
      continue;
    name += (name.empty() ? "" : ",") + input.name();
    char before = '=';
    for (const uint64_t extent : shapeOf(input.shape())) {
      name += before + std::to_string(extent);
      before = 'x';
    }
  }
  return name;
}

size_t countCommands(const proto::Program &program) {
  size_t count = 0;
  for (const proto::Segment &segment : program.segments())
    count += size_t(segment.commands_size());
  return count;
}

uint64_t commandsPerStep(const proto::Program &program) {
  uint64_t count = 0;
  for (const proto::Segment &segment : program.segments())
    count += uint64_t(segment.commands_size()) * std::max(1u, segment.repeat());
  return count;
}

DiskTraffic diskTraffic(const proto::Program &program) {
  DiskTraffic all;
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      const proto::Copy &copy = command.copy();
      const uint64_t iterations = iterationsOf(segment, command);
      if (copy.src().tier() == proto::NVME)
        all.read += iterations * copy.bytes();
      if (copy.dst().tier() == proto::NVME)
        all.written += iterations * copy.bytes();
    }
  return all;
}

Status loadProgram(const std::string &path, std::shared_ptr<const LoadedProgram> &program) {
  auto loaded = std::make_shared<LoadedProgram>();
  if (std::string error = readExecutable(path, loaded->executable); !error.empty())
    return Status(ZERO_RT_BAD_FILE, error);
  Status status = validate(loaded->executable);
  if (status.ok())
    status = Module::load(loaded->tables(), loaded->executable.codeOfHost(), loaded->module);
  if (!status.ok())
    return fail(status.getCode(), "'%s': %s", escape(path).c_str(), status.getMessage().c_str());
  for (const proto::Tensor &tensor : loaded->tables().tensors())
    if (tensor.master())
      loaded->masters[tensor.of()] = &tensor;
    else if (tensor.role() == proto::PARAMETER)
      loaded->parameters[tensor.name()] = &tensor;
  program = std::move(loaded);
  return {};
}

const proto::Tensor &LoadedProgram::valueOf(const proto::Tensor &tensor) const {
  auto it = tensor.role() == proto::PARAMETER ? masters.find(tensor.name()) : masters.end();
  return it == masters.end() ? tensor : *it->second;
}

const proto::Tensor &LoadedProgram::parameterOf(const proto::Gradient &gradient) const {
  return *parameters.at(gradient.parameter());
}

std::vector<DType> argumentTypes(const proto::Kernel &kernel) {
  std::vector<DType> types;
  if (kernel.has_attention()) {
    AttentionPlan plan;
    if (planAttention(kernel, plan).ok())
      for (const AttentionPlan::Argument &argument : plan.arguments)
        types.push_back(argument.stored);
    return types;
  }
  for (int dtype : kernel.stored())
    types.push_back(toDType(static_cast<proto::DType>(dtype)));
  std::vector<uint64_t> reach;
  if (types.empty() && planReach(kernel, reach, /*onGpu=*/false).ok())
    types.assign(reach.size(), ZERO_RT_F32);
  return types;
}

std::shared_ptr<DataSet> makeDataSet(const proto::Program &program) {
  std::vector<InputSpec> inputs;
  for (int i = 0; i < program.inputs_size(); ++i) {
    const proto::Input &input = program.inputs(i);
    if (!isBound(input))
      continue;
    const auto shapeIn = [&](const proto::Program &each) {
      const auto shape = shapeOf(each.inputs(i).shape());
      return std::vector<uint64_t>(shape.begin(), shape.end());
    };
    InputSpec &spec = inputs.emplace_back(
        InputSpec{input.name(), toDType(input.dtype()), shapeIn(program), input.vocabulary()});
    for (const proto::Program &other : program.shapes())
      spec.others.push_back(shapeIn(other));
  }
  return std::make_shared<DataSet>(std::move(inputs),
                                   BatchShape{dataRanksOf(program), microBatchesOf(program)});
}

} // namespace zero::rt
