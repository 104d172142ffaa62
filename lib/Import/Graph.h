//===- Graph.h - the nodes of a model in order ------------------*- C++ -*-===//

#ifndef LIB_IMPORT_GRAPH_H
#define LIB_IMPORT_GRAPH_H

#include "ModelFile.h"
#include "zero/Import/Import.h"

namespace zero::importer {

/// How `node` of version `opset` is evaluated; null: it is not.
const evaluate::Evaluator *evaluatorOf(const ImportOptions &options, const pb::NodeProto &node,
                                       int opset);

/// Replaces calls of the model's own functions by their bodies, and nodes of
/// operators that `isKnown` does not know by ONNX's function bodies.
void inlineFunctions(Model &model, const ImportOptions &options);

/// The nodes that the values `wanted` depend on, operands before users, and
/// otherwise in the file's order. Fails on a value that two nodes define or no
/// one defines, and on a cycle.
std::vector<pb::NodeProto *> sortNodes(Model &model, llvm::ArrayRef<std::string> wanted);

/// The same for a branch of an If, which reads undefined names from the outer graph.
std::vector<pb::NodeProto *> sortBranch(pb::GraphProto &branch, llvm::ArrayRef<std::string> wanted);

/// Whether the node holds a graph, as If and Loop do.
bool hasSubgraph(const pb::NodeProto &node);

} // namespace zero::importer

#endif // LIB_IMPORT_GRAPH_H
