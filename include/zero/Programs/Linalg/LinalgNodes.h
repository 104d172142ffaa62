//===- LinalgNodes.h - loops over tensors as nodes --------------*- C++ -*-===//
//
// Programs in linalg, bodies of kernels and lowerings of nodes are loops over tensors. Most of them
// have an equivalent in ONNX: a parallel loop is a sequence of nodes on broadcast tensors, a
// reduction a ReduceSum or its kin after that, a sum of products a MatMul or an Einsum, a read at a
// computed index a Gather, a window a convolution, a pooling or a Gather. Values are translated on
// demand.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PROGRAMS_LINALG_LINALGNODES_H
#define ZERO_PROGRAMS_LINALG_LINALGNODES_H

#include "zero/Programs/Linalg/ScalarNodes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

struct WindowLoops;

class LinalgNodes {
public:
  /// The value that nodes compute for a value outside of what is translated, or null.
  using Given = llvm::function_ref<mlir::Value(mlir::Value)>;

  explicit LinalgNodes(NodeBuilder &nodes, Form form = Form::Onnx)
      : nodes(nodes), scalars(nodes, form), form(form) {}
  /// With operands that `given` knows; it must outlive this object.
  LinalgNodes(NodeBuilder &nodes, Form form, Given given) : LinalgNodes(nodes, form) {
    this->given = given;
  }

  /// Declares that `outside` computes `inside`. A tensor may have another rank than `inside` if the
  /// loops over it only work element by element.
  void bind(mlir::Value inside, mlir::Value outside) { known[inside] = outside; }

  /// The value that nodes compute for `inside`; null if an op has no equivalent, see culprit().
  mlir::Value translate(mlir::Value inside);

  /// The values that nodes compute for all results of `op`; fails if one has no equivalent. A
  /// result that nothing uses may be null.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> translateResults(mlir::Operation *op);

  /// The op that has no equivalent, or null.
  mlir::Operation *culprit() const { return unsupported; }

private:
  /// A tensor whose dimensions are loops: `loops[i]` is that of dimension i, or -1 for one element.
  struct Read {
    mlir::Value tensor;
    llvm::SmallVector<int64_t> loops;
  };
  using Shape = llvm::SmallVector<int64_t>;
  using Exprs = llvm::SmallVector<mlir::AffineExpr>;

  // LinalgTensors.cpp: ops on whole tensors.
  mlir::Value translateOp(mlir::Operation *op);
  mlir::Value translateView(mlir::Operation *op);
  mlir::Value translateList(mlir::tensor::FromElementsOp op);
  mlir::Value translateFill(mlir::Value scalar, mlir::RankedTensorType type);
  mlir::Value translateSoftmax(mlir::linalg::SoftmaxOp op);
  mlir::Value translateElements(mlir::Operation *op);
  mlir::TypedAttr foldScalar(mlir::Operation *op);
  mlir::Value translateGenerate(mlir::tensor::GenerateOp op);
  mlir::Value unsupportedAt(mlir::Operation *op);
  mlir::Value reshapeTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value expandTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transposeTo(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

  // LinalgSlices.cpp: parts of tensors.
  mlir::Value translateSlice(mlir::tensor::ExtractSliceOp slice);
  mlir::Value translateInsertSlice(mlir::tensor::InsertSliceOp insert);
  mlir::Value insertBetween(mlir::Value value, mlir::Value into,
                            mlir::tensor::InsertSliceOp insert);
  mlir::Value insertByMask(mlir::Value value, mlir::Value into, mlir::tensor::InsertSliceOp insert);
  mlir::Value translatePad(mlir::tensor::PadOp pad);
  mlir::Value translateInsert(mlir::tensor::InsertOp insert);
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t start, int64_t count, int64_t step = 1);
  mlir::Value concat(mlir::ValueRange parts, int64_t dim);
  mlir::Value spread(mlir::Value value, int64_t dim, int64_t extent, int64_t offset, int64_t stride,
                     mlir::TypedAttr fill);

