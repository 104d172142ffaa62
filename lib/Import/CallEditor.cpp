//===- CallEditor.cpp - edit nodes to match exported calls ----------------===//

#include "CallRules.h"
#include "Metadata.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

CallEditor::CallEditor(Model &model) : model(model) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  for (pb::NodeProto &node : *graph.mutable_node())
    for (const std::string &name : node.output()) {
      producers.try_emplace(name, &node);
      names.insert(name);
    }
  auto declare = [&](const pb::ValueInfoProto &value) {
    names.insert(value.name());
    if (value.type().has_tensor_type())
      types.try_emplace(value.name(), &value.type().tensor_type());
  };
  llvm::for_each(graph.value_info(), declare);
  llvm::for_each(graph.input(), declare);
  llvm::for_each(graph.output(), declare);
  for (const auto &[name, constant] : model.constants)
    names.insert(name);
}

std::string CallEditor::freeName(StringRef base) {
  std::string name = base.str();
  for (int i = 1; !names.insert(name).second; ++i)
    name = (base + "_" + Twine(i)).str();
  return name;
}

std::string CallEditor::addNode(StringRef type, std::vector<std::string> inputs,
                                std::vector<pb::AttributeProto> attributes, StringRef result) {
  pb::NodeProto &node = *model.proto.mutable_graph()->add_node();
  node.set_op_type(type.str());
  for (std::string &input : inputs)
    node.add_input(std::move(input));
  for (pb::AttributeProto &attribute : attributes)
    *node.add_attribute() = std::move(attribute);
  node.add_output(result.empty() ? freeName(("restored_" + type).str()) : result.str());
  node.set_name(freeName("node_" + node.output(0)));
  return node.output(0);
}

std::string CallEditor::addNumber(int32_t type, double value) {
  const evaluate::ElementType element = elementTypeOf(type);
  bool exact = true;
  return addConstant(
      fromValues({element, {}, {evaluate::fromDouble(element, value, exact)}}, type));
}

std::string CallEditor::addConstant(pb::TensorProto tensor) {
  std::string name = freeName("restored_constant");
  Constant constant;
  constant.type = tensor.data_type();
  constant.dims = Dims(dimsOf(tensor));
  constant.elements = countElements(constant.type, constant.dims, name);
  constant.value = std::move(tensor);
  model.constants.emplace_back(name, std::move(constant));
  return name;
}

void CallEditor::annotate(const pb::NodeProto &node, pb::AttributeProto attribute) {
  model.record.attributes[node.output(0)].push_back(std::move(attribute));
}

void CallEditor::refuse(const pb::NodeProto &node, const FxCall &call, const Twine &why) {
  refusals.push_back((describe(node) + ", exported from " + call.target + ": " + why).str());
}

void CallEditor::finish() {
  if (!refusals.empty())
    fail(Twine(refusals.size()) +
             " calls of the module have no equivalent in the exported graph: it would train "
             "otherwise than the module",
         refusals);
  for (const auto &[what, count] : counts)
    model.record.remarks.push_back(what + " (" + std::to_string(count) + ")");
}

pb::AttributeProto intAttribute(StringRef name, int64_t value) {
  pb::AttributeProto attribute;
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

pb::AttributeProto floatAttribute(StringRef name, float value) {
  pb::AttributeProto attribute;
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

pb::AttributeProto stringAttribute(StringRef name, StringRef value) {
  pb::AttributeProto attribute;
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::STRING);
  attribute.set_s(value.str());
  return attribute;
}

pb::AttributeProto &attributeOf(pb::NodeProto &node, StringRef name) {
  for (pb::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == name)
      return attribute;
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  return attribute;
}

/// Calls `visit` with each value that the text of a call names.
static void forEachOperand(StringRef text, llvm::function_ref<void(StringRef)> visit) {
  for (text = text.split("](args = ").second; !text.empty();) {
    text = text.split('%').second;
    visit(text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }));
  }
}

/// Rejects calls of detach() whose nodes an optimizer of the exporter has removed: their users
/// still name them, but read the value before the detach.
static void findLostDetaches(CallEditor &editor, const llvm::StringSet<> &placeholders) {
  llvm::StringSet<> seen;
  for (const pb::NodeProto &node : editor.model.proto.graph().node()) {
    std::optional<FxCall> call = parseCall(node);
    if (!call)
      continue;
    forEachOperand(metadata(node, kCallKey), [&](StringRef operand) {
      StringRef number = operand;
      bool isDetach =
          number.consume_front("detach") &&
          (number.empty() || (number.consume_front("_") && llvm::all_of(number, llvm::isDigit)));
      if (isDetach && !editor.producerOf(operand) && !placeholders.contains(operand) &&
          seen.insert(operand).second)
        editor.refuse(node, *call,
                      "its operand '" + operand +
                          "' is a detach() that the exporter has removed, so gradients would flow "
                          "through it; export with optimize=False");
    });
  }
}

void restoreCalls(Model &model) {
  CallEditor editor(model);
  llvm::StringSet<> placeholders;
  for (const pb::ValueInfoProto &input : model.proto.graph().input())
    placeholders.insert(input.name());
  findLostDetaches(editor, placeholders);
  // Rules append nodes, which need no rules.
  for (int i = 0, count = model.proto.graph().node_size(); i < count; ++i) {
    pb::NodeProto &node = *model.proto.mutable_graph()->mutable_node(i);
    std::optional<FxCall> call = parseCall(node);
    if (!call || !node.domain().empty() || node.output_size() == 0 ||
        !call->target.starts_with("aten."))
      continue;
    for (auto find : {lossRule, layerRule, scatterRule, tieRule, exponentialRule})
      if (CallRule rule = find(call->op()))
        rule(editor, node, *call);
  }
  editor.finish();
}

} // namespace zero::importer
