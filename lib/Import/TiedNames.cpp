//===- TiedNames.cpp - further names of tied parameters -------------------===//

#include "TiedNames.h"

#include "Metadata.h"

using llvm::StringRef;

namespace zero::importer {

TieFinder::TieFinder(const Model &model) {
  for (const pb::NodeProto &node : model.proto.graph().node())
    noteReads(model.signature, node);
}

void TieFinder::noteReads(const Signature &signature, const pb::NodeProto &node) {
  // ['', 'model', 'model.wte', 'embedding'] ends with the node's own name.
  llvm::SmallVector<StringRef> scopes = quotedWords(metadata(node, kScopesKey));
  if (scopes.size() < 2)
    return;
  StringRef scope = scopes[scopes.size() - 2];
  forEachWord(metadata(node, kCallKey), '%', [&](StringRef word) {
    const Signature::Entry *entry = signature.find(word);
    if (!entry || entry->kind != "parameter")
      return;
    auto [owner, leaf] = StringRef(entry->name).rsplit('.');
    if (leaf.empty() || owner == scope)
      return;
    auto [it, isNew] = foreign.try_emplace((scope + "." + leaf).str(), entry->name);
    if (!isNew && it->second != entry->name)
      it->second = "";
  });
}

StringRef TieFinder::find(StringRef name) const { return foreign.lookup(name); }

} // namespace zero::importer
