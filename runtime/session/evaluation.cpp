//===- evaluation.cpp - the mean loss over any number of samples ----------===//
//
// A loss that is a weighted mean over independent samples times the sum of the weights is a sum
// over the samples, and so is the sum of the weights itself. An incomplete batch of n samples is
// evaluated as q times these n and s times one filler; then the sum over the n is
//   (sum of the batch - s / B * sum of a batch of nothing but the filler) / q
// for a global batch of B = q n + s. With equal weights its rounding error is below three times
// that of one batch, because q n is more than half of B.
//
// A loss that mixes samples is no such sum. It shows when another filler, repeated more often,
// gives another result.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/evaluation.h"

#include <algorithm>
#include <cmath>

namespace zero::rt {

/// How far two sums over the same samples may differ, relative to the sums that they are computed
/// from: rounding of f32 in kernels, not more.
static constexpr double kTolerance = 1e-4;

namespace {
/// Sums over samples, in units of a global batch.
struct Sums {
  double loss = 0, weight = 0;
};

/// The incomplete batch of `count` samples from `first` on.
struct Remainder {
  const EvaluateBatch &evaluate;
  uint64_t first, count, batch;
};

/// The sums over a remainder, and that of the batch that they were computed from.
struct Separated {
  Sums own, mixed;
  Sums scale; ///< of their rounding errors
};
} // namespace

/// A batch without a label has a weight of 0, and a loss of 0 / 0.
static Sums sumsOf(const BatchLoss &one) {
  return {one.weight == 0 ? 0 : one.loss * one.weight, one.weight};
}

/// Evaluates `remainder` `repeats` times over in one batch, which `filler` fills up.
static Status separate(const Remainder &remainder, uint64_t repeats, uint64_t filler,
                       Separated &result) {
  const auto &[evaluate, first, count, batch] = remainder;
  const uint64_t fillers = batch - repeats * count;
  BatchLoss mixed, other{0, 0};
  ZERO_RT_TRY(evaluate({first, count, repeats, filler}, mixed));
  if (fillers > 0)
    ZERO_RT_TRY(evaluate({first, count, 0, filler}, other));
  const double share = double(fillers) / double(batch);
  const Sums all = sumsOf(mixed), some = sumsOf(other);
  const auto own = [&](double sum, double part) { return (sum - share * part) / double(repeats); };
  const auto scale = [&](double sum, double part) {
    return std::max(std::abs(sum), share * std::abs(part)) / double(repeats);
  };
  result = {{own(all.loss, some.loss), own(all.weight, some.weight)},
            all,
            {scale(all.loss, some.loss), scale(all.weight, some.weight)}};
  return {};
}

static void add(const Sums &sums, uint64_t count, zero_rt_evaluation &total) {
  ++total.batches;
  total.samples += count;
  if (sums.weight <= 0) {
    ++total.unlabelled;
    return;
  }
  total.not_finite += !std::isfinite(sums.loss);
  total.loss_sum += sums.loss;
  total.weight_sum += sums.weight;
}

static bool isClose(double left, double right, double scale) {
  return std::abs(left - right) <= kTolerance * scale;
}

static bool isClose(const Separated &one, const Separated &other) {
  return isClose(one.own.loss, other.own.loss, std::max(one.scale.loss, other.scale.loss)) &&
         isClose(one.own.weight, other.own.weight, std::max(one.scale.weight, other.scale.weight));
}

/// The sums over two samples, each from a batch of nothing else.
static Status separateTwo(const Remainder &two, Separated &result) {
  for (uint64_t sample : {two.first, two.first + 1}) {
    Separated each;
    ZERO_RT_TRY(separate({two.evaluate, sample, 1, two.batch}, two.batch, sample, each));
    result.own.loss += each.own.loss;
    result.own.weight += each.own.weight;
    result.scale.loss += each.scale.loss;
    result.scale.weight += each.scale.weight;
  }
  return {};
}

/// Whether another filler and another number of `repeats` give the same sums; true where the data
/// has no other sample. Two samples would give nearly the same sums in any batch of both.
static Status isIndependent(const Remainder &remainder, uint64_t repeats, const Separated &one,
                            bool &result) {
  // Where only the filler's own loss is not finite, it is a mean over something else than samples.
  result = std::isfinite(one.own.loss) || !std::isfinite(one.mixed.loss);
  // A sample outside the remainder, if there is one before it.
  const uint64_t filler = remainder.first > 0 ? 0 : remainder.count - 1;
  if (filler == remainder.first || !std::isfinite(one.own.loss))
    return {};
  Separated other;
  if (remainder.first == 0 && remainder.count == 2)
    ZERO_RT_TRY(separateTwo(remainder, other));
  else
    ZERO_RT_TRY(separate(remainder, std::max<uint64_t>(repeats, 2) - 1, filler, other));
  result = isClose(one, other);
  return {};
}

static Status addRemainder(const Remainder &remainder, zero_rt_evaluation &total) {
  Separated one;
  bool independent;
  const uint64_t repeats = remainder.batch / remainder.count;
  ZERO_RT_TRY(separate(remainder, repeats, remainder.first, one));
  ZERO_RT_TRY(isIndependent(remainder, repeats, one, independent));
  if (independent) {
    add(one.own, remainder.count, total);
  } else if (total.batches > 0) {
    total.left_out += remainder.count;
  } else { // nothing else tells the loss
    total.repeated += remainder.count;
    add(one.mixed, remainder.count, total);
  }
  return {};
}

Status evaluateSamples(const EvaluateBatch &evaluate, uint64_t first, uint64_t count,
                       uint64_t batch, zero_rt_evaluation &total) {
  if (count == batch) {
    BatchLoss whole;
    ZERO_RT_TRY(evaluate({first, count, 1, first}, whole));
    add(sumsOf(whole), count, total);
  } else {
    ZERO_RT_TRY(addRemainder({evaluate, first, count, batch}, total));
  }
  total.loss = total.weight_sum > 0 ? total.loss_sum / total.weight_sum : NAN;
  return {};
}

static unsigned long long number(uint64_t count) { return static_cast<unsigned long long>(count); }

std::vector<std::string> warningsOf(const zero_rt_evaluation &total) {
  std::vector<std::string> warnings;
  if (total.unlabelled > 0)
    warnings.push_back(format("%llu of %llu held-out batches have no label that counts: their loss "
                              "is NaN, and the mean is that of the others",
                              number(total.unlabelled), number(total.batches)));
  if (total.not_finite > 0)
    warnings.push_back(format("the loss of %llu of %llu held-out batches is NaN or infinite",
                              number(total.not_finite), number(total.batches)));
  if (total.left_out > 0)
    warnings.push_back(format("the last %llu held-out samples do not fill a global batch and are "
                              "left out: the loss of a sample depends on the others in its batch",
                              number(total.left_out)));
  if (total.repeated > 0)
    warnings.push_back(format("%llu held-out samples do not fill a global batch and are repeated "
                              "in it: the loss of a sample depends on the others in its batch",
                              number(total.repeated)));
  return warnings;
}

} // namespace zero::rt
