//===- Remat.h - values that backward recomputes ----------------*- C++ -*-===//
// A value that forward computes and backward reads is saved between the two, or dropped and
// recomputed when backward first needs it, together with the nodes that lead to it from live
// values. No node is recomputed twice: a recomputed value is stored until its last reader.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANNING_REMAT_H
#define ZERO_PLANNING_REMAT_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// A step for planning recomputation: nodes in program order, forward first.
struct RematProblem {
  struct Node {
    double seconds = 0;
    std::vector<int> reads;  ///< values of nodes; values that are always live are omitted
    std::vector<int> writes; ///< values; each has one writer
    int layer = -1;          ///< of a forward node that may be recomputed; -1: it may not
    bool forward = false;
  };
  enum class Fate : char {
    Free,  ///< the plan decides
    Saved, ///< it must be saved for an op that no recomputation precedes
    Goes   ///< its bytes are overwritten in forward
  };
  std::vector<Node> nodes;
  std::vector<int64_t> bytes;               ///< of each value
  std::vector<Fate> fates;                  ///< of each value; empty: all are free
  std::vector<std::vector<int>> boundaries; ///< of each layer: its values that later layers read
};

/// By value: whether it is saved from forward to backward. Only values of layers may be dropped.
using Kept = std::vector<char>;

struct RematCost {
  double seconds = 0; ///< of recomputation
  int64_t peak = 0;   ///< maximum of the bytes live at a node
};

/// The plan that saves everything.
Kept keepAll(const RematProblem &problem);

/// Saves only the boundaries of every `stride`-th layer; 0: of none.
Kept keepBoundaries(const RematProblem &problem, int stride);

/// Bytes of the values that are saved for backward, or for recomputation: all of them are live when
/// forward ends.
int64_t savedBytes(const RematProblem &problem, const Kept &kept);

/// By node: whether it is recomputed under `kept`.
std::vector<char> findRepeated(const RematProblem &problem, const Kept &kept);

/// Simulates the step. Linear in its size.
RematCost simulate(const RematProblem &problem, const Kept &kept);

/// Saves more than `kept`, as long as the peak is at most `budget`: the value that saves the most
/// seconds for each byte and second of its lifetime comes first; a value that does not fit is
/// skipped. Also tried: by seconds for each byte, by seconds alone, and from everything saved,
/// dropping the cheapest values until it fits. Returns the fastest of the four. Greedy, as for
/// knapsacks; not optimal.
Kept keepGreedily(const RematProblem &problem, const Kept &kept, int64_t budget);

/// The work of planning, without a clock: executions of nodes in simulated steps, and values whose
/// savings were computed.
struct RematWork {
  uint64_t played = 0;
  uint64_t weighed = 0;
};

/// Plans from the fastest, which saves everything, to the smallest: for each of `rungs` budgets
/// from the smallest possible peak up, the fastest plan that greedy finds over several distances
/// between saved boundaries. Sorted by seconds, each smaller than the one before. Independent of
/// the budget of a user, so that the best plan for a budget is also available for every larger one.
/// Linear in the step; equal layers are evaluated once. `work` is the work of planning.
std::vector<Kept> planLadder(const RematProblem &problem, int rungs, RematWork *work = nullptr);

} // namespace zero::planning

#endif // ZERO_PLANNING_REMAT_H
