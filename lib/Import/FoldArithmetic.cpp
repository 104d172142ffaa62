//===- FoldArithmetic.cpp - elementwise and reductions on integers --------===//

#include "Fold.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <limits>

using llvm::ArrayRef;
using llvm::StringRef;

namespace zero::importer {

using Binary = bool (*)(int64_t a, int64_t b, int64_t &result);

/// Whether `value` is one of `type`'s.
static bool fits(int32_t type, int64_t value) {
  if (type == pb::TensorProto::INT32)
    return value == static_cast<int32_t>(value);
  return type != pb::TensorProto::BOOL || value == 0 || value == 1;
}

static bool divide(int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return false;
  result = a / b;
  return true;
}

/// The remainder with the sign of `b`, as Python's.
static bool modulo(int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || b == -1)
    return (result = 0, b == -1);
  result = a % b;
  if (result != 0 && (result < 0) != (b < 0))
    result += b;
  return true;
}

static bool remainder(int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || b == -1)
    return (result = 0, b == -1);
  result = a % b;
  return true;
}

static Binary binaryOf(StringRef type) {
  return llvm::StringSwitch<Binary>(type)
      .Case("Add", [](int64_t a, int64_t b, int64_t &r) { return checkedAdd(a, b, r); })
      .Case("Sub", [](int64_t a, int64_t b, int64_t &r) { return checkedSubtract(a, b, r); })
      .Case("Mul", [](int64_t a, int64_t b, int64_t &r) { return checkedMultiply(a, b, r); })
      .Case("Div", divide)
      .Case("Mod", modulo)
      .Cases({"Min", "ReduceMin"},
             [](int64_t a, int64_t b, int64_t &r) { return r = std::min(a, b), true; })
      .Cases({"Max", "ReduceMax"},
             [](int64_t a, int64_t b, int64_t &r) { return r = std::max(a, b), true; })
      .Case("ReduceSum", [](int64_t a, int64_t b, int64_t &r) { return checkedAdd(a, b, r); })
      .Case("ReduceProd", [](int64_t a, int64_t b, int64_t &r) { return checkedMultiply(a, b, r); })
      .Case("And", [](int64_t a, int64_t b, int64_t &r) { return r = a & b, true; })
      .Case("Or", [](int64_t a, int64_t b, int64_t &r) { return r = a | b, true; })
      .Case("Xor", [](int64_t a, int64_t b, int64_t &r) { return r = a ^ b, true; })
      .Case("Equal", [](int64_t a, int64_t b, int64_t &r) { return r = a == b, true; })
      .Case("Less", [](int64_t a, int64_t b, int64_t &r) { return r = a < b, true; })
      .Case("LessOrEqual", [](int64_t a, int64_t b, int64_t &r) { return r = a <= b, true; })
      .Case("Greater", [](int64_t a, int64_t b, int64_t &r) { return r = a > b, true; })
      .Case("GreaterOrEqual", [](int64_t a, int64_t b, int64_t &r) { return r = a >= b, true; })
      .Default(nullptr);
}

/// Two or more operands, combined from left to right.
static Evaluated evaluateBinary(const Evaluation &e) {
  Binary combine = binaryOf(e.node.op_type());
  if (e.node.op_type() == "Mod" && e.getInt("fmod", 0) != 0)
    combine = remainder;
  Values values;
  bool exact = true;
  forEachIndex(e.dims[0], [&](ArrayRef<int64_t> index) {
    int64_t value = broadcastAt(*e.inputs[0], index);
    for (const Ints *input : e.inputs.drop_front())
      exact = exact && combine(value, broadcastAt(*input, index), value);
    exact = exact && fits(e.types[0], value);
    values.push_back(value);
  });
  return exact ? Evaluated({std::move(values)}) : std::nullopt;
}

