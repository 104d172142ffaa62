//===- TileTrial.cpp - plans of a step with other tiles ------------------===//

#include "TileTrial.h"

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Plan.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace zero {

UntiledProgram::UntiledProgram(ModuleOp module)
    : registry(module.getContext()->getDialectRegistry()) {
  llvm::raw_string_ostream bytes(bytecode);
  (void)writeBytecodeToFile(module, bytes); // fails for old versions only
}

TileTrial::TileTrial(const UntiledProgram &program, std::optional<uint64_t> limit,
                     const PhaseOptions &options)
    : context(program.registry, MLIRContext::Threading::DISABLED),
      silent(&context, [](Diagnostic &) { return success(); }), options(options) {
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  module = parseSourceString<ModuleOp>(program.bytecode, config);
  if (module && limit)
    (*module)->setAttr(kTilesAttr, Builder(&context).getI64IntegerAttr(int64_t(*limit)));
}

/// Runs the phases between planning tiles and planning memory.
LogicalResult TileTrial::runToKernels() {
  PassManager pm(&context);
  pm.enableVerifier(false);
  addGradients(pm, options);
  addStep(pm, options);
  addShape(pm, options);
  addKernels(pm, options);
  addActivations(pm, options);
  return pm.run(*module);
}

std::unique_ptr<TileTrial> TileTrial::create(const UntiledProgram &program,
                                             std::optional<uint64_t> limit,
                                             const PhaseOptions &options,
                                             const planning::Machine &machine) {
  std::unique_ptr<TileTrial> trial(new TileTrial(program, limit, options));
  if (!trial->module || failed(trial->runToKernels()))
    return nullptr;
  trial->search = std::make_unique<PlanSearch>(*trial->module, options, machine);
  if (failed(trial->search->prepare()))
    return nullptr;
  return trial;
}

std::optional<TileTrial::Found> TileTrial::take(FailureOr<const PlanChoice *> choice, bool fits) {
  if (failed(choice) || !*choice)
    return std::nullopt;
  last = *choice;
  lastFits = fits;
  PlanCost &cost = search->costOf(last);
  return Found{cost.time.seconds, search->weightedSeconds(last), search->memoryOf(cost)};
}

std::optional<TileTrial::Found> TileTrial::findFastest() {
  return take(search->findFastest(search->getBudget()), /*fits=*/true);
}

std::optional<TileTrial::Found> TileTrial::findSmallest(int64_t below) {
  return take(search->findSmallest(search->getBudget(), below), /*fits=*/false);
}

FoundPlanAttr TileTrial::foundPlan(MLIRContext *other) const {
  return search->found(other, last, lastFits);
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
