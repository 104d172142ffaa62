//===- attention_case.h - an attention and what is right --------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_ATTENTION_CASE_H
#define TEST_UNIT_RUNTIME_ATTENTION_CASE_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"

#include <array>
#include <vector>

namespace zero::rt {

/// How the heads of a tensor lie: [batch, heads, rows, width]; [batch, rows, heads, width];
/// that with gaps; in one tensor with those of the others.
enum class Layout { HeadsFirst, RowsFirst, Gaps, Packed };

/// An argument, as f32 values of what is stored.
struct Operand {
  DType stored = ZERO_RT_F32;
  std::vector<float> values;
  std::vector<bool> used; ///< elements that belong to a head

  std::vector<char> bytes() const;
  void take(const std::vector<char> &bytes);
};

/// An attention of random operands, and its results and gradients by plain loops in
/// double precision. Only scores are rounded to f32, number by number as they are masked.
class AttentionCase {
public:
  /// Batch, heads, heads of keys, queries, keys, width, width of values.
  using Sizes = std::array<uint64_t, 7>;

  explicit AttentionCase(Sizes sizes, Layout layout = Layout::HeadsFirst);

  AttentionCase &causal(float fill, int64_t offset = 0);
  AttentionCase &fill(float value) { return desc.set_fill(value), *this; }
  AttentionCase &guard() { return desc.set_guard(true), *this; }
  AttentionCase &in(DType type) { return stored = type, *this; }
  /// Adds a mask over [batch, keys] of random values: of i1, three in four are shown.
  AttentionCase &addPadding(proto::Attention::Mask kind, bool perBatch = true);
  /// Over [batch, heads, queries, keys], of which only those in `over` are not repeated.
  AttentionCase &addMask(proto::Attention::Mask kind, std::array<bool, 4> over);

  /// Rounds operands to what is stored, and computes.
  AttentionCase &finish();

  proto::Kernel kernel(proto::Attention::Direction direction) const;
  /// In their order, but for the workspace. The last `written` are results.
  std::vector<const Operand *> arguments(proto::Attention::Direction direction,
                                         size_t &written) const;

  proto::Attention desc;
  Operand q, k, v; ///< when packed, `q` is all of them
  Operand o, lse, dO, dQ, dK, dV, padding, mask;

private:
  struct Head;
  float scoreOf(const Head &head, uint64_t query, uint64_t key) const;
  void computeRow(const Head &head, uint64_t query);
  void differentiateRow(const Head &head, uint64_t query);

  DType stored = ZERO_RT_F32;
  std::vector<double> weights, sumsQ, sumsK, sumsV;
};

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_ATTENTION_CASE_H
