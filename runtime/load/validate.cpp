//===- validate.cpp - validate the tables ---------------------------------===//

#include "runtime/load/validate.h"

#include "runtime/format/limits.h"
#include "runtime/load/validate_commands.h"
#include "runtime/load/validate_gpu.h"
#include "runtime/load/validate_shapes.h"
#include "runtime/load/validate_tensors.h"
#include "runtime/load/validate_tiers.h"
#include "runtime/support/checked.h"
#include "runtime/verify/lane_check.h"
#include "runtime/verify/simulation.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace zero::rt {

/// The sizes of the axes multiply to the number of ranks.
static Status checkMesh(const proto::Program &program) {
  if (program.mesh_size() > kMostAxes)
    return fail(ZERO_RT_UNSUPPORTED, "expected a mesh of at most %d axes, got %d", kMostAxes,
                program.mesh_size());
  uint64_t product = 1;
  for (const proto::Axis &axis : program.mesh()) {
    if (axis.size() < 1 || axis.size() > kMostRanks)
      return badTable("axis", axis.name(), "its size is 0, or larger than that of any mesh");
    product = std::min<uint64_t>(product * axis.size(), kMostRanks + 1);
  }
  if (program.mesh_size() == 0 || product != program.ranks())
    return fail(ZERO_RT_BAD_FILE, "expected axes of the mesh whose sizes multiply to %u ranks",
                program.ranks());
  const Mesh mesh = meshOf(program);
  for (const proto::Volume &volume : program.volumes())
    ZERO_RT_TRY(checkAxes(mesh, "table", "volumes", volume.axes(), AxisOrder::Ascending));
  return checkAxes(mesh, "table", "data_axes", program.data_axes(), AxisOrder::Ascending);
}

/// Whether nodes of `each` ranks have all of some inner axes, and an equal part of the next one:
/// then all groups along the same axes are cut alike. Nodes along a single axis may be of any size.
static bool cutsEvenly(const Mesh &mesh, uint64_t each) {
  const AxisSet axes = mesh.proper(kAllAxes);
  if (each == 0 || (axes & (axes - 1)) == 0)
    return true;
  for (int axis = mesh.axes(); axis-- > 0;) {
    const auto size = uint64_t(mesh.size(axis));
    if (each % size != 0)
      return size % each == 0;
    each /= size;
  }
  return true;
}

static Status checkLaneShares(const proto::Program &program) {
  const auto &shares = program.lane_shares();
  constexpr size_t kExpected = size_t(ZERO_RT_LANES) * kResources;
  if (!shares.empty() && size_t(shares.size()) != kExpected)
    return fail(ZERO_RT_BAD_FILE, "expected %zu shares of lanes or none, got %d", kExpected,
                shares.size());
  for (double share : shares)
    if (!(share >= 0 && share <= 1))
      return fail(ZERO_RT_BAD_FILE, "expected a share of a lane between 0 and 1, got %g", share);
  return {};
}

static Status checkSizes(const proto::Program &program) {
  if (program.ranks() < 1 || program.ranks() > kMostRanks)
    return fail(ZERO_RT_BAD_FILE, "expected 1 to %u ranks, got %u", kMostRanks, program.ranks());
  ZERO_RT_TRY(checkMesh(program));
  if (program.ranks_per_node() > program.ranks())
    return fail(ZERO_RT_BAD_FILE, "%u ranks of a node among %u", program.ranks_per_node(),
                program.ranks());
  if (!cutsEvenly(meshOf(program), program.ranks_per_node()))
    return fail(ZERO_RT_BAD_FILE, "%u ranks of a node are no whole part of the mesh",
                program.ranks_per_node());
  if (program.threads() > kMostThreads)
    return fail(ZERO_RT_BAD_FILE, "expected at most %u threads per rank, got %u", kMostThreads,
                program.threads());
  if (program.micro_batches() > kMostMicroBatches)
    return fail(ZERO_RT_BAD_FILE, "expected at most %u micro-batches, got %u", kMostMicroBatches,
                program.micro_batches());
  return {};
}

