//===- weights.cpp - initial values from a file of weights ----------------===//

#include "runtime/core/weights.h"

#include "runtime/support/floats.h"
#include "runtime/support/problems.h"

#include <algorithm>

namespace zero::rt {

/// What keeps `array` from being the values of `tensor`, or nothing.
static std::string mismatch(const proto::Tensor &tensor, const Array &array) {
  auto shape = shapeOf(tensor.shape());
  if (!std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end()))
    return "expected " + shapeText(shape) + ", got " + shapeText(array.shape);
  DType dtype = toDType(tensor.dtype());
  if (!isConvertible(array.dtype, dtype))
    return std::string("expected ") + nameOf(dtype) + ", got " + nameOf(array.dtype);
  return "";
}

Status planWeights(const proto::Program &program, const WeightsFile &file, bool partial,
                   WeightsPlan &plan) {
  Problems problems;
  std::map<std::string, WeightsFile::Get> unknown = file.tensors();
  for (const proto::Tensor &tensor : program.tensors()) {
    if (!tensor.saved())
      continue;
    auto it = file.tensors().find(tensor.name());
    if (it == file.tensors().end()) {
      ++plan.missing;
      if (!partial)
        problems.add("missing", quoted(tensor.name()));
      continue;
    }
    Array array;
    ZERO_RT_TRY(it->second(array));
    if (std::string what = mismatch(tensor, array); !what.empty())
      problems.add("of another shape or type", quoted(tensor.name()) + " (" + what + ")");
    plan.taken.push_back({&tensor, it->second});
    unknown.erase(tensor.name());
  }
  plan.unknown = unknown.size();
  for (const auto &[name, get] : unknown)
    if (!partial)
      problems.add("that the model does not have", quoted(name));
  if (!problems.empty())
    return fail(ZERO_RT_BAD_DATA, "%s", problems.text().c_str());
  if (plan.taken.empty())
    return fail(ZERO_RT_BAD_DATA, "none of its %zu tensors is one of the model's",
                file.tensors().size());
  return {};
}

} // namespace zero::rt
