//===- attention_plan.cpp - check and plan an attention -------------------===//

#include "runtime/device/cpu/attention_plan.h"

#include "runtime/support/checked.h"
#include "runtime/support/dtype.h"
#include "runtime/support/half.h"
#include "runtime/support/status.h"

#include <algorithm>

namespace zero::rt {

// Far beyond any tensor; the bytes of a few of them for each of many threads cannot overflow.
static constexpr uint64_t kLargestSize = uint64_t(1) << 31;
static constexpr uint64_t kLargest = uint64_t(1) << 48;

namespace {
using proto::Attention;
using Strides = google::protobuf::RepeatedField<int64_t>;

/// One dimension of a tensor, in elements.
struct Dim {
  uint64_t count;
  int64_t stride;
};

/// Puts arguments behind each other, with the types that the kernel stores them in.
class Planner {
public:
  Planner(const proto::Kernel &kernel, AttentionPlan &plan, bool onGpu)
      : kernel(kernel), desc(kernel.attention()), plan(plan), onGpu(onGpu) {}
  Status run();

private:
  Status checkSizes() const;
  Status checkEnums() const;
  void takeShape();
  Status addHeads(const char *name, const Strides &strides, uint64_t heads, uint64_t rows,
                  uint64_t width, uint64_t start, bool isWritten, HeadsPlan &plan);
  Status addPacked(bool isWritten, std::array<HeadsPlan *, 3> heads);
  Status addQueriesKeysValues(bool isWritten, HeadsPlan &q, HeadsPlan &k, HeadsPlan &v);
  Status addSums();
  Status addMask(const char *name, Attention::Mask kind, const Strides &strides,
                 std::vector<uint64_t> extents, std::optional<MaskPlan> &mask);
  Status addMasks();
  Status addSegments();
  Status grow(const char *name, const std::vector<Dim> &dims, uint64_t start);
  Status add(const char *name, DType type = ZERO_RT_F32);
  Status checkStored() const;

  /// Bytes of an element of the last argument.
  uint64_t size() const { return sizeOf(plan.arguments.back().stored); }
  /// A dimension of size 1 may have any stride, as may all dimensions of a tensor without elements.
  int64_t inBytes(Dim dim) const {
    return dim.count > 1 ? int64_t(uint64_t(dim.stride) * size()) : 0;
  }

