//===- ElementTypes.h - numbers of element types ----------------*- C++ -*-===//

#ifndef DIALECTS_ONNX_ELEMENTTYPES_H
#define DIALECTS_ONNX_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace zero::onnx {

/// TensorProto::DataType of an element type.
int64_t dataTypeOf(mlir::Type type);

} // namespace zero::onnx

#endif // DIALECTS_ONNX_ELEMENTTYPES_H
