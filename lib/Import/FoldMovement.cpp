//===- FoldMovement.cpp - rearranges integers -----------------------------===//

#include "Fold.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using llvm::ArrayRef;
using llvm::StringRef;

namespace zero::importer {

/// Computes the operand element of a result element; false if there is none.
using Source = llvm::function_ref<bool(ArrayRef<int64_t> index, Dims &source)>;

/// The element of `input` at `index`, or nothing if that is out of range.
static std::optional<int64_t> at(const Ints &input, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [position, dim] : llvm::zip_equal(index, input.dims)) {
    if (position < 0 || position >= dim)
      return std::nullopt;
    offset = offset * dim + position;
  }
  return input.values[offset];
}

/// A result of shape `dims` whose elements are taken from `input`.
static std::optional<Values> pick(const Ints &input, ArrayRef<int64_t> dims, Source from) {
  Values values;
  bool exact = true;
  forEachIndex(dims, [&](ArrayRef<int64_t> index) {
    Dims source;
    if (!exact || !from(index, source) || source.size() != input.dims.size())
      return void(exact = false);
    std::optional<int64_t> value = at(input, source);
    exact = value.has_value();
    values.push_back(value.value_or(0));
  });
  return exact ? std::optional(std::move(values)) : std::nullopt;
}

static Evaluated single(std::optional<Values> values) {
  if (!values)
    return std::nullopt;
  return Evaluated({std::move(*values)});
}

/// `axis` counted from the front; nothing if out of range.
static std::optional<int64_t> fromFront(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

static Evaluated evaluateSame(const Evaluation &e) { return Evaluated({e.inputs[0]->values}); }

static Evaluated evaluateExpand(const Evaluation &e) {
  Values values;
  forEachIndex(e.dims[0], [&](ArrayRef<int64_t> index) {
    values.push_back(broadcastAt(*e.inputs[0], index));
  });
  return Evaluated({std::move(values)});
}

static Evaluated evaluateTile(const Evaluation &e) {
  const Ints &input = *e.inputs[0];
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    for (auto [position, dim] : llvm::zip_equal(index, input.dims))
      source.push_back(position % dim);
    return true;
  }));
}

static Evaluated evaluateTranspose(const Evaluation &e) {
  const Ints &input = *e.inputs[0];
  const size_t rank = input.dims.size();
  Dims perm(rank);
  for (size_t i = 0; i < rank; ++i)
    perm[i] = rank - 1 - i;
  perm = e.getInts("perm").value_or(perm);
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    source.assign(rank, 0);
    for (auto [position, dim] : llvm::zip_equal(index, perm))
      source[dim] = position;
    return true;
  }));
}

static Evaluated evaluateConcat(const Evaluation &e) {
  auto axis = fromFront(e.getInt("axis", 0), e.dims[0].size());
  if (!axis)
    return std::nullopt;
  Values values;
  forEachIndex(e.dims[0], [&](ArrayRef<int64_t> index) {
    Dims source(index);
    const Ints *const *part = e.inputs.begin();
    while (source[*axis] >= (*part)->dims[*axis])
      source[*axis] -= (*part++)->dims[*axis];
    values.push_back(at(**part, source).value_or(0));
  });
  return Evaluated({std::move(values)});
}

static Evaluated evaluateSplit(const Evaluation &e) {
  auto axis = fromFront(e.getInt("axis", 0), e.inputs[0]->dims.size());
  if (!axis)
    return std::nullopt;
  std::vector<Values> results;
  int64_t start = 0;
  for (const Dims &dims : e.dims) {
    auto values = pick(*e.inputs[0], dims, [&](ArrayRef<int64_t> index, Dims &source) {
      source.assign(index.begin(), index.end());
      source[*axis] += start;
      return true;
    });
    if (!values)
      return std::nullopt;
    results.push_back(std::move(*values));
    start += dims[*axis];
  }
  return results;
}

/// The first position that Slice takes along a dimension of length `dim`.
static int64_t firstPosition(int64_t start, int64_t step, int64_t dim) {
  start += start < 0 ? dim : 0;
  return step > 0 ? std::clamp<int64_t>(start, 0, dim) : std::clamp<int64_t>(start, -1, dim - 1);
}

