//===- weights.cpp - initial values from a file of weights ----------------===//

#include "runtime/session/weights.h"

#include "runtime/io/tensor_entry.h"
#include "runtime/support/adapter_names.h"
#include "runtime/support/floats.h"
#include "runtime/support/problems.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

static constexpr char kMissing[] = "missing", kOther[] = "of another shape or type",
                      kUnknown[] = "that the model does not have";

/// The reason why `array` cannot be the value of `tensor`, or empty.
static std::string mismatch(const proto::Tensor &tensor, const Array &array) {
  const auto [dtype, shape] = valueTypeOf(tensor);
  if (!std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end()))
    return "expected " + shapeText(shape) + ", got " + shapeText(array.shape);
  if (!isConvertible(array.dtype, dtype))
    return std::string("expected ") + nameOf(dtype) + ", got " + nameOf(array.dtype);
  return "";
}

namespace {
/// Finds the tensors of a file by any of their names.
class Finder {
public:
  explicit Finder(const WeightsFile &file) : file(file), unknown(file.tensors()) {}

  /// Finds `tensor` in the file; null if it is missing. A tied tensor may have copies under several
  /// names, which must be equal.
  Status find(const proto::Tensor &tensor, const WeightsFile::Get *&found, Problems &problems);
  /// The entries that match no tensor.
  const std::map<std::string, WeightsFile::Get> &rest() const { return unknown; }

private:
  const WeightsFile &file;
  std::map<std::string, WeightsFile::Get> unknown;
};
} // namespace

/// Whether two entries of a file are bitwise identical.
static Status areEqual(const WeightsFile::Get &left, const WeightsFile::Get &right, bool &equal) {
  Array first, second;
  ZERO_RT_TRY(left(first));
  ZERO_RT_TRY(right(second));
  equal = first.dtype == second.dtype && first.shape == second.shape;
  for (uint64_t at = 0; equal && at < first.bytes.size(); at += kTensorPiece) {
    const uint64_t count = std::min<uint64_t>(kTensorPiece, first.bytes.size() - at);
    equal = std::memcmp(&first.bytes[at], &second.bytes[at], count) == 0;
    for (const Array *array : {&first, &second})
      array->release(at, count);
  }
  return {};
}

Status Finder::find(const proto::Tensor &tensor, const WeightsFile::Get *&found,
                    Problems &problems) {
  std::vector<std::string> names = {tensor.name()};
  names.insert(names.end(), tensor.aliases().begin(), tensor.aliases().end());
  std::string foundAs;
  for (const std::string &name : names) {
    auto it = file.tensors().find(name);
    if (it == file.tensors().end())
      continue;
    unknown.erase(name);
    bool equal = true;
    if (found)
      ZERO_RT_TRY(areEqual(*found, it->second, equal));
    if (!equal)
      problems.add("tied in the model, but not equal", quoted(foundAs) + " and " + quoted(name));
    if (!found) {
      found = &it->second;
      foundAs = name;
    }
  }
  return {};
}

/// The remedy for `problems`, printed before them.
static std::string remedyFor(const Problems &problems) {
  return problems.has(kMissing) && !problems.has(kOther)
             ? "--weights-partial loads the tensors that match by name; "
             : "";
}

/// Fails if bitsandbytes has stored a matrix of the file in codes of its own, which others beside
/// it describe.
static Status checkPlain(const WeightsFile &file) {
  for (const auto &[name, get] : file.tensors())
    for (const char *mark : {".quant_state.bitsandbytes__", ".SCB"})
      if (const size_t at = name.find(mark); at != std::string::npos)
        return fail(
            ZERO_RT_UNSUPPORTED,
            "bitsandbytes has stored %s in blocks of codes; save the model with its elements "
            "(model.dequantize() of transformers), and compile with --frozen-precision",
            quoted(name.substr(0, at)).c_str());
  return {};
}

Status planWeights(const proto::Program &program, const WeightsFile &file, bool partial,
                   bool verbose, WeightsPlan &plan) {
  ZERO_RT_TRY(checkPlain(file));
  Problems problems(verbose);
  Finder finder(file);
  const bool hasAdapters = std::any_of(file.tensors().begin(), file.tensors().end(),
                                       [](const auto &entry) { return isOfAdapter(entry.first); });
  for (const proto::Tensor &tensor : program.tensors()) {
    if (!persistenceOf(tensor).loadable)
      continue;
    const WeightsFile::Get *found = nullptr;
    ZERO_RT_TRY(finder.find(tensor, found, problems));
    // State of an optimizer may be in the file, too. What starts as one number need not be:
    // buffers, and parameters that --zeros names.
    const bool isNeeded = tensor.init().required() ||
                          ((tensor.role() == proto::PARAMETER || tensor.role() == proto::BUFFER) &&
                           !tensor.init().has_splat());
    // Beside the weights of a base, adapters begin with values of their own.
    if (!found && (!isNeeded || (isOfAdapter(tensor.name()) && !hasAdapters)))
      continue;
    if (!found) {
      ++plan.missing;
      if (!partial)
        problems.add(kMissing, quoted(tensor.name()));
      continue;
    }
    Array array;
    ZERO_RT_TRY((*found)(array));
    if (std::string what = mismatch(tensor, array); !what.empty())
      problems.add(kOther, quoted(tensor.name()) + " (" + what + ")");
    plan.taken.push_back({&tensor, *found});
  }
  plan.unknown = finder.rest().size();
  Problems unknown(verbose);
  for (const auto &[name, get] : finder.rest())
    if (!partial && !file.isOptimizerState(name))
      unknown.add(kUnknown, quoted(name));
  plan.remark = unknown.text();
  if (!problems.empty())
    return fail(ZERO_RT_BAD_DATA, "%s%s%s%s", remedyFor(problems).c_str(), problems.text().c_str(),
                unknown.empty() ? "" : "; ", plan.remark.c_str());
  if (plan.taken.empty())
    return fail(ZERO_RT_BAD_DATA, "none of its %zu tensors is one of the model's",
                file.tensors().size());
  return {};
}

} // namespace zero::rt
