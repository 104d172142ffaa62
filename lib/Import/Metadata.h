//===- Metadata.h - what PyTorch's exporter writes beside the graph -*- C++ -*-===//

#ifndef ZERO_LIB_IMPORT_METADATA_H
#define ZERO_LIB_IMPORT_METADATA_H

#include "Error.h"

#include "llvm/ADT/StringRef.h"

namespace zero::importer {

/// On a graph: the parameters, buffers, inputs and results of the exported module.
inline constexpr llvm::StringLiteral kSignatureKey =
    "pkg.torch.export.ExportedProgram.graph_signature";
/// On a value: the tensors that it was folded from.
inline constexpr llvm::StringLiteral kFoldedFromKey = "pkg.onnxscript.optimizer.folded_from";
/// On a node: the call that it was exported from; see FxCall.h.
inline constexpr llvm::StringLiteral kCallKey = "pkg.torch.onnx.fx_node";
/// On a node: the paths of the modules that it is of, from the outermost in, then its own.
inline constexpr llvm::StringLiteral kScopesKey = "pkg.torch.onnx.name_scopes";

/// The entry `key` of the metadata of a node, value or graph; "" if there is none.
template <typename Message>
llvm::StringRef metadata(const Message &message, llvm::StringRef key) {
  for (const pb::StringStringEntryProto &entry : message.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

} // namespace zero::importer

#endif // ZERO_LIB_IMPORT_METADATA_H
