//===- Opsets.cpp - versions of operator sets -----------------------------===//

#include "Opsets.h"
#include "Metadata.h"

#include "runtime/support/checked.h"

using llvm::Twine;

namespace zero::importer {

static constexpr int kFirstOpset = 7, kLastOpset = 28;
/// The key of a node's own version.
static constexpr llvm::StringLiteral kOpsetKey = "zero.opset";

std::map<std::string, int> readOpsets(const OpsetImports &imports, const Twine &what) {
  std::map<std::string, int> opsets;
  for (const pb::OperatorSetIdProto &import : imports) {
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    if (!opsets.try_emplace(domain, static_cast<int>(import.version())).second)
      fail(what + "domain " + quote(domain) + " has two opset versions");
  }
  auto standard = opsets.find("");
  if (standard != opsets.end() && (standard->second < kFirstOpset || standard->second > kLastOpset))
    fail(what + "expected opset " + Twine(kFirstOpset) + " to " + Twine(kLastOpset) + ", got " +
         Twine(standard->second));
  return opsets;
}

std::optional<int> opsetOf(const Model &model, const pb::NodeProto &node) {
  int own;
  if (parseInteger(metadata(node, kOpsetKey), own))
    return own;
  auto it = model.opsets.find(node.domain());
  return it == model.opsets.end() ? std::nullopt : std::optional(it->second);
}

void setOpset(pb::NodeProto &node, int version) {
  pb::StringStringEntryProto &entry = *node.add_metadata_props();
  entry.set_key(kOpsetKey.str());
  entry.set_value(std::to_string(version));
}

} // namespace zero::importer
