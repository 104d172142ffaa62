//===- Subgraphs.cpp - graphs inside of nodes -----------------------------===//

#include "Subgraphs.h"
#include "Graph.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Calls `visit` with each subgraph of `node`, which is a const or a mutable NodeProto.
template <typename Node, typename Visit>
static void forEachSubgraph(Node &node, Visit visit) {
  for (auto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (auto &graph : attribute.graphs())
      visit(graph);
  }
}

template <typename Visit>
static void forEachMutableSubgraph(pb::NodeProto &node, Visit visit) {
  for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g())
      visit(*attribute.mutable_g());
    for (pb::GraphProto &graph : *attribute.mutable_graphs())
      visit(graph);
  }
}

void forEachNode(google::protobuf::RepeatedPtrField<pb::NodeProto> &nodes,
                 llvm::function_ref<void(pb::NodeProto &)> visit) {
  for (pb::NodeProto &node : nodes) {
    visit(node);
    forEachMutableSubgraph(
        node, [&](pb::GraphProto &graph) { forEachNode(*graph.mutable_node(), visit); });
  }
}

/// Adds the names of all values of `node` and its subgraphs.
static void collectNames(const pb::NodeProto &node, llvm::StringSet<> &names) {
  for (const std::string &output : node.output())
    names.insert(output);
  forEachSubgraph(node, [&](const pb::GraphProto &graph) {
    for (const pb::TensorProto &tensor : graph.initializer())
      names.insert(tensor.name());
    for (const pb::NodeProto &inner : graph.node())
      collectNames(inner, names);
  });
}

/// The values that `graph` itself defines.
static llvm::StringSet<> definedIn(const pb::GraphProto &graph) {
  llvm::StringSet<> defined;
  for (const pb::ValueInfoProto &input : graph.input())
    defined.insert(input.name());
  for (const pb::TensorProto &tensor : graph.initializer())
    defined.insert(tensor.name());
  for (const pb::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      defined.insert(output);
  return defined;
}

/// Appends the outer values that `graph` reads.
static void collectOuter(const pb::GraphProto &graph, llvm::SmallVector<StringRef> &outer) {
  const llvm::StringSet<> defined = definedIn(graph);
  auto read = [&](StringRef name) {
    if (!name.empty() && !defined.contains(name))
      outer.push_back(name);
  };
  for (const pb::NodeProto &node : graph.node())
    for (StringRef name : operandsOf(node))
      read(name);
  for (const pb::ValueInfoProto &output : graph.output())
    read(output.name());
}

llvm::SmallVector<StringRef> operandsOf(const pb::NodeProto &node) {
  llvm::SmallVector<StringRef> operands(node.input().begin(), node.input().end());
  forEachSubgraph(node, [&](const pb::GraphProto &graph) { collectOuter(graph, operands); });
  return operands;
}

static void rename(std::string &name, const llvm::StringMap<std::string> &names) {
  if (auto it = names.find(name); it != names.end())
    name = it->second;
}

static void renameOperands(pb::NodeProto &node, const llvm::StringMap<std::string> &names);

static void renameIn(pb::GraphProto &graph, const llvm::StringMap<std::string> &names) {
  for (pb::NodeProto &node : *graph.mutable_node())
    renameOperands(node, names);
  for (pb::ValueInfoProto &output : *graph.mutable_output())
    rename(*output.mutable_name(), names);
}

/// Renames the outer values that `graph` reads.
static void renameOuter(pb::GraphProto &graph, const llvm::StringMap<std::string> &names) {
  const llvm::StringSet<> own = definedIn(graph);
  auto isRenamed = [&](const auto &value) { return names.contains(value.getKey()); };
  if (llvm::none_of(own, isRenamed))
    return renameIn(graph, names);
  // ONNX allows no such names; who has them means the inner value.
  llvm::StringMap<std::string> others = names;
  for (const auto &value : own)
    others.erase(value.getKey());
  renameIn(graph, others);
}

static void renameOperands(pb::NodeProto &node, const llvm::StringMap<std::string> &names) {
  for (std::string &input : *node.mutable_input())
    rename(input, names);
  forEachMutableSubgraph(node, [&](pb::GraphProto &graph) { renameOuter(graph, names); });
}

std::string ValueNames::add(const std::string &stem) {
  if (names.empty()) {
    for (const auto &type : graph.types)
      names.insert(type.getKey());
    for (const pb::NodeProto *node : graph.nodes)
      collectNames(*node, names);
  }
  std::string name = stem;
  for (int64_t copy = 2; !names.insert(name).second; ++copy)
    name = stem + "." + std::to_string(copy);
  return name;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static bool isIf(const pb::NodeProto &node) {
  return node.domain().empty() && node.op_type() == "If" && node.input_size() == 1;
}

/// The condition of the If `node`, if it is known and one truth value.
static std::optional<bool> conditionOf(const TypedGraph &graph, const pb::NodeProto &node) {
  auto it = graph.known.find(node.input(0));
  std::optional<evaluate::Values> value =
      it == graph.known.end() ? std::nullopt : toInts(it->second);
  if (!value)
    return std::nullopt;
  if (!value->type.isBool() || value->elements.size() != 1)
    fail(describe(node) + ": condition " + quote(node.input(0)) + ": expected one boolean, got " +
         Twine(value->elements.size()) + " of " + typeName(it->second.data_type()));
  return value->elements[0] != 0;
}

pb::GraphProto &Branches::branchOf(pb::NodeProto &node, bool condition) const {
  StringRef name = condition ? "then_branch" : "else_branch";
  for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.name() != name || !attribute.has_g())
      continue;
    pb::GraphProto &branch = *attribute.mutable_g();
    if (branch.input_size() != 0 || branch.output_size() != node.output_size())
      fail(describe(node) + ": " + name + ": expected no inputs and " + Twine(node.output_size()) +
           " outputs, got " + Twine(branch.input_size()) + " and " + Twine(branch.output_size()));
    if (branch.sparse_initializer_size() != 0)
      fail(describe(node) + ": " + name + ": sparse initializers are not supported");
    return branch;
  }
  fail(describe(node) + ": expected a graph " + quote(name));
}

