//===- Lowering.h - common functions of lowerings ---------------*- C++ -*-===//
//
// Most operators are one of two loops: elementwise with broadcasting, or a
// reduction. Both are built here as one linalg.generic each; an operator only
// says what happens to the elements.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_LOWERING_H
#define LIB_OPS_LOWERING_H

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace zero::ops {

/// The domain of ONNX Runtime's operators, of version 1. Those of its training graphs are in the
/// files of the operators that they differentiate.
inline constexpr llvm::StringLiteral kRuntimeDomain = "com.microsoft";
/// Registers operator `name` of ONNX Runtime, which `expand` replaces by nodes of the table. ONNX
/// Runtime has some such operators in the domain of ONNX.
void registerRuntimeOp(llvm::StringRef name, ExpandFn expand,
                       llvm::StringRef domain = kRuntimeDomain);
/// Appends to the results of an expansion of `node` those of `values` that the node has, and
/// `onnx.none` for those that it leaves out.
void addResults(onnx::NodeOp node, llvm::ArrayRef<mlir::Value> values, NodeBuilder &builder,
                llvm::SmallVectorImpl<mlir::Value> &results);

/// Code of one element: from the operands' elements to the result's.
using Body = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)>;

/// How a reduction combines elements. The last two compare as unsigned integers,
/// as which booleans count, too.
enum class Combine { Sum, Product, Max, Min, UnsignedMax, UnsignedMin };

/// A scalar constant of integer or floating-point `type`.
mlir::Value constant(mlir::ImplicitLocOpBuilder &b, mlir::Type type, double value);
/// A tensor whose elements are all `value`.
mlir::Value filled(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, double value);
/// An uninitialised tensor: where a linalg op writes its result.
mlir::Value empty(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type);

/// The value that a constant holds in all its elements, if `value` is such a one.
mlir::TypedAttr splatOf(mlir::Value value);
/// The same as a double; nothing if it isn't a constant of equal elements.
std::optional<double> splatNumber(mlir::Value value);
/// All elements of an integer constant; nothing when `value` is not constant.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

/// Index map of an operand of shape `from` that NumPy broadcasts to `to`.
mlir::AffineMap broadcastMap(mlir::RankedTensorType from, mlir::RankedTensorType to);
/// Index map of a tensor that lacks the dimensions `axes` of a space of `rank`.
mlir::AffineMap withoutAxes(mlir::MLIRContext *context, int64_t rank, llvm::ArrayRef<int64_t> axes);
/// `type` without the dimensions `axes`.
mlir::RankedTensorType withoutAxes(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> axes);
/// `axis` counted from the front.
inline int64_t normalAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// One loop nest over `result`. Each operand is read through its map; a null map denotes NumPy
/// broadcasting. Constants of equal elements become scalars in the body.
mlir::Value elementwise(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange operands,
                        llvm::ArrayRef<mlir::AffineMap> maps, mlir::RankedTensorType result,
                        Body body);
/// The same with NumPy broadcasting of all operands.
mlir::Value elementwise(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange operands,
                        mlir::RankedTensorType result, Body body);

/// Reduces the results of `body` for the operands' elements over `axes`. `space` is the shape of
/// the loops and of the first operand, with the element type of the result, which lacks the axes.
/// Combining is `reassoc`: LLVM selects its order, which is the same in every run.
mlir::Value reduce(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::AffineMap> maps, mlir::RankedTensorType space,
                   llvm::ArrayRef<int64_t> axes, Combine combine, Body body);
/// Reduces a tensor itself.
mlir::Value reduce(mlir::ImplicitLocOpBuilder &b, mlir::Value operand, llvm::ArrayRef<int64_t> axes,
                   Combine combine);

/// The same elements as `type`. Its shape may differ only in dimensions of size one or in merged
/// neighbouring dimensions: tensor.collapse_shape and expand_shape. The element type is that of
/// `value`.
mlir::Value reshaped(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::RankedTensorType type);

/// `a` combined with `x`; `reassoc` lets the compiler order a sum of floats.
mlir::Value combined(mlir::ImplicitLocOpBuilder &b, Combine combine, mlir::Value a, mlir::Value x,
                     bool reassoc = false);
/// `combine` for elements of operand `index`: compared without a sign where they have none.
Combine forSign(onnx::NodeOp node, unsigned index, Combine combine);

/// Rules for operands without elements (OpDef::withoutEmpty): a result of zeros, as of a sum of
/// nothing; and operand 0 as it is.
llvm::LogicalResult zeros(onnx::NodeOp node, NodeBuilder &builder,
                          llvm::SmallVectorImpl<mlir::Value> &results);
llvm::LogicalResult firstOperand(onnx::NodeOp node, NodeBuilder &builder,
                                 llvm::SmallVectorImpl<mlir::Value> &results);

/// Whether operand `index` holds unsigned integers.
bool isUnsigned(onnx::NodeOp node, unsigned index);
/// An error at `node` unless operand 0 holds floating-point numbers.
llvm::LogicalResult requireFloat(onnx::NodeOp node);

/// Whether elements of `value` are floating-point numbers.
bool isFloat(mlir::Value value);

} // namespace zero::ops

#endif // LIB_OPS_LOWERING_H
