//===- Compiler.h - compile a model to an executable ------------*- C++ -*-===//

#ifndef ZERO_DRIVER_COMPILER_H
#define ZERO_DRIVER_COMPILER_H

#include "zero/Driver/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace zero {

/// A flag that was set, in the form of messages: {"--zero-stage", "3"}, or by its key in the
/// configuration: {"ds.json: zero_optimization.stage", "3"}.
struct GivenFlag {
  std::string key, value;
};
/// By the flag's name without dashes.
using GivenFlags = llvm::StringMap<GivenFlag>;

/// The options of zeroc.
struct CompilerOptions {
  std::string input;                ///< a model of any front end; "-": MLIR from standard input
  std::string output;               ///< .zexe
  std::string witness;              ///< .json: where state and gradients go, and the commands
  std::string emitOnnx;             ///< .onnx: write the step in ONNX operators instead
  std::vector<std::string> reports; ///< pages and JSON about the plan, by suffix
  llvm::StringMap<std::string> frontendFlags; ///< by name, as given; see Frontend.h
  /// The values of the flag --shape of front ends, one for each program; frontendFlags has the
  /// first one.
  std::vector<std::string> shapes;
  bool explainsConfig = false;   ///< print what `config` became, and nothing else
  std::string config;            ///< DeepSpeed JSON, which the tool applies to the other fields
  std::string dumpAfter;         ///< print the program after this phase
  std::string nvmeDir;           ///< directory of the nvme tier; empty: not known yet
  std::string diskSource;        ///< set by the tool: the source of the disk speed
  bool cleanAfterPhases = false; ///< run MLIR's generic passes after each phase
  bool externalData = false;     ///< of emitOnnx: write tensors to a file of their own
  bool planOnly = false;         ///< stop after `pack`, read no data files
  bool prices = false;           ///< compare ways to train instead of compiling one
  double pricedTokens = 1e9;     ///< of prices: tokens to train with
  double learningRate = 1e-3;
  unsigned threads = 2;
  std::string cacheFolder;                             ///< of object code; empty: none
  std::vector<unsigned> gpuArchitectures{80, 90, 100}; ///< that --device=cuda compiles for
  bool noCache = false;      ///< set by the tool: do not use the default cache
  uint64_t localBatch = 0;   ///< samples of a rank's batch, if the configuration sets them
  std::string localBatchKey; ///< the setting: "ds.json: train_micro_batch_size_per_gpu=4"
  /// Set by the tool: the flags of the command line in their order, each by its name, as one word.
  std::vector<std::pair<std::string, std::string>> words;
  GivenFlags given; ///< set by the tool: flags that have no effect on some models are errors
  /// Set by the tool: neither flags nor configuration say the ranks, so the model may. Reset when
  /// it is read.
  bool takesMesh = false;
  /// Set by the tool with `takesMesh`: checks all flags again, with the ranks of the model. Returns
  /// an error message, or an empty string.
  std::function<std::string(const CompilerOptions &)> check;
  PhaseOptions phases;
};

/// Adds the flags of all front ends and of all phases, which set `options`.
void addModelFlags(CompilerOptions &options, Flags &flags);

/// Reads the model with its front end; `shape`, unless empty, is the value of --shape in place of
/// the first one. On error: diagnostics, null.
mlir::OwningOpRef<mlir::ModuleOp> readModel(const CompilerOptions &options,
                                            mlir::MLIRContext &context, llvm::StringRef shape = "");

/// Reads the model for the one of several shapes with the most elements of inputs, and says it in
/// `shape`. On error: diagnostics, null.
mlir::OwningOpRef<mlir::ModuleOp> readLargestModel(const CompilerOptions &options,
                                                   mlir::MLIRContext &context, std::string &shape);

/// Runs all phases with the options `phases` up to `pack` on `module`, or up to `step` for
/// `emitOnnx`, or up to `place` if it is a trial, planned for `machine`; prints the program to
/// standard output after the phase named in `dumpAfter`. With `cleanAfterPhases` the canonicalizer,
/// CSE, symbol-dce and loop-invariant code motion of MLIR run after each phase: a tool that embeds
/// the phases may run these passes anywhere without changing the plan
/// (test/phases/generic-passes.test).
llvm::LogicalResult runPhases(mlir::ModuleOp module, const CompilerOptions &options,
                              const PhaseOptions &phases, const planning::Machine &machine);

/// Plans `module`, as readModel() returns it, in two parts: the phases up to `kernels`, after
/// checks of what flags ask of this model, and those up to `pack`. For options without budgets.
/// Sets the mesh of `options` if the model says it.
llvm::LogicalResult formKernels(mlir::ModuleOp module, CompilerOptions &options,
                                const planning::Machine &machine);
llvm::LogicalResult placeKernels(mlir::ModuleOp module, const CompilerOptions &options,
                                 const planning::Machine &machine);
/// Equal for options with which formKernels() makes the same program of a model.
std::string optionsOfKernels(const PhaseOptions &phases);

/// The reason why the executable or the reports cannot be written, checked before any work; empty
/// if there is none.
std::string checkOutput(const CompilerOptions &options);

/// Compiles: reads the model, runs the phases, prints the trained parameters and the certificate to
/// `report`, writes the executable unless only the plan is requested, and the reports. Then prints
/// the time of compilation to `report`. Sets the mesh of `options` if the model says it.
llvm::LogicalResult compileModel(CompilerOptions &options, llvm::raw_ostream &report);

} // namespace zero

#endif // ZERO_DRIVER_COMPILER_H
