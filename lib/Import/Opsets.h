//===- Opsets.h - versions of operator sets ---------------------*- C++ -*-===//

#ifndef LIB_IMPORT_OPSETS_H
#define LIB_IMPORT_OPSETS_H

#include "ModelFile.h"

namespace zero::importer {

using OpsetImports = google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>;

/// The versions of operator sets by domain. Fails, beginning with `what`, if a domain has two or if
/// that of ai.onnx is not supported.
std::map<std::string, int> readOpsets(const OpsetImports &imports, const llvm::Twine &what = "");

/// The version of its domain that `node` follows: the model's, unless the node has its own; nothing
/// if the model imports no such domain.
std::optional<int> opsetOf(const Model &model, const pb::NodeProto &node);

/// Gives `node` a version of its own, in its metadata.
void setOpset(pb::NodeProto &node, int version);

} // namespace zero::importer

#endif // LIB_IMPORT_OPSETS_H
