//===- Random.h - the same choices on every machine -------------*- C++ -*-===//

#ifndef TEST_FUZZ_RANDOM_H
#define TEST_FUZZ_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace zero::fuzz {

/// SplitMix64. The standard library's distributions differ between libraries, but a seed must give
/// the same mutant everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// One of 0 .. count - 1, or 0 if `count` is 0.
  size_t below(size_t count) { return count ? next() % count : 0; }
  /// True once in `count` calls on average.
  bool oneIn(size_t count) { return below(count) == 0; }
  template <typename Range>
  auto &pick(Range &range) {
    return range[static_cast<int>(below(std::size(range)))];
  }

private:
  uint64_t state;
};

/// A number that often breaks arithmetic, or a small one.
int64_t hostileInt(Random &random);
double hostileFloat(Random &random);

} // namespace zero::fuzz

#endif // TEST_FUZZ_RANDOM_H
