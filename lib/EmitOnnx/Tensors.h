//===- Tensors.h - tensors of an emitted graph ------------------*- C++ -*-===//

#ifndef LIB_EMITONNX_TENSORS_H
#define LIB_EMITONNX_TENSORS_H

#include "dialects/Zero/Zero.h"
#include "onnx/onnx_pb.h"
#include "runtime/support/file.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace zero::emitter {

namespace pb = ::onnx;

/// Sets type and shape of `tensor`.
void setType(mlir::RankedTensorType type, pb::TensorProto &tensor);
void setType(mlir::RankedTensorType type, pb::TypeProto &proto);
/// The little-endian bytes of all elements.
std::string bytesOf(mlir::DenseElementsAttr elements);
/// `count` elements of `type`, all equal to `value`.
mlir::DenseElementsAttr splatOf(mlir::RankedTensorType type, double value);

/// Initial values, which are bytes of files of the model.
class InitialValues {
public:
  explicit InitialValues(std::string root) : root(std::move(root)) {}

  /// The elements of `type` that `data` references; sets `bytes`.
  rt::Status read(DataAttr data, mlir::RankedTensorType type, std::string &bytes);

private:
  std::string root;
  llvm::StringMap<rt::InputFile> files;
};

/// Adds the bytes of tensors to a graph, or to a file beside it.
class TensorWriter {
public:
  /// Tensors are in a file if `path` is not empty.
  rt::Status open(const std::string &path);
  rt::Status add(std::string bytes, pb::TensorProto &tensor);
  rt::Status commit();

private:
  std::string location;
  rt::OutputFile file;
  uint64_t written = 0;
};

} // namespace zero::emitter

#endif // LIB_EMITONNX_TENSORS_H
