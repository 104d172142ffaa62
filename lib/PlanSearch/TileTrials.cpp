//===- TileTrials.cpp - plans of a step with other tiles ------------------===//

#include "TileTrials.h"

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Plan.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace zero {

TileTrials::TileTrials(ModuleOp module, const PhaseOptions &options,
                       const planning::Machine &machine)
    : registry(module.getContext()->getDialectRegistry()), options(options), machine(machine) {
  llvm::raw_string_ostream bytes(program);
  (void)writeBytecodeToFile(module, bytes); // fails for old versions only
}

/// Runs the phases between planning tiles and planning memory.
static LogicalResult runToKernels(ModuleOp module, const PhaseOptions &options) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  addGradients(pm, options);
  addStep(pm, options);
  addShape(pm, options);
  addKernels(pm, options);
  addActivations(pm, options);
  return pm.run(module);
}

static constexpr double kAnySeconds = std::numeric_limits<double>::infinity();

std::optional<TileTrial> TileTrials::attempt(bool wantsSmallest) const {
  return run({}, kAnySeconds, wantsSmallest ? Want::AnyAndSmallest : Want::Any);
}

std::optional<TileTrial> TileTrials::attempt(uint64_t limit, std::optional<double> seconds) const {
  return seconds ? run(limit, *seconds, Want::Fitting)
                 : run(limit, kAnySeconds, Want::AnyAndSmallest);
}

std::optional<TileTrial> TileTrials::run(std::optional<uint64_t> limit, double seconds,
                                         Want want) const {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, config);
  if (module && limit)
    (*module)->setAttr(kTilesAttr, Builder(&context).getI64IntegerAttr(int64_t(*limit)));
  if (!module || failed(runToKernels(*module, options)))
    return std::nullopt;
  PlanSearch search(*module, options, machine);
  Budget budget{options.plan.memoryBudget.getValue(), options.plan.activationBudget.getValue(),
                options.plan.hostBudget.getValue()};
  FailureOr<const PlanChoice *> found = failure();
  if (failed(search.prepare()) || failed(found = search.findFastest(budget, seconds)))
    return std::nullopt;
  const bool fits = *found;
  if (!fits && want == Want::Fitting)
    return std::nullopt;
  if (!fits && want == Want::AnyAndSmallest &&
      (failed(found = search.findSmallest(budget)) || !*found))
    return std::nullopt;
  TileTrial trial{fits, 0, 0, search.getFloor()};
  if (*found) {
    PlanCost &cost = search.costOf(*found);
    trial.seconds = cost.time.seconds;
    trial.peak = cost.device.packed();
  }
  return trial;
}

static constexpr StringLiteral kTilesThatFitAttr = "zero.tiles_that_fit";
static constexpr StringLiteral kTilesFloorAttr = "zero.tiles_floor";

void writeFittingTiles(ModuleOp module, const FittingTiles &tiles) {
  Builder builder(module.getContext());
  module->setAttr(kTilesThatFitAttr,
                  TilesAttr::get(module.getContext(), tiles.limit,
                                 builder.getF64FloatAttr(tiles.seconds), tiles.bytes));
}

std::optional<FittingTiles> readFittingTiles(ModuleOp module) {
  auto tiles = module->getAttrOfType<TilesAttr>(kTilesThatFitAttr);
  if (!tiles)
    return std::nullopt;
  return FittingTiles{tiles.getLimit(), tiles.getSeconds().getValueAsDouble(), tiles.getBytes()};
}

void writeTilesFloor(ModuleOp module, const MemoryFloor &floor) {
  module->setAttr(kTilesFloorAttr, MemoryFloorAttr::get(module.getContext(), floor.state,
                                                        floor.launch, floor.launchAt));
}

std::optional<MemoryFloor> readTilesFloor(ModuleOp module) {
  auto floor = module->getAttrOfType<MemoryFloorAttr>(kTilesFloorAttr);
  if (!floor)
    return std::nullopt;
  return MemoryFloor{floor.getState(), floor.getLaunch(), floor.getAt().str()};
}

} // namespace zero
