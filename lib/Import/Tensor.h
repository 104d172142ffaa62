//===- Tensor.h - element types, shapes and small values --------*- C++ -*-===//

#ifndef LIB_IMPORT_TENSOR_H
#define LIB_IMPORT_TENSOR_H

#include "Error.h"
#include "zero/Evaluate/Values.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace zero::importer {

/// Values up to this many bytes are constants in the IR and take part in folding.
inline constexpr int64_t kInlineBytes = 64 * 1024;

/// No tensor is larger: then all sums over tensors fit 63 bits.
inline constexpr int64_t kMaxTensorBytes = int64_t(1) << 40;

using Dims = evaluate::Dims;

/// Bytes of one element of the ONNX element type; 0 if it is not supported.
int64_t elementBytes(int32_t type);
bool isFloat(int32_t type);
/// bool and the integers that shape arithmetic uses.
bool isInteger(int32_t type);
/// The format of the ONNX float type.
const llvm::fltSemantics &semanticsOf(int32_t type);
/// The type of the elements of evaluated constants.
evaluate::ElementType elementTypeOf(int32_t type);
/// "float", "int64", ... as ONNX calls it.
std::string typeName(int32_t type);

/// The MLIR type of the ONNX element type; fails, naming `what`, if there is none.
mlir::Type elementType(int32_t type, mlir::MLIRContext *context, const llvm::Twine &what);
mlir::RankedTensorType tensorType(int32_t type, llvm::ArrayRef<int64_t> dims,
                                  mlir::MLIRContext *context, const llvm::Twine &what);

/// The number of elements; fails, naming `what`, if their bytes are more than
/// kMaxTensorBytes or a dimension is negative.
int64_t countElements(int32_t type, llvm::ArrayRef<int64_t> dims, const llvm::Twine &what);

/// The little-endian bytes of `tensor`, from whichever field has them. Fails if their number does
/// not match the shape.
std::string tensorBytes(const pb::TensorProto &tensor);
/// `tensor`'s elements, and a tensor of the ONNX element type `type` with such.
evaluate::Values toValues(const pb::TensorProto &tensor);
pb::TensorProto fromValues(const evaluate::Values &values, int32_t type);
/// `tensor`'s values, or nothing if it is not of an integer type.
std::optional<evaluate::Values> toInts(const pb::TensorProto &tensor);
/// The first element of `tensor`, a number or bool.
double firstNumber(const pb::TensorProto &tensor);
pb::TensorProto fromInts(llvm::ArrayRef<int64_t> dims, std::vector<int64_t> values,
                         int32_t type = pb::TensorProto::INT64);
pb::TensorProto makeTensor(int32_t type, llvm::ArrayRef<int64_t> dims, std::string bytes);

mlir::DenseElementsAttr toElements(const pb::TensorProto &tensor, mlir::MLIRContext *context);

inline llvm::ArrayRef<int64_t> dimsOf(const pb::TensorProto &tensor) {
  return {tensor.dims().data(), static_cast<size_t>(tensor.dims_size())};
}

} // namespace zero::importer

#endif // LIB_IMPORT_TENSOR_H