/// New names for the values that `branch` defines. Results that a node of the branch computes get
/// the names of the If node's results.
Branches::Names Branches::nameValues(const pb::NodeProto &node, const pb::GraphProto &branch) {
  Names renamed;
  for (const auto &value : definedIn(branch))
    if (!value.getKey().empty())
      renamed[value.getKey()] = "";
  llvm::StringSet<> made;
  for (const pb::NodeProto &inner : branch.node())
    if (inner.op_type() != "Constant")
      for (const std::string &output : inner.output())
        made.insert(output);
  for (const pb::TensorProto &tensor : branch.initializer())
    if (made.contains(tensor.name()))
      fail(describe(node) + ": two values of a branch are named " + quote(tensor.name()));
  for (auto [inner, outer] : llvm::zip_equal(branch.output(), node.output()))
    if (!outer.empty() && made.erase(inner.name()))
      renamed[inner.name()] = outer;
  std::vector<StringRef> open;
  for (const auto &entry : renamed)
    if (entry.getValue().empty())
      open.push_back(entry.getKey());
  llvm::sort(open); // the map is unordered
  for (StringRef name : open)
    renamed[name] = names.add((nodeName(node) + "/" + name).str());
  return renamed;
}

void Branches::setKnown(const std::string &name, pb::TensorProto &tensor, const Twine &what) {
  const Dims dims(dimsOf(tensor));
  const int32_t type = tensor.data_type();
  if (elementBytes(type) == 0)
    fail(what + ": expected a float, integer or bool element type, got " + typeName(type));
  if (tensor.data_location() == pb::TensorProto::EXTERNAL ||
      countElements(type, dims, what) * elementBytes(type) > kInlineBytes)
    fail(what + ": expected at most " + Twine(kInlineBytes) + " bytes in the file itself",
         {"move it out of the branch, to the initializers of the model"});
  graph.types[name] = {type, dims};
  graph.known[name] = makeTensor(type, dims, tensorBytes(tensor));
}

/// Enters the initializers and Constant nodes of `branch`, which have their new names,
/// into the graph's tables.
void Branches::takeConstants(const pb::NodeProto &node, pb::GraphProto &branch) {
  for (pb::TensorProto &tensor : *branch.mutable_initializer()) {
    std::string what = describe(node) + ": initializer " + quote(tensor.name());
    // It might be a parameter, which only the model itself holds.
    if (isFloat(tensor.data_type()) && countElements(tensor.data_type(), dimsOf(tensor), what) > 1)
      fail(what + ": expected no floats among the initializers of a branch",
           {"move it out of the branch, to the initializers of the model"});
    setKnown(tensor.name(), tensor, what);
  }
  google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
  for (pb::NodeProto &inner : *branch.mutable_node()) {
    if (inner.domain() == "ai.onnx")
      inner.clear_domain();
    if (inner.op_type() != "Constant" || !inner.domain().empty()) {
      kept.Add(std::move(inner));
      continue;
    }
    pb::TensorProto tensor = constantValue(inner);
    setKnown(inner.output(0), tensor, describe(inner));
  }
  branch.mutable_node()->Swap(&kept);
}

std::optional<std::vector<pb::NodeProto *>> Branches::take(pb::NodeProto &node) {
  std::optional<bool> condition = isIf(node) ? conditionOf(graph, node) : std::nullopt;
  if (!condition)
    return std::nullopt;
  pb::GraphProto &branch = branchOf(node, *condition);
  const Names renamed = nameValues(node, branch);
  for (pb::TensorProto &tensor : *branch.mutable_initializer())
    rename(*tensor.mutable_name(), renamed);
  for (pb::NodeProto &inner : *branch.mutable_node()) {
    renameOperands(inner, renamed);
    for (std::string &output : *inner.mutable_output())
      rename(output, renamed);
  }
  takeConstants(node, branch);
  // A value that the branch only passes through gets the node's name by an Identity.
  for (auto [inner, outer] : llvm::zip_equal(branch.output(), node.output())) {
    std::string value = inner.name();
    rename(value, renamed);
    if (outer.empty() || value == outer)
      continue;
    pb::NodeProto &identity = *branch.add_node();
    identity.set_op_type("Identity");
    identity.set_name(node.name());
    identity.add_input(value);
    identity.add_output(outer);
  }
  return sortBranch(branch, std::vector<std::string>(node.output().begin(), node.output().end()));
}

std::string Branches::whyNot(const pb::NodeProto &node) const {
  return isIf(node) ? "condition " + quote(node.input(0)) +
                          " is not known when compiling: only an If that shapes and "
                          "constants decide is supported"
                    : "";
}

} // namespace zero::importer
