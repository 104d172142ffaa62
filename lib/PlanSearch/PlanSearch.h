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
#include <map>

namespace zero {

/// Maximum bytes of a plan on each rank; 0: no limit.
struct Budget {
  uint64_t memory = 0; ///< of the device, or with --ram-budget of the device and the host together
  uint64_t activations = 0;
  uint64_t host = 0;        ///< of the host's memory
  uint64_t nvme = 0;        ///< of the disk
  uint64_t dailyWrites = 0; ///< of the ranks of a node, to its drives in a day of steps
};

/// Whether `bytes` are within `limit`; 0: no limit.
inline bool within(int64_t bytes, uint64_t limit) { return !limit || uint64_t(bytes) <= limit; }

/// The plans that the options of a step allow, and the resources of each.
class PlanSearch {
public:
  /// `module` has kernels and is not placed yet; nothing here changes it.
  PlanSearch(mlir::ModuleOp module, const PhaseOptions &options, const planning::Machine &machine);

  /// What the options say.
  const Budget &getBudget() const { return given; }

  /// Lists placements, with the `known` ways to recompute if there are some; fails, after an
  /// error, where a phase does. Their plans are listed once one of them may be wanted.
  llvm::LogicalResult prepare(const PlanSearch *known = nullptr);

  /// The plan with the shortest step among those that fit, or null. The step of a plan that may
  /// write to the disk counts as longer by --offload-gain. The result is exact: a plan that is not
  /// evaluated cannot be faster or does not fit, or is of a placement that gives the program of
  /// another one, without recomputation.
  llvm::FailureOr<const PlanChoice *> findFastest(const Budget &budget);
  /// A plan that fits, or null; a plan may fit all the same, since the search builds few programs.
  /// Those that may need the least memory of the device come first, then faster ones.
  llvm::FailureOr<const PlanChoice *> findFitting(const Budget &budget);
  /// The plan that needs the least of the memory that the budget `memory` limits among those that
  /// fit the other budgets, if it needs less than `below`, or null.
  llvm::FailureOr<const PlanChoice *> findSmallest(const Budget &budget, int64_t below = INT64_MAX);
  /// `choice`, one of the plans, for the search of an equal program, perhaps in another context.
  FoundPlanAttr found(mlir::MLIRContext *context, const PlanChoice *choice, bool fits) const;
  /// Takes over a plan that another search has found, and builds no other. Fails, after an error,
  /// if `found` is of another program.
  llvm::FailureOr<const PlanChoice *> takeOver(FoundPlanAttr found);
  /// The fewest bytes of activations that any plan keeps.
  llvm::FailureOr<int64_t> findLeastActivations();
  /// The fewest bytes that any plan within `others` takes of a tier, or none if there is no such
  /// plan.
  llvm::FailureOr<std::optional<int64_t>> findLeast(TierBytes PlanCost::*tier,
                                                    const Budget &others);
  /// The fewest bytes that the ranks of a node write to its drives in a day under any plan within
  /// `others`, or none if there is no such plan.
  llvm::FailureOr<std::optional<double>> findLeastWrites(const Budget &others);
  /// The seconds of a step of `choice` as findFastest() compares them.
  double weightedSeconds(const PlanChoice *choice);
  /// The bytes of `cost` that the budget `memory` limits.
  int64_t memoryOf(PlanCost &cost) const;
  /// Whether a plan or a placement is known to need more of the host or of the disk.
  bool exceeds(const Budget &budget) const;
  /// The resources of `choice`, which must be one of the found plans.
  PlanCost &costOf(const PlanChoice *choice);
  /// The number of plans that were considered. Plans of placements whose state alone exceeds the
  /// budget are not.
  size_t size() const { return considered + plans.size(); }
  /// The number of programs that were created for plans: the cost of a search, independent of a
  /// clock.
  size_t getEvaluated() const { return evaluated; }
  /// Bytes that no plan can do without: state, and all that the largest single launch touches.
  const MemoryFloor &getFloor() const { return floor; }

private:
  /// Bytes of state that waits on other tiers.
  struct OffDevice {
    int64_t host = 0, nvme = 0;
    bool fit(const Budget &budget) const;
  };
  struct Plan {
    PlanChoice choice;
    size_t order = 0;        ///< among plans that take as long; does not depend on budgets
    double leastSeconds = 0; ///< no step of this plan is shorter
    int64_t leastBytes = 0;  ///< nor the memory that the budget limits less
    int64_t state = 0;       ///< of it, during the whole step
    OffDevice least;         ///< nor its arenas of other tiers
    std::optional<PlanCost> cost;
    int fillings = 0; ///< attempts to fill memory of which each plan leaves another part
  };
  /// The tiers that state from farther ones fills, as far as their budgets allow.
  struct Fill {
    bool device = false, host = false;
    bool any() const { return device || host; }
  };
  /// A placement of state. Its plans are listed once one of them may be wanted.
  struct Placement {
    PlanChoice choice;
    size_t order = 0; ///< of its first plan
    bool isListed = false;
    Fill fill;
    int64_t leastBytes = 0; ///< of the memory that the budget limits: state alone
    OffDevice least;        ///< of other tiers: state alone
  };

