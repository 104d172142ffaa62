//===- TiedNames.cpp - further names of tied parameters -------------------===//

#include "TiedNames.h"

#include "Metadata.h"

#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace zero::importer {

/// The path of the module that computes `node`: of "['', 'model', 'model.wte', 'embedding']",
/// which ends with the node's own name, 'model.wte'.
static StringRef scopeOf(const pb::NodeProto &node) {
  StringRef scopes = metadata(node, kScopesKey);
  auto [modules, own] = scopes.rsplit(", '");
  auto [outer, scope] = modules.rsplit(", '");
  return own.empty() || !scope.ends_with("'") ? StringRef() : scope.drop_back();
}

TieFinder::TieFinder(const pb::GraphProto &graph) {
  llvm::StringSet<> held;
  for (const pb::TensorProto &tensor : graph.initializer())
    held.insert(tensor.name());
  for (const pb::NodeProto &node : graph.node()) {
    StringRef scope = scopeOf(node);
    if (scope.empty())
      continue;
    for (const std::string &input : node.input()) {
      auto [owner, leaf] = StringRef(input).rsplit('.');
      if (leaf.empty() || owner == scope || !held.contains(input))
        continue;
      auto [it, isNew] = foreign.try_emplace((scope + "." + leaf).str(), input);
      if (!isNew && it->second != input)
        it->second = "";
    }
  }
}

StringRef TieFinder::find(StringRef name) const { return foreign.lookup(name); }

} // namespace zero::importer
