//===- Chain.h - activation checkpoints of a chain of layers ----*- C++ -*-===//
// State i of a chain of n layers is the input of layer i; layer i computes state i + 1. Backward
// needs the layers in reverse order, each with the values inside it: the layer is recomputed from
// its state ("taped"). States that were not stored are recomputed from earlier ones ("advanced").
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANNING_CHAIN_H
#define ZERO_PLANNING_CHAIN_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// The minimum number of layers to advance for the whole of forward and backward if at most `slots`
/// >= 1 states are stored at a time, including the first. Taping is not counted. Griewank &
/// Walther, "Algorithm 799: Revolve", ACM TOMS 26 (2000).
int64_t leastAdvances(int64_t layers, int64_t slots);

struct ChainAction {
  enum class Kind {
    Advance, ///< from the stored state `from`, run layers from .. to - 1
    Store,   ///< store state `from`, just computed, until its layer is taped
    Tape     ///< run layer `from` with all that backward reads, then its backward
  };
  Kind kind;
  int64_t from = 0;
  int64_t to = 0; ///< end of an advance
};

/// A schedule of `leastAdvances` advances; state 0 is stored to begin with. The last
/// layer is taped as forward reaches it.
std::vector<ChainAction> revolve(int64_t layers, int64_t slots);

/// The bytes of one layer of a chain.
struct ChainLayer {
  int64_t output = 0; ///< of the state that it computes
  int64_t inner = 0;  ///< of its other values that backward reads
};

/// The first layers of segments such that the states between segments and all values of the largest
/// segment together take few bytes; each layer is recomputed once. Segments are filled up to a
/// limit, and several limits are tried: Chen et al., "Training Deep Nets with Sublinear Memory
/// Cost", arXiv 1604.06174, algorithm 3. Equal layers without inner values give segments of
/// sqrt(n).
std::vector<int64_t> sublinearSegments(const std::vector<ChainLayer> &layers);

} // namespace zero::planning

#endif // ZERO_PLANNING_CHAIN_H
