//===- Infer.cpp - types of all values ------------------------------------===//

#include "Infer.h"
#include "EinsumShape.h"
#include "Fold.h"
#include "Gradients.h"
#include "Graph.h"
#include "NodeRules.h"
#include "Opsets.h"
#include "Origin.h"
#include "Schemas.h"
#include "Sequences.h"
#include "Subgraphs.h"
#include "TrainingNode.h"

#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/StringSwitch.h"

#include <new>

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// The static tensor type that ONNX inferred for result `index` of `node`.
static TensorShape fromProto(const pb::NodeProto &node, int index, const pb::TypeProto &type) {
  std::string what = describe(node) + ": result " + quote(node.output(index));
  if (!type.has_tensor_type() || type.tensor_type().elem_type() == 0)
    fail(what + ": its type cannot be inferred");
  if (!type.tensor_type().has_shape())
    fail(what + ": its rank cannot be inferred");
  TensorShape shape{type.tensor_type().elem_type(), {}};
  for (const auto &dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value())
      fail(what + ": dimension " + Twine(shape.dims.size()) + " is not static");
    shape.dims.push_back(dim.dim_value());
  }
  countElements(shape.type, shape.dims, what);
  return shape;
}

namespace {
class Inferrer {
public:
  // Not copied: the member typeOf captures `this`.
  Inferrer(const Inferrer &) = delete;
  Inferrer &operator=(const Inferrer &) = delete;
  Inferrer(Model &model, TypedGraph &graph, const ImportOptions &options)
      : model(model), graph(graph), options(options), sequences(model, graph), names(graph),
        branches(graph, names) {
    context.set_ir_version(static_cast<int>(model.proto.ir_version()));
    context.set_schema_registry(&schemaRegistry());
    context.set_opset_imports({model.opsets.begin(), model.opsets.end()});
    for (const pb::ValueInfoProto &info : model.proto.graph().value_info())
      declared[info.name()] = &info.type();
    for (const pb::ValueInfoProto &info : model.proto.graph().output())
      declared[info.name()] = &info.type();
  }

  /// The nodes that replace `node`, if it represents other operations.
  std::optional<std::vector<pb::NodeProto *>> replace(pb::NodeProto &node) {
    return branches.take(node);
  }

  void run(pb::NodeProto &node) {
    const std::optional<int> opset = opsetOf(model, node);
    if (!opset)
      fail(describe(node) + ": the model names no opset of domain " + quote(node.domain()));
    if (isGradient(node))
      return inferGradient(node, graph);
    const pb::OpSchema *schema = findSchema(node.op_type(), *opset, node.domain());
    if (!schema || hasSubgraph(node) || !schema->GetTypeAndShapeInferenceFunction())
      return takeDeclared(node);
    check(node, *opset);
    if (!inputsAreTyped(node))
      return;
    checkAttributes(node);
    checkElementTypes(node, *schema, typeOf);
    if (sequences.lower(node))
      return run(node);
    infer(node, *schema);
  }

private:
  /// Checks `node` against the definition of its operator in version `opset` of its domain.
  void check(const pb::NodeProto &node, int opset) const {
    pb::checker::CheckerContext own = context;
    std::unordered_map<std::string, int> imports = context.get_opset_imports();
    imports[node.domain()] = opset;
    own.set_opset_imports(std::move(imports));
    pb::checker::check_node(node, own, pb::checker::LexicalScopeContext());
  }

  /// Uses the types that the model declares for an operator that ONNX does not define.
  void takeDeclared(const pb::NodeProto &node) {
    if (std::string note = branches.whyNot(node); !note.empty())
      graph.notes[&node] = std::move(note);
    for (int i = 0; i < node.output_size(); ++i) {
      auto it = declared.find(node.output(i));
      if (it == declared.end() || !it->second->has_tensor_type() ||
          !it->second->tensor_type().has_shape())
        continue;
      const auto &dims = it->second->tensor_type().shape().dim();
      if (llvm::all_of(dims, [](const auto &dim) { return dim.has_dim_value(); }))
        graph.types[node.output(i)] = fromProto(node, i, *it->second);
    }
  }

  bool inputsAreTyped(const pb::NodeProto &node) {
    return llvm::all_of(node.input(), [&](const std::string &name) {
      return name.empty() || graph.types.contains(name);
    });
  }

