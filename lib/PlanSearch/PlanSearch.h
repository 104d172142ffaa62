//===- PlanSearch.h - search for plans within a budget ----------*- C++ -*-===//
//
// Which plans there are does not depend on the budget. So what fits a small budget is there
// for a larger one, planned time never falls as the budget shrinks, and the smallest budget
// that has a plan is known.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_PLANSEARCH_PLANSEARCH_H
#define LIB_PLANSEARCH_PLANSEARCH_H

#include "Evaluation.h"
#include "RecomputePlans.h"

#include <deque>

namespace zero {

/// Maximum bytes of a plan on each rank; 0: no limit.
struct Budget {
  uint64_t memory = 0;
  uint64_t activations = 0;
  uint64_t host = 0; ///< of the host's memory
};

/// The plans that the options of a step allow, and the resources of each.
class PlanSearch {
public:
  /// `module` has kernels and is not placed yet; nothing here changes it.
  PlanSearch(mlir::ModuleOp module, const PhaseOptions &options, const planning::Machine &machine);

  /// Lists placements, with the `known` ways to recompute if there are some; fails, after an
  /// error, where a phase does. Their plans are listed once one of them may be wanted.
  llvm::LogicalResult prepare(const PlanSearch *known = nullptr);

  /// The plan with the shortest step among those that fit, if it is shorter than `seconds`, or
  /// null. The result is exact: a plan that is not evaluated cannot be faster or does not fit.
  llvm::FailureOr<const PlanChoice *>
  findFastest(const Budget &budget, double seconds = std::numeric_limits<double>::infinity());
  /// The plan that needs the least memory.
  llvm::FailureOr<const PlanChoice *> findSmallest(const Budget &budget);
  /// The fewest bytes of activations that any plan keeps.
  llvm::FailureOr<int64_t> findLeastActivations();
  /// The fewest bytes that any plan takes of the host.
  llvm::FailureOr<int64_t> findLeastHost();
  /// The resources of `choice`, which must be one of the found plans.
  PlanCost &costOf(const PlanChoice *choice);
  /// The number of plans that were considered. Plans of placements whose state alone exceeds the
  /// budget are not.
  size_t size() const { return plans.size(); }
  /// The number of programs that were created for plans: the cost of a search, independent of a
  /// clock.
  size_t getEvaluated() const { return evaluated; }
  /// Bytes that no plan can do without: state, and all that the largest single launch touches.
  const MemoryFloor &getFloor() const { return floor; }

private:
  struct Plan {
    PlanChoice choice;
    double leastSeconds = 0; ///< no step of this plan is shorter
    int64_t leastBytes = 0;  ///< nor its arena smaller
    std::optional<PlanCost> cost;
  };
  /// A placement of state, before its plans are listed.
  struct Placement {
    PlanChoice choice;
    bool fillsHost = false; ///< with as much state as the budget of the host allows
    int64_t leastBytes = 0; ///< of the device: state alone
  };

  PlanChoice asked() const;
  std::vector<PlanChoice> placements() const;
  std::vector<PlanChoice> withNodes(std::vector<PlanChoice> choices) const;
  std::vector<PlanChoice> tiledPlacements() const;
  std::vector<PlanChoice> withTiers(const std::vector<PlanChoice> &placements) const;
  llvm::LogicalResult addPlans(const PlanChoice &placement);
  llvm::LogicalResult addPlans(const PlanChoice &placement, Evaluation &evaluation);
  llvm::LogicalResult addFilledHost(PlanChoice placement);
  int64_t stateBytes(const PlanChoice &placement);
  llvm::LogicalResult list(size_t placement);
  llvm::LogicalResult listUpTo(uint64_t bytes);
  void addSwaps(Plan &first, const MemoryFloor &own);
  llvm::FailureOr<Evaluation> make(PlanChoice &choice);
  llvm::LogicalResult evaluate(Plan &plan);
  llvm::LogicalResult evaluateAll();

  mlir::ModuleOp module;
  const PhaseOptions &options;
  const planning::Machine &machine;
  /// Ways to recompute, the first of which drops nothing; shared by searches of one program.
  std::shared_ptr<const std::vector<RecomputePlan>> ladder;
  std::deque<Placement> unlisted; ///< those with the least state first
  std::deque<Plan> plans;         ///< stay where they are while others are added
  MemoryFloor floor;
  size_t evaluated = 0;
};

} // namespace zero

#endif // LIB_PLANSEARCH_PLANSEARCH_H
