//===- sampling.cpp - the samples of a step -------------------------------===//

#include "runtime/io/sampling.h"

#include <algorithm>
#include <bit>

namespace zero::rt {

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

SampleOrder::SampleOrder(uint64_t samples, uint64_t perStep, std::optional<uint64_t> seed,
                         uint64_t last, uint64_t window)
    : count(samples), batch(perStep), last(last),
      window(window == 0 ? samples : std::min(window, samples)), seed(seed) {}

SampleOrder SampleOrder::endless(uint64_t samples, uint64_t perStep) {
  SampleOrder order(samples, perStep, std::nullopt);
  order.isEndless = true;
  return order;
}

/// A permutation of the numbers below `count`, given by `key`.
static uint64_t permuted(uint64_t index, uint64_t count, uint64_t key) {
  // More rounds than large domains need: small ones mix slowly.
  constexpr unsigned kRounds = 10;
  const unsigned bits = static_cast<unsigned>(std::bit_width(count - 1));
  const unsigned halfBits = bits < 2 ? 1 : (bits + 1) / 2;
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (unsigned round = 0; round < kRounds; ++round) {
      uint64_t next = left ^ (mix(mix(key + round) ^ right) & mask);
      left = right;
      right = next;
    }
    index = left << halfBits | right;
  } while (index >= count);
  return index;
}

uint64_t SampleOrder::permute(uint64_t epoch, uint64_t index) const {
  const uint64_t key = mix(mix(*seed) + epoch), begin = index / window * window;
  // One window for all has the key of the epoch itself.
  return begin + permuted(index - begin, std::min(window, count - begin),
                          begin == 0 ? key : mix(key ^ begin));
}

SampleOrder::Position SampleOrder::positionOf(uint64_t step) const {
  if (uint64_t steps = stepsPerEpoch())
    return {step / steps, step % steps * batch};
  // step * batch may overflow; only its quotient and remainder are needed.
  auto at = static_cast<unsigned __int128>(step) * batch;
  return {static_cast<uint64_t>(at / count), static_cast<uint64_t>(at % count)};
}

uint64_t SampleOrder::stepAt(Position position) const {
  if (uint64_t steps = stepsPerEpoch()) {
    // Samples at the end of an epoch that do not fill a batch are skipped.
    const uint64_t begun = position.index / batch + (position.index % batch != 0);
    return position.epoch * steps + std::min(begun, steps);
  }
  auto at = static_cast<unsigned __int128>(position.epoch) * count + position.index;
  return static_cast<uint64_t>((at + batch - 1) / batch);
}

uint64_t SampleOrder::sample(uint64_t step, uint64_t position) const {
  const Position begin = positionOf(step);
  const uint64_t at = begin.index + position; // beyond an epoch only where batches run on
  const uint64_t epoch = begin.epoch + at / count, index = at % count;
  return seed ? permute(epoch, index) : index;
}

} // namespace zero::rt
