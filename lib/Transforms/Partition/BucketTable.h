//===- BucketTable.h - the buckets that `place` chose -----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_BUCKETTABLE_H
#define LIB_TRANSFORMS_PARTITION_BUCKETTABLE_H

#include "dialects/Zero/UpdateAttrs.h"
#include "dialects/Zero/Zero.h"
#include "zero/Analysis/StepOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

/// A state that all members of a bucket have.
struct BucketState {
  std::string suffix; ///< ".exp_avg"
  mlir::Type elementType;
  /// Elements of the parameter for each of the state: several for scales of blocks, and for codes
  /// of 4 bits.
  int64_t unit = 1;

  /// The type of the state for a slice `slice` of the parameters.
  mlir::RankedTensorType typeOf(mlir::RankedTensorType slice) const {
    return mlir::RankedTensorType::get({slice.getNumElements() / unit}, elementType);
  }
  bool isMaster() const { return llvm::StringRef(suffix).drop_front() == kMasterSuffix; }
};

/// One flat buffer and its contents.
struct Bucket {
  std::string name;
  int64_t elements = 0; ///< of all data-parallel ranks
  /// The ranks that own different slices of gradients and states, those with different slices of
  /// the parameters, and those that own parts of the same slice of these. Null: all ranks.
  GroupAttr group, parameterGroup, ownerGroup;
  mlir::Type elementType;
  llvm::SmallVector<ParameterOp> members;
  llvm::SmallVector<BucketState> states; ///< in the order of the update's operands
  bool haveSameSteps = true; ///< whether launches compute the same steps for all members
  int64_t parameterShards = 1;
  int64_t gradientShards = 1;
  int64_t stateShards = 1;
  Tier parameterTier = Tier::Device;
  Tier gradientTier = Tier::Device;
  Tier stateTier = Tier::Device;

  /// The ranks that have different ones of `shards` slices.
  GroupAttr groupOf(int64_t shards) const {
    return shards == parameterShards ? parameterGroup : group;
  }
  /// Whether each member has an owner, which computes its step.
  bool hasOwners() const {
    return llvm::any_of(members, [](ParameterOp member) { return member->hasAttr(kOwnerAttr); });
  }
  /// Whether each data-parallel rank's slice is one whole member, for all ranks of the same type
  /// and the same step.
  bool hasEqualSlices(int64_t ranks) const {
    return int64_t(members.size()) == ranks && ranks > 1 && haveSameSteps &&
           llvm::all_of(llvm::enumerate(members), [&](auto each) {
             ParameterOp member = each.value();
             return member.getTensorType() == ParameterOp(members.front()).getTensorType() &&
                    *member.getStart() == int64_t(each.index()) * (elements / ranks);
           });
  }
  /// Whether no member is cut by the slices of data-parallel ranks.
  bool hasWholeSlices(int64_t ranks) const {
    const int64_t slice = elements / ranks;
    return llvm::all_of(members, [&](ParameterOp member) {
      return *member.getStart() % slice + member.getTensorType().getNumElements() <= slice;
    });
  }
  /// The flat type of one of `shards` slices.
  mlir::RankedTensorType type(int64_t shards) const {
    return mlir::RankedTensorType::get({elements / shards}, elementType);
  }
};

/// The states that `update`, of a member of `bucket`, has itself; a launch before it has the
/// others.
inline llvm::ArrayRef<BucketState> ownStates(const Bucket &bucket, UpdateOp update) {
  return llvm::ArrayRef(bucket.states).take_front(update.getStates().size());
}

/// The launch that computes from the gradient what `update` applies, or null.
inline LaunchOp stepOf(UpdateOp update) {
  return throughReshapes(update.getGradient()).getDefiningOp<LaunchOp>();
}

/// Buckets by their number, with the step's reads, gradients and updates of
/// their members; everything found in one walk.
class BucketTable {
public:
  explicit BucketTable(mlir::ModuleOp module);

  llvm::ArrayRef<Bucket> buckets() const { return table; }
  llvm::ArrayRef<ReadOp> readsOf(ParameterOp parameter) const;
  /// Null for a parameter that is not trained.
  GradientOp gradientOf(ParameterOp parameter) const;
  UpdateOp updateOf(ParameterOp parameter) const;
  /// The states that the owner of `parameter` has whole, if there is one.
  llvm::ArrayRef<StateOp> wholeStatesOf(ParameterOp parameter) const;
  /// The only read and write of such a state.
  ReadOp readOf(StateOp state) const { return reads.at(state.getSymNameAttr()).front(); }
  WriteOp writeOf(StateOp state) const { return writes.at(state.getSymNameAttr()); }
  mlir::func::FuncOp kernelOf(UpdateOp update) const {
    return symbols.lookup<mlir::func::FuncOp>(update.getKernelAttr().getAttr());
  }

private:
  mlir::SymbolTable symbols;
  llvm::SmallVector<Bucket> table;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<ReadOp, 1>> reads;
  llvm::DenseMap<mlir::StringAttr, GradientOp> gradients;
  llvm::DenseMap<mlir::StringAttr, UpdateOp> updates;
  llvm::DenseMap<mlir::StringAttr, WriteOp> writes; ///< the last one of each symbol
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<StateOp, 2>> wholeStates;
};

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_BUCKETTABLE_H
