//===- Signature.cpp - the exporter's record of tensors -------------------===//

#include "Signature.h"
#include "Metadata.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

/// The entry of a line like p_fc_weight: PARAMETER target='fc.weight', or of one of the
/// module's results, add: BUFFER_MUTATION target='average'; without a kind for another line.
static Signature::Entry parseEntry(StringRef line) {
  auto [placeholder, rest] = line.split(": ");
  auto [kind, target] = rest.split(" target='");
  StringRef known = llvm::StringSwitch<StringRef>(kind)
                        .Case("PARAMETER", "parameter")
                        .Case("BUFFER", "buffer")
                        .Case("CONSTANT_TENSOR", "constant")
                        .Case("BUFFER_MUTATION", "buffer update")
                        .Case("PARAMETER_MUTATION", "parameter update")
                        .Default("");
  return {placeholder.str(), target.take_until([](char c) { return c == '\''; }).str(), known};
}

const Signature::Entry *Signature::find(StringRef placeholder) const {
  auto it = byPlaceholder.find(placeholder);
  return it == byPlaceholder.end() ? nullptr : &entries[it->second];
}

Signature readSignature(const pb::GraphProto &graph) {
  Signature signature;
  llvm::SmallVector<StringRef> lines;
  metadata(graph, kSignatureKey).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (auto [input, rest] = line.split(": USER_INPUT"); rest.size() + input.size() < line.size())
      signature.inputs.insert(input);
    Signature::Entry entry = parseEntry(line);
    if (entry.kind.ends_with("update")) {
      auto &updates =
          entry.kind.starts_with("buffer") ? signature.updates : signature.parameterUpdates;
      updates.emplace_back(entry.placeholder, entry.name);
      continue;
    }
    if (entry.kind.empty() || !signature.kinds.try_emplace(entry.name, entry.kind).second)
      continue;
    signature.byPlaceholder.try_emplace(entry.placeholder, signature.entries.size());
    signature.entries.push_back(std::move(entry));
  }
  lines.clear();
  metadata(graph, kFrozenKey).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef name : lines)
    signature.frozen.insert(name);
  return signature;
}

} // namespace zero::importer
