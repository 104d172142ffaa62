//===- EmbeddingBags.cpp - sums of rows of a table ------------------------===//
//
// torch.nn.functional.embedding_bag(indices, table, offsets): bag b takes the rows of the
// table that indices[offsets[b]] up to indices[offsets[b + 1]] name, and gives their sum,
// mean or maximum, zeros where there are none. All is linear in indices and bags:
//
//   rows    = table[indices], times a weight each
//   at      = running sum of how many bags begin at each index, minus 1
//   results = scatter of rows at `at`, by addition or maximum
//
// An index before the first offset gets a bag that is out of range, which is an error of
// the step. The gradient of a maximum goes to all rows that have it in equal parts.
//
//===----------------------------------------------------------------------===//

#include "EmbeddingBags.h"
#include "FxCall.h"
#include "Metadata.h"
#include "NodeMaker.h"
#include "Origin.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using llvm::StringRef;

namespace zero::importer {

namespace {
/// The exporter's metadata of one call, and the values of the call.
struct Bags {
  enum Mode { Sum = 0, Mean = 1, Max = 2 };

  std::string table, indices, offsets, weights, result;
  int64_t mode = Sum;
  bool includesEnd = false;
  std::optional<int64_t> padding;
};

/// Nodes of one call.
using Group = llvm::SmallVector<const pb::NodeProto *>;
} // namespace

static const pb::NodeProto *findType(const Group &group, StringRef type) {
  auto it =
      llvm::find_if(group, [&](const pb::NodeProto *node) { return node->op_type() == type; });
  return it == group.end() ? nullptr : *it;
}

/// The node of the group that makes `name`, or null.
static const pb::NodeProto *producerOf(const Group &group, StringRef name) {
  auto it = llvm::find_if(
      group, [&](const pb::NodeProto *node) { return llvm::is_contained(node->output(), name); });
  return it == group.end() ? nullptr : *it;
}

/// The one result of the group that others read; "" if there is none or several.
static std::string findResult(const pb::GraphProto &graph, const Group &group) {
  llvm::StringSet<> own, read;
  llvm::SmallPtrSet<const pb::NodeProto *, 32> members(group.begin(), group.end());
  for (const pb::NodeProto *node : group)
    for (const std::string &output : node->output())
      own.insert(output);
  for (const pb::NodeProto &node : graph.node())
    if (!members.contains(&node))
      for (const std::string &input : node.input())
        if (own.contains(input))
          read.insert(input);
  for (const pb::ValueInfoProto &output : graph.output())
    if (own.contains(output.name()))
      read.insert(output.name());
  return read.size() == 1 ? read.begin()->getKey().str() : "";
}

/// Reads the arguments of the call, which are (table, indices, offsets, scale_grad_by_freq, mode,
/// sparse, per_sample_weights, include_last_offset, padding_idx). Returns false if they are not as
/// expected.
static bool readCall(const pb::NodeProto &node, Bags &bags) {
  std::optional<FxCall> call = parseCall(node);
  if (!call || call->args.size() < 3)
    return false;
  bags.mode = call->getInt(4, "mode", Bags::Sum);
  if (bags.mode < Bags::Sum || bags.mode > Bags::Max)
    return false;
  if (call->getBool(3, "scale_grad_by_freq", false))
    fail("EmbeddingBag at " + describe(node) + ": scale_grad_by_freq is not supported",
         {originOf(node)});
  bags.includesEnd = call->getBool(7, "include_last_offset", false);
  if (call->has(8, "padding_idx"))
    bags.padding = call->getInt(8, "padding_idx", -1);
  return !bags.padding || *bags.padding >= 0;
}

/// The computation of `group`; nothing if it is not the known loop.
static std::optional<Bags> readBags(const pb::GraphProto &graph, const Group &group) {
  Bags bags;
  const pb::NodeProto *gather = findType(group, "Gather"), *scale = findType(group, "Mul");
  if (!findType(group, "Loop") || !findType(group, "SequenceEmpty") || !gather || !scale ||
      !readCall(*gather, bags))
    return std::nullopt;
  bags.table = gather->input(0);
  bags.indices = gather->input(1);
  if (const pb::NodeProto *reshape = producerOf(group, bags.indices))
    bags.indices = reshape->input(0);
  for (const pb::NodeProto *node : group)
    if (node->op_type() == "Size" && node->input(0) != bags.indices)
      bags.offsets = node->input(0);
  const pb::NodeProto *column = producerOf(group, scale->input(1));
  if (!column || bags.offsets.empty())
    return std::nullopt;
  if (!producerOf(group, column->input(0)))
    bags.weights = column->input(0);
  bags.result = findResult(graph, group);
  return bags.result.empty() ? std::nullopt : std::optional(bags);
}

namespace {
class BagBuilder : public NodeMaker {
public:
  BagBuilder(Model &model, pb::GraphProto &graph, llvm::StringSet<> &names,
             const pb::NodeProto &from, const Bags &bags)
      : NodeMaker(graph, from), model(model), names(names), bags(bags) {}

