//===- LostParameters.cpp - parameters missing from a graph ---------------===//
//
// A parameter is lost if an optimizer of the exporter folded, merged or fused it, and no metadata
// describes how to restore it. Three traces are left: a folded constant lists its sources; a node
// has the call of the module that it represents, with its operands; and if equal calls were merged,
// readers name a result that no longer exists.
//
//===----------------------------------------------------------------------===//

#include "LostParameters.h"
#include "FxCall.h"
#include "Metadata.h"
#include "TiedNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace zero::importer {

namespace {
class LossFinder {
public:
  explicit LossFinder(const Model &model) : model(model), graph(model.proto.graph()), ties(model) {
    for (const auto &[name, constant] : model.constants)
      held.try_emplace(name, &constant);
    for (const pb::ValueInfoProto &input : graph.input())
      inputs.insert(input.name());
    for (const pb::ValueInfoProto &value : graph.value_info())
      noteFolded(value);
    for (const pb::NodeProto &node : graph.node())
      noteNode(node);
    findTrained();
  }

  /// Enters the module's parameters that the model does not hold into `signature`.
  void run(Signature &signature) {
    for (const Signature::Entry &entry : model.signature.entries) {
      // onnxruntime's artifacts have parameters as inputs, with values in a checkpoint.
      if (entry.kind != "parameter" || inputs.contains(entry.name))
        continue;
      if (std::string line = find(entry); !line.empty())
        signature.lost.push_back(std::move(line));
      else if (held.contains(entry.name))
        continue;
      else if (StringRef tied = ties.find(entry.name); held.contains(tied))
        signature.aliases[tied].push_back(entry.name);
      else
        signature.absent.push_back(entry.name);
    }
  }

private:
  void noteFolded(const pb::ValueInfoProto &value) {
    for (StringRef source : quotedWords(metadata(value, kFoldedFromKey))) {
      foldedInto[source].push_back(&value);
      made.insert(source);
    }
    made.insert(value.name());
  }

  void noteNode(const pb::NodeProto &node) {
    StringRef text = metadata(node, kCallKey);
    bool isResult = true; // the first word is the call's own name
    forEachWord(text, '%', [&](StringRef word) {
      if (isResult) {
        made.insert(word);
        nodesOf[word].push_back(&node);
      } else {
        namedBy.try_emplace(word, &node);
      }
      if (!isResult && baseOf(word) == "getitem")
        tuples.insert(word);
      isResult = false;
    });
    for (const std::string &name : node.output()) {
      made.insert(name);
      parts += node.op_type() == "Split";
    }
    for (const std::string &name : node.input())
      readers[name].push_back(&node);
  }

  /// Finds the values that depend on parameters. Nodes are in any order.
  void findTrained() {
    std::vector<StringRef> open;
    for (const auto &[name, constant] : model.constants)
      if (model.signature.kindOf(name) == "parameter")
        open.push_back(name);
    while (!open.empty()) {
      StringRef name = open.back();
      open.pop_back();
      for (const pb::NodeProto *node : readers.lookup(name))
        for (const std::string &output : node->output())
          if (trained.try_emplace(output, node).second)
            open.push_back(output);
    }
  }

  /// A node that reads `name`, or null.
  const pb::NodeProto *readerOf(StringRef name) const {
    auto it = readers.find(name);
    return it == readers.end() ? nullptr : it->second.front();
  }

  const pb::ValueInfoProto *foldedConstant(StringRef parameter) const {
    auto it = foldedInto.find(parameter);
    if (it == foldedInto.end())
      return nullptr;
    for (const pb::ValueInfoProto *value : it->second)
      if (const Constant *constant = held.lookup(value->name()))
        if (isFloat(constant->type) && readers.contains(value->name()))
          return value;
    return nullptr;
  }

  /// Whether the call of `word`, an operand of the call `reader`, may have been merged with an
  /// equal one: then the nodes of `reader` have the result of another call of this kind, which
  /// computes with parameters, in its place. A tool that removes a call without effect, or folds
  /// it, puts another value there.
  bool isMerged(StringRef word, StringRef reader, StringRef text) const {
    llvm::StringSet<> operands;
    forEachWord(text, '%', [&](StringRef operand) { operands.insert(operand); });
    for (const pb::NodeProto *node : nodesOf.lookup(reader))
      for (const std::string &input : node->input()) {
        auto twin = trained.find(input);
        if (twin == trained.end())
          continue;
        std::optional<FxCall> call = parseCall(*twin->second);
        const bool isNamed = operands.contains(input) || (call && operands.contains(call->result));
        const bool isEqual =
            baseOf(input) == baseOf(word) ||
            (call && (baseOf(call->result) == baseOf(word) || call->op() == baseOf(word)));
        if (isEqual && (!isNamed || llvm::count(node->input(), input) > 1))
          return true;
      }
    return false;
  }

