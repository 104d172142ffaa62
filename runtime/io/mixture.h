//===- mixture.h - samples of several data sets by weight -------*- C++ -*-===//

#ifndef RUNTIME_IO_MIXTURE_H
#define RUNTIME_IO_MIXTURE_H

#include "runtime/io/sampling.h"

#include <span>
#include <vector>

namespace zero::rt {

/// Which part of a mixture each sample of a run comes from, and which sample of this part: a
/// function of the position in the run, so that a run continues anywhere. Parts alternate in a
/// cycle of positions, in which each has its share. A part that is at its end begins again, in
/// another order if shuffled.
class Mixture {
public:
  struct Part {
    uint64_t samples; ///< at least 1
    double weight;    ///< positive
  };
  struct Place {
    size_t part;
    uint64_t sample;
  };

  Mixture() = default;
  Mixture(std::span<const Part> parts, std::optional<uint64_t> seed, uint64_t window);

  Place at(uint64_t position) const;

private:
  struct Slot {
    uint32_t part, before; ///< and how many slots of the part are before it in the cycle
  };
  std::vector<Slot> cycle;
  std::vector<uint64_t> perCycle;  ///< slots of each part
  std::vector<SampleOrder> orders; ///< of the samples of each part
};

} // namespace zero::rt

#endif // RUNTIME_IO_MIXTURE_H
