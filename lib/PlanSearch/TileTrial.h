//===- TileTrial.h - plans of a step with other tiles -----------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_TILETRIAL_H
#define LIB_PLANSEARCH_TILETRIAL_H

#include "PlanSearch.h"

namespace zero {

/// A program that is not differentiated yet, as bytecode: trials of it have contexts of their own,
/// so they change and report nothing.
class UntiledProgram {
public:
  explicit UntiledProgram(mlir::ModuleOp module);

private:
  friend class TileTrial;
  std::string bytecode;
  const mlir::DialectRegistry &registry;
};

/// The plans of a program whose parameters are divided at one limit.
class TileTrial {
public:
  /// Runs the phases up to the plans, with parameters above `limit` bytes in tiles, or with the
  /// tiles of the flags. Null if a phase fails, for example because a parameter cannot be divided
  /// so.
  static std::unique_ptr<TileTrial> create(const UntiledProgram &program,
                                           std::optional<uint64_t> limit,
                                           const PhaseOptions &options,
                                           const planning::Machine &machine);

  /// The resources of a plan.
  struct Found {
    double seconds = std::numeric_limits<double>::infinity();
    double weighted = seconds; ///< as PlanSearch compares them
    int64_t peak = INT64_MAX;
  };
  /// The fastest plan that fits.
  std::optional<Found> findFastest();
  /// The plan that needs the least memory, if it needs less than `below` bytes.
  std::optional<Found> findSmallest(int64_t below);
  /// The plan that was found last, in another context.
  FoundPlanAttr foundPlan(mlir::MLIRContext *other) const;
  const Budget &getBudget() const { return search->getBudget(); }
  /// The bytes that every plan needs.
  const MemoryFloor &getFloor() const { return search->getFloor(); }

private:
  TileTrial(const UntiledProgram &program, std::optional<uint64_t> limit,
            const PhaseOptions &options);
  llvm::LogicalResult runToKernels();
  std::optional<Found> take(llvm::FailureOr<const PlanChoice *> choice, bool fits);

  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler silent;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  const PhaseOptions &options;
  std::unique_ptr<PlanSearch> search;
  const PlanChoice *last = nullptr;
  bool lastFits = false;
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

/// On a module whose tiles a planner tried: the plan that it found, a `#zero.found_plan`.
inline constexpr llvm::StringLiteral kFoundPlanAttr = "zero.found_plan";

} // namespace zero

#endif // LIB_PLANSEARCH_TILETRIAL_H
