//===- ExporterAttrs.h - what an exporter recorded about a model -*- C++ -*-===//
// Discardable attributes that import adds if the model contains its exporter's record of its
// tensors, and one for a model of PyTorch without; absent otherwise.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_EXPORTERATTRS_H
#define DIALECTS_ZERO_EXPORTERATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a state: "parameter" or "buffer" of the module, or "constant" of its code.
inline constexpr llvm::StringLiteral kExportedAsAttr = "zero.exported_as";
/// On a state: a parameter that the module did not train (requires_grad=False), as zero.export
/// records.
inline constexpr llvm::StringLiteral kExportedFrozenAttr = "zero.exported_frozen";
/// On a state of one element without a record of what it is: the element. zero-select-parameters
/// makes it a constant of the step unless it is a parameter.
inline constexpr llvm::StringLiteral kNumberAttr = "zero.number";
/// On the module: PyTorch exported it and left no record of its tensors and calls, as with
/// dynamo=False.
inline constexpr llvm::StringLiteral kNoRecordAttr = "zero.no_record";
/// On the module: parameters that the graph uses but no longer contains, one line of a message
/// each.
inline constexpr llvm::StringLiteral kLostParametersAttr = "zero.lost_parameters";
/// On a node of an unknown operator: what import knows about it, for messages.
inline constexpr llvm::StringLiteral kImportNoteAttr = "zero.import_note";
/// On the module: names of parameters that no tensor and no computation of the graph
/// has: nothing reads them, or they are tied to a tensor of another name.
inline constexpr llvm::StringLiteral kAbsentParametersAttr = "zero.absent_parameters";
/// On a state or parameter: further names of the tensor in the module, where it is tied
/// to others (a list of strings, each given once in the module and no symbol of it, which
/// zero-verify-import checks). Patterns, lists of names and files of weights find it by
/// any of them; see aliasesOf() in Part.h.
inline constexpr llvm::StringLiteral kAliasesAttr = "zero.aliases";

/// On the module: for each tensor that the model's file has under another name, or as one
/// with others, the name of its initializer there, or "" if it has none of its own.
inline constexpr llvm::StringLiteral kInitializersAttr = "zero.initializers";
/// On the module: sizes of Zero's axes that follow from the mesh of the program, as of --mesh:
/// "data=2,tensor=2". The driver takes it away.
inline constexpr llvm::StringLiteral kProgramMeshAttr = "zero.program_mesh";
/// On a state or parameter, until zero-plan-shards: the dimension that the program shards over the
/// ranks along the axis tensor.
inline constexpr llvm::StringLiteral kShardedDimAttr = "zero.sharded_dim";

} // namespace zero

#endif // DIALECTS_ZERO_EXPORTERATTRS_H
