//===- program.cpp - an executable in memory ------------------------------===//

#include "runtime/core/program.h"

#include "runtime/core/validate.h"

namespace zero::rt {

uint64_t deviceBytes(const proto::Program &program) {
  for (const proto::Arena &arena : program.arenas())
    if (arena.tier() == proto::DEVICE)
      return arena.bytes();
  return 0;
}

Status loadProgram(const std::string &path, std::shared_ptr<const LoadedProgram> &program) {
  auto loaded = std::make_shared<LoadedProgram>();
  if (std::string error = readExecutable(path, loaded->executable); !error.empty())
    return Status(ZERO_RT_BAD_FILE, error);
  Status status = validate(loaded->executable);
  if (status.ok())
    status = Module::load(loaded->tables(), loaded->executable.code, loaded->module);
  if (!status.ok())
    return fail(status.getCode(), "'%s': %s", escape(path).c_str(), status.getMessage().c_str());
  program = std::move(loaded);
  return {};
}

std::shared_ptr<DataSet> makeDataSet(const proto::Program &program) {
  std::vector<InputSpec> inputs;
  for (const proto::Input &input : program.inputs()) {
    auto shape = shapeOf(input.shape());
    if (input.kind() == proto::Input::DATA)
      inputs.push_back({input.name(), toDType(input.dtype()), {shape.begin(), shape.end()}});
  }
  uint64_t microBatches = 1;
  for (const proto::Segment &segment : program.segments())
    if (segment.kind() == proto::Segment::MICRO_BATCH)
      microBatches = std::max<uint64_t>(1, segment.repeat());
  return std::make_shared<DataSet>(std::move(inputs), BatchShape{program.ranks(), microBatches});
}

} // namespace zero::rt
