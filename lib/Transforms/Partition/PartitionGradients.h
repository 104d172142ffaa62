//===- PartitionGradients.h - gradients of one rank -------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_PARTITIONGRADIENTS_H
#define LIB_TRANSFORMS_PARTITION_PARTITIONGRADIENTS_H

#include "BucketTable.h"
#include "ChunkedSums.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// Which tensors of a bucket a rank measures: all, together with the ranks that have the other
/// parts, or those that are whole in its slice. Of others it measures what it has in their place.
enum class Extent { All, Slice };

/// How gradients are summed over ranks.
struct ReductionOptions {
  bool each = false; ///< after each micro-batch, where the placement leaves a choice
  bool inF32 = true; ///< 16-bit ones are added in f32 and rounded once
  /// The micro-batches will be interleaved: the sum over them is complete, and is summed over
  /// ranks, where the last of them has computed its part.
  bool interleaved = false;
};

/// A tensor, and the element of a list at which it begins.
using StartAndTensor = std::pair<int64_t, mlir::Value>;

/// Makes flat buckets of gradients and sums them over ranks and micro-batches.
class GradientPartitioner {
public:
  GradientPartitioner(mlir::ModuleOp module, mlir::func::FuncOp step, const BucketTable &table,
                      int64_t ranks, const ReductionOptions &options);

  /// Builds the bucket of gradients where its last member is ready and sums it. Returns the operand
  /// of the update: the rank's slice, or all of the bucket.
  mlir::Value sum(const Bucket &bucket);

  /// Replaces `zero.square_sum` of the gradients of `bucket`, whose sum is `gradient`.
  void measure(const Bucket &bucket, mlir::Value gradient);
  /// After the last bucket: replaces those of which `measure` has only summed chunks.
  void finishMeasuring();
  /// The same for its parameters, of which the rank has `bucket.parameterShards` parts.
  void measureParameters(const Bucket &bucket);

  /// Passes the gradients of `bucket`, or directions that it makes of them on the rank's slice, to
  /// launches that need those of whole tensors, if there are any. Returns the operand of its
  /// updates: the rank's slice of the results of these launches.
  mlir::Value replaceByTensors(const Bucket &bucket, mlir::Value gradient);

  /// After the last bucket: lets launches read and write states of whole matrices in homes.
  void replaceWholeStates();

  /// Fails after an error unless each matrix of `bucket` has an owner, which is the rank whose
  /// slice it is in. Tensors that are no matrices may have none.
  llvm::LogicalResult checkOwners(const Bucket &bucket) const;

private:
  /// The launch that computes the direction of `parameter` before an optimizer of matrices, or of
  /// whole tensors of which ranks have shards, or null.
  LaunchOp directionOf(ParameterOp parameter) const;
  /// The launch that computes the step of `parameter` from the whole gradient, or null.
  LaunchOp tensorStepOf(ParameterOp parameter) const;
  /// That launch, or before it the one of the direction, or null.
  LaunchOp launchOf(ParameterOp parameter) const;
  /// What gathers along tensor the shards that the step of `parameter` is computed from, or null.
  AllGatherOp shardsOf(ParameterOp parameter) const;
  mlir::Value gatherLists(mlir::OpBuilder &builder, AllGatherOp like, mlir::Value list);
  mlir::Value readShards(mlir::OpBuilder &builder, AllGatherOp gather, mlir::Value list,
                         int64_t start);
  mlir::Value launchDirection(mlir::OpBuilder &builder, const Bucket &bucket, LaunchOp first,
                              mlir::Value gradient);
  /// Passes `list`, the rank's slice of what `launches` need of `bucket`, to them. Returns the
  /// rank's slice of the steps. Messages call what is gathered `name`.
  mlir::Value computeSteps(const Bucket &bucket, llvm::ArrayRef<LaunchOp> launches,
                           mlir::Value list, llvm::StringRef name, mlir::OpBuilder &builder);
  mlir::Value readTensor(mlir::OpBuilder &builder, ParameterOp member, LaunchOp first,
                         mlir::Value list, int64_t start);
  /// The same if the slice is one tensor: the rank computes its step alone.
  mlir::Value replaceByOwned(const Bucket &bucket, LaunchOp first, mlir::Value slice,
                             mlir::OpBuilder &builder);
  /// The same if ranks have tensors of their own shapes: the launches of a tensor run on its owner
  /// alone. `list` is the slice, if it has whole tensors, or all.
  mlir::Value replaceByConditional(const Bucket &bucket, llvm::ArrayRef<LaunchOp> launches,
                                   mlir::Value list, mlir::OpBuilder &builder);
  /// Records the states of `member` that its owner has whole. Its launches run under `condition` if
  /// it is not null.
  void collectWholeStates(ParameterOp member, mlir::Value condition);
  /// States of one whole matrix in one home, and the condition under which they are written.
  struct WholeStates {
    llvm::SmallVector<StateOp> states;
    mlir::Value condition;
  };
  ReadOp readHome(llvm::ArrayRef<WholeStates> matrices);
  llvm::SmallVector<StartAndTensor> replaceReads(llvm::ArrayRef<StateOp> states,
                                                 llvm::ArrayRef<mlir::Value> versions);
  mlir::Value isOwner(const Bucket &bucket, int64_t owner);
  /// The rank's slice of the steps of the members of `bucket`.
  mlir::Value collectSteps(const Bucket &bucket);

