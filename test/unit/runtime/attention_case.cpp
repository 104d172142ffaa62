//===- attention_case.cpp - an attention with plain loops -----------------===//

#include "attention_case.h"

#include "runtime/support/floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace zero::rt {

using Attention = proto::Attention;
using Strides = google::protobuf::RepeatedField<int64_t>;

std::vector<char> Operand::bytes() const {
  std::vector<char> result(values.size() * sizeOf(stored));
  if (stored == ZERO_RT_BOOL)
    std::copy(values.begin(), values.end(), result.begin());
  else if (stored == ZERO_RT_I64)
    std::transform(values.begin(), values.end(), reinterpret_cast<int64_t *>(result.data()),
                   [](float value) { return int64_t(value); });
  else if (!values.empty())
    convertFloats(ZERO_RT_F32, values.data(), stored, result.data(), values.size());
  return result;
}

void Operand::take(const std::vector<char> &bytes) {
  values.resize(bytes.size() / sizeOf(stored));
  if (stored == ZERO_RT_BOOL)
    std::copy(bytes.begin(), bytes.end(), values.begin());
  else if (!values.empty())
    convertFloats(stored, bytes.data(), ZERO_RT_F32, values.data(), values.size());
}

static void makeRandom(Operand &operand, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (float &value : operand.values)
    value = uniform(random);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Lays out heads in rows of `row` elements, beginning at `start`. With `row` 0 heads are the outer
/// dimension. Returns the number of elements used.
static uint64_t place(Strides *strides, std::array<uint64_t, 4> shape, uint64_t row, uint64_t gap) {
  const auto [batch, heads, rows, width] = shape;
  const uint64_t head = row ? width + gap : rows * width;
  const uint64_t each = row ? rows * row : heads * head;
  for (uint64_t stride : {each, head, row ? row : width})
    strides->Add(int64_t(stride));
  return batch * each;
}

static void markUsed(Operand &operand, const Strides &strides, std::array<uint64_t, 4> shape,
                     uint64_t start = 0) {
  operand.used.resize(operand.values.size());
  for (uint64_t b = 0; b < shape[0]; ++b)
    for (uint64_t h = 0; h < shape[1]; ++h)
      for (uint64_t i = 0; i < shape[2]; ++i)
        std::fill_n(operand.used.begin() +
                        long(start + b * strides[0] + h * strides[1] + i * strides[2]),
                    shape[3], true);
}

AttentionCase::AttentionCase(Sizes sizes, Layout layout) {
  const auto [batch, heads, groups, queries, keys, width, valueWidth] = sizes;
  desc.set_dtype(proto::F32);
  desc.set_batch(batch), desc.set_heads(heads), desc.set_groups(groups);
  desc.set_queries(queries), desc.set_keys(keys);
  desc.set_width(width), desc.set_value_width(valueWidth);
  desc.set_scale(1 / std::sqrt(float(std::max<uint64_t>(width, 1))));
  const std::array<uint64_t, 4> qShape{batch, heads, queries, width},
      kShape{batch, groups, keys, width}, vShape{batch, groups, keys, valueWidth},
      oShape{batch, heads, queries, valueWidth};
  const uint64_t gap = layout == Layout::Gaps ? 3 : 0;
  const uint64_t packed = heads * width + groups * (width + valueWidth) + 5;
  auto put = [&](Operand &operand, Strides *strides, std::array<uint64_t, 4> shape) {
    const uint64_t row = layout == Layout::HeadsFirst ? 0
                         : layout == Layout::Packed && &operand != &o
                             ? packed
                             : shape[1] * (shape[3] + gap) + gap;
    operand.values.resize(place(strides, shape, row, gap));
    markUsed(operand, *strides, shape);
  };
  put(q, desc.mutable_q_strides(), qShape);
  put(k, desc.mutable_k_strides(), kShape);
  put(v, desc.mutable_v_strides(), vShape);
  put(o, desc.mutable_o_strides(), oShape);
  if (layout == Layout::Packed) {
    desc.set_packed(true);
    for (uint64_t offset : {uint64_t(2), 2 + heads * width, 2 + (heads + groups) * width})
      desc.add_offsets(offset);
    std::fill(q.used.begin(), q.used.end(), false);
    markUsed(q, desc.q_strides(), qShape, desc.offsets(0));
    markUsed(q, desc.k_strides(), kShape, desc.offsets(1));
    markUsed(q, desc.v_strides(), vShape, desc.offsets(2));
  }
  lse.values.resize(batch * heads * queries);
  lse.used.resize(lse.values.size(), true);
  dO = o, dQ = q, dK = k, dV = v;
  unsigned seed = 1;
  for (Operand *operand : {&q, &k, &v, &dO})
    makeRandom(*operand, seed++);
}

AttentionCase &AttentionCase::causal(float fill, int64_t offset) {
  desc.set_causal(true), desc.set_causal_offset(offset), desc.set_fill(fill);
  return *this;
}

static void makeMask(Operand &mask, Attention::Mask kind, uint64_t count) {
  mask.values.resize(count);
  makeRandom(mask, 9);
  if (kind == Attention::BIAS)
    return;
  mask.stored = ZERO_RT_BOOL;
  for (float &value : mask.values)
    value = value < 1;
}

AttentionCase &AttentionCase::addPadding(Attention::Mask kind, bool perBatch) {
  desc.set_padding(kind);
  desc.add_padding_strides(perBatch ? int64_t(desc.keys()) : 0);
  desc.add_padding_strides(1);
  makeMask(padding, kind, desc.keys() * (perBatch ? desc.batch() : 1));
  return *this;
}

AttentionCase &AttentionCase::addMask(Attention::Mask kind, std::array<bool, 4> over) {
  desc.set_mask(kind);
  const std::array<uint64_t, 4> extents{desc.batch(), desc.heads(), desc.queries(), desc.keys()};
  std::array<int64_t, 4> strides{};
  uint64_t count = 1;
  for (size_t dim = 4; dim-- > 0;)
    if (over[dim])
      strides[dim] = int64_t(count), count *= extents[dim];
  desc.mutable_mask_strides()->Add(strides.begin(), strides.end());
  makeMask(mask, kind, count);
  return *this;
}

static void makeSegments(Operand &segments, std::vector<uint64_t> lengths, uint64_t positions,
                         uint64_t rows) {
  segments.stored = ZERO_RT_I64;
  for (uint64_t row = 0; row < rows; ++row) {
    float number = -1;
    for (uint64_t length : lengths) {
      const uint64_t left = (row + 1) * positions - segments.values.size();
      segments.values.insert(segments.values.end(), std::min(length, left), number++);
    }
    segments.values.resize((row + 1) * positions, 0);
    std::reverse(lengths.begin(), lengths.end());
  }
}

AttentionCase &AttentionCase::addSegments(std::vector<uint64_t> lengths, bool perBatch) {
  desc.set_segments(true);
  desc.set_query_segment_stride(perBatch ? desc.queries() : 0);
  desc.set_key_segment_stride(perBatch ? desc.keys() : 0);
  makeSegments(querySegments, lengths, desc.queries(), perBatch ? desc.batch() : 1);
  makeSegments(keySegments, lengths, desc.keys(), perBatch ? desc.batch() : 1);
  return *this;
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

struct AttentionCase::Head {
  uint64_t batch, index, group;
  // The start of its rows.
  uint64_t q, k, v, o, lse;
};

float AttentionCase::scoreOf(const Head &head, uint64_t query, uint64_t key) const {
  const Operand &keys = desc.packed() ? q : k;
  double dot = 0;
  for (uint64_t d = 0; d < desc.width(); ++d)
    dot += double(q.values[head.q + query * desc.q_strides(2) + d]) *
           keys.values[head.k + key * desc.k_strides(2) + d];
  float score = float(desc.scale() * dot);
  const int64_t last = int64_t(query) + desc.causal_offset();
  bool shown = !desc.causal() || int64_t(key) <= last || key < desc.prefix();
  if (desc.window())
    shown = shown && int64_t(key) > last - int64_t(desc.window());
  if (desc.segments())
    shown = shown && querySegments.values[head.batch * desc.query_segment_stride() + query] ==
                         keySegments.values[head.batch * desc.key_segment_stride() + key];
  auto apply = [&](Attention::Mask kind, float value) {
    if (kind == Attention::BIAS)
      score += value;
    else
      shown = shown && value != 0;
  };
  if (desc.padding() != Attention::NONE)
    apply(desc.padding(),
          padding.values[head.batch * desc.padding_strides(0) + key * desc.padding_strides(1)]);
  if (desc.mask() != Attention::NONE)
    apply(desc.mask(),
          mask.values[head.batch * desc.mask_strides(0) + head.index * desc.mask_strides(1) +
                      query * desc.mask_strides(2) + key * desc.mask_strides(3)]);
  return shown ? score : score + desc.fill();
}

void AttentionCase::computeRow(const Head &head, uint64_t query) {
  const Operand &values = desc.packed() ? q : v;
  double *row = weights.data() + (head.lse + query) * desc.keys();
  double top = -INFINITY, sum = 0;
  for (uint64_t key = 0; key < desc.keys(); ++key)
    top = std::max(top, row[key] = scoreOf(head, query, key));
  const bool none = top == -INFINITY && desc.guard();
  for (uint64_t key = 0; key < desc.keys(); ++key)
    sum += row[key] = std::exp(row[key] - (none ? 0 : top));
  for (uint64_t key = 0; key < desc.keys(); ++key)
    row[key] /= none ? 1 : sum;
  for (uint64_t e = 0; e < desc.value_width(); ++e) {
    double total = 0;
    for (uint64_t key = 0; key < desc.keys(); ++key)
      total += row[key] * values.values[head.v + key * desc.v_strides(2) + e];
    o.values[head.o + query * desc.o_strides(2) + e] = float(total);
  }
  lse.values[head.lse + query] = none ? INFINITY : float(top + std::log(sum));
}

void AttentionCase::differentiateRow(const Head &head, uint64_t query) {
  const Operand &keys = desc.packed() ? q : k, &values = desc.packed() ? q : v;
  const uint64_t atQ = head.q + query * desc.q_strides(2), atO = head.o + query * desc.o_strides(2);
  double common = 0;
  for (uint64_t e = 0; e < desc.value_width(); ++e)
    common += double(dO.values[atO + e]) * o.values[atO + e];
  for (uint64_t key = 0; key < desc.keys(); ++key) {
    const uint64_t atK = head.k + key * desc.k_strides(2), atV = head.v + key * desc.v_strides(2);
    const double weight = weights[(head.lse + query) * desc.keys() + key];
    double slope = -common;
    for (uint64_t e = 0; e < desc.value_width(); ++e) {
      slope += double(dO.values[atO + e]) * values.values[atV + e];
      sumsV[atV + e] += weight * dO.values[atO + e];
    }
    for (uint64_t d = 0; d < desc.width(); ++d) {
      sumsQ[atQ + d] += desc.scale() * weight * slope * keys.values[atK + d];
      sumsK[atK + d] += desc.scale() * weight * slope * q.values[atQ + d];
    }
  }
}

AttentionCase &AttentionCase::finish() {
  for (Operand *operand : {&q, &k, &v, &o, &dO, &dQ, &dK, &dV, &padding, &mask})
    if (operand->stored != ZERO_RT_BOOL)
      operand->stored = stored, operand->take(operand->bytes());
  sumsQ.assign(dQ.values.size(), 0);
  sumsK.assign(dK.values.size(), 0), sumsV.assign(dV.values.size(), 0);
  weights.resize(lse.values.size() * desc.keys());
  std::vector<Head> heads;
  auto start = [&](int which) { return desc.packed() ? desc.offsets(which) : 0; };
  for (uint64_t b = 0; b < desc.batch(); ++b)
    for (uint64_t h = 0; h < desc.heads(); ++h) {
      const uint64_t g = h / (desc.heads() / desc.groups());
      heads.push_back({b, h, g, start(0) + b * desc.q_strides(0) + h * desc.q_strides(1),
                       start(1) + b * desc.k_strides(0) + g * desc.k_strides(1),
                       start(2) + b * desc.v_strides(0) + g * desc.v_strides(1),
                       b * desc.o_strides(0) + h * desc.o_strides(1),
                       (b * desc.heads() + h) * desc.queries()});
    }
  auto forEachRow = [&](auto body) {
    for (const Head &head : heads)
      for (uint64_t query = 0; query < desc.queries(); ++query)
        body(head, query);
  };
  forEachRow([&](const Head &head, uint64_t query) { computeRow(head, query); });
  o.take(o.bytes());
  if (desc.packed())
    sumsK = sumsV = sumsQ;
  forEachRow([&](const Head &head, uint64_t query) { differentiateRow(head, query); });
  if (desc.packed())
    for (size_t i = 0; i < sumsQ.size(); ++i)
      sumsQ[i] += sumsK[i] + sumsV[i];
  std::copy(sumsQ.begin(), sumsQ.end(), dQ.values.begin());
  std::copy(sumsK.begin(), sumsK.end(), dK.values.begin());
  std::copy(sumsV.begin(), sumsV.end(), dV.values.begin());
  return *this;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::vector<const Operand *> AttentionCase::arguments(Attention::Direction direction,
                                                      size_t &written) const {
  std::vector<const Operand *> result;
  auto add = [&](std::initializer_list<const Operand *> operands) {
    result.insert(result.end(), operands);
  };
  const bool isBackward = direction == Attention::BACKWARD;
  if (isBackward)
    add({&dO});
  desc.packed() ? add({&q}) : add({&q, &k, &v});
  if (isBackward)
    add({&o, &lse});
  if (desc.padding() != Attention::NONE)
    add({&padding});
  if (desc.mask() != Attention::NONE)
    add({&mask});
  if (desc.segments())
    add({&querySegments, &keySegments});
  const size_t read = result.size();
  if (!isBackward)
    add({&o, &lse});
  else
    desc.packed() ? add({&dQ}) : add({&dQ, &dK, &dV});
  written = result.size() - read;
  return result;
}

proto::Kernel AttentionCase::kernel(Attention::Direction direction) const {
  proto::Kernel kernel;
  *kernel.mutable_attention() = desc;
  kernel.mutable_attention()->set_direction(direction);
  size_t written;
  for (const Operand *operand : arguments(direction, written))
    if (stored != ZERO_RT_F32)
      kernel.add_stored(proto::DType(operand->stored));
  return kernel;
}

AttentionCase &hide(AttentionCase &data, Operand &which, size_t from, size_t to, float value) {
  std::fill(which.values.begin() + long(from), which.values.begin() + long(to), value);
  return data;
}

void expectClose(const Operand &expected, const std::vector<char> &bytes, double within) {
  Operand got;
  got.stored = expected.stored;
  got.take(bytes);
  const double unit = expected.stored == ZERO_RT_F32   ? 0
                      : expected.stored == ZERO_RT_F16 ? 0x1p-10
                                                       : 0x1p-7;
  const std::vector<char> before(4, '\xff');
  const size_t size = sizeOf(expected.stored);
  for (size_t i = 0; i < got.values.size(); ++i) {
    const float value = got.values[i], right = expected.values[i];
    if (!expected.used[i])
      ASSERT_EQ(std::memcmp(&bytes[i * size], before.data(), size), 0) << "between heads, at " << i;
    else if (!std::isfinite(right))
      ASSERT_TRUE(std::isnan(right) ? std::isnan(value) : value == right)
          << "expected " << right << ", got " << value << " at " << i;
    else
      ASSERT_NEAR(value, right, within + (within + unit) * std::abs(right)) << "at " << i;
  }
}

} // namespace zero::rt