static Evaluated evaluateSlice(const Evaluation &e) {
  const Ints &input = *e.inputs[0];
  const int64_t rank = input.dims.size();
  Dims first(rank, 0), steps(rank, 1);
  for (size_t i = 0; i < e.inputs[1]->values.size(); ++i) {
    auto axis = fromFront(e.input(3) ? e.inputs[3]->values.at(i) : i, rank);
    const int64_t step = e.input(4) ? e.inputs[4]->values.at(i) : 1;
    if (!axis || step == 0)
      return std::nullopt;
    steps[*axis] = step;
    first[*axis] = firstPosition(e.inputs[1]->values[i], step, input.dims[*axis]);
  }
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    for (int64_t d = 0; d < rank; ++d) {
      int64_t position = 0;
      if (!checkedMultiply(index[d], steps[d], position))
        return false;
      source.push_back(first[d] + position);
    }
    return true;
  }));
}

static Evaluated evaluateGather(const Evaluation &e) {
  const Ints &input = *e.inputs[0], &indices = *e.inputs[1];
  auto axis = fromFront(e.getInt("axis", 0), input.dims.size());
  if (!axis)
    return std::nullopt;
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    auto chosen = at(indices, index.slice(*axis, indices.dims.size()));
    source.assign(index.begin(), index.begin() + *axis);
    source.push_back(*chosen + (*chosen < 0 ? input.dims[*axis] : 0));
    llvm::append_range(source, index.drop_front(*axis + indices.dims.size()));
    return true;
  }));
}

static Evaluated evaluateGatherElements(const Evaluation &e) {
  const Ints &input = *e.inputs[0], &indices = *e.inputs[1];
  auto axis = fromFront(e.getInt("axis", 0), input.dims.size());
  if (!axis)
    return std::nullopt;
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    auto chosen = at(indices, index);
    source.assign(index.begin(), index.end());
    source[*axis] = *chosen + (*chosen < 0 ? input.dims[*axis] : 0);
    return true;
  }));
}

static Evaluated evaluateGatherND(const Evaluation &e) {
  const Ints &input = *e.inputs[0], &indices = *e.inputs[1];
  const int64_t batch = e.getInt("batch_dims", 0), depth = indices.dims.back();
  const size_t outer = indices.dims.size() - 1;
  return single(pick(input, e.dims[0], [&](ArrayRef<int64_t> index, Dims &source) {
    source.assign(index.begin(), index.begin() + batch);
    for (int64_t i = 0; i < depth; ++i) {
      Dims tuple(index.take_front(outer));
      tuple.push_back(i);
      auto chosen = at(indices, tuple);
      if (source.size() >= input.dims.size())
        return false;
      source.push_back(*chosen + (*chosen < 0 ? input.dims[source.size()] : 0));
    }
    llvm::append_range(source, index.drop_front(outer));
    return true;
  }));
}

static Evaluated evaluateRange(const Evaluation &e) {
  Values values;
  int64_t value = e.inputs[0]->values.at(0);
  for (int64_t i = 0; i < e.dims[0][0]; ++i) {
    values.push_back(value);
    if (i + 1 < e.dims[0][0] && !checkedAdd(value, e.inputs[2]->values.at(0), value))
      return std::nullopt;
  }
  return Evaluated({std::move(values)});
}

static Evaluated evaluateTrilu(const Evaluation &e) {
  const Ints &input = *e.inputs[0];
  const int64_t diagonal = e.input(1) ? e.inputs[1]->values.at(0) : 0;
  const bool upper = e.getInt("upper", 1) != 0;
  Values values;
  forEachIndex(e.dims[0], [&](ArrayRef<int64_t> index) {
    const int64_t offset = index.back() - index[index.size() - 2];
    const bool kept = upper ? offset >= diagonal : offset <= diagonal;
    values.push_back(kept ? input.values[values.size()] : 0);
  });
  return Evaluated({std::move(values)});
}

Evaluator movementEvaluator(StringRef type) {
  return llvm::StringSwitch<Evaluator>(type)
      .Cases({"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}, evaluateSame)
      .Case("Expand", evaluateExpand)
      .Case("Tile", evaluateTile)
      .Case("Transpose", evaluateTranspose)
      .Case("Concat", evaluateConcat)
      .Case("Split", evaluateSplit)
      .Case("Slice", evaluateSlice)
      .Case("Gather", evaluateGather)
      .Case("GatherElements", evaluateGatherElements)
      .Case("GatherND", evaluateGatherND)
      .Case("Range", evaluateRange)
      .Case("Trilu", evaluateTrilu)
      .Default(nullptr);
}

} // namespace zero::importer
