//===- Gradients.cpp - nodes that stand for a backward pass ---------------===//

#include "Gradients.h"

#include "dialects/Onnx/Onnx.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

bool isGradient(const pb::NodeProto &node) {
  return node.op_type() == "Gradient" && node.domain() == onnx::kTrainingDomain.str();
}

static const pb::AttributeProto *find(const pb::NodeProto &node, StringRef name) {
  for (const pb::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

static std::vector<std::string> namesIn(const pb::NodeProto &node, StringRef attribute) {
  const pb::AttributeProto *found = find(node, attribute);
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
               : std::vector<std::string>();
}

void nameOperands(Model &model) {
  for (pb::NodeProto &node : *model.proto.mutable_graph()->mutable_node()) {
    if (!isGradient(node))
      continue;
    std::vector<std::string> named = namesIn(node, "xs");
    if (named.empty())
      fail(describe(node) + ": expected the names of tensors in attribute 'xs'");
    if (node.output_size() > int(named.size()))
      fail(describe(node) + ": expected at most " + Twine(named.size()) + " results, got " +
           Twine(node.output_size()));
    llvm::append_range(named, namesIn(node, "zs"));
    if (node.input_size() != int(named.size()))
      fail(describe(node) + ": expected a value for each tensor of 'xs' and 'zs', " +
           Twine(named.size()) + ", got " + Twine(node.input_size()));
    const pb::AttributeProto *target = find(node, "y");
    named.push_back(target ? target->s() : "");
    for (const std::string &name : named) {
      if (name.empty())
        fail(describe(node) + ": expected names of tensors in 'xs', 'zs' and 'y'");
      node.add_input(name);
    }
  }
}

std::string differentiatedTensor(const Model &model) {
  std::string found;
  for (const pb::NodeProto &node : model.proto.graph().node()) {
    if (!isGradient(node))
      continue;
    const std::string &target = node.input(node.input_size() - 1);
    if (!found.empty() && found != target)
      return "";
    found = target;
  }
  return found;
}

void inferGradient(const pb::NodeProto &node, TypedGraph &graph) {
  for (int i = 0; i < node.output_size(); ++i) {
    auto type = graph.types.find(node.input(i));
    if (node.output(i).empty() || type == graph.types.end())
      continue;
    const TensorShape shape = type->second;
    if (!isFloat(shape.type))
      fail(describe(node) + ": expected floats in " + quote(node.input(i)) + ", got " +
           typeName(shape.type));
    graph.types[node.output(i)] = shape;
  }
}

} // namespace zero::importer
