//===- PlanMemory.cpp - choose the fastest plan within a budget -----------===//
//
// The pass `zero-plan-memory`: tries plans on copies of the program and writes the fastest
// of those that fit as attributes, which the phases that follow read.
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"
#include "Refusal.h"
#include "TileTrial.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/PlanSearch/Passes.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Planning/DriveWear.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace zero {

/// ", up to 1.00 MiB of optimizer state on device, up to 4.00 MiB of it on host".
static std::string describeNearer(const NearerState &nearer, StringRef what, StringRef again) {
  std::string text;
  for (auto [tier, bytes] : {std::pair{Tier::Device, nearer.device}, {Tier::Host, nearer.host}})
    if (bytes) {
      StringRef of = text.empty() ? what : again;
      text += (", up to " + planning::formatBytes(double(bytes)) + " of " + of + " on " +
               stringifyTier(tier))
                  .str();
    }
  return text;
}

/// ", parameters on nvme, gradients on host, up to 4.00 MiB of optimizer state on host, the rest on
/// nvme".
static std::string describeState(const PlanChoice &choice) {
  const NearerState &nearer = choice.nearer;
  const bool fillsParams = nearer.any() && nearer.order == StateOrder::Params;
  const bool fillsOptimizer = nearer.any() && nearer.order == StateOrder::Optimizer;
  std::string text;
  auto add = [&](StringRef what, Tier tier, bool isDivided, StringRef again) {
    if (isDivided)
      text += describeNearer(nearer, what, again);
    if (tier != Tier::Device)
      text += (", " + (isDivided ? "the rest" : what) + " on " + stringifyTier(tier)).str();
  };
  add("parameters", choice.params, fillsParams, "them");
  add("gradients", choice.gradients, /*isDivided=*/false, "");
  add("optimizer state", choice.optimizer, fillsOptimizer, "it");
  if (!nearer.any() || fillsParams || fillsOptimizer)
    return text;
  return text + describeNearer(nearer, "these", "these") +
         (nearer.order == StateOrder::ParamsOptimizer ? ", parameters first"
                                                      : ", optimizer state first");
}

/// "stage 3, parameters under 4.00 KiB not sharded".
static std::string describe(const PlanChoice &choice) {
  std::string text = "stage " + std::to_string(choice.stage);
  if (choice.persistUnder)
    text +=
        ", parameters under " + planning::formatBytes(double(choice.persistUnder)) + " not sharded";
  if (choice.nodeRanks)
    text += ", parameters sharded within nodes of " + std::to_string(choice.nodeRanks) +
            " data-parallel ranks";
  text += ", buckets of up to " + planning::formatBytes(double(choice.bucketBytes));
  text += describeState(choice);
  if (choice.interleave)
    text += ", micro-batches in vertical order";
  return text;
}

/// "0.7732": four significant digits.
static std::string number(double value, const char *format = "%.4g") {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

static void reportPlan(ModuleOp module, PlanSearch &search, const PlanChoice &choice) {
  PlanCost &cost = search.costOf(&choice);
  const double total = cost.time.seconds;
  const double again = 100 * cost.time.recomputed / std::max(total, 1e-12);
  std::string elsewhere;
  if (const int64_t host = cost.host.packed())
    elsewhere = ", " + std::to_string(host) + " bytes of host memory, busiest link " +
                number(*llvm::max_element(cost.time.transfer)) + " s";
  if (cost.written > 0) // what a drive is rated by
    elsewhere +=
        ", " + planning::formatBytes(double(cost.written)) +
        " written to the disk by each rank in each step, " +
        planning::formatBytes(planning::DriveWear{0, double(cost.written), total}.writtenPerDay()) +
        " a day";
  remark::passed(module.getLoc(), remark::RemarkOpts::name("chosen").category("plan"))
      << "plan: " + describe(choice) + ": " << remark::metric("bytes", cost.device.packed())
      << " bytes, " << remark::metric("seconds", number(total))
      << " s a step, " + number(again, "%.1f") + " % of it recomputation" + elsewhere +
             "; fastest of " + std::to_string(search.size()) +
             " plans by the planner's cost model, " + std::to_string(search.getEvaluated()) +
             " of them built";
}

/// How many kernels have measured times; none is a warning, since another program was measured.
static void reportProfile(ModuleOp module, const PhaseOptions &options,
                          const planning::Machine &machine) {
  if (options.plan.profile.getValue().empty())
    return;
  const auto [known, all] = OpTimes(module, machine).countMeasured();
  if (known == 0)
    emitWarning(module.getLoc()) << "--profile=" << options.plan.profile.getValue()
                                 << ": no kernel of this program has the operations and bytes of "
                                    "one that was measured";
  else
    remark::passed(module.getLoc(), remark::RemarkOpts::name("profile").category("plan"))
        << "measured times: " + std::to_string(known) + " of " + std::to_string(all) + " kernels";
}

namespace {
class PlanMemory : public PassWrapper<PlanMemory, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanMemory)

  PlanMemory(const PhaseOptions &given, const planning::Machine &machine)
      : options(std::make_shared<PhaseOptions>()), machine(machine) {
    options->copyOptionValuesFrom(given);
  }

  StringRef getArgument() const override { return "zero-plan-memory"; }
  StringRef getDescription() const override { return "Choose the fastest plan within a budget"; }

  void runOnOperation() override {
    if (failed(plan(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult plan(ModuleOp module);

  std::shared_ptr<PhaseOptions> options;
  planning::Machine machine;
};
} // namespace

/// Explains why no plan fits, `known` being the smallest one if it was found; not in a trial.
static LogicalResult failWithoutPlan(ModuleOp module, PlanSearch &search, const PlanChoice *known,
                                     const PhaseOptions &options,
                                     const planning::Machine &machine) {
  module->setAttr(kNoPlanAttr, UnitAttr::get(module.getContext()));
  if (module->hasAttr(kPrecisionTrialAttr))
    return module.emitError("no plan fits");
  return refuse(module, search, known, options, search.getBudget(), machine);
}

LogicalResult PlanMemory::plan(ModuleOp module) {
  PlanSearch search(module, *options, machine);
  if (failed(search.prepare()))
    return failure();
  const Budget &budget = search.getBudget();
  // Tiles were tried with all their plans.
  auto known = module->getAttrOfType<FoundPlanAttr>(kFoundPlanAttr);
  auto trial = module->getAttrOfType<BoolAttr>(kPrecisionTrialAttr);
  const bool isQuick = trial && trial.getValue();
  FailureOr<const PlanChoice *> found = known     ? search.takeOver(known)
                                        : isQuick ? search.findFitting(budget)
                                                  : search.findFastest(budget);
  module->removeAttr(kFoundPlanAttr);
  if (failed(found))
    return failure();
  if (known && !known.getFits())
    return failWithoutPlan(module, search, *found, *options, machine);
  if (!*found)
    return failWithoutPlan(module, search, nullptr, *options, machine);
  reportPlan(module, search, **found);
  reportProfile(module, *options, machine);
  return writePlan(module, **found);
}

std::unique_ptr<Pass> createPlanMemory(const PhaseOptions &options,
                                       const planning::Machine &machine) {
  return std::make_unique<PlanMemory>(options, machine);
}

} // namespace zero