  /// Sums of squares of which only parts are summed yet.
  struct Chunked {
    using Sum = std::pair<SquareSumOp, ParameterOp>;
    llvm::SmallVector<Sum> sums;
    llvm::SmallVector<Ranges> blocks; ///< of the last ones
    llvm::SmallVector<Ranges> chunks; ///< of the others
    int64_t waiting = 0;              ///< elements of `blocks`
    std::array<mlir::FlatSymbolRefAttr, 2> kernels;
  };

  void sumWaiting(mlir::OpBuilder &builder, llvm::StringRef name);
  void replace(mlir::Operation *op, mlir::Value value);
  void finishSums(llvm::StringRef name, mlir::OpBuilder builder);
  void replaceSums(const Bucket &bucket, llvm::ArrayRef<SquareSumOp> sums, mlir::Value stored,
                   Extent extent, llvm::StringRef name, mlir::OpBuilder builder);
  mlir::Value buildBucket(const Bucket &bucket);
  void fillGaps(mlir::OpBuilder &builder, const Bucket &bucket, mlir::Type element,
                llvm::SmallVectorImpl<mlir::Value> &members,
                llvm::SmallVectorImpl<int64_t> &starts);
  mlir::Value zeros(mlir::OpBuilder &builder, int64_t elements, mlir::Type element);
  mlir::Value reduce(mlir::OpBuilder &builder, const Bucket &bucket, mlir::Value full);
  mlir::Value accumulate(mlir::OpBuilder &builder, const Bucket &bucket, mlir::Value summand,
                         mlir::ArrayAttr kernels);
  mlir::Value sumInterleaved(mlir::OpBuilder &builder, const Bucket &bucket, mlir::Value full,
                             mlir::ArrayAttr kernels);
  /// The type of elements of the sums over micro-batches.
  mlir::Type sumType(const Bucket &bucket) const {
    return table.gradientOf(bucket.members.front()).getResult().getType().getElementType();
  }
  mlir::Value roundingKey(mlir::ArrayAttr kernels);
  /// Before the first op that runs once, at the end.
  mlir::OpBuilder atEpilogue();

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  const BucketTable &table;
  int64_t ranks;
  ReductionOptions options;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  mlir::Operation *epilogue; ///< its first op
  Chunked chunked;
  /// Whether sums over blocks read the gaps between tensors.
  bool hasBlocks = false;
  mlir::ArrayAttr collecting; ///< the kernels of kDirectionAttr; null before the first matrix
  llvm::MapVector<mlir::StringAttr, llvm::SmallVector<WholeStates>> wholeStates; ///< by home
  llvm::DenseMap<mlir::Value, mlir::Value> listsOfShards; ///< by the rank's own list
  llvm::DenseMap<int64_t, mlir::Value> owns; ///< whether the rank is an owner, by its number
  mlir::Value key; ///< what sums in bf16 are rounded by in this micro-batch; null before the first
  /// One constant of zeros for each element type; the largest gap.
  llvm::DenseMap<mlir::Type, mlir::Value> zeroConstants;
  int64_t largestGap = 0;
};

/// `list` with the elements of `tensors` in place of its own.
mlir::Value insertTensors(mlir::OpBuilder &builder, mlir::Value list,
                          llvm::SmallVector<StartAndTensor> tensors);

/// Launches the kernel `kernel` of kDirectionAttr, which sets a list.
mlir::Value launchSet(mlir::OpBuilder &builder, mlir::Attribute kernel, mlir::ValueRange inputs,
                      mlir::Value condition, const llvm::Twine &name);

/// Launches the first two of `kernels`, which add up over micro-batches, in place of `sum`; with
/// `key`, if it is not null. Returns the sum so far.
mlir::Value addUp(mlir::OpBuilder &builder, mlir::ArrayAttr kernels, mlir::Value sum,
                  mlir::Value summand, llvm::StringRef name, mlir::Value key = {});

/// `flat` as rows of 64 elements, in the epilogue.
mlir::Value inBlocks(mlir::OpBuilder &builder, mlir::Value flat);

/// Of each member of a bucket: the sums of its blocks, and the sum of these.
struct MemberSums {
  llvm::SmallVector<mlir::Value> blocks, sums;
};

/// Computes one sum for each member of `bucket` from the sums of a slice's blocks: gathers them for
/// Extent::All if the slice is not the entire bucket, and adds them in the epilogue with `kernels`:
/// one that adds the blocks of a member, or two that add chunks.
MemberSums sumOverBlocks(mlir::OpBuilder &builder, const Bucket &bucket, mlir::Value blocks,
                         llvm::ArrayRef<mlir::FlatSymbolRefAttr> kernels, llvm::StringRef name,
                         Extent extent = Extent::All);

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_PARTITIONGRADIENTS_H
