//===- Remat.h - what backward computes again -------------------*- C++ -*-===//
//
// A value that forward makes and backward reads is kept in between, or dropped and
// made again. Values dropped in one layer are made again together, by one run through
// the part of the layer that leads to them, just before backward first asks for one.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANNING_REMAT_H
#define ZERO_PLANNING_REMAT_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// A step as recomputation sees it: nodes in program order, forward first.
struct RematProblem {
  struct Node {
    double seconds = 0;
    std::vector<int> reads;  ///< values that nodes make; what is there anyway is left out
    std::vector<int> writes; ///< values; each has one writer
    int64_t fixed = 0;       ///< bytes live at the node that recomputation does not change
    int layer = -1;          ///< of a forward node that may run again; -1: it may not
    bool forward = false;
  };
  std::vector<Node> nodes;
  std::vector<int64_t> bytes; ///< of each value
  /// Layers whose output is what all that follows them reads of them: with `boundary` =
  /// value, or -1.
  std::vector<int> boundaries;
};

/// By value: whether it stays from forward to backward. Only values of layers may be dropped.
using Kept = std::vector<char>;

struct RematCost {
  double seconds = 0; ///< of what runs again
  int64_t peak = 0;   ///< most bytes live at a node
};

/// Everything kept.
Kept keepAll(const RematProblem &problem);

/// Of the values of layers only the output of every `stride`-th; 0: of none.
Kept keepBoundaries(const RematProblem &problem, int stride);

/// By node: whether it runs again under `kept`.
std::vector<char> findRepeated(const RematProblem &problem, const Kept &kept);

/// Plays the step. Linear in its size.
RematCost simulate(const RematProblem &problem, const Kept &kept);

/// Keeps more than `kept`, as long as the peak is at most `budget`: the value that saves the
/// most seconds for each byte and second it stays comes first; one that does not fit is
/// skipped. Greedy, as for knapsacks; not optimal.
Kept keepGreedily(const RematProblem &problem, Kept kept, int64_t budget);

/// Plans from the fastest, which keeps everything, to the smallest: for each of `rungs` budgets
/// from the smallest possible peak up, the fastest that greedy finds over several distances
/// between kept boundaries. Sorted by seconds, each smaller than the one before. Depends on no
/// budget of a user, so that what is best for a budget is there for every larger one.
std::vector<Kept> planLadder(const RematProblem &problem, int rungs);

} // namespace zero::planning

#endif // ZERO_PLANNING_REMAT_H