  llvm::FailureOr<const PlanChoice *> findFirst(const Budget &budget, double seconds,
                                                std::optional<size_t> mostBuilt);
  llvm::FailureOr<const PlanChoice *> findSmall(const Budget &budget, int64_t below,
                                                std::optional<size_t> mostBuilt);
  llvm::LogicalResult addPlans(Placement placement);
  llvm::LogicalResult addPlans(const Placement &placement, Evaluation &evaluation);
  std::vector<Fill> fillsOf(const PlanChoice &choice, int64_t offDevice) const;
  llvm::FailureOr<StateOrder> orderOf(PlanChoice choice, Fill fill);
  llvm::LogicalResult addFilled(Placement placement);
  llvm::LogicalResult fillLess(PlanChoice &choice, Evaluation &evaluation);
  void
  forEachRecomputation(llvm::function_ref<void(const ActivationPlan *, double, int64_t)> add) const;
  llvm::LogicalResult addFilledMemory(const Placement &placement, Evaluation &evaluation);
  double weigh(double seconds, bool writes) const;
  double weightedSecondsOf(const Plan &plan) const;
  int64_t leastMemory(int64_t device, int64_t host) const { return device + (isShared ? host : 0); }
  bool isMemoryPacked(const PlanCost &cost) const;
  bool fitsMemory(PlanCost &cost, int64_t most) const;
  bool fits(PlanCost &cost, const Budget &budget) const;
  double dailyWrites(const PlanCost &cost) const;
  bool keepsWrites(const PlanCost &cost, const Budget &budget) const;
  /// Bytes of state that fill what the way to recompute leaves of the memory that the budget
  /// `memory` limits.
  int64_t &filledMemory(NearerState &nearer) const {
    return isShared ? nearer.host : nearer.device;
  }
  /// Bytes of the host that state may fill.
  int64_t hostRoom() const { return int64_t(isShared ? given.memory : given.host); }
  int64_t memoryExcess(const PlanCost &cost) const;
  int64_t hostExcess(PlanCost &cost) const;
  llvm::LogicalResult list(Placement &placement);
  llvm::LogicalResult listAll();
  void learnWork(const PlanChoice &choice, const StepTime &time);
  double leastSecondsOf(const Placement &placement) const;
  bool mayFit(const Placement &placement, const Budget &budget) const;
  void addSwaps(Plan &first, int64_t least);
  void raiseBound(Plan &plan) const;
  llvm::FailureOr<Evaluation> make(PlanChoice &choice, bool mayBeEmpty = true);
  llvm::LogicalResult evaluate(Plan &plan);
  llvm::LogicalResult simulatePacked(Plan &plan);
  llvm::LogicalResult evaluateAll();
  Plan &planOf(const PlanChoice *choice);

  mlir::ModuleOp module;
  const PhaseOptions &options;
  const planning::Machine &machine;
  const Budget given;
  const bool isShared; ///< device and host share the memory of a machine: --ram-budget
  /// Ways to recompute, the first of which drops nothing; shared by searches of one program.
  std::shared_ptr<const std::vector<RecomputePlan>> ladder;
  std::vector<Placement> placements; ///< those with the least state first
  /// What programs have in common that differ only in tiers and the sizes of buckets, and a lower
  /// bound of the seconds of computing and collectives of such a program.
  using Work = std::tuple<unsigned, uint64_t, unsigned, bool>;
  static Work workOf(const PlanChoice &choice);
  std::map<Work, double> leastWork;
  std::deque<Plan> plans; ///< stay where they are while others are added
  /// What plans that differ only in the tiers of state have in common.
  using Common =
      std::tuple<unsigned, uint64_t, uint64_t, unsigned, bool, const ActivationPlan *, int64_t>;
  static Common commonOf(const PlanChoice &choice);
  std::map<Common, int64_t> leastBesideState; ///< bytes of the device, of evaluated plans
  std::set<size_t> programs;                  ///< hashes, of placements that are listed
  MemoryFloor floor;
  /// The program of the plan that was built last, which is often simulated next.
  const Plan *builtPlan = nullptr;
  std::optional<Evaluation> built;
  int64_t numOps = 0; ///< of the step
  size_t evaluated = 0;
  bool takesAny = false; ///< no program is built to fill tiers better: any plan that fits will do
  size_t considered = 0; ///< by the search that a plan was taken over from
};

} // namespace zero

#endif // LIB_PLANSEARCH_PLANSEARCH_H
