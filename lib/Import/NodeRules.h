//===- NodeRules.h - checks beyond those of ONNX inference ------*- C++ -*-===//
// The ONNX checker verifies attributes and numbers of operands; its type inference assumes most
// other properties. The properties that the compiler relies on are checked here, so that an error
// names a node that cannot be computed.
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_NODERULES_H
#define LIB_IMPORT_NODERULES_H

#include "Shapes.h"

namespace onnx {
class OpSchema;
}

namespace zero::importer {

/// The types of `node`'s operands by name; null where they are not known.
using TypeOf = llvm::function_ref<const TensorShape *(llvm::StringRef)>;

/// Fails unless the attributes of `node`, and of the nodes of its subgraphs, are such
/// that ONNX's inference may see them.
void checkAttributes(const pb::NodeProto &node);

/// Fails unless the element types of the operands of `node` are among those that `schema` allows,
/// and equal where it requires that.
void checkElementTypes(const pb::NodeProto &node, const pb::OpSchema &schema, TypeOf typeOf);

/// Fails unless the element types of `node`'s results, which attributes may name, are
/// among those that `schema` allows.
void checkResultTypes(const pb::NodeProto &node, const pb::OpSchema &schema, TypeOf typeOf);

/// Fails unless operands and results of `node` fit together, as far as ONNX's
/// inference does not see to it itself. Nodes of other domains pass.
void checkShapes(const pb::NodeProto &node, TypeOf typeOf);

} // namespace zero::importer

#endif // LIB_IMPORT_NODERULES_H
