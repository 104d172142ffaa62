//===- Zero.h - the zero dialect --------------------------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_ZERO_H
#define DIALECTS_ZERO_ZERO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Zero/ZeroDialect.h.inc"
#include "dialects/Zero/ZeroEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Zero/ZeroAttrs.h.inc"

namespace zero {
/// Whether `kind` adds values of ranks up.
inline bool isReduction(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllReduce;
}
} // namespace zero

#include "dialects/Zero/ZeroInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Zero/ZeroOps.h.inc"

namespace zero {

/// Whether `op` adds values of ranks up, or brings what other ranks have.
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
/// On an op of the step: the model's node it came from, for messages.
inline constexpr llvm::StringLiteral kNameAttr = "zero.name";
/// On an argument or result of the step function: its name for the user.
inline constexpr llvm::StringLiteral kBindingAttr = "zero.binding";
/// On an op of the step: the tier that its result waits on for its later readers.
inline constexpr llvm::StringLiteral kTierAttr = "zero.tier";
/// On the module: a mean over labels divides by the rank's own count.
inline constexpr llvm::StringLiteral kLocalLossMeanAttr = "zero.local_loss_mean";
/// On the module: a BatchNormalization that trains takes its statistics over all
/// ranks' batches.
inline constexpr llvm::StringLiteral kSyncBatchNormAttr = "zero.sync_batchnorm";
/// On a kernel: the library call that computes the same, as its operator describes
/// it: see Lowered::call.
inline constexpr llvm::StringLiteral kCallAttr = "zero.call";
/// On a kernel: the library call that it is, a `#zero.library`.
inline constexpr llvm::StringLiteral kLibraryAttr = "zero.library";
/// The binding of the input that carries the learning rate.
inline constexpr llvm::StringLiteral kLearningRate = "learning_rate";
/// The bindings of scalars that the runtime provides: the step's number (i64); which
/// part of the global batch this is, counted over micro-batches and ranks (i64);
/// whether the step trains rather than evaluates (i1).
inline constexpr llvm::StringLiteral kStepNumber = "zero.step";
inline constexpr llvm::StringLiteral kBatchPart = "zero.part";
inline constexpr llvm::StringLiteral kTraining = "zero.training";
/// On the module: the seed of everything random in the program (i64).
inline constexpr llvm::StringLiteral kSeedAttr = "zero.seed";
/// The loss scale of a program that computes in f16: an f32 scalar state.
inline constexpr llvm::StringLiteral kLossScale = "loss_scale";
/// The suffix of the state that holds a 16-bit parameter's value in f32.
inline constexpr llvm::StringLiteral kMasterSuffix = "master";
/// On the module: the 16-bit element type that the program computes in.
inline constexpr llvm::StringLiteral kPrecisionAttr = "zero.precision";
/// On the module: the number of ranks and of micro-batches, the ZeRO stage, the
/// optimizer for people.
inline constexpr llvm::StringLiteral kRanksAttr = "zero.ranks";
inline constexpr llvm::StringLiteral kMicroBatchesAttr = "zero.micro_batches";
inline constexpr llvm::StringLiteral kStageAttr = "zero.stage";
inline constexpr llvm::StringLiteral kOptimizerAttr = "zero.optimizer";
/// On the module: padded elements of each bucket.
inline constexpr llvm::StringLiteral kBucketsAttr = "zero.buckets";
/// On an op or argument of the step: byte offsets in the arena, one per result
/// that starts a storage of its own (else -1), then the workspace's.
inline constexpr llvm::StringLiteral kOffsetsAttr = "zero.offsets";
/// On the module: what `pack` found; see PackArena.
inline constexpr llvm::StringLiteral kCertificateAttr = "zero.certificate";
/// On a kernel: scratch bytes that `pack` must provide for each launch.
inline constexpr llvm::StringLiteral kWorkspaceAttr = "zero.workspace";
/// On a kernel: floating-point operations and bytes moved of one launch.
inline constexpr llvm::StringLiteral kFlopsAttr = "zero.flops";
inline constexpr llvm::StringLiteral kBytesAttr = "zero.bytes";

/// On the step: an array of `#zero.run`, how values of layers are made again.
inline constexpr llvm::StringLiteral kRunsAttr = "zero.runs";
/// On a node or launch of backward that computes again what forward computed, so that
/// nothing merges the two: the number of the run of layers, or nothing if it is no part
/// of one.
inline constexpr llvm::StringLiteral kRecomputeAttr = "zero.recompute";

/// Elements: tensors in a bucket start at multiples of this (256 bytes of f32),
/// so that kernels see the same alignment at every stage.
inline constexpr int64_t kTensorAlignment = 64;

} // namespace zero

#endif // DIALECTS_ZERO_ZERO_H
