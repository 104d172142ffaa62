//===- Functions.cpp - inline function bodies of ONNX ---------------------===//

#include "Graph.h"
#include "LocalFunctions.h"
#include "NodeRules.h"
#include "Opsets.h"
#include "Schemas.h"
#include "Subgraphs.h"

#include "onnx/inliner/inliner.h"
#include "llvm/ADT/StringSet.h"

using llvm::Twine;

namespace zero::importer {

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

const evaluate::Evaluator *evaluatorOf(const ImportOptions &options, const pb::NodeProto &node,
                                       int opset) {
  return options.evaluatorOf ? options.evaluatorOf(node.domain(), node.op_type(), opset) : nullptr;
}

/// The operators of the model's graphs that only ONNX's function bodies explain.
static pb::inliner::FunctionIdVector collectFunctions(Model &model, const ImportOptions &options) {
  pb::inliner::FunctionIdVector ids;
  forEachNode(*model.proto.mutable_graph()->mutable_node(), [&](pb::NodeProto &node) {
    std::optional<int> opset = opsetOf(model, node);
    if (!opset || evaluatorOf(options, node, *opset) ||
        options.isKnown(node.domain(), node.op_type(), *opset))
      return;
    const pb::OpSchema *schema = findSchema(node.op_type(), *opset, node.domain());
    if (!schema || !hasBody(node, *schema))
      return;
    setDefaults(node, *schema);
    ids.emplace_back(node.domain(), node.op_type());
  });
  return ids;
}

/// Fails if a node that ONNX's inliner would replace has another version than the model: it knows
/// the bodies of the model's versions only.
static void checkVersions(Model &model, const pb::inliner::FunctionIdSet &ids) {
  forEachNode(*model.proto.mutable_graph()->mutable_node(), [&](pb::NodeProto &node) {
    if (!ids.Contains(node.domain(), node.op_type()))
      return;
    const int own = *opsetOf(model, node), ofModel = model.opsets.at(node.domain());
    if (own != ofModel)
      fail(describe(node) + ": the function that it is part of imports version " + Twine(own) +
               " of its operator, which is only supported in the model's version, " +
               Twine(ofModel),
           {}, "convert the model and its functions to one opset version");
  });
}

/// In the body of the operator they are read as embeddings are.
static void findRotaryTables(Model &model) {
  forEachNode(*model.proto.mutable_graph()->mutable_node(), [&](const pb::NodeProto &node) {
    constexpr int kCosines = 1, kSines = 2;
    if (node.op_type() == "RotaryEmbedding" && node.input_size() > kSines)
      for (int input : {kCosines, kSines})
        model.signature.tables.insert(node.input(input));
  });
}

void inlineFunctions(Model &model, const ImportOptions &options) {
  inlineLocalFunctions(model);
  findRotaryTables(model);
  if (options.isKnown) {
    pb::inliner::FunctionIdVector ids = collectFunctions(model, options);
    if (!ids.empty()) {
      auto inlined = pb::inliner::FunctionIdSet::Create(std::move(ids));
      checkVersions(model, *inlined);
      declareConstants(model);
      // ONNX infers the types of the entire graph to find the bodies.
      for (const pb::NodeProto &node : model.proto.graph().node())
        checkAttributes(node);
      shareSchemas();
      pb::inliner::InlineSelectedFunctions(model.proto, *inlined, nullptr);
    }
  }
  takeConstantNodes(model);
}

} // namespace zero::importer
