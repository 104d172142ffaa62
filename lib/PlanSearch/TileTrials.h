//===- TileTrials.h - plans of a step with other tiles ----------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_TILETRIALS_H
#define LIB_PLANSEARCH_TILETRIALS_H

#include "PlanSearch.h"

namespace zero {

/// The resources of plans whose parameters are divided at one limit.
struct TileTrial {
  bool fits = false;
  double seconds = 0; ///< of the fastest plan that fits; if none does, of the smallest, if wanted
  int64_t peak = 0;   ///< its bytes
  MemoryFloor floor;  ///< the bytes that every plan needs
};

/// Runs the phases up to the plans on a program that is not differentiated yet, with parameters in
/// tiles. Each trial has a separate context, so it changes and reports nothing.
class TileTrials {
public:
  TileTrials(mlir::ModuleOp module, const PhaseOptions &options, const planning::Machine &machine);

  /// With the tiles of the flags; nothing if a phase fails. Finding the smallest plan takes longer.
  std::optional<TileTrial> attempt(bool wantsSmallest) const;
  /// With parameters above `limit` bytes in tiles; nothing if some cannot be divided so. With
  /// `seconds`, also nothing if no shorter plan fits.
  std::optional<TileTrial> attempt(uint64_t limit, std::optional<double> seconds = {}) const;

private:
  enum class Want { Fitting, Any, AnyAndSmallest };
  std::optional<TileTrial> run(std::optional<uint64_t> limit, double seconds, Want want) const;

  std::string program; ///< as bytecode
  const mlir::DialectRegistry &registry;
  const PhaseOptions &options;
  const planning::Machine &machine;
};

/// For a module for which no plan fits: the limit of tiles with which a plan fits, and the
/// resources of that plan.
struct FittingTiles {
  uint64_t limit;
  double seconds;
  int64_t bytes;
};
void writeFittingTiles(mlir::ModuleOp module, const FittingTiles &tiles);
std::optional<FittingTiles> readFittingTiles(mlir::ModuleOp module);

/// For a module for which no plan fits with any tiles: writes the bytes that all of them need.
void writeTilesFloor(mlir::ModuleOp module, const MemoryFloor &floor);
std::optional<MemoryFloor> readTilesFloor(mlir::ModuleOp module);

} // namespace zero

#endif // LIB_PLANSEARCH_TILETRIALS_H