  void build() {
    flat = add("Reshape", {bags.indices, ints({-1})});
    std::string rows = add("Gather", {bags.table, flat});
    if (!bags.weights.empty())
      rows = add("Mul", {rows, column(bags.weights)});
    addPlaces();
    const bool isMax = bags.mode == Bags::Max;
    std::string fill = like(isMax ? -std::numeric_limits<float>::infinity() : 0);
    if (bags.padding) {
      counted = add("Not", {add("Equal", {flat, integer(*bags.padding)})});
      rows = add("Where", {column(counted), rows, fill});
    }
    std::string width = add("Shape", {bags.table});
    setInt("start", 1);
    std::string shape = add("Concat", {count, width});
    setInt("axis", 0);
    bool isLast = bags.mode == Bags::Sum;
    std::string whole =
        add("ScatterND", {add("Expand", {fill, shape}), places, rows}, isLast ? bags.result : "");
    setString("reduction", isMax ? "max" : "add");
    if (bags.mode == Bags::Mean)
      add("Div", {whole, add("Max", {sizes(), like(1)})}, bags.result);
    if (isMax)
      add("Where", {add("Greater", {sizes(), like(0)}), whole, like(0)}, bags.result);
  }

private:
  std::string newName() override {
    std::string name;
    do
      name = bags.result + "/bag." + std::to_string(added++);
    while (!names.insert(name).second);
    return name;
  }

  std::string constant(pb::TensorProto value) {
    std::string name = newName();
    Constant held;
    held.type = value.data_type();
    held.dims = Dims(dimsOf(value));
    held.elements = saturatingProduct<int64_t>(held.dims);
    held.value = std::move(value);
    model.constants.emplace_back(name, std::move(held));
    return name;
  }

  std::string integer(int64_t value) { return constant(fromInts({}, {value})); }
  std::string ints(std::vector<int64_t> values) {
    const Dims dims{static_cast<int64_t>(values.size())};
    return constant(fromInts(dims, std::move(values)));
  }

  /// `value` in the type of the table.
  std::string like(float value) {
    std::string bytes(reinterpret_cast<const char *>(&value), sizeof(value));
    return add("CastLike", {constant(makeTensor(pb::TensorProto::FLOAT, {}, bytes)), bags.table});
  }

  /// A vector as a column.
  std::string column(const std::string &vector) { return add("Reshape", {vector, ints({-1, 1})}); }

  std::string filled(const std::string &shape, const std::string &element) {
    return add("Expand", {element, shape});
  }

  /// The bag of each index, as a column, and how many bags there are.
  void addPlaces() {
    std::string offsets = add("Cast", {bags.offsets});
    setInt("to", pb::TensorProto::INT64);
    offsets = add("Reshape", {offsets, ints({-1})});
    if (bags.includesEnd)
      offsets = withoutLast(offsets);
    count = add("Shape", {offsets});
    // One more for bags that begin behind the last index.
    std::string length = add("Add", {add("Shape", {flat}), ints({1})});
    std::string begins =
        add("ScatterND", {filled(length, integer(0)), column(offsets), filled(count, integer(1))});
    setString("reduction", "add");
    std::string sums = add("CumSum", {withoutLast(begins), integer(0)});
    std::string place = add("Sub", {sums, integer(1)});
    std::string isBefore = add("Less", {place, integer(0)});
    places = column(add("Where", {isBefore, add("Size", {offsets}), place}));
  }

  std::string withoutLast(const std::string &vector) {
    return add("Slice", {vector, ints({0}), ints({-1}), ints({0})});
  }

  /// How many indices of each bag count, as a column.
  std::string sizes() {
    std::string ones = counted.empty() ? filled(add("Shape", {flat}), like(1))
                                       : add("CastLike", {counted, bags.table});
    std::string sums = add("ScatterND", {filled(count, like(0)), places, ones});
    setString("reduction", "add");
    return column(sums);
  }

  Model &model;
  llvm::StringSet<> &names;
  const Bags &bags;
  std::string flat, counted, count, places;
  int64_t added = 0;
};
} // namespace

static llvm::StringSet<> namesOf(const Model &model) {
  llvm::StringSet<> names;
  for (const auto &[name, constant] : model.constants)
    names.insert(name);
  for (const pb::ValueInfoProto &input : model.proto.graph().input())
    names.insert(input.name());
  for (const pb::NodeProto &node : model.proto.graph().node())
    for (const std::string &output : node.output())
      names.insert(output);
  return names;
}

/// Puts `made` in the place of the last node of `group`.
static void replaceGroup(pb::GraphProto &graph, const Group &group, pb::GraphProto &made) {
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
  llvm::SmallPtrSet<const pb::NodeProto *, 32> members(group.begin(), group.end());
  for (pb::NodeProto &node : *graph.mutable_node()) {
    if (&node == group.back())
      for (pb::NodeProto &added : *made.mutable_node())
        nodes.Add(std::move(added));
    if (!members.contains(&node))
      nodes.Add(std::move(node));
  }
  graph.mutable_node()->Swap(&nodes);
}

void lowerEmbeddingBags(Model &model) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  // Every replacement moves the nodes, so calls are kept by their text.
  llvm::StringSet<> calls;
  std::vector<std::string> texts;
  for (const pb::NodeProto &node : graph.node())
    if (StringRef text = metadata(node, kCallKey); node.op_type() == "Loop")
      if (auto call = parseCall(text); call && call->op() == "embedding_bag")
        if (calls.insert(text).second)
          texts.push_back(text.str());
  if (texts.empty() || model.standardOpset() < 18)
    return;
  llvm::StringSet<> names = namesOf(model);
  for (const std::string &text : texts) {
    Group group;
    for (const pb::NodeProto &node : graph.node())
      if (metadata(node, kCallKey) == text)
        group.push_back(&node);
    std::optional<Bags> bags = readBags(graph, group);
    if (!bags)
      continue;
    pb::GraphProto made;
    BagBuilder(model, made, names, *group.back(), *bags).build();
    replaceGroup(graph, group, made);
  }
}

} // namespace zero::importer
