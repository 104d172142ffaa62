//===- windows.cpp - memory shared by host and steps ----------------------===//

#include "runtime/execute/windows.h"

namespace zero::rt {

StepWindows::StepWindows(const proto::Program &program, int rank) {
  const Mesh mesh = meshOf(program);
  auto addValue = [&](const auto &value) {
    all.push_back(
        {value.offset(), elementsOf(value.shape()) * sizeOf(toDType(value.dtype())), nullptr});
  };
  for (const proto::Input &input : program.inputs())
    addValue(input);
  outputs = uint32_t(all.size());
  for (const proto::Output &output : program.outputs())
    addValue(output);
  predicates = uint32_t(all.size());
  for (const proto::Address &predicate : program.predicates())
    all.push_back({placeOf(mesh, predicate, rank), 1, nullptr});
  checks = uint32_t(all.size());
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_check())
        all.push_back({placeOf(mesh, command.check().value(), rank), 2 * sizeof(int64_t), nullptr});
}

} // namespace zero::rt
