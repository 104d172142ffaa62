//===- Functions.cpp - inlines functions ----------------------------------===//

#include "Fold.h"
#include "Graph.h"
#include "NodeRules.h"

#include "onnx/checker.h"
#include "onnx/defs/schema.h"
#include "onnx/inliner/inliner.h"
#include "llvm/ADT/StringSet.h"

using llvm::Twine;

namespace zero::importer {

using FunctionKey = std::pair<std::string, std::string>;
using FunctionMap = std::map<FunctionKey, const pb::FunctionProto *>;

/// Functions that call functions double the nodes at each level: the bound is on
/// what inlining would produce.
static constexpr int64_t kMaxInlined = 1'000'000;

/// The number of nodes after inlining; at most kMaxInlined + 1. There are no
/// call cycles.
template <typename Nodes>
static int64_t inlinedSize(const Nodes &nodes, const FunctionMap &functions,
                           std::map<const pb::FunctionProto *, int64_t> &sizes) {
  int64_t total = 0;
  for (const pb::NodeProto &node : nodes) {
    auto it = functions.find({node.domain(), node.op_type()});
    int64_t size = 1;
    if (it != functions.end()) {
      auto [known, isNew] = sizes.try_emplace(it->second, 0);
      if (isNew)
        known->second = inlinedSize(it->second->node(), functions, sizes);
      size = sizes[it->second];
    }
    total = std::min(total + size, kMaxInlined + 1);
  }
  return total;
}

static void inlineLocal(pb::ModelProto &proto) {
  if (proto.functions_size() == 0)
    return;
  pb::checker::check_function_call_cycles(proto);
  FunctionMap functions;
  for (const pb::FunctionProto &function : proto.functions())
    functions[{function.domain(), function.name()}] = &function;
  std::map<const pb::FunctionProto *, int64_t> sizes;
  if (inlinedSize(proto.graph().node(), functions, sizes) > kMaxInlined)
    fail("expected at most " + Twine(kMaxInlined) + " nodes after inlining its functions");
  pb::inliner::InlineLocalFunctions(proto);
}

/// Sets the attributes that `node` leaves at their defaults. A body refers to them, and ONNX's
/// inliner treats a missing attribute as empty.
static void setDefaults(pb::NodeProto &node, const pb::OpSchema &schema) {
  llvm::StringSet<> given;
  for (const pb::AttributeProto &attribute : node.attribute())
    given.insert(attribute.name());
  for (const auto &[name, attribute] : schema.attributes())
    if (attribute.default_value.has_name() && !given.contains(name))
      *node.add_attribute() = attribute.default_value;
}

/// Says the types of all constants: a body may depend on those of its operands.
static void declareConstants(Model &model) {
  for (const auto &[name, constant] : model.constants) {
    pb::ValueInfoProto &info = *model.proto.mutable_graph()->add_value_info();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(constant.type);
    auto *shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int64_t dim : constant.dims)
      shape->add_dim()->set_dim_value(dim);
  }
}

/// Whether ONNX can say `node`'s body; one that depends on the types of operands
/// needs them all.
static bool hasBody(const pb::NodeProto &node, const pb::OpSchema &schema) {
  if (schema.HasFunction())
    return true;
  return schema.HasContextDependentFunction() &&
         llvm::none_of(node.input(), [](const std::string &name) { return name.empty(); });
}

/// Adds the operators of `graph` and its subgraphs that only ONNX's function bodies explain.
static void collectFunctions(const Model &model, const ImportOptions &options,
                             pb::GraphProto &graph, pb::inliner::FunctionIdVector &ids) {
  for (pb::NodeProto &node : *graph.mutable_node()) {
    for (pb::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        collectFunctions(model, options, *attribute.mutable_g(), ids);
    auto opset = model.opsets.find(node.domain());
    if (opset == model.opsets.end() || isFoldable(node) ||
        options.isKnown(node.domain(), node.op_type(), opset->second))
      continue;
    const pb::OpSchema *schema =
        pb::OpSchemaRegistry::Schema(node.op_type(), opset->second, node.domain());
    if (!schema || !hasBody(node, *schema))
      continue;
    setDefaults(node, *schema);
    ids.emplace_back(node.domain(), node.op_type());
  }
}

void inlineFunctions(Model &model, const ImportOptions &options) {
  inlineLocal(model.proto);
  if (options.isKnown) {
    pb::inliner::FunctionIdVector ids;
    collectFunctions(model, options, *model.proto.mutable_graph(), ids);
    if (!ids.empty()) {
      declareConstants(model);
      // ONNX infers the types of the entire graph to find the bodies.
      for (const pb::NodeProto &node : model.proto.graph().node())
        checkAttributes(node);
      pb::inliner::InlineSelectedFunctions(
          model.proto, *pb::inliner::FunctionIdSet::Create(std::move(ids)), nullptr);
    }
  }
  takeConstantNodes(model);
}

} // namespace zero::importer