/// The rows of all ranks and micro-batches can be counted.
static Status checkGlobalBatch(const proto::Program &program, const proto::Input &input) {
  uint64_t rows = input.shape_size() > 0 ? input.shape(0) : 1;
  if (!checkedMultiply(rows, dataRanksOf(program), rows) ||
      !checkedMultiply(rows, microBatchesOf(program), rows))
    return badTable("input", input.name(), "its global batch has too many rows");
  return {};
}

/// An input or output.
template <typename Value>
static Status checkValue(const char *what, const Value &value, const Bounds &bounds) {
  uint64_t count, bytes;
  if (!countElements(shapeOf(value.shape()), count) || !sizeInBytes(value.dtype(), count, bytes))
    return badTable(what, value.name(), "bad element type or shape");
  if (!bounds.fits(proto::DEVICE, value.offset(), bytes))
    return badTable(what, value.name(), "it lies outside the arena");
  return {};
}

static Status checkInput(const proto::Program &program, const Bounds &bounds,
                         const proto::Input &input) {
  ZERO_RT_TRY(checkValue("input", input, bounds));
  if (input.kind() == proto::Input::DATA)
    return checkGlobalBatch(program, input);
  proto::DType dtype = input.kind() == proto::Input::LEARNING_RATE ? proto::F32
                       : input.kind() == proto::Input::TRAINING    ? proto::I1
                                                                   : proto::I64;
  if (input.kind() > proto::Input::COORDINATE || input.dtype() != dtype || input.shape_size() != 0)
    return badTable("input", input.name(), "expected a scalar of its kind's type");
  if (input.kind() == proto::Input::COORDINATE && input.axis() >= uint32_t(program.mesh_size()))
    return badTable("input", input.name(), "an axis that the mesh does not have");
  return {};
}

/// An input of a later micro-batch has the type and shape of the bound one of its name.
static Status checkMicroBatches(const proto::Program &program) {
  std::unordered_map<std::string_view, const proto::Input *> bound;
  for (const proto::Input &input : program.inputs())
    if (isBound(input))
      bound.emplace(input.name(), &input);
  for (const proto::Input &input : program.inputs()) {
    if (input.micro_batch() >= microBatchesOf(program))
      return badTable("input", input.name(), "it belongs to a micro-batch that the step lacks");
    if (input.kind() != proto::Input::DATA)
      continue;
    auto it = bound.find(input.name());
    if (it == bound.end() || it->second->dtype() != input.dtype() ||
        !std::ranges::equal(it->second->shape(), input.shape()))
      return badTable("input", input.name(),
                      "the first micro-batch has none of this type and shape");
  }
  return {};
}

static Status validateTables(const proto::Program &program, uint64_t dataBytes) {
  ZERO_RT_TRY(checkSizes(program));
  ZERO_RT_TRY(checkLaneShares(program));
  const Bounds bounds(program);
  ZERO_RT_TRY(validateTensors(program, dataBytes, bounds));
  for (const proto::Input &input : program.inputs())
    ZERO_RT_TRY(checkInput(program, bounds, input));
  ZERO_RT_TRY(checkMicroBatches(program));
  for (const proto::Output &output : program.outputs())
    ZERO_RT_TRY(checkValue("output", output, bounds));
  for (const proto::Address &predicate : program.predicates())
    ZERO_RT_TRY(bounds.check("predicate", predicate, 1));
  ZERO_RT_TRY(validateCommands(program, bounds));
  return checkLanes(program);
}

Status validate(const Executable &executable) {
  ZERO_RT_TRY(validateTarget(executable));
  for (size_t shape = 0; shape < countShapes(executable.program); ++shape) {
    const proto::Program &program = programOf(executable.program, shape);
    ZERO_RT_TRY(validateTiers(program));
    ZERO_RT_TRY(validateTables(program, executable.data.size()));
  }
  return validateShapes(executable.program);
}

} // namespace zero::rt
