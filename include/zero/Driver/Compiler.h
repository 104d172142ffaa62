//===- Compiler.h - from a model to an executable ---------------*- C++ -*-===//

#ifndef ZERO_DRIVER_COMPILER_H
#define ZERO_DRIVER_COMPILER_H

#include "zero/Driver/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace zero {

/// What zeroc is asked to do.
struct CompilerOptions {
  std::string input;                ///< a model of any front end; "-": MLIR from standard input
  std::string output;               ///< .zexe
  std::vector<std::string> reports; ///< pages and JSON about the plan, by suffix
  llvm::StringMap<std::string> frontendFlags; ///< by name, as given; see Frontend.h
  std::string config;            ///< DeepSpeed's JSON, taken into the other fields by the tool
  std::string dumpAfter;         ///< print the program after this phase
  std::string nvmeDir;           ///< where the nvme tier will lie; empty: not known yet
  std::string diskSource;        ///< the tool's: who says how fast its disk is
  bool cleanAfterPhases = false; ///< run MLIR's generic passes after each phase
  bool planOnly = false;         ///< stop after `pack`, need no data file
  double learningRate = 1e-3;
  unsigned threads = 2;
  std::string cacheFolder;                             ///< of object code; empty: none
  std::vector<unsigned> gpuArchitectures{80, 90, 100}; ///< that --device=cuda compiles for
  bool noCache = false;                                ///< the tool's: takes no default for it
  uint64_t localBatch = 0;   ///< samples of a rank's batch, if somebody promises a number
  std::string localBatchKey; ///< where: "ds.json: train_micro_batch_size_per_gpu=4"
  PhaseOptions phases;
};

/// Reads the model with its front end. On error: diagnostics, null.
mlir::OwningOpRef<mlir::ModuleOp> readModel(const CompilerOptions &options,
                                            mlir::MLIRContext &context);

/// Runs all phases up to `pack` on `module`, planned for `machine`; prints the program to standard
/// output after the phase named in `dumpAfter`. With `cleanAfterPhases` MLIR's canonicalizer, CSE,
/// symbol-dce and loop-invariant code motion run after each: whoever embeds the phases may run
/// these anywhere, and the plan stays the same (test/phases/generic-passes.test).
llvm::LogicalResult runPhases(mlir::ModuleOp module, const CompilerOptions &options,
                              const planning::Machine &machine);

/// What keeps the executable and the reports from being written, before any work is done; empty
/// when nothing does.
std::string checkOutput(const CompilerOptions &options);

/// The whole way: read, run the phases, print what is trained and the certificate
/// to `report`, and write the executable unless only the plan is wanted, and the reports;
/// then `report` says how long it took.
llvm::LogicalResult compileModel(const CompilerOptions &options, llvm::raw_ostream &report);

} // namespace zero

#endif // ZERO_DRIVER_COMPILER_H
