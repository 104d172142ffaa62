//===- Metadata.h - PyTorch metadata of nodes -------------------*- C++ -*-===//

#ifndef LIB_IMPORT_METADATA_H
#define LIB_IMPORT_METADATA_H

#include "Error.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace zero::importer {

/// On a graph: the parameters, buffers, inputs and results of the exported module.
inline constexpr llvm::StringLiteral kSignatureKey =
    "pkg.torch.export.ExportedProgram.graph_signature";
/// On a graph: the names of the parameters that the module did not train, one on a line.
/// zero.export writes it.
inline constexpr llvm::StringLiteral kFrozenKey = "zero.frozen";
/// On a value: the tensors that it was folded from.
inline constexpr llvm::StringLiteral kFoldedFromKey = "pkg.onnxscript.optimizer.folded_from";
/// On a node: the call that it was exported from; see FxCall.h.
inline constexpr llvm::StringLiteral kCallKey = "pkg.torch.onnx.fx_node";
/// On a node: the names and the classes of the modules that made the call, the outermost
/// first, the call itself last.
inline constexpr llvm::StringLiteral kScopesKey = "pkg.torch.onnx.name_scopes";
inline constexpr llvm::StringLiteral kClassesKey = "pkg.torch.onnx.class_hierarchy";
/// On a node: the rules of the exporter's optimizer that made it.
inline constexpr llvm::StringLiteral kRewriteRuleKey = "pkg.onnxscript.rewriter.rule_name";

/// The entry `key` of the metadata of a node, value or graph; "" if there is none.
template <typename Message>
llvm::StringRef metadata(const Message &message, llvm::StringRef key) {
  for (const pb::StringStringEntryProto &entry : message.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

/// Calls `visit` with each word of letters, digits, '_' and '.' behind `mark` in `text`.
void forEachWord(llvm::StringRef text, char mark, llvm::function_ref<void(llvm::StringRef)> visit);

/// The words between quotes in `text`, a list as Python prints it.
llvm::SmallVector<llvm::StringRef> quotedWords(llvm::StringRef text);

/// Whether the exporter's optimizer left traces in `graph`.
bool isOptimized(const pb::GraphProto &graph);

} // namespace zero::importer

#endif // LIB_IMPORT_METADATA_H