static Evaluated evaluateUnary(const Evaluation &e) {
  const StringRef type = e.node.op_type();
  Values values;
  for (int64_t value : e.inputs[0]->values) {
    if (value == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    if (type == "Neg")
      value = -value;
    else if (type == "Abs")
      value = std::abs(value);
    else if (type == "Sign")
      value = (value > 0) - (value < 0);
    else if (type == "Not")
      value = !value;
    if (!fits(e.types[0], value))
      return std::nullopt;
    values.push_back(value);
  }
  return Evaluated({std::move(values)});
}

static Evaluated evaluateCast(const Evaluation &e) {
  Values values;
  for (int64_t value : e.inputs[0]->values) {
    if (e.types[0] == pb::TensorProto::BOOL)
      value = value != 0;
    if (!isInteger(e.types[0]) || !fits(e.types[0], value))
      return std::nullopt;
    values.push_back(value);
  }
  return Evaluated({std::move(values)});
}

static Evaluated evaluateWhere(const Evaluation &e) {
  Values values;
  forEachIndex(e.dims[0], [&](ArrayRef<int64_t> index) {
    const Ints &chosen = *e.inputs[broadcastAt(*e.inputs[0], index) ? 1 : 2];
    values.push_back(broadcastAt(chosen, index));
  });
  return Evaluated({std::move(values)});
}

/// Which dimensions of its operand the reduction sums over; nothing if an axis
/// is out of range.
static std::optional<llvm::SmallVector<bool>> reducedDims(const Evaluation &e) {
  const int64_t rank = e.inputs[0]->dims.size();
  Dims axes = e.getInts("axes").value_or(Dims());
  if (const Ints *input = e.input(1))
    axes.assign(input->values.begin(), input->values.end());
  const bool all = axes.empty() && e.getInt("noop_with_empty_axes", 0) == 0;
  llvm::SmallVector<bool> reduced(rank, all);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return std::nullopt;
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return reduced;
}

static Evaluated evaluateReduce(const Evaluation &e) {
  Binary combine = binaryOf(e.node.op_type());
  const Ints &input = *e.inputs[0];
  auto reduced = reducedDims(e);
  // The empty reduction needs a neutral element, which shapes never do.
  if (!reduced || input.values.empty())
    return std::nullopt;
  std::map<Dims, int64_t> sums;
  size_t at = 0;
  bool exact = true;
  forEachIndex(input.dims, [&](ArrayRef<int64_t> index) {
    Dims kept(index);
    for (auto [position, isReduced] : llvm::zip_equal(kept, *reduced))
      position = isReduced ? 0 : position;
    int64_t value = input.values[at++];
    auto [sum, isNew] = sums.try_emplace(kept, value);
    if (!isNew)
      exact = exact && combine(sum->second, value, sum->second) && fits(e.types[0], sum->second);
  });
  // Indices compare as rows are laid out.
  Values values;
  for (const auto &[index, sum] : sums)
    values.push_back(sum);
  return exact ? Evaluated({std::move(values)}) : std::nullopt;
}

static Evaluated evaluateCumSum(const Evaluation &e) {
  const Ints &input = *e.inputs[0];
  const int64_t rank = input.dims.size();
  int64_t axis = e.inputs[1]->values.at(0);
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  axis += axis < 0 ? rank : 0;
  const int64_t length = input.dims[axis];
  const auto stride =
      saturatingProduct<int64_t>(ArrayRef<int64_t>(input.dims).drop_front(axis + 1));
  const bool exclusive = e.getInt("exclusive", 0) != 0, reverse = e.getInt("reverse", 0) != 0;
  Values values(input.values.size());
  for (int64_t start = 0, size = values.size(); start < size; ++start) {
    if (start / stride % length != 0)
      continue;
    int64_t sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = start + (reverse ? length - 1 - i : i) * stride, before = sum;
      if (!checkedAdd(sum, input.values[at], sum) || !fits(e.types[0], sum))
        return std::nullopt;
      values[at] = exclusive ? before : sum;
    }
  }
  return Evaluated({std::move(values)});
}

Evaluator arithmeticEvaluator(StringRef type) {
  if (type.starts_with("Reduce"))
    return binaryOf(type) ? evaluateReduce : nullptr;
  if (binaryOf(type))
    return evaluateBinary;
  return llvm::StringSwitch<Evaluator>(type)
      .Cases({"Neg", "Abs", "Sign", "Not"}, evaluateUnary)
      .Cases({"Cast", "CastLike"}, evaluateCast)
      .Case("Where", evaluateWhere)
      .Case("CumSum", evaluateCumSum)
      .Default(nullptr);
}

} // namespace zero::importer
