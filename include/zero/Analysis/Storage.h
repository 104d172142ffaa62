//===- Storage.h - storage and lifetimes of values --------------*- C++ -*-===//
// The memory of a partitioned step: every value is stored inside a root, a piece of the arena with
// a lifetime. `pack` assigns offsets to roots, `emit` turns values into addresses; both use this
// analysis.
//===----------------------------------------------------------------------===//

#ifndef ZERO_ANALYSIS_STORAGE_H
#define ZERO_ANALYSIS_STORAGE_H

#include "dialects/Zero/Zero.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/Packing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <array>

namespace zero {

/// The alignment of offsets in bytes: kernels have the same alignment for every value.
inline constexpr int64_t kArenaAlignment = 256;
/// The alignment on the other tiers, which transfers without the page cache need
/// (runtime/io/disk_queue.h).
inline constexpr int64_t kPageAlignment = 4096;

inline constexpr std::array<Tier, 3> kTiers = {Tier::Device, Tier::Host, Tier::Nvme};
inline int64_t alignmentOf(Tier tier) {
  return tier == Tier::Device ? kArenaAlignment : kPageAlignment;
}

/// The usage of a root's bytes: the rows of the certificate.
enum class Usage { Parameter, Gradient, Optimizer, Activation, Working };
inline constexpr unsigned kNumUsages = 5;
llvm::StringRef usageName(Usage usage);

/// A piece of the arena of a tier.
struct Root {
  Tier tier = Tier::Device;
  int64_t bytes = 0;
  int64_t begin = 0; ///< first and last command at which it is live
  int64_t end = 0;
  Usage usage = Usage::Working;
  mlir::Value value;                    ///< the value that it is for; null for a workspace
  mlir::Operation *workspace = nullptr; ///< the launch whose workspace this is
  mlir::Operation *symbol = nullptr;    ///< a persistent buffer or state
};

/// The place of a value: bytes from the start of a root, plus `rankStrides` times the coordinates
/// of the rank.
struct Place {
  int64_t root = -1;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 1> rankStrides = {};
};

/// Bytes to be copied before `before` executes, if a value could not be computed in its place.
struct Move {
  mlir::Operation *before;
  mlir::Value value; ///< that is stored at `from`
  Place from;
  Place to;
  int64_t bytes;
};

class Storage {
public:
  /// `step` is partitioned; `module` contains its state symbols.
  Storage(mlir::ModuleOp module, mlir::func::FuncOp step);
  /// Constructs the analysis of a module that has a step.
  explicit Storage(mlir::ModuleOp module);

  mlir::func::FuncOp getStep() const { return step; }
  /// The ops that the loss is computed from.
  const llvm::DenseSet<mlir::Operation *> &forwardOps() const { return forward; }

  llvm::ArrayRef<Root> roots() const { return allRoots; }
  llvm::ArrayRef<Move> moves() const { return allMoves; }
  Place place(mlir::Value value) const { return places.lookup(value); }
  Tier tier(Place place) const { return allRoots[place.root].tier; }
  /// The root of the workspace of `launch`, or -1.
  int64_t workspaceOf(mlir::Operation *launch) const;
  /// The root of a persistent symbol, or -1 if the step does not use it.
  int64_t symbolRoot(mlir::Operation *symbol) const;
  /// The position of `op` in the step.
  int64_t position(mlir::Operation *op) const { return positions.lookup(op); }
  int64_t numPositions() const { return positions.size(); }

private:
  mlir::func::FuncOp kernelOf(LaunchOp launch) const;
  mlir::OpOperand *updatedOperand(LaunchOp launch, unsigned result) const;
  int64_t lastRead(mlir::Value value) const;
  mlir::Value sourceInPlace(mlir::Value value) const;
  bool isAccumulated(mlir::Value value) const;
  bool takesBytes(mlir::OpOperand &operand) const;
  mlir::Value bufferOrigin(mlir::Value value) const;
  void claimBucketMembers();
  void placeArguments();
  void placeState();
  void placeResults(mlir::Operation &op);
  void placeLaunch(LaunchOp launch);
  void placeBucket(BucketOp bucket);
  void reduceInPlace(CollectiveOpInterface reduce);
  void moveWrite(WriteOp write);
  void extendLifetimes();
  void classify();
  void classifyTransfers();
  void alias(mlir::Value value, const View &view);
  int64_t addRoot(mlir::Value value, int64_t begin, Usage usage, Tier tier = Tier::Device);
  void alias(mlir::Value value, Place of) { places[value] = of; }

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  mlir::SymbolTable symbols;
  llvm::DenseSet<mlir::Operation *> forward;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  mutable llvm::DenseMap<mlir::Value, bool> accumulated; ///< cached results of isAccumulated()
  /// By kernel: a result, and the argument to whose bytes it is written.
  mutable llvm::DenseMap<mlir::Attribute, llvm::SmallVector<std::pair<unsigned, unsigned>, 1>>
      updatedArguments;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, Place> claimed; ///< results to be computed inside a bucket
  llvm::DenseMap<mlir::Operation *, int64_t> workspaces;
  llvm::DenseMap<mlir::Operation *, int64_t> symbolRoots;
  llvm::SmallVector<Root> allRoots;
  llvm::SmallVector<Move> allMoves;
};

/// The offset that `zero-pack-arena` wrote for root `index`, or -1.
int64_t rootOffset(mlir::func::FuncOp step, const Storage &storage, int64_t index);

/// The lifetimes of `roots` on `tier` to be packed, all or those of one usage.
std::vector<planning::Lifetime> lifetimesOf(llvm::ArrayRef<Root> roots, Tier tier,
                                            std::optional<Usage> only = std::nullopt);

/// Packs the roots on `tier` and writes their offsets, which are indexed as `roots`. The first
/// arena of at most `enough` bytes is taken, which may be larger than without that.
planning::Packing packRoots(llvm::ArrayRef<Root> roots, Tier tier,
                            llvm::MutableArrayRef<int64_t> offsets, int64_t enough = 0);

/// The arena of `tier` that `zero-pack-arena` wrote on `module`; null if nothing resides there.
ArenaAttr certificateOf(mlir::ModuleOp module, Tier tier);
/// The bytes of `roles` by Usage.
std::array<int64_t, kNumUsages> bytesByUsage(RoleBytesAttr roles);

} // namespace zero

#endif // ZERO_ANALYSIS_STORAGE_H
