//===- sampling.h - the samples of a step -----------------------*- C++ -*-===//

#ifndef RUNTIME_IO_SAMPLING_H
#define RUNTIME_IO_SAMPLING_H

#include <cstdint>
#include <optional>

namespace zero::rt {

/// The order of samples over steps, independent of ranks. An epoch reads the data once, in complete
/// global batches, and then in one of `last` samples if that is not 0. What is left is omitted,
/// other samples each time if shuffled.
/// Data smaller than a global batch continues from step to step instead. If shuffled, each epoch
/// has its own permutation, which is a function of seed and epoch. It is computed, not stored: a
/// Feistel network on the next power of four, iterated until its value is below the number of
/// samples (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). Less than
/// four iterations on average. With a window, samples keep their window of so many: what is read
/// from a disk one after the other stays close.
class SampleOrder {
public:
  /// `samples` and `perStep`, those of a global batch, are at least 1. `last` is at most what the
  /// complete batches leave of an epoch, and 0 if there are none.
  /// `window`: of samples that are shuffled among each other; 0: all.
  SampleOrder(uint64_t samples, uint64_t perStep, std::optional<uint64_t> seed, uint64_t last = 0,
              uint64_t window = 0);
  SampleOrder() : SampleOrder(1, 1, std::nullopt) {}
  /// The order of positions of samples that have no epochs.
  static SampleOrder endless(uint64_t samples, uint64_t perStep);

  /// A position between two samples: the epoch, and the number of its samples before the position.
  struct Position {
    uint64_t epoch = 0, index = 0;
  };
  /// The start of the global batch of `step`.
  Position positionOf(uint64_t step) const;
  /// The first step whose global batch begins at `position` or behind it.
  uint64_t stepAt(Position position) const;

  /// The sample at `position`, below perStep, of the global batch of `step`.
  uint64_t sample(uint64_t step, uint64_t position) const;

  uint64_t samples() const { return count; }
  uint64_t perStep() const { return batch; }
  /// Of the last global batch of an epoch, if it has fewer; else 0.
  uint64_t lastSamples() const { return last; }
  /// The samples of the global batch of `step`.
  uint64_t samplesOf(uint64_t step) const {
    return last > 0 && step % stepsPerEpoch() == count / batch ? last : batch;
  }
  /// 0 for data smaller than a global batch, and without epochs.
  uint64_t stepsPerEpoch() const { return isEndless ? 0 : count / batch + (last > 0); }

private:
  uint64_t permute(uint64_t epoch, uint64_t index) const;

  uint64_t count, batch, last, window;
  std::optional<uint64_t> seed;
  bool isEndless = false;
};

/// The samples of an evaluation, in the data's own order, by position in a global batch: `count`
/// samples from `first` on, `repeats` times over, and then one sample in all further positions.
struct SampleChoice {
  uint64_t first = 0, count = 1, repeats = 1;
  uint64_t filler = 0;

  uint64_t sample(uint64_t position) const {
    return position < repeats * count ? first + position % count : filler;
  }
};

} // namespace zero::rt

#endif // RUNTIME_IO_SAMPLING_H
