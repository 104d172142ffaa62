//===- Zero.h - the zero dialect --------------------------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_ZERO_H
#define DIALECTS_ZERO_ZERO_H

#include "dialects/Zero/CallField.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Zero/ZeroAttrInterfaces.h.inc"
#include "dialects/Zero/ZeroDialect.h.inc"
#include "dialects/Zero/ZeroEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Zero/ZeroAttrs.h.inc"

namespace zero {
/// Whether `kind` sums values of ranks.
inline bool isReduction(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllReduce;
}
} // namespace zero

#include "dialects/Zero/ZeroInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Zero/ZeroOps.h.inc"

namespace zero {

/// Whether `op` sums values of ranks, or gathers the values of other ranks.
inline bool reduces(mlir::Operation *op) {
  auto collective = llvm::dyn_cast<CollectiveOpInterface>(op);
  return collective && isReduction(collective.getCollectiveKind());
}
inline bool gathers(mlir::Operation *op) {
  auto collective = llvm::dyn_cast<CollectiveOpInterface>(op);
  return collective && !isReduction(collective.getCollectiveKind());
}

/// The name of the function that is one training step.
inline constexpr llvm::StringLiteral kStepName = "step";
/// Marks a func.func as a kernel that `zero.launch` may name.
inline constexpr llvm::StringLiteral kKernelAttr = "zero.kernel";
/// On a kernel's argument: the index of the result that shares its buffer.
inline constexpr llvm::StringLiteral kInplaceAttr = "zero.inplace";
/// On an op of the step: the node of the model that it comes from, for messages.
inline constexpr llvm::StringLiteral kNameAttr = "zero.name";
/// On an argument or result of the step function: its name for the user.
inline constexpr llvm::StringLiteral kBindingAttr = "zero.binding";
/// On an op of the step: the tier that its result is offloaded to until its later readers.
inline constexpr llvm::StringLiteral kTierAttr = "zero.tier";
/// On the module: the mean over labels divides by the rank's own number of labels.
inline constexpr llvm::StringLiteral kLocalLossMeanAttr = "zero.local_loss_mean";
/// On the module: a BatchNormalization in training mode uses statistics over the batches of all
/// ranks.
inline constexpr llvm::StringLiteral kSyncBatchNormAttr = "zero.sync_batchnorm";
/// On a kernel: an equivalent library call, described by its operator: see Lowered::call.
inline constexpr llvm::StringLiteral kCallAttr = "zero.call";
/// On a kernel: the library call that replaces its body, a `#zero.library`.
inline constexpr llvm::StringLiteral kLibraryAttr = "zero.library";
/// The binding of the input that carries the learning rate.
inline constexpr llvm::StringLiteral kLearningRate = "learning_rate";
/// The bindings of scalars that the runtime provides: the number of the step (i64); the index of
/// this part of the global batch, counted over micro-batches and ranks (i64); whether the step
/// trains rather than evaluates (i1).
inline constexpr llvm::StringLiteral kStepNumber = "zero.step";
inline constexpr llvm::StringLiteral kBatchPart = "zero.part";
inline constexpr llvm::StringLiteral kTraining = "zero.training";
/// On the module: the seed of all random numbers of the program (i64).
inline constexpr llvm::StringLiteral kSeedAttr = "zero.seed";
/// The loss scale of a program that computes in f16: an f32 scalar state.
inline constexpr llvm::StringLiteral kLossScale = "loss_scale";
/// The suffix of the state that holds the f32 master copy of a 16-bit parameter.
inline constexpr llvm::StringLiteral kMasterSuffix = "master";
/// The suffix of the state that is the average of a parameter's values over updates.
inline constexpr llvm::StringLiteral kAverageSuffix = "average";
/// On the module: bytes of the device that early gathers and late reductions may add to the peak.
/// Absent: collectives and kernels alternate, unless there are transfers.
inline constexpr llvm::StringLiteral kPrefetchAttr = "zero.prefetch_bytes";
/// On the module: the 16-bit element type that the program computes in.
inline constexpr llvm::StringLiteral kPrecisionAttr = "zero.precision";
/// On the module: the order of sums over ranks. So many consecutive ranks are added first, then
/// these sums. Absent: all ranks in order.
inline constexpr llvm::StringLiteral kRanksPerNodeAttr = "zero.ranks_per_node";
/// On the module: the number of data-parallel ranks (see Mesh.h) and of micro-batches, the ZeRO
/// stage, and the optimizer for messages.
inline constexpr llvm::StringLiteral kRanksAttr = "zero.ranks";
inline constexpr llvm::StringLiteral kMicroBatchesAttr = "zero.micro_batches";
inline constexpr llvm::StringLiteral kStageAttr = "zero.stage";
inline constexpr llvm::StringLiteral kOptimizerAttr = "zero.optimizer";
/// On a module whose source is a whole training step: it computes its own gradients and updates.
inline constexpr llvm::StringLiteral kWholeStepAttr = "zero.whole_step";
/// On a module whose model brings the gradients of its own loss, but no update.
inline constexpr llvm::StringLiteral kOwnGradientsAttr = "zero.own_gradients";
/// On an argument or result of a program that is not a step yet: its role ("parameter", "buffer",
/// "data"; "loss"), and the argument whose gradient a result is.
inline constexpr llvm::StringLiteral kRoleAttr = "zero.role";
inline constexpr llvm::StringLiteral kGradientOfAttr = "zero.gradient_of";
/// On an argument of a step: ranks and micro-batches divide it along its first dimension; see
/// zero-split-batch.
inline constexpr llvm::StringLiteral kSplitAttr = "zero.split";
/// On a module whose source is a whole training step: the number of the model's training info that
/// says so (i64).
inline constexpr llvm::StringLiteral kTrainingInfoAttr = "zero.training_info";
/// On a module: the learning rate with which the model's artifacts begin, a float.
inline constexpr llvm::StringLiteral kStartRateAttr = "zero.start_rate";
/// On the module: the micro-batches will be interleaved, or are; then the step contains every one,
/// and its ops run once. See zero-interleave-micro-batches.
inline constexpr llvm::StringLiteral kInterleaveAttr = "zero.interleave";
inline constexpr llvm::StringLiteral kInterleavedAttr = "zero.interleaved";
/// On an argument of such a step: the micro-batch that it belongs to; 0 without it.
inline constexpr llvm::StringLiteral kMicroBatchAttr = "zero.micro_batch";
/// On the module: padded elements of each bucket.
inline constexpr llvm::StringLiteral kBucketsAttr = "zero.buckets";
/// On an op or argument of the step: byte offsets in the arena, one for each result with storage of
/// its own (else -1), then that of the workspace.
inline constexpr llvm::StringLiteral kOffsetsAttr = "zero.offsets";
/// On the module: the result of `pack`; see PackArena.
inline constexpr llvm::StringLiteral kCertificateAttr = "zero.certificate";
/// On a kernel: bytes of workspace that `pack` must reserve for each launch.
inline constexpr llvm::StringLiteral kWorkspaceAttr = "zero.workspace";

/// On the module: the device that its kernels run on, "cuda"; none: the CPU.
inline constexpr llvm::StringLiteral kDeviceAttr = "zero.device";

/// On a kernel of a program for GPUs, a unit attribute: a clone that the cores of the host run.
inline constexpr llvm::StringLiteral kHostKernelAttr = "zero.host_kernel";
/// The name of the clone of `kernel` for the host.
inline std::string hostKernelName(llvm::StringRef kernel) { return (kernel + "_host").str(); }

/// On a kernel: floating-point operations and bytes moved of one launch.
inline constexpr llvm::StringLiteral kFlopsAttr = "zero.flops";
inline constexpr llvm::StringLiteral kBytesAttr = "zero.bytes";

/// On the step: an array of `#zero.run`, which says how values of layers are recomputed.
inline constexpr llvm::StringLiteral kRunsAttr = "zero.runs";
/// On a node or launch of backward that recomputes a value of forward, so that the two are not
/// merged: the number of the run of layers, or no value if it is not a part of a run.
inline constexpr llvm::StringLiteral kRecomputeAttr = "zero.recompute";

/// In elements: tensors in a bucket start at multiples of this (256 bytes of f32), so that kernels
/// have the same alignment at every stage.
inline constexpr int64_t kTensorAlignment = 64;

} // namespace zero

#endif // DIALECTS_ZERO_ZERO_H
