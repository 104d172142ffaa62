//===- Emitter.h - nodes that rules are written in --------------*- C++ -*-===//

#ifndef LIB_PROGRAMS_STABLEHLO_EMITTER_H
#define LIB_PROGRAMS_STABLEHLO_EMITTER_H

#include "dialects/Onnx/Operators.h"
#include "dialects/StableHlo/StableHlo.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace zero::hlo {

/// Values that follow from constants.
using Constants = llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr>;

/// Emits the nodes of one op, with what is known about values.
class Emitter : public NodeBuilder {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, Constants &constants)
      : NodeBuilder(builder, loc, name), constants(constants) {}

  /// Records why the op has no form as nodes: "expected ..., got ...".
  llvm::LogicalResult refuse(const llvm::Twine &why) {
    reason = why.str();
    return mlir::failure();
  }
  llvm::StringRef getReason() const { return reason; }

  //===--- Constants --------------------------------------------------------===//

  /// The elements of `value`, or null if they do not follow from constants.
  mlir::DenseElementsAttr constantOf(mlir::Value value) const { return constants.lookup(value); }
  /// The same as integers.
  std::optional<llvm::SmallVector<int64_t>> intsOf(mlir::Value value) const;
  /// The number that all elements of `value` equal.
  std::optional<double> splatOf(mlir::Value value) const;
  /// A value with these elements. Equal ones are a scalar that is expanded.
  mlir::Value constant(mlir::DenseElementsAttr elements);
  /// A constant of `type`, which has as many elements as `values`.
  mlir::Value integers(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
  /// A scalar constant of element type `element`.
  mlir::Value number(double value, mlir::Type element);
  /// 0, 1, 2, ... below `extent` along dimension `axis`, as i64. The other dimensions, of `rank`,
  /// have one element.
  mlir::Value line(int64_t rank, int64_t axis, int64_t extent);
  /// The same, expanded to `shape`.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t axis);

  //===--- Nodes ------------------------------------------------------------===//

  /// A node of ONNX's opset 26, which has operators that opset 23 lacks.
  mlir::Value newer(onnx::Operator type, mlir::Type result, mlir::ValueRange inputs,
                    llvm::ArrayRef<mlir::NamedAttribute> attrs = {});
  mlir::Value one(onnx::Operator type, mlir::Type result, mlir::ValueRange inputs,
                  llvm::ArrayRef<mlir::NamedAttribute> attrs = {}) {
    return create(type, result, inputs, attrs).getResult(0);
  }
  /// NodeBuilder's, without the reshapes that made `value`.
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// NodeBuilder's transpose, or `value` if the permutation moves nothing.
  mlir::Value permuted(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// The last two dimensions swapped. Twice is once.
  mlir::Value swapped(mlir::Value value);
  /// Elements `starts[d] + i steps[d]` below `limits[d]` of each dimension d. Steps are positive.
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> steps = {});
  /// Elements [start, limit) of dimension `axis`.
  mlir::Value sliceAxis(mlir::Value value, int64_t axis, int64_t start, int64_t limit);
  /// The elements of dimensions `axes` backwards. Twice is once.
  mlir::Value reverse(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value concat(mlir::ValueRange values, int64_t axis);
  /// Pads with scalar `fill`; negative numbers cut off.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                  mlir::Value fill);
  /// Puts `interior[d]` zeros between the elements of each dimension d.
  mlir::Value dilate(mlir::Value value, llvm::ArrayRef<int64_t> interior);
  /// The same with `fill`, a scalar, between the elements.
  mlir::Value spread(mlir::Value value, llvm::ArrayRef<int64_t> interior, mlir::Value fill);
  mlir::Value gather(mlir::Value value, mlir::Value indices, int64_t axis);
  /// Integers within [low, high].
  mlir::Value clip(mlir::Value value, int64_t low, int64_t high);
  /// A reduction without keeping dimensions: ReduceSum, ReduceMax, ...
  mlir::Value reduce(onnx::Operator type, mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value bitcast(mlir::Value value, mlir::Type element);
  mlir::Value logicalNot(mlir::Value value) { return unary(op::Not, value); }

private:
  /// NodeBuilder's indices, which constantOf() knows.
  mlir::Value knownIndices(llvm::ArrayRef<int64_t> values);

  Constants &constants;
  std::string reason;
};

/// Whether `values` are distinct dimensions of a tensor of `rank`.
bool areDims(llvm::ArrayRef<int64_t> values, int64_t rank);
/// The dimensions of a tensor of `rank` that are not in `without`.
llvm::SmallVector<int64_t> otherDims(int64_t rank, llvm::ArrayRef<int64_t> without);
/// Those of `dims` sizes of `shape`.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
int64_t productOf(llvm::ArrayRef<int64_t> sizes);
llvm::SmallVector<int64_t> joined(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
inline mlir::Type elementOf(mlir::Value value) { return tensorType(value).getElementType(); }
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }
inline bool isBool(mlir::Type element) { return element.isInteger(1); }

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_EMITTER_H
