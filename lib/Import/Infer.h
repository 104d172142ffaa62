//===- Infer.h - types of all values ----------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_INFER_H
#define LIB_IMPORT_INFER_H

#include "Shapes.h"

#include "llvm/ADT/DenseMap.h"

namespace zero::importer {

/// A graph whose values have static shapes, except for results of operators that ONNX does not
/// define.
struct TypedGraph {
  std::vector<Input> inputs;
  std::vector<pb::NodeProto *> nodes; ///< operands before users
  /// The type of each value; none where it is not known.
  llvm::StringMap<TensorShape> types;
  /// Values known to the importer, at most kInlineBytes each.
  llvm::StringMap<pb::TensorProto> known;
  /// For unknown nodes: further information for messages.
  llvm::DenseMap<const pb::NodeProto *, std::string> notes;
};

/// "float [128,784]": the type of the value `name` for messages.
std::string printType(const TypedGraph &graph, llvm::StringRef name);

/// Infers the types of all results of `graph.nodes`, which hold the model's
/// constants and inputs already, and evaluates shape arithmetic. Replaces nodes that
/// types and known values show to be others: an If by its branch. The model's own value_info is not
/// trusted. Fails, naming node and dimension, where a shape is not static.
void inferTypes(Model &model, TypedGraph &graph, const ImportOptions &options);

} // namespace zero::importer

#endif // LIB_IMPORT_INFER_H
