//===- PlanPrecision.cpp - precisions that fit a budget -------------------===//

#include "PlanPrecision.h"

#include "zero/Pipelines/PrecisionChange.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

using Changes = SmallVector<PrecisionChange>;

static std::string textOf(ArrayRef<PrecisionChange> changes) {
  return llvm::join(llvm::map_range(changes, [](const auto &change) { return change.flag(); }),
                    " ");
}

namespace {

/// What came of compiling with other precisions. Some are an error that only a phase finds: not
/// every optimizer has all of them.
enum class Outcome { Fits, NoPlan, Invalid };

/// Compiles copies of a model up to the phase that plans, with other precisions.
class PrecisionSearch {
public:
  PrecisionSearch(ModuleOp model, const CompilerOptions &options, const planning::Machine &machine,
                  DecisionLog &decisions, bool isQuick = false)
      : model(model), options(options), machine(machine), decisions(decisions), isQuick(isQuick) {}

  Outcome attempt(ArrayRef<PrecisionChange> changes);
  /// Adds one of `allowed` after the other until a plan fits, then leaves out those that are not
  /// needed. Nothing if no plan fits with all of them.
  std::optional<Changes> findFitting(ArrayRef<PrecisionChange> allowed);
  /// Those of precisionChanges() that take fewer bytes than the options, and have an effect.
  Changes smaller() const;
  unsigned countTrials() const { return trials; }

private:
  ModuleOp model;
  const CompilerOptions &options;
  const planning::Machine &machine;
  DecisionLog &decisions;
  bool isQuick; ///< a plan that few programs find is enough
  unsigned trials = 0;
};

} // namespace

Outcome PrecisionSearch::attempt(ArrayRef<PrecisionChange> changes) {
  PhaseOptions phases;
  phases.copyOptionValuesFrom(options.phases);
  if (!applyChanges(phases, changes))
    return Outcome::Invalid;
  ++trials;
  OwningOpRef<ModuleOp> trial = model.clone();
  MLIRContext *context = trial->getContext();
  (*trial)->setAttr(kPrecisionTrialAttr, BoolAttr::get(context, isQuick));
  // What a trial decides and reports is not about the program that is compiled.
  const size_t known = decisions.getEntries().size();
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  const bool done = succeeded(runPhases(*trial, options, phases, machine));
  decisions.truncate(known);
  return done ? Outcome::Fits : (*trial)->hasAttr(kNoPlanAttr) ? Outcome::NoPlan : Outcome::Invalid;
}

/// Replaces the change of the same option, or adds one.
static void add(Changes &changes, const PrecisionChange &change) {
  llvm::erase_if(changes, [&](const auto &other) { return other.option == change.option; });
  changes.push_back(change);
}

std::optional<Changes> PrecisionSearch::findFitting(ArrayRef<PrecisionChange> allowed) {
  Changes changes;
  Outcome outcome = attempt(changes);
  for (const PrecisionChange &change : allowed) {
    if (outcome == Outcome::Fits)
      break;
    Changes more = changes;
    add(more, change);
    const Outcome next = attempt(more);
    if (next == Outcome::Invalid)
      continue;
    outcome = next;
    changes = more;
  }
  if (outcome != Outcome::Fits)
    return std::nullopt;
  // Without the last one no plan fits. Of the others the largest change is left out first.
  for (size_t i = changes.size(); i-- > 0;) {
    Changes fewer = changes;
    fewer.erase(fewer.begin() + i);
    if (i + 1 < changes.size() && attempt(fewer) == Outcome::Fits)
      changes = fewer;
  }
  return changes;
}

/// Whether `change`, one of precisionChanges(), takes fewer bytes than the value that is given for
/// its option. None does if that is not one of them, such as "exp_avg=8bit".
static bool isSmaller(const PrecisionChange &change, const GivenFlags &given) {
  auto it = given.find(change.option);
  if (it == given.end() || it->second.value == "f32")
    return true;
  const ArrayRef<PrecisionChange> all = precisionChanges();
  const auto *now = llvm::find_if(all, [&](const PrecisionChange &other) {
    return other.option == change.option && other.value == it->second.value;
  });
  return now < &change;
}

Changes PrecisionSearch::smaller() const {
  Changes changes;
  for (const PrecisionChange &change : precisionChanges()) {
    PhaseOptions phases;
    phases.copyOptionValuesFrom(options.phases);
    if (isSmaller(change, options.given) && applyChanges(phases, change))
      changes.push_back(change);
  }
  return changes;
}

/// Sets the options of the first of the allowed precisions that fit. Without one nothing changes.
static void choosePrecision(ModuleOp module, CompilerOptions &options,
                            const planning::Machine &machine, DecisionLog &decisions) {
  auto isAllowed = [&](const PrecisionChange &change) {
    return llvm::is_contained(options.phases.plan.allowPrecision,
                              (change.subject + ":" + change.value).str());
  };
  PrecisionSearch search(module, options, machine, decisions);
  Changes allowed = search.smaller();
  llvm::erase_if(allowed, [&](const auto &change) { return !isAllowed(change); });
  std::optional<Changes> found = search.findFitting(allowed);
  if (!found)
    return;
  applyChanges(options.phases, *found);
  const std::string choice =
      found->empty() ? "as given, since a plan fits" : textOf(*found) + ", the first that fits";
  remark::passed(module.getLoc(), remark::RemarkOpts::name("allowed").category("precision"))
      << "precision: " + choice + ", of " + llvm::join(options.phases.plan.allowPrecision, ",") +
             "; " + std::to_string(search.countTrials()) + " tried";
}

/// What a refusal says about precisions, or an empty text. Advice is not worth a search of all
/// plans: of a model of 135 million parameters that took three times as long as the refusal.
static std::string adviseOn(ModuleOp model, const CompilerOptions &options,
                            const planning::Machine &machine, DecisionLog &decisions) {
  PrecisionSearch search(model, options, machine, decisions, /*isQuick=*/true);
  const Changes smaller = search.smaller();
  Changes all;
  for (const PrecisionChange &change : smaller)
    add(all, change);
  // Most often not even all of them help.
  if (all.empty() || search.attempt(all) == Outcome::NoPlan)
    return "";
  std::optional<Changes> found = search.findFitting(smaller);
  return found ? textOf(*found) + " would fit; it changes numbers" : "";
}

LogicalResult runWithinBudget(ModuleOp module, CompilerOptions &options,
                              const planning::Machine &machine, DecisionLog &decisions) {
  if (!options.phases.plan.isPlanned() || options.phases.import.forwardOnly)
    return runPhases(module, options, options.phases, machine);
  OwningOpRef<ModuleOp> model = module.clone();
  if (!options.phases.plan.allowPrecision.empty())
    choosePrecision(*model, options, machine, decisions);
  // An error waits for what is to be added to it.
  std::vector<Diagnostic> messages;
  LogicalResult done = failure();
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &message) {
      messages.push_back(std::move(message));
      return success();
    });
    done = runPhases(module, options, options.phases, machine);
  }
  if (failed(done) && module->hasAttr(kNoPlanAttr) && !messages.empty()) {
    if (const auto &allowed = options.phases.plan.allowPrecision; !allowed.empty())
      messages.back().attachNote()
          << "no plan fits with --allow-precision=" << llvm::join(allowed, ",") << " either";
    if (std::string advice = adviseOn(*model, options, machine, decisions); !advice.empty())
      messages.back().attachNote() << advice;
  }
  for (Diagnostic &message : messages)
    module.getContext()->getDiagEngine().emit(std::move(message));
  return done;
}

} // namespace zero