  // LinalgLoops.cpp: loops.
  llvm::LogicalResult translateLoops(mlir::linalg::LinalgOp loops);
  llvm::LogicalResult translateParallel(mlir::linalg::LinalgOp loops, bool isFlat);
  llvm::LogicalResult bindOperands(mlir::linalg::LinalgOp loops, bool isFlat);
  /// The type of what nodes compute for `inside`, as far as it is known without computing it.
  mlir::RankedTensorType typeOf(mlir::Value inside);
  /// The shape of the loops; fails where an operand does not say it.
  llvm::FailureOr<Shape> extentsOf(mlir::linalg::LinalgOp loops);
  /// Whether all operands have the shape of the loops or are scalars, and are bound to tensors of
  /// another rank.
  bool isFlat(mlir::linalg::LinalgOp loops, Shape &shape);
  Read read(mlir::Value tensor, mlir::AffineMap map);
  /// The same for one index each; the dimension of a null index stays and has loop -2.
  Read read(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::Value align(Read read, int64_t rank);
  mlir::Value finish(mlir::Value value, mlir::AffineMap map, llvm::ArrayRef<int64_t> dims);
  mlir::Value indexOf(int64_t dim);

  // LinalgReductions.cpp: loops that sum.
  mlir::Value reduce(mlir::linalg::LinalgOp loops, unsigned result);
  mlir::Value reduceElements(mlir::linalg::LinalgOp loops, unsigned result,
                             mlir::Operation *combiner);
  mlir::Value reduceAxes(mlir::Value element, mlir::Operation *combiner,
                         llvm::ArrayRef<int64_t> axes, bool keepdims);
  mlir::Value positionOfBest(mlir::linalg::LinalgOp loops, unsigned result);

  // LinalgProducts.cpp: sums of products.
  mlir::Value contraction(mlir::linalg::LinalgOp loops, mlir::Operation *combiner);
  mlir::Value einsum(llvm::ArrayRef<Read> factors, llvm::ArrayRef<int64_t> kept);
  mlir::Value matmul(Read a, Read b, llvm::ArrayRef<int64_t> kept);

  // LinalgWindows.cpp: convolutions and pooling.
  bool hasWindows(mlir::linalg::LinalgOp loops);
  mlir::Value convolution(mlir::linalg::LinalgOp loops);
  bool cutToWindows(mlir::Value &image, llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<std::pair<int64_t, int64_t>> covered,
                    llvm::MutableArrayRef<int64_t> pads);
  static llvm::SmallVector<int64_t> spatialSizes(const Read &image, const WindowLoops &loops);
  mlir::Value arranged(Read read, llvm::ArrayRef<int64_t> wanted, llvm::ArrayRef<int64_t> shape);
  mlir::Value multiplyWindows(mlir::linalg::LinalgOp op, const WindowLoops &loops, Read image,
                              llvm::ArrayRef<int64_t> pads, llvm::SmallVector<int64_t> &dims);
  mlir::Value poolWindows(const WindowLoops &loops, Read image, llvm::ArrayRef<int64_t> pads,
                          onnx::Operator reduction, llvm::SmallVector<int64_t> &dims);
  mlir::Value combineInitial(mlir::linalg::LinalgOp loops, unsigned result,
                             mlir::Operation *combiner, onnx::Operator reduction,
                             mlir::Value value);

  // LinalgGathers.cpp: reads at computed indices, and their checks.
  mlir::Value translateExtract(mlir::tensor::ExtractOp extract);
  mlir::AffineExpr affineOf(mlir::Value index);
  mlir::AffineExpr linearConstant(mlir::Value aligned);
  mlir::Value gather(Read data, mlir::Value index, mlir::Operation *&node);
  mlir::Value gatherElements(Read data, mlir::Value index, mlir::Operation *&node);
  mlir::Value gatherTuples(mlir::Value tensor, llvm::ArrayRef<mlir::Value> indices,
                           mlir::Operation *&node);
  llvm::LogicalResult translateAsserts(mlir::Block &body);
  bool isCheckedByNode(mlir::Value condition);
  bool holdsForAllLoops(mlir::Value condition);
  mlir::Value guarded(mlir::Value value);

  NodeBuilder &nodes;
  ScalarNodes scalars;
  Form form;
  std::optional<Given> given;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  /// Scalars inside that are constants.
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> folded;
  /// Of the loops whose body is being translated.
  Shape extents;
  /// An index at which a node reads, and the extent of what it reads.
  struct CheckedIndex {
    mlir::Value index;
    int64_t extent;
    mlir::Operation *node;
  };
  llvm::SmallVector<CheckedIndex> checked;
  /// Conditions of the loops that no node checks, with their messages.
  llvm::SmallVector<std::pair<mlir::Value, mlir::StringAttr>> conditions;
  mlir::Operation *unsupported = nullptr;
};

} // namespace zero

#endif // ZERO_PROGRAMS_LINALG_LINALGNODES_H
