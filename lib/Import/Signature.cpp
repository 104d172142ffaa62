//===- Signature.cpp - what the exporter says of a model's tensors --------===//
//
// A parameter is lost when an optimizer of the exporter folded, merged or fused it
// away. Two kinds of metadata still tell: a folded constant lists what it was folded
// from, and a node the operation of the module that it stands for, with its operands.
// A tied or unused parameter leaves neither: see TiedNames.h for what a tied one leaves.
//
//===----------------------------------------------------------------------===//

#include "Signature.h"
#include "Metadata.h"
#include "TiedNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

namespace {
/// One line of the signature: p_fc_weight: PARAMETER target='fc.weight', or of its
/// results: add: BUFFER_MUTATION target='average'.
struct Entry {
  StringRef placeholder, kind, target;
};
} // namespace

static Entry parseEntry(StringRef line) {
  auto [placeholder, rest] = line.split(": ");
  auto [kind, target] = rest.split(" target='");
  StringRef known = llvm::StringSwitch<StringRef>(kind)
                        .Case("PARAMETER", "parameter")
                        .Case("BUFFER", "buffer")
                        .Case("CONSTANT_TENSOR", "constant")
                        .Case("BUFFER_MUTATION", "buffer update")
                        .Case("PARAMETER_MUTATION", "parameter update")
                        .Default("");
  return {placeholder, known, target.take_until([](char c) { return c == '\''; })};
}

/// Calls `visit` with each word behind `mark` in `text`.
static void forEachWord(StringRef text, char mark, llvm::function_ref<void(StringRef)> visit) {
  while (!text.empty()) {
    text = text.split(mark).second;
    visit(text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }));
  }
}

namespace {
class LossFinder {
public:
  explicit LossFinder(const pb::GraphProto &graph) {
    for (const pb::TensorProto &tensor : graph.initializer())
      held.insert(tensor.name());
    for (const pb::ValueInfoProto &value : graph.value_info())
      forEachWord(metadata(value, kFoldedFromKey), '\'',
                  [&](StringRef source) { foldedInto.try_emplace(source, &value); });
    for (const pb::NodeProto &node : graph.node()) {
      if (node.op_type() == "Constant" && node.output_size() == 1)
        held.insert(node.output(0));
      forEachWord(metadata(node, kCallKey), '%',
                  [&](StringRef operand) { madeFrom.try_emplace(operand, &node); });
    }
  }

  /// Whether there is an initializer or Constant node `name`.
  bool holds(StringRef name) const { return held.contains(name); }

  /// What became of the parameter of `entry`, or "" if nothing is known to be lost.
  std::string find(const Entry &entry) const {
    if (held.contains(entry.target))
      return {};
    std::string text = "parameter " + quote(entry.target);
    const pb::ValueInfoProto *folded = foldedInto.lookup(entry.target);
    const pb::NodeProto *node = madeFrom.lookup(entry.placeholder);
    if (folded)
      text += " was folded into " + quote(folded->name()) + printShape(*folded);
    else if (node)
      text += " is gone";
    if (node)
      text += ", read by " + describe(*node);
    return folded || node ? text : "";
  }

private:
  static std::string printShape(const pb::ValueInfoProto &value) {
    std::vector<std::string> dims;
    for (const auto &dim : value.type().tensor_type().shape().dim())
      dims.push_back(std::to_string(dim.dim_value()));
    return dims.empty() ? "" : " of " + llvm::join(dims, "x");
  }

  llvm::StringSet<> held;
  llvm::StringMap<const pb::ValueInfoProto *> foldedInto;
  llvm::StringMap<const pb::NodeProto *> madeFrom;
};
} // namespace

Signature readSignature(const pb::GraphProto &graph) {
  Signature signature;
  StringRef text = metadata(graph, kSignatureKey);
  if (text.empty())
    return signature;
  LossFinder finder(graph);
  std::vector<StringRef> missing;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Entry entry = parseEntry(line);
    if (entry.kind.ends_with("update")) {
      auto &updates =
          entry.kind.starts_with("buffer") ? signature.updates : signature.parameterUpdates;
      updates.emplace_back(entry.placeholder, entry.target);
      continue;
    }
    if (entry.kind.empty() || !signature.kinds.try_emplace(entry.target, entry.kind).second)
      continue;
    if (entry.kind != "parameter")
      continue;
    if (std::string loss = finder.find(entry); !loss.empty())
      signature.lost.push_back(std::move(loss));
    else if (!finder.holds(entry.target))
      missing.push_back(entry.target);
  }
  TieFinder ties(graph);
  for (StringRef target : missing)
    if (StringRef tied = ties.find(target); !tied.empty() && signature.kindOf(tied) == "parameter")
      signature.aliases[tied].push_back(target.str());
    else
      signature.absent.push_back(target.str());
  return signature;
}

} // namespace zero::importer
