//===- MemoryMap.h - what lies where in the arena, and when -----*- C++ -*-===//

#ifndef ZERO_REPORT_MEMORYMAP_H
#define ZERO_REPORT_MEMORYMAP_H

#include "zero/Analysis/Storage.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <string>
#include <vector>

namespace zero {

/// The parts of a step, in order of the first two; with tiles of the loss forward and
/// backward take turns.
enum class StepPart { Prologue, Forward, Backward, Epilogue };
llvm::StringRef stepPartName(StepPart part);

/// An op of the step that does something. Views and reads are none: nothing becomes
/// live or dies at them alone.
struct MappedCommand {
  std::string name;  ///< of the node or the bucket; may be empty
  std::string kind;  ///< "gemm", "all_gather", "host_to_device", ...
  std::string scope; ///< the part of the model: "model.h.0"; may be empty
  StepPart part = StepPart::Forward;
};

/// A piece of the arena.
struct MappedTensor {
  std::string name;
  std::string type;     ///< "128x64xf32"; empty for scratch
  std::string scope;    ///< as of commands
  llvm::StringRef kind; ///< "input", "state", "constant", "value" or "scratch"
  Usage usage = Usage::Working;
  int64_t bytes = 0;
  int64_t offset = 0;
  int64_t begin = 0; ///< the first and the last command at which it must be there
  int64_t end = 0;
};

/// What lies on one tier.
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

/// Reads the map off a packed module, whose step `storage` is of.
MemoryMap mapMemory(mlir::ModuleOp module, const Storage &storage);

} // namespace zero

#endif // ZERO_REPORT_MEMORYMAP_H
