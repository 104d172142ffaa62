//===- Subgraphs.h - graphs inside of nodes ---------------------*- C++ -*-===//
//
// An If whose condition is known once shapes are, as exporters write it around a
// Squeeze, is the branch that it takes. Its nodes take their place among the others.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_SUBGRAPHS_H
#define LIB_IMPORT_SUBGRAPHS_H

#include "ValueNames.h"

namespace zero::importer {

/// The names that `node` reads: its inputs, and the outer values that its subgraphs read.
llvm::SmallVector<llvm::StringRef> operandsOf(const pb::NodeProto &node);

/// Calls `visit` with each of `nodes` and with those of their subgraphs.
void forEachNode(google::protobuf::RepeatedPtrField<pb::NodeProto> &nodes,
                 llvm::function_ref<void(pb::NodeProto &)> visit);

/// Takes branches out of the If nodes of a graph whose nodes are typed one after the other.
class Branches {
public:
  Branches(TypedGraph &graph, ValueNames &names) : graph(graph), names(names) {}

  /// If `node` is an If whose condition is known: the nodes of the branch that it takes,
  /// operands before users, which define its results; the values inside have new names.
  /// Nothing otherwise. Fails where the branch does not fit the node.
  std::optional<std::vector<pb::NodeProto *>> take(pb::NodeProto &node);

  /// Why the If `node` has to stay: for a message.
  std::string whyNot(const pb::NodeProto &node) const;

private:
  using Names = llvm::StringMap<std::string>;

  pb::GraphProto &branchOf(pb::NodeProto &node, bool condition) const;
  Names nameValues(const pb::NodeProto &node, const pb::GraphProto &branch);
  void takeConstants(const pb::NodeProto &node, pb::GraphProto &branch);
  void setKnown(const std::string &name, pb::TensorProto &tensor, const llvm::Twine &what);

  TypedGraph &graph;
  ValueNames &names;
};

} // namespace zero::importer

#endif // LIB_IMPORT_SUBGRAPHS_H
