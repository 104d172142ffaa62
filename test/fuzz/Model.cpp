//===- Model.cpp - mutates ONNX models ------------------------------------===//

#include "Model.h"
#include "Reflect.h"
#include "Tensors.h"

#include "onnx/defs/schema.h"

#include <algorithm>

using namespace onnx;

namespace zero::fuzz {

Vocabulary onnxVocabulary() {
  Vocabulary vocabulary;
  for (const OpSchema &schema : OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!schema.domain().empty())
      continue;
    vocabulary.operators.push_back(schema.Name());
    for (const auto &[name, attribute] : schema.attributes())
      vocabulary.words.push_back(name);
  }
  for (const char *word : {"",
                           "ai.onnx",
                           "ai.onnx.ml",
                           "com.nobody",
                           "zero",
                           "step",
                           "loss",
                           "location",
                           "offset",
                           "length",
                           "checksum",
                           "weights.bin",
                           "short.bin",
                           "link.bin",
                           "pipe",
                           "folder",
                           "folder/inner.bin",
                           "../weights.bin",
                           "/etc/passwd",
                           "model.onnx",
                           ".",
                           "folder/../x",
                           "-1",
                           "0",
                           "18446744073709551615",
                           "9223372036854775807",
                           "4096",
                           "1e9",
                           "NOTSET",
                           "SAME_UPPER",
                           "reflect",
                           "ij,jk->ik",
                           "...i,i",
                           "\xff\xfe",
                           "%s%n",
                           "a\nb"})
    vocabulary.words.emplace_back(word);
  // Several opset versions name the same operator, so duplicates are removed.
  for (std::vector<std::string> *list : {&vocabulary.operators, &vocabulary.words}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return vocabulary;
}

namespace {
class Mutator {
public:
  Mutator(ModelProto &model, const ModelProto &other, const Vocabulary &vocabulary, Random &random)
      : model(model), graph(*model.mutable_graph()), other(other), vocabulary(vocabulary),
        random(random) {}

  void run() {
    static constexpr void (Mutator::*kinds[])() = {
        &Mutator::rewire,       &Mutator::changeOperator, &Mutator::setAttribute,
        &Mutator::setAttribute, &Mutator::reshapeTensor,  &Mutator::reshapeTensor,
        &Mutator::reshapeInput, &Mutator::retypeTensor,   &Mutator::setValues,
        &Mutator::setValues,    &Mutator::insertNode,     &Mutator::insertNode,
        &Mutator::borrowNode,   &Mutator::wrapInFunction, &Mutator::nestGraphs,
        &Mutator::moveOutside,  &Mutator::makeLong,       &Mutator::changeOpset,
        &Mutator::changeLoss};
    if (random.oneIn(3))
      return mutateMessage(someRoot(), vocabulary.words, random);
    (this->*random.pick(kinds))();
  }

private:
  /// Selects the message to change: usually a node, rather than the many others.
  google::protobuf::Message &someRoot() {
    if (graph.node_size() != 0 && !random.oneIn(3))
      return someNode();
    if (graph.initializer_size() != 0 && random.oneIn(3))
      return random.pick(*graph.mutable_initializer());
    if (graph.input_size() != 0 && random.oneIn(3))
      return random.pick(*graph.mutable_input());
    return model;
  }

  /// Prefers early nodes, because nothing after a broken node is checked.
  NodeProto &someNode() {
    if (graph.node_size() == 0)
      return *graph.add_node();
    const size_t end = random.oneIn(2) ? random.below(graph.node_size()) + 1 : graph.node_size();
    return *graph.mutable_node(static_cast<int>(random.below(end)));
  }

  /// Returns the name of a random value of the graph.
  std::string someValue() {
    switch (random.below(4)) {
    case 0:
      if (graph.initializer_size() != 0)
        return random.pick(graph.initializer()).name();
      break;
    case 1:
      if (graph.input_size() != 0)
        return random.pick(graph.input()).name();
      break;
    default:
      break;
    }
    const NodeProto &node = someNode();
    return node.output_size() == 0 ? "" : random.pick(node.output());
  }

