//===- attention_case.h - an attention and its reference --------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_ATTENTION_CASE_H
#define TEST_UNIT_RUNTIME_ATTENTION_CASE_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"

#include <array>
#include <vector>

namespace zero::rt {

/// How the heads of a tensor are stored: [batch, heads, rows, width]; [batch, rows, heads, width];
/// the latter with gaps; or in one tensor together with the heads of the other operands.
enum class Layout { HeadsFirst, RowsFirst, Gaps, Packed };

/// An argument as the f32 values of its stored elements.
struct Operand {
  DType stored = ZERO_RT_F32;
  std::vector<float> values;
  std::vector<bool> used; ///< elements that belong to a head

  std::vector<char> bytes() const;
  void take(const std::vector<char> &bytes);
};

/// An attention with random operands. Its results and gradients are computed with plain loops in
/// double precision. Only scores are rounded to f32, one at a time as they are masked.
class AttentionCase {
public:
  /// Batch, heads, key heads, queries, keys, width, width of values.
  using Sizes = std::array<uint64_t, 7>;

  explicit AttentionCase(Sizes sizes, Layout layout = Layout::HeadsFirst);

  AttentionCase &causal(float fill, int64_t offset = 0);
  AttentionCase &window(uint64_t keys) { return desc.set_window(keys), *this; }
  AttentionCase &prefix(uint64_t keys) { return desc.set_prefix(keys), *this; }
  /// Gives positions of queries and keys segments of `lengths`, and what is left the
  /// segment 0, which the second of them has, too. With `perBatch` every other batch element has
  /// them in the opposite order.
  AttentionCase &addSegments(std::vector<uint64_t> lengths, bool perBatch = false);
  AttentionCase &fill(float value) { return desc.set_fill(value), *this; }
  AttentionCase &guard() { return desc.set_guard(true), *this; }
  AttentionCase &in(DType type) { return stored = type, *this; }
  /// Adds a mask of random values over [batch, keys]. A mask of i1 shows three keys of four.
  AttentionCase &addPadding(proto::Attention::Mask kind, bool perBatch = true);
  /// Adds a mask over [batch, heads, queries, keys]. The dimensions that are not in `over` are
  /// broadcast.
  AttentionCase &addMask(proto::Attention::Mask kind, std::array<bool, 4> over);

  /// Rounds operands to their stored type and computes the reference.
  AttentionCase &finish();

  proto::Kernel kernel(proto::Attention::Direction direction) const;
  /// The arguments in their order, without the workspace. The last `written` are results.
  std::vector<const Operand *> arguments(proto::Attention::Direction direction,
                                         size_t &written) const;

  proto::Attention desc;
  Operand q, k, v; ///< when packed, `q` holds all three
  Operand o, lse, dO, dQ, dK, dV, padding, mask, querySegments, keySegments;

private:
  struct Head;
  float scoreOf(const Head &head, uint64_t query, uint64_t key) const;
  void computeRow(const Head &head, uint64_t query);
  void differentiateRow(const Head &head, uint64_t query);

  DType stored = ZERO_RT_F32;
  std::vector<double> weights, sumsQ, sumsK, sumsV;
};

/// Gives the keys [from, to) of a mask `value`, which hides them from all queries: 0 in one of i1.
AttentionCase &hide(AttentionCase &data, Operand &which, size_t from, size_t to, float value = 0);

/// Elements of heads must be close to the expected ones; others must be unchanged, as bytes of
/// 0xff.
void expectClose(const Operand &expected, const std::vector<char> &bytes, double within);

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_ATTENTION_CASE_H
