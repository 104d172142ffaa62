//===- PricePlans.cpp - plan the rows of the price table ------------------===//

#include "PricePlans.h"

#include "runtime/support/thread.h"
#include "zero/Import/Diagnostics.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <atomic>
#include <map>
#include <thread>

using namespace mlir;

namespace zero {

namespace {

/// Plans copies of one model in a context of its own.
class Planner {
public:
  Planner(const DialectRegistry &registry, StringRef bytecode, const planning::Machine &machine)
      : context(registry, MLIRContext::Threading::DISABLED), machine(machine),
        errors(&context, [this](Diagnostic &message) {
          if (error.empty() && message.getSeverity() == DiagnosticSeverity::Error)
            error = printable(message.str());
          return success();
        }) {
    context.printOpOnDiagnostic(false);
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    model = parseSourceString<ModuleOp>(bytecode, config);
  }

  /// Plans rows that have the same program up to `kernels`.
  void plan(ArrayRef<PriceAttempt *> group);

private:
  LogicalResult formKernels(CompilerOptions &options);
  LogicalResult price(PriceAttempt &attempt);

  MLIRContext context;
  const planning::Machine &machine;
  std::string error; ///< the first one of a row
  ScopedDiagnosticHandler errors;
  OwningOpRef<ModuleOp> model, kernels; ///< the latter is that of the group
};

} // namespace

LogicalResult Planner::formKernels(CompilerOptions &options) {
  kernels = model->clone();
  return zero::formKernels(*kernels, options, machine);
}

/// Plans for the machine that the words of the row say, as zeroc would. A plan that does not depend
/// on the machine is simulated on the machine of the table.
LogicalResult Planner::price(PriceAttempt &attempt) {
  const CompilerOptions &options = *attempt.options;
  planning::Machine own;
  if (error = options.phases.loadMachine(own); !error.empty())
    return failure();
  OwningOpRef<ModuleOp> module = kernels->clone();
  if (failed(placeKernels(*module, options, own)))
    return failure();
  const bool isTimed = options.given.contains("machine") || options.phases.offload.any();
  attempt.priced.price =
      prices::priceOf(*module, isTimed ? own : machine, options.phases.kernels.threadsPerRank);
  return success();
}

void Planner::plan(ArrayRef<PriceAttempt *> group) {
  error.clear();
  const bool hasKernels = succeeded(formKernels(*group.front()->options));
  for (PriceAttempt *attempt : group) {
    if (hasKernels)
      error.clear();
    if (!hasKernels || failed(price(*attempt)))
      attempt->priced.reason = error.empty() ? "a phase failed" : error;
    attempt->options.reset();
  }
}

/// The rows that have options, by the program that they have up to `kernels`. A model that says its
/// ranks sets them in the options of each row.
static std::vector<std::vector<PriceAttempt *>> groupsOf(std::vector<PriceAttempt> &attempts) {
  std::map<std::string, std::vector<PriceAttempt *>> groups;
  for (auto [index, attempt] : llvm::enumerate(attempts))
    if (const auto &options = attempt.options)
      groups[options->takesMesh ? std::to_string(index) : optionsOfKernels(options->phases)]
          .push_back(&attempt);
  std::vector<std::vector<PriceAttempt *>> list;
  for (auto &[key, group] : groups)
    list.push_back(std::move(group));
  return list;
}

void planAll(ModuleOp model, const planning::Machine &machine,
             std::vector<PriceAttempt> &attempts) {
  std::string bytecode;
  llvm::raw_string_ostream bytes(bytecode);
  (void)writeBytecodeToFile(model, bytes); // fails for old versions only
  const DialectRegistry &registry = model.getContext()->getDialectRegistry();
  const std::vector<std::vector<PriceAttempt *>> groups = groupsOf(attempts);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    Planner planner(registry, bytecode, machine);
    for (size_t index; (index = next++) < groups.size();)
      planner.plan(groups[index]);
  };
  const size_t threads = std::min<size_t>(rt::usableCores(), groups.size());
  std::vector<std::thread> others(std::max<size_t>(threads, 1) - 1);
  for (std::thread &other : others)
    if (!rt::startThread("plans of --prices", other, work).ok())
      break; // the others do the work
  work();
  for (std::thread &other : others)
    if (other.joinable())
      other.join();
}

} // namespace zero
