//===- Indexing.h - indices of gathers and scatters -------------*- C++ -*-===//

#ifndef LIB_PROGRAMS_STABLEHLO_INDEXING_H
#define LIB_PROGRAMS_STABLEHLO_INDEXING_H

#include "Rules.h"

namespace zero::hlo {

/// What the dimension numbers of gather and scatter have in common. Indices are a tensor of tuples,
/// one for each position of its other dimensions, the batch. Some of these ("batching") go along
/// with dimensions of the operand.
struct IndexDims {
  mlir::Value operand, indices;
  int64_t vectorDim;
  llvm::ArrayRef<int64_t> indexed;         ///< dimensions of the operand, one for each of a tuple
  llvm::ArrayRef<int64_t> operandBatching; ///< dimensions of the operand
  llvm::ArrayRef<int64_t> indexBatching;   ///< those of the indices that go along with them
  llvm::ArrayRef<int64_t> dropped;         ///< dimensions of the operand that a window lacks
  llvm::SmallVector<int64_t> window;       ///< the size of a window in each dimension

  int64_t rank() const { return shapeOf(operand).size(); }
  /// Whether the numbers fit the operand and the indices.
  bool isValid() const;
  /// Dimensions of the indices without that of the tuples, in order.
  llvm::SmallVector<int64_t> batchDims() const;
  llvm::SmallVector<int64_t> batchShape() const;
  /// The positions in batchDims() of `indexBatching`, and then of the others.
  llvm::SmallVector<int64_t> batchOrder() const;
  /// Dimensions of the operand that windows have, in order.
  llvm::SmallVector<int64_t> windowDims() const;
  /// Index `number` of each tuple, of the shape of the batch.
  mlir::Value component(Emitter &b, int64_t number) const;
};

/// `components`, each for one of `dims` of the operand and of the shape of the batch, as tuples
/// [batch..., window sizes of `windowed`..., count]: along a dimension of a window indices count
/// up.
mlir::Value tuplesOf(Emitter &b, const IndexDims &dims, llvm::ArrayRef<mlir::Value> components,
                     llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<int64_t> windowed);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_INDEXING_H
