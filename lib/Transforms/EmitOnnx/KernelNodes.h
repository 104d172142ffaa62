//===- KernelNodes.h - loops over tensors as nodes --------------*- C++ -*-===//
//
// The body of a kernel, or the lowering of a node, consists of linalg on tensors. Most of it has an
// equivalent in ONNX: a parallel loop is a sequence of nodes on broadcast tensors, a reduction a
// ReduceSum or its kin after that, a sum of products an Einsum, a read at a computed index a
// GatherND, a read along a window a Gather. Values are translated on demand.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_EMITONNX_KERNELNODES_H
#define LIB_TRANSFORMS_EMITONNX_KERNELNODES_H

#include "ScalarNodes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

class KernelNodes {
public:
  explicit KernelNodes(NodeBuilder &nodes) : nodes(nodes), scalars(nodes) {}

  /// Declares that `outside` computes `inside`. A tensor may have another rank than `inside` if the
  /// loops over it only work element by element.
  void bind(mlir::Value inside, mlir::Value outside) { known[inside] = outside; }

  /// The value that nodes compute for `inside`; null if an op has no equivalent, see culprit().
  mlir::Value translate(mlir::Value inside);

  /// The op that has no equivalent, or null.
  mlir::Operation *culprit() const { return unsupported; }

private:
  /// A tensor whose dimensions are loops: `loops[i]` is that of dimension i, or -1 for one element.
  struct Read {
    mlir::Value tensor;
    llvm::SmallVector<int64_t> loops;
  };
  using Shape = llvm::SmallVector<int64_t>;

  mlir::Value translateOp(mlir::Operation *op);
  mlir::Value translateExtract(mlir::Operation *op);
  mlir::Value translateSlice(mlir::Operation *op);
  mlir::Value translateInsertSlice(mlir::Operation *op);
  mlir::Value spread(mlir::Value value, int64_t dim, int64_t extent, int64_t offset, int64_t stride,
                     mlir::TypedAttr fill);
  mlir::Value translateList(mlir::Operation *op);
  mlir::Value translateFill(mlir::Operation *op);
  mlir::Value unsupportedAt(mlir::Operation *op);

  llvm::LogicalResult translateLoops(mlir::linalg::GenericOp loops);
  llvm::LogicalResult bindOperands(mlir::linalg::GenericOp loops, bool isFlat);
  /// The type of what nodes compute for `inside`, as far as it is known without computing it.
  mlir::RankedTensorType typeOf(mlir::Value inside);
  /// The shape of the loops; fails where an operand does not say it.
  llvm::FailureOr<Shape> extentsOf(mlir::linalg::GenericOp loops);
  /// Whether all operands have the shape of the loops or are scalars, and are bound to tensors of
  /// another rank.
  bool isFlat(mlir::linalg::GenericOp loops, Shape &shape);
  Read read(mlir::Value tensor, mlir::AffineMap map);
  mlir::Value align(Read read, int64_t rank);
  mlir::Value reduce(mlir::linalg::GenericOp loops, unsigned result);
  mlir::Value contraction(mlir::linalg::GenericOp loops, mlir::Operation *combiner);
  mlir::Value finish(mlir::Value value, mlir::AffineMap map, llvm::ArrayRef<int64_t> dims);
  mlir::Value indexOf(int64_t dim);
  mlir::Value reshapeTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  NodeBuilder &nodes;
  ScalarNodes scalars;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  /// Of the loops whose body is being translated.
  Shape extents;
  mlir::Operation *unsupported = nullptr;
};

} // namespace zero

#endif // LIB_TRANSFORMS_EMITONNX_KERNELNODES_H
