//===- Build.h - builds the module ------------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_BUILD_H
#define LIB_IMPORT_BUILD_H

#include "Infer.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::importer {

/// A value that the step returns, and the name under which it does.
struct Result {
  std::string value;
  std::string binding;
};

/// Builds state symbols for the constants of `model` and `func.func @step`, which
/// returns `results` and writes the buffers that the model's record says.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Model &model, const TypedGraph &graph,
                                              llvm::ArrayRef<Result> results,
                                              mlir::MLIRContext *context);

/// The attributes of `node`, and `more`, in the onnx dialect's terms. Graphs are left out:
/// operators that hold one are not supported.
mlir::DictionaryAttr convertAttributes(const pb::NodeProto &node,
                                       llvm::ArrayRef<pb::AttributeProto> more,
                                       mlir::MLIRContext *context);

} // namespace zero::importer

#endif // LIB_IMPORT_BUILD_H