  void rewire() {
    NodeProto &node = someNode();
    if (node.input_size() == 0 || random.oneIn(6))
      node.add_input();
    random.pick(*node.mutable_input()) = random.oneIn(8) ? "" : someValue();
  }

  void changeOperator() { someNode().set_op_type(random.pick(vocabulary.operators)); }

  void setAttribute() {
    NodeProto &node = someNode();
    const OpSchema *schema = OpSchemaRegistry::Schema(node.op_type(), 21, node.domain());
    std::string name = vocabulary.words[random.below(vocabulary.words.size())];
    AttributeProto::AttributeType type = AttributeProto::INT;
    if (schema && !schema->attributes().empty()) {
      auto it = schema->attributes().begin();
      std::advance(it, random.below(schema->attributes().size()));
      name = it->first;
      type = it->second.type;
    }
    auto it = std::find_if(node.mutable_attribute()->begin(), node.mutable_attribute()->end(),
                           [&](const AttributeProto &a) { return a.name() == name; });
    AttributeProto &attribute = it == node.mutable_attribute()->end() ? *node.add_attribute() : *it;
    attribute.set_name(name);
    attribute.set_type(type);
    fillAttribute(attribute);
  }

  void fillAttribute(AttributeProto &attribute) {
    switch (attribute.type()) {
    case AttributeProto::INT:
      return attribute.set_i(hostileInt(random));
    case AttributeProto::FLOAT:
      return attribute.set_f(static_cast<float>(hostileFloat(random)));
    case AttributeProto::INTS:
      if (attribute.ints_size() == 0 || random.oneIn(3))
        attribute.add_ints(0);
      return attribute.set_ints(static_cast<int>(random.below(attribute.ints_size())),
                                hostileInt(random));
    case AttributeProto::STRING:
      return attribute.set_s(random.pick(vocabulary.words));
    case AttributeProto::TENSOR:
      return fuzz::reshapeTensor(*attribute.mutable_t(), random);
    default:
      return mutateMessage(attribute, vocabulary.words, random);
    }
  }

  /// Returns an initializer, or the tensor of a Constant node.
  TensorProto *someTensor() {
    std::vector<TensorProto *> tensors;
    for (TensorProto &tensor : *graph.mutable_initializer())
      tensors.push_back(&tensor);
    for (NodeProto &node : *graph.mutable_node())
      for (AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_t())
          tensors.push_back(attribute.mutable_t());
    return tensors.empty() ? nullptr : random.pick(tensors);
  }

  void reshapeTensor() {
    if (TensorProto *tensor = someTensor())
      fuzz::reshapeTensor(*tensor, random);
  }
  void retypeTensor() {
    if (TensorProto *tensor = someTensor())
      fuzz::retypeTensor(*tensor, random);
  }
  void setValues() {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (TensorProto *tensor = someTensor(); tensor && fuzz::setValue(*tensor, random))
        return;
  }
  void moveOutside() {
    if (TensorProto *tensor = someTensor())
      fuzz::moveOutside(*tensor, vocabulary.words, random);
  }

  void reshapeInput() {
    if (graph.input_size() == 0)
      return;
    TypeProto::Tensor &type =
        *random.pick(*graph.mutable_input()).mutable_type()->mutable_tensor_type();
    TensorShapeProto &shape = *type.mutable_shape();
    if (random.oneIn(4))
      return type.set_elem_type(static_cast<int>(random.below(24)));
    if (shape.dim_size() == 0 || random.oneIn(4))
      shape.add_dim();
    auto &dim = random.pick(*shape.mutable_dim());
    if (random.oneIn(4))
      dim.set_dim_param(random.pick(vocabulary.words));
    else
      dim.set_dim_value(hostileInt(random));
  }

  /// Inserts a new operator between a value and one of its users.
  void insertNode() {
    NodeProto &user = someNode();
    if (user.input_size() == 0)
      return;
    std::string name = "inserted" + std::to_string(graph.node_size());
    std::string &input = random.pick(*user.mutable_input());
    NodeProto node;
    node.add_input(input);
    for (size_t i = random.below(3); i > 0; --i)
      node.add_input(someValue());
    node.add_output(name);
    node.set_op_type(random.pick(vocabulary.operators));
    input = name;
    *graph.add_node() = node;
  }

