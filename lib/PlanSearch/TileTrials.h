//===- TileTrials.h - plans of a step with other tiles ----------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_TILETRIALS_H
#define LIB_PLANSEARCH_TILETRIALS_H

#include "PlanSearch.h"

namespace zero {

/// What plans take whose parameters are cut at one limit.
struct TileTrial {
  bool fits = false;
  double seconds = 0; ///< of the fastest plan that fits; if none does, of the smallest, if wanted
  int64_t peak = 0;   ///< its bytes
  MemoryFloor floor;  ///< what no plan can do without
};

/// Takes a program that is not differentiated yet through the phases up to its plans, with
/// parameters in tiles. Each trial has a context of its own, so it changes and reports nothing.
class TileTrials {
public:
  TileTrials(mlir::ModuleOp module, const PhaseOptions &options, const planning::Machine &machine);

  /// As the flags say; nothing where a phase fails. The smallest plan takes a while to find.
  std::optional<TileTrial> attempt(bool wantsSmallest) const;
  /// With parameters above `limit` bytes in tiles; nothing where some cannot be cut so. With
  /// `seconds` also nothing where no plan fits that is shorter.
  std::optional<TileTrial> attempt(uint64_t limit, std::optional<double> seconds = {}) const;

private:
  enum class Want { Fitting, Any, AnyAndSmallest };
  std::optional<TileTrial> run(std::optional<uint64_t> limit, double seconds, Want want) const;

  std::string program; ///< as bytecode
  const mlir::DialectRegistry &registry;
  const PhaseOptions &options;
  const planning::Machine &machine;
};

/// On a module for which no plan fits: the limit of tiles with which one does, and what
/// that takes.
struct FittingTiles {
  uint64_t limit;
  double seconds;
  int64_t bytes;
};
void writeFittingTiles(mlir::ModuleOp module, const FittingTiles &tiles);
std::optional<FittingTiles> readFittingTiles(mlir::ModuleOp module);

/// On a module for which no plan fits, whatever its tiles: what none of them can do without.
void writeTilesFloor(mlir::ModuleOp module, const MemoryFloor &floor);
std::optional<MemoryFloor> readTilesFloor(mlir::ModuleOp module);

} // namespace zero

#endif // LIB_PLANSEARCH_TILETRIALS_H
