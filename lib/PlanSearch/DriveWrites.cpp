//===- DriveWrites.cpp - plans within a rate of writes to drives ----------===//
//
// The budget --drive-writes limits bytes a day, so it depends on the seconds of a step, which are
// exact for packed values only. Until a plan is packed, its rate is that of a step in which nothing
// overlaps: a plan that exceeds the budget even so is not packed.
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"

#include "zero/Planning/DriveWear.h"

using namespace mlir;

namespace zero {

/// Bytes that the ranks of a node write to its drives in a day of steps; at least so many, until
/// the seconds are exact.
double PlanSearch::dailyWrites(const PlanCost &cost) const {
  const double seconds = cost.isExact ? cost.time.seconds : cost.time.most();
  return planning::nodeDriveWear(machine, /*read=*/0, double(cost.written),
                                 int64_t(options.ranks()), seconds)
      .writtenPerDay();
}

/// Certain once the seconds are exact; before, a plan that does not may be taken for one that does.
bool PlanSearch::keepsWrites(const PlanCost &cost, const Budget &budget) const {
  return !budget.dailyWrites || dailyWrites(cost) <= double(budget.dailyWrites);
}

FailureOr<std::optional<double>> PlanSearch::findLeastWrites(const Budget &others) {
  if (failed(evaluateAll()))
    return failure();
  std::vector<Plan *> order;
  for (Plan &plan : plans)
    order.push_back(&plan);
  llvm::stable_sort(order, [&](const Plan *a, const Plan *b) {
    return dailyWrites(*a->cost) < dailyWrites(*b->cost);
  });
  std::optional<double> least;
  for (Plan *plan : order) {
    if ((least && dailyWrites(*plan->cost) >= *least) || !fits(*plan->cost, others))
      continue;
    if (failed(simulatePacked(*plan)))
      return failure();
    least = std::min(least.value_or(HUGE_VAL), dailyWrites(*plan->cost));
  }
  return least;
}

} // namespace zero