  /// Adds a node of another model that reads values of this one.
  void borrowNode() {
    if (other.graph().node_size() == 0)
      return;
    NodeProto node = random.pick(other.graph().node());
    for (std::string &input : *node.mutable_input())
      input = input.empty() ? "" : someValue();
    NodeProto &replaced = someNode();
    for (int i = 0; i < node.output_size(); ++i)
      node.set_output(i, i < replaced.output_size()
                             ? replaced.output(i)
                             : "borrowed" + std::to_string(graph.node_size()) + std::to_string(i));
    replaced = node;
  }

  void wrapInFunction() {
    NodeProto &node = someNode();
    FunctionProto &function = *model.add_functions();
    function.set_name("wrapped" + std::to_string(model.functions_size()));
    function.set_domain("local");
    *function.mutable_input() = node.input();
    *function.mutable_output() = node.output();
    *function.mutable_opset_import() = model.opset_import();
    *function.add_node() = node;
    node.set_op_type(function.name());
    node.set_domain("local");
    if (random.oneIn(2))
      *model.add_opset_import() = [] {
        OperatorSetIdProto id;
        id.set_domain("local");
        id.set_version(1);
        return id;
      }();
    // Calls itself, or the function before.
    if (random.oneIn(3))
      function.mutable_node(0)->set_domain("local");
    if (random.oneIn(3))
      function.mutable_node(0)->set_op_type(random.pick(model.functions()).name());
  }

  void nestGraphs() {
    const size_t depth = random.oneIn(3) ? 200 : 1 + random.below(20);
    NodeProto inner = someNode();
    for (size_t i = 0; i < depth; ++i) {
      NodeProto outer;
      outer.set_op_type(random.oneIn(2) ? "If" : "Loop");
      outer.add_input(someValue());
      outer.add_output("nested" + std::to_string(i));
      AttributeProto &attribute = *outer.add_attribute();
      attribute.set_name(outer.op_type() == "If" ? "then_branch" : "body");
      attribute.set_type(AttributeProto::GRAPH);
      *attribute.mutable_g()->add_node() = std::move(inner);
      inner = std::move(outer);
    }
    NodeProto &node = someNode();
    if (node.output_size() != 0)
      *inner.mutable_output() = node.output();
    node = std::move(inner);
  }

  /// Adds many operands, or a chain of many nodes.
  void makeLong() {
    NodeProto &node = someNode();
    const int count = random.oneIn(8) ? 3000 : 40;
    if (random.oneIn(2) && node.input_size() != 0) {
      const std::string input = random.pick(node.input());
      for (int i = 0; i < count; ++i)
        node.add_input(input);
      return;
    }
    std::string last = someValue();
    const std::string type = random.pick(vocabulary.operators);
    for (int i = 0; i < count / 10; ++i) {
      NodeProto &link = *graph.add_node();
      link.set_op_type(type);
      link.add_input(last);
      link.add_output(last = "link" + std::to_string(graph.node_size()));
    }
    rewire();
  }

  void changeOpset() {
    if (model.opset_import_size() == 0 || random.oneIn(6))
      model.add_opset_import()->set_domain(random.pick(vocabulary.words));
    random.pick(*model.mutable_opset_import())
        .set_version(random.oneIn(4) ? hostileInt(random)
                                     : 13 + static_cast<int64_t>(random.below(11)));
  }

  void changeLoss() {
    if (graph.output_size() == 0 || random.oneIn(4))
      graph.add_output();
    random.pick(*graph.mutable_output()).set_name(someValue());
  }

  ModelProto &model;
  GraphProto &graph;
  const ModelProto &other;
  const Vocabulary &vocabulary;
  Random &random;
};
} // namespace

void mutateModel(ModelProto &model, const ModelProto &other, const Vocabulary &vocabulary,
                 Random &random) {
  Mutator mutator(model, other, vocabulary, random);
  for (size_t i = 0, count = 1 + random.below(random.oneIn(4) ? 4 : 2); i < count; ++i)
    mutator.run();
}

} // namespace zero::fuzz
