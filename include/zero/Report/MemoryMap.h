//===- MemoryMap.h - tensors of the arena over the step ---------*- C++ -*-===//

#ifndef ZERO_REPORT_MEMORYMAP_H
#define ZERO_REPORT_MEMORYMAP_H

#include "zero/Analysis/Storage.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <string>
#include <vector>

namespace zero {

/// The parts of a step, in order. If the loss is tiled, forward and backward alternate.
enum class StepPart { Prologue, Forward, Backward, Epilogue };
llvm::StringRef stepPartName(StepPart part);

/// An op of the step that executes something. Views and reads are not included: no value becomes
/// live or dies at these alone.
struct MappedCommand {
  std::string name;  ///< of the node or the bucket; may be empty
  std::string kind;  ///< "gemm", "all_gather", "host_to_device", ...
  std::string scope; ///< the part of the model: "model.h.0"; may be empty
  StepPart part = StepPart::Forward;
};

/// A piece of the arena.
struct MappedTensor {
  std::string name;
  std::string type;     ///< "128x64xf32"; empty for workspace
  std::string scope;    ///< as for commands
  llvm::StringRef kind; ///< "input", "state", "constant", "value" or "scratch"
  Usage usage = Usage::Working;
  int64_t bytes = 0;
  int64_t offset = 0;
  int64_t begin = 0; ///< the first and the last command at which it is live
  int64_t end = 0;
};

/// The contents of one tier.
struct TierMap {
  Tier tier = Tier::Device;
  std::vector<MappedTensor> tensors; ///< without empty ones
  /// Live aligned bytes by Usage, one for each command.
  std::vector<std::array<int64_t, kNumUsages>> live;
  int64_t peak = 0; ///< the first command at which most bytes are live
};

struct MemoryMap {
  std::vector<MappedCommand> commands;
  std::array<TierMap, kTiers.size()> tiers; ///< by Tier
};

/// Builds the map of a packed module; `storage` is the analysis of its step.
MemoryMap mapMemory(mlir::ModuleOp module, const Storage &storage);

} // namespace zero

#endif // ZERO_REPORT_MEMORYMAP_H
