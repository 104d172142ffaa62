//===- Remat.h - what backward computes again -------------------*- C++ -*-===//
//
// A value that forward makes and backward reads is kept in between, or dropped and made
// again when backward first asks for it, with what leads to it from values that are there.
// No node runs again twice: what was made again stays until its last reader.
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
    int layer = -1;          ///< of a forward node that may run again; -1: it may not
    bool forward = false;
  };
  enum class Fate : char {
    Free,  ///< as the plan says
    Stays, ///< something needs it that no run can serve
    Goes   ///< its bytes are overwritten in forward
  };
  std::vector<Node> nodes;
  std::vector<int64_t> bytes;               ///< of each value
  std::vector<Fate> fates;                  ///< of each value; empty: all are free
  std::vector<std::vector<int>> boundaries; ///< of each layer: what later layers read of it
};

/// By value: whether it stays from forward to backward. Only values of layers may be dropped.
using Kept = std::vector<char>;

struct RematCost {
  double seconds = 0; ///< of what runs again
  int64_t peak = 0;   ///< most bytes live at a node
};

/// Everything kept.
Kept keepAll(const RematProblem &problem);

/// Of the values of layers only the boundaries of every `stride`-th; 0: of none.
Kept keepBoundaries(const RematProblem &problem, int stride);

/// Bytes of what stays for backward, or for what runs again: all of it is live when forward
/// ends.
int64_t savedBytes(const RematProblem &problem, const Kept &kept);

/// By node: whether it runs again under `kept`.
std::vector<char> findRepeated(const RematProblem &problem, const Kept &kept);

/// Plays the step. Linear in its size.
RematCost simulate(const RematProblem &problem, const Kept &kept);

/// Keeps more than `kept`, as long as the peak is at most `budget`: the value that saves the
/// most seconds for each byte and second it stays comes first; one that does not fit is
/// skipped. Besides by seconds for each byte, by seconds alone, and from everything kept, dropping
/// what is cheapest to make until it fits: the fastest of the four. Greedy, as for knapsacks; not
/// optimal.
Kept keepGreedily(const RematProblem &problem, const Kept &kept, int64_t budget);

/// What planning took, without a clock: runs of nodes in steps that were played, and values of
/// which was found what they save.
struct RematWork {
  uint64_t played = 0;
  uint64_t weighed = 0;
};

/// Plans from the fastest, which keeps everything, to the smallest: for each of `rungs` budgets
/// from the smallest possible peak up, the fastest that greedy finds over several distances
/// between kept boundaries. Sorted by seconds, each smaller than the one before. Depends on no
/// budget of a user, so that what is best for a budget is there for every larger one. Linear in the
/// step, and layers that are alike are weighed once; `work`: what it took.
std::vector<Kept> planLadder(const RematProblem &problem, int rungs, RematWork *work = nullptr);

} // namespace zero::planning

#endif // ZERO_PLANNING_REMAT_H