  /// What the exporter did with `entry`, or "" if nothing is known to be lost.
  std::string find(const Signature::Entry &entry) {
    const pb::ValueInfoProto *folded = foldedConstant(entry.name);
    const bool isHeld = held.contains(entry.name);
    // A single element may come from the shape of an existing tensor.
    if (isHeld && (!folded || held.lookup(folded->name())->elements == 1))
      return {};
    std::string text = "parameter " + quote(entry.name);
    const pb::NodeProto *node = isHeld ? nullptr : namedBy.lookup(entry.placeholder);
    if (folded)
      text += " was folded into " + quote(folded->name()) + printShape(*folded);
    else if (node)
      text += " is gone";
    if (folded && !node)
      node = readerOf(folded->name());
    if (node)
      return text + ", read by " + describe(*node);
    if (held.contains(ties.find(entry.name)))
      return {};
    if (!merged)
      merged = describeMerged();
    return merged->empty() ? "" : text + *merged;
  }

  /// If equal calls were merged, the parameters of all but one of them leave no trace, but readers
  /// still name their results. Returns one of these, or "".
  std::string describeMerged() const {
    for (const bool ofTuples : {false, true}) {
      if (ofTuples && tuples.size() <= parts)
        break; // parts of Splits, which go by other names
      for (const pb::NodeProto &node : graph.node())
        if (StringRef gone = missingOperand(node, ofTuples); !gone.empty())
          return " is missing: " + quote(gone) + ", an operand of " + describe(node) +
                 " in the module, is gone; equal calls may have been merged";
    }
    return {};
  }

  /// An operand of the call behind `node` that nothing computes, one of several results of a
  /// call or another, or "".
  StringRef missingOperand(const pb::NodeProto &node, bool ofTuples) const {
    StringRef gone, reader, text = metadata(node, kCallKey);
    forEachWord(text, '%', [&](StringRef word) {
      if (reader.empty())
        reader = word;
      const bool isPart = baseOf(word) == "getitem";
      if (gone.empty() && isPart == ofTuples && !made.contains(word) && !isMove(word) &&
          !model.signature.inputs.contains(word) && !model.signature.find(word) &&
          isMerged(word, reader, text))
        gone = word;
    });
    return gone;
  }

  /// "layer_norm" of "layer_norm_1".
  static StringRef baseOf(StringRef word) {
    auto [base, number] = word.rsplit('_');
    return !number.empty() && llvm::all_of(number, llvm::isDigit) ? base : word;
  }

  /// Whether the call named `word` computes nothing: such are dropped.
  static bool isMove(StringRef word) {
    static constexpr StringRef kMoves[] = {
        "clone",   "contiguous", "dropout",   "expand", "detach",  "alias",          "_to_copy",
        "to",      "view",       "reshape",   "slice",  "flatten", "_unsafe_view",   "unsqueeze",
        "squeeze", "permute",    "transpose", "t",      "arange",  "lift_fresh_copy"};
    return llvm::is_contained(kMoves, baseOf(word));
  }

  static std::string printShape(const pb::ValueInfoProto &value) {
    std::vector<std::string> dims;
    for (const auto &dim : value.type().tensor_type().shape().dim())
      dims.push_back(std::to_string(dim.dim_value()));
    return dims.empty() ? "" : " of " + llvm::join(dims, "x");
  }

  const Model &model;
  const pb::GraphProto &graph;
  const TieFinder ties;
  llvm::StringMap<const Constant *> held;
  llvm::StringMap<std::vector<const pb::ValueInfoProto *>> foldedInto; ///< by source
  llvm::StringMap<const pb::NodeProto *> namedBy;                      ///< by operand of a call
  llvm::StringMap<std::vector<const pb::NodeProto *>> readers;         ///< by input of a node
  llvm::StringMap<std::vector<const pb::NodeProto *>> nodesOf;         ///< by the call's result
  llvm::StringMap<const pb::NodeProto *> trained; ///< values that depend on parameters: their nodes
  llvm::StringSet<> inputs;
  llvm::StringSet<> made;            ///< results of calls that are there, or were folded
  llvm::StringSet<> tuples;          ///< operands that are one of several results of a call
  size_t parts = 0;                  ///< results of Splits
  std::optional<std::string> merged; ///< the result of merged equal calls, once it was searched for
};
} // namespace

void findLostParameters(Model &model) {
  if (!model.signature.entries.empty())
    LossFinder(model).run(model.signature);
}

} // namespace zero::importer