  const proto::Kernel &kernel;
  const Attention &desc;
  AttentionPlan &plan;
  const bool onGpu;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Status Planner::checkSizes() const {
  uint64_t work = 1;
  bool fits = true;
  for (uint64_t size : {desc.batch(), desc.heads(), desc.groups(), desc.queries(), desc.keys(),
                        desc.width(), desc.value_width()})
    fits = fits && size < kLargestSize;
  for (uint64_t size : {desc.batch(), desc.heads(), std::max(desc.queries(), desc.keys()),
                        std::max(desc.width(), desc.value_width())})
    fits = fits && checkedMultiply(work, std::max<uint64_t>(size, 1), work);
  if (!fits || work > kLargest)
    return fail(ZERO_RT_BAD_FILE, "an attention: its size overflows");
  if (desc.groups() == 0 || desc.heads() == 0 ? desc.heads() != desc.groups()
                                              : desc.heads() % desc.groups() != 0)
    return fail(ZERO_RT_BAD_FILE, "an attention: %llu heads of keys for %llu heads",
                static_cast<unsigned long long>(desc.groups()),
                static_cast<unsigned long long>(desc.heads()));
  return {};
}

Status Planner::checkEnums() const {
  const bool isKnown = desc.dtype() == proto::F32 || desc.dtype() == proto::BF16 ||
                       (desc.dtype() == proto::F16 && onGpu);
  if (!isKnown)
    return fail(ZERO_RT_UNSUPPORTED, "an attention of %s: expected float32%s or bfloat16",
                nameOf(static_cast<DType>(desc.dtype())), onGpu ? ", float16" : "");
  if (!Attention::Direction_IsValid(desc.direction()) || !Attention::Mask_IsValid(desc.padding()) ||
      !Attention::Mask_IsValid(desc.mask()))
    return fail(ZERO_RT_BAD_FILE, "an attention of a kind that this runtime does not know");
  return {};
}

void Planner::takeShape() {
  plan.isBackward = desc.direction() == Attention::BACKWARD;
  plan.factors = static_cast<DType>(desc.dtype());
  plan.batch = int64_t(desc.batch());
  plan.heads = int64_t(desc.heads());
  plan.groups = int64_t(desc.groups());
  AttentionShape &shape = plan.shape;
  shape.queries = int64_t(desc.queries());
  shape.keys = int64_t(desc.keys());
  shape.width = int64_t(desc.width());
  shape.valueWidth = int64_t(desc.value_width());
  shape.scale = desc.scale();
  shape.fill = desc.fill();
  shape.causal = desc.causal();
  shape.guard = desc.guard();
  shape.causalOffset = std::clamp(desc.causal_offset(), -shape.queries, shape.keys);
  // A window that is longer than all distances shows all.
  const uint64_t all = desc.queries() + 2 * desc.keys() + 1;
  shape.window = desc.window() > all ? 0 : int64_t(desc.window());
  shape.prefix = int64_t(std::min(desc.prefix(), desc.keys()));
}

static AttentionLayout layOut(const AttentionShape &shape, bool isBackward, bool halves,
                              bool hasSegments) {
  const int64_t pair = halves ? 2 : 1;
  auto roundUp = [](int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; };
  AttentionLayout layout{};
  layout.paddedKeys = roundUp(shape.keys, kKeyUnit);
  layout.paddedWidth = roundUp(shape.width, kWidthUnit * pair);
  layout.paddedValue = roundUp(shape.valueWidth, kWidthUnit * pair);
  const int64_t widest = std::max(layout.paddedWidth, layout.paddedValue);
  auto place = [&](int64_t &offset, int64_t rows, int64_t width) {
    offset = layout.floats;
    layout.floats += roundUp(rows * width, 16);
  };
  auto placeWords = [&](int64_t &offset, int64_t rows, int64_t width) {
    place(offset, rows, (width + pair - 1) / pair);
  };
  place(layout.longestKey, 1, 1);
  if (hasSegments)
    place(layout.segments, layout.paddedKeys / kKeyUnit, sizeof(SegmentRange) / sizeof(float));
  placeWords(layout.keyColumns, layout.paddedKeys, shape.width);
  placeWords(layout.queries, kTileQueries, layout.paddedWidth);
  place(layout.result, kTileQueries, widest);
  place(layout.scores, kTileQueries, kScoreStride);
  placeWords(layout.rows, kKeyUnit, widest);
  if (!isBackward) {
    placeWords(layout.values, layout.paddedKeys, layout.paddedValue);
    return layout;
  }
  placeWords(layout.keyRows, layout.paddedKeys, layout.paddedWidth);
  place(layout.keySums, layout.paddedKeys, layout.paddedWidth);
  place(layout.valueSums, layout.paddedKeys, layout.paddedValue);
  placeWords(layout.valueColumns, layout.paddedKeys, shape.valueWidth);
  placeWords(layout.gradient, kTileQueries, layout.paddedValue);
  place(layout.gradScores, kTileQueries, kScoreStride);
  layout.queryPairs = layout.queries;
  layout.gradientPairs = layout.gradient;
  if (halves) {
    placeWords(layout.queryPairs, kTileQueries, layout.paddedWidth);
    placeWords(layout.gradientPairs, kTileQueries, layout.paddedValue);
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The next argument, of no elements yet. One of f32 may be stored in 16 bits.
Status Planner::add(const char *name, DType type) {
  DType stored = type;
  const auto index = int(plan.arguments.size());
  if (index < kernel.stored_size()) {
    stored = static_cast<DType>(kernel.stored(index));
    const bool isFloat = type == ZERO_RT_F32;
    if (stored != type && !(isFloat && isHalf(stored)))
      return fail(ZERO_RT_UNSUPPORTED, "an attention: %s of %s: expected %s", name, nameOf(stored),
                  isFloat ? "float32, float16 or bfloat16" : nameOf(type));
  }
  plan.arguments.push_back({stored, 0});
  return {};
}

/// Makes the last argument reach over `dims`, the last of which is contiguous.
Status Planner::grow(const char *name, const std::vector<Dim> &dims, uint64_t start) {
  uint64_t reach = start, step;
  for (const Dim &dim : dims) {
    if (dim.count == 0)
      return {};
    if (dim.count > 1 && dim.stride < 0)
      return fail(ZERO_RT_UNSUPPORTED, "an attention: expected strides of %s >= 0, got %lld", name,
                  static_cast<long long>(dim.stride));
    if (!checkedMultiply(dim.count - 1, uint64_t(dim.stride), step) ||
        !checkedAdd(reach, step, reach) || reach > kLargest)
      return fail(ZERO_RT_BAD_FILE, "an attention: the strides of %s overflow", name);
  }
  uint64_t &bytes = plan.arguments.back().bytes;
  bytes = std::max(bytes, (reach + 1) * size());
  return {};
}

/// Fails when two elements of `dims` share a place: each stride must reach beyond all of
/// the smaller ones.
static Status checkApart(const char *name, std::vector<Dim> dims) {
  std::sort(dims.begin(), dims.end(),
            [](const Dim &a, const Dim &b) { return a.stride < b.stride; });
  if (std::any_of(dims.begin(), dims.end(), [](const Dim &dim) { return dim.count == 0; }))
    return {};
  uint64_t reach = 1;
  for (const Dim &dim : dims) {
    if (dim.count == 1)
      continue;
    if (uint64_t(dim.stride) < reach)
      return fail(ZERO_RT_UNSUPPORTED, "an attention: elements of %s overlap", name);
    reach += (dim.count - 1) * uint64_t(dim.stride);
  }
  return {};
}

Status Planner::addHeads(const char *name, const Strides &strides, uint64_t heads, uint64_t rows,
                         uint64_t width, uint64_t start, bool isWritten, HeadsPlan &placed) {
  if (strides.size() != 3)
    return fail(ZERO_RT_BAD_FILE, "an attention: expected 3 strides of %s, got %d", name,
                strides.size());
  const std::vector<Dim> dims{
      {desc.batch(), strides[0]}, {heads, strides[1]}, {rows, strides[2]}, {width, 1}};
  ZERO_RT_TRY(grow(name, dims, start));
  if (isWritten)
    ZERO_RT_TRY(checkApart(name, dims));
  placed.argument = plan.arguments.size() - 1;
  auto bytes = [&](size_t dim) { return inBytes(dims[dim]); };
  placed.start = inBytes({2, int64_t(start)});
  placed.batch = bytes(0), placed.head = bytes(1), placed.row = bytes(2);
  return {};
}

Status Planner::addQueriesKeysValues(bool isWritten, HeadsPlan &q, HeadsPlan &k, HeadsPlan &v) {
  if (desc.packed() && desc.offsets_size() != 3)
    return fail(ZERO_RT_BAD_FILE, "an attention: expected 3 offsets, got %d", desc.offsets_size());
  auto place = [&](int index, const char *name, const Strides &strides, uint64_t heads,
                   uint64_t rows, uint64_t width, HeadsPlan &placed) -> Status {
    if (index == 0 || !desc.packed())
      ZERO_RT_TRY(add(name));
    return addHeads(name, strides, heads, rows, width, desc.packed() ? desc.offsets(index) : 0,
                    isWritten, placed);
  };
  ZERO_RT_TRY(place(0, "Q", desc.q_strides(), desc.heads(), desc.queries(), desc.width(), q));
  ZERO_RT_TRY(place(1, "K", desc.k_strides(), desc.groups(), desc.keys(), desc.width(), k));
  return place(2, "V", desc.v_strides(), desc.groups(), desc.keys(), desc.value_width(), v);
}

Status Planner::addMask(const char *name, Attention::Mask kind, const Strides &strides,
                        std::vector<uint64_t> extents, std::optional<MaskPlan> &mask) {
  if (kind == Attention::NONE)
    return {};
  if (strides.size() != int(extents.size()))
    return fail(ZERO_RT_BAD_FILE, "an attention: expected %zu strides of the %s, got %d",
                extents.size(), name, strides.size());
  ZERO_RT_TRY(add(name, kind == Attention::SHOWN ? ZERO_RT_BOOL : ZERO_RT_F32));
  std::vector<Dim> dims;
  for (size_t i = 0; i < extents.size(); ++i)
    dims.push_back({extents[i], strides[int(i)]});
  ZERO_RT_TRY(grow(name, dims, 0));
  auto bytes = [&](size_t dim) { return inBytes(dims[dim]); };
  mask = {plan.arguments.size() - 1, bytes(0), 0, 0, bytes(extents.size() - 1)};
  if (extents.size() == 4)
    mask->head = bytes(1), mask->query = bytes(2);
  return {};
}

Status Planner::addMasks() {
  ZERO_RT_TRY(addMask("padding", desc.padding(), desc.padding_strides(),
                      {desc.batch(), desc.keys()}, plan.padding));
  ZERO_RT_TRY(addMask("mask", desc.mask(), desc.mask_strides(),
                      {desc.batch(), desc.heads(), desc.queries(), desc.keys()}, plan.mask));
  return addSegments();
}

Status Planner::addSegments() {
  if (!desc.segments())
    return {};
  SegmentsPlan segments{plan.arguments.size(), 0, 0};
  auto place = [&](const char *name, uint64_t stride, uint64_t count, int64_t &batch) -> Status {
    if (stride > kLargest)
      return fail(ZERO_RT_BAD_FILE, "an attention: the strides of %s overflow", name);
    ZERO_RT_TRY(add(name, ZERO_RT_I64));
    batch = desc.batch() > 1 ? int64_t(stride) : 0;
    return grow(name, {{desc.batch(), int64_t(stride)}, {count, 1}}, 0);
  };
  ZERO_RT_TRY(place("the segments of queries", desc.query_segment_stride(), desc.queries(),
                    segments.queryBatch));
  ZERO_RT_TRY(
      place("the segments of keys", desc.key_segment_stride(), desc.keys(), segments.keyBatch));
  plan.segments = segments;
  return {};
}

/// LSE, without gaps and never in 16 bits.
Status Planner::addSums() {
  ZERO_RT_TRY(add("LSE"));
  plan.lse = plan.arguments.size() - 1;
  if (plan.arguments.back().stored != ZERO_RT_F32)
    return fail(ZERO_RT_UNSUPPORTED, "an attention: LSE of %s: expected float32",
                nameOf(plan.arguments.back().stored));
  return grow("LSE", {{desc.batch() * desc.heads() * desc.queries(), 1}}, 0);
}

Status Planner::checkStored() const {
  if (kernel.stored_size() > 0 && kernel.stored_size() != int(plan.arguments.size()))
    return fail(ZERO_RT_BAD_FILE, "expected the types of %zu arguments, got %d",
                plan.arguments.size(), kernel.stored_size());
  if (plan.isHalf())
    for (const HeadsPlan *heads : {&plan.q, &plan.k, &plan.v, &plan.o, &plan.dO})
      if (plan.arguments[heads->argument].stored != plan.factors)
        return fail(ZERO_RT_UNSUPPORTED, "an attention of %s: expected all factors in %s",
                    nameOf(plan.factors), nameOf(plan.factors));
  return {};
}

Status Planner::run() {
  ZERO_RT_TRY(checkEnums());
  ZERO_RT_TRY(checkSizes());
  takeShape();
  auto result = [&](const char *name, bool isWritten, HeadsPlan &placed) -> Status {
    ZERO_RT_TRY(add(name));
    return addHeads(name, desc.o_strides(), desc.heads(), desc.queries(), desc.value_width(), 0,
                    isWritten, placed);
  };
  if (plan.isBackward) {
    ZERO_RT_TRY(result("dO", false, plan.dO));
    ZERO_RT_TRY(addQueriesKeysValues(false, plan.q, plan.k, plan.v));
    ZERO_RT_TRY(result("O", false, plan.o));
    ZERO_RT_TRY(addSums());
    ZERO_RT_TRY(addMasks());
    ZERO_RT_TRY(addQueriesKeysValues(true, plan.dQ, plan.dK, plan.dV));
  } else {
    ZERO_RT_TRY(addQueriesKeysValues(false, plan.q, plan.k, plan.v));
    ZERO_RT_TRY(addMasks());
    ZERO_RT_TRY(result("O", true, plan.o));
    ZERO_RT_TRY(addSums());
  }
  ZERO_RT_TRY(checkStored());
  plan.layout = layOut(plan.shape, plan.isBackward, plan.isHalf(), plan.segments.has_value());
  return {};
}

Status planAttention(const proto::Kernel &kernel, AttentionPlan &plan, bool onGpu) {
  plan = {};
  return Planner(kernel, plan, onGpu).run();
}

} // namespace zero::rt