  void infer(pb::NodeProto &node, const pb::OpSchema &schema) {
    std::unordered_map<std::string, pb::TypeProto> storage;
    std::unordered_map<std::string, pb::TypeProto *> types;
    std::unordered_map<std::string, const pb::TensorProto *> values;
    for (const std::string &name : node.input()) {
      if (name.empty())
        continue;
      types[name] = &(storage[name] = toProto(graph.types[name]));
      if (auto it = graph.known.find(name); it != graph.known.end())
        values[name] = &it->second;
    }
    pb::shape_inference::InferenceContextImpl inference(node, types, values, {},
                                                        pb::ShapeInferenceOptions(true, 1));
    schema.GetTypeAndShapeInferenceFunction()(inference);
    llvm::SmallVector<Dims> dims;
    llvm::SmallVector<int32_t> elementTypes;
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty())
        continue;
      auto it = declared.find(node.output(i));
      completeType(node, i, typeOf, it == declared.end() ? nullptr : it->second,
                   *inference.getOutputType(i));
      broadcastEinsum(node, typeOf, *inference.getOutputType(i));
      TensorShape shape = fromProto(node, i, *inference.getOutputType(i));
      dims.push_back(shape.dims);
      elementTypes.push_back(shape.type);
      graph.types[node.output(i)] = std::move(shape);
    }
    checkResultTypes(node, schema, typeOf);
    checkElements(node);
    checkShapes(node, typeOf);
    checkTrainingNode(node, typeOf, graph.known);
    evaluateTrainingNode(node, typeOf, graph.known);
    fold(node, dims, elementTypes);
  }

  /// ONNX's inference trusts a constant target shape.
  void checkElements(const pb::NodeProto &node) {
    if (!node.domain().empty() || node.op_type() != "Reshape")
      return;
    const TensorShape &from = graph.types[node.input(0)], &to = graph.types[node.output(0)];
    int64_t expected = countElements(from.type, from.dims, describe(node));
    int64_t got = countElements(to.type, to.dims, describe(node));
    if (expected != got)
      fail(describe(node) + ": expected a shape of " + Twine(expected) + " elements, got " +
           Twine(got));
  }

  void fold(const pb::NodeProto &node, llvm::ArrayRef<Dims> dims, llvm::ArrayRef<int32_t> types) {
    const evaluate::Evaluator *evaluator = evaluatorOf(options, node, *opsetOf(model, node));
    if (!evaluator || dims.size() != static_cast<size_t>(node.output_size()))
      return;
    std::vector<std::optional<evaluate::Values>> inputs;
    for (const std::string &name : node.input()) {
      auto it = graph.known.find(name);
      if (name.empty())
        inputs.emplace_back();
      else if (evaluator->readsShapes)
        inputs.push_back(evaluate::Values{{}, graph.types[name].dims, {}});
      else if (it != graph.known.end() && elementBytes(it->second.data_type()) > 0)
        inputs.push_back(toValues(it->second));
      else
        return;
    }
    auto results = foldNode(*evaluator, node, inputs, dims, types);
    if (!results)
      return;
    for (auto [name, result] : llvm::zip_equal(node.output(), *results))
      graph.known[name] = std::move(result);
  }

  Model &model;
  TypedGraph &graph;
  const ImportOptions &options;
  Sequences sequences;
  ValueNames names;
  Branches branches;
  std::function<const TensorShape *(StringRef)> typeOf = [this](StringRef name) {
    auto it = graph.types.find(name);
    return it == graph.types.end() ? nullptr : &it->second;
  };
  pb::checker::CheckerContext context;
  llvm::StringMap<const pb::TypeProto *> declared;
};
} // namespace

/// Runs `work` on `node`. An exception becomes an error that names the node.
template <typename Work>
static auto attempt(const pb::NodeProto &node, Work work) {
  try {
    return work();
  } catch (ImportError &error) {
    if (std::string origin = originOf(node); !origin.empty())
      error.notes.push_back(origin);
    throw;
  } catch (const std::bad_alloc &) { // no property of the node
    throw;
  } catch (const std::exception &error) {
    std::string origin = originOf(node);
    fail(describe(node) + ": " + StringRef(error.what()).trim(),
         origin.empty() ? std::vector<std::string>() : std::vector{origin});
  }
}

/// Runs `work` on `node`. An error says which operands of the node are no constants because the
/// step updates them.
template <typename Work>
static void explain(const Model &model, const pb::NodeProto &node, Work work) {
  try {
    attempt(node, work);
  } catch (ImportError &error) {
    for (const auto &[state, value] : model.record.updates)
      if (llvm::is_contained(node.input(), state))
        error.notes.push_back("its operand " + quote(state) +
                              " is not a constant: the step updates it");
    throw;
  }
}

std::string printType(const TypedGraph &graph, llvm::StringRef name) {
  auto it = graph.types.find(name);
  if (it == graph.types.end())
    return "of unknown type";
  std::string text = typeName(it->second.type) + " [";
  for (auto [i, dim] : llvm::enumerate(it->second.dims))
    text += (i ? "," : "") + std::to_string(dim);
  return text + "]";
}

void inferTypes(Model &model, TypedGraph &graph, const ImportOptions &options) {
  Inferrer inferrer(model, graph, options);
  std::vector<pb::NodeProto *> open(graph.nodes.rbegin(), graph.nodes.rend()), done;
  while (!open.empty()) {
    pb::NodeProto *node = open.back();
    open.pop_back();
    if (auto others = attempt(*node, [&] { return inferrer.replace(*node); })) {
      open.insert(open.end(), others->rbegin(), others->rend());
      continue;
    }
    explain(model, *node, [&] { inferrer.run(*node); });
    done.push_back(node);
  }
  graph.nodes = std::move(done);
}

} // namespace zero::importer
