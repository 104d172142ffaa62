//===- LocalFunctions.cpp - inline the functions of a model ---------------===//
//
// Level by level, the outermost functions first: a call in the main graph has all the attributes
// that it is given, and those that it lacks take the defaults of the function.
//
// A function may import other versions of operator sets than the model. Nodes whose operators
// changed between the two versions keep that of the function.
//
//===----------------------------------------------------------------------===//

#include "LocalFunctions.h"
#include "Opsets.h"
#include "Schemas.h"
#include "Subgraphs.h"

#include "onnx/checker.h"
#include "onnx/inliner/inliner.h"
#include "llvm/ADT/StringSet.h"

using llvm::Twine;

namespace zero::importer {

namespace {
/// The functions of a model by domain, name and overload.
class FunctionTable {
public:
  explicit FunctionTable(const pb::ModelProto &proto) {
    for (const pb::FunctionProto &function : proto.functions())
      functions[{function.domain(), function.name(), function.overload()}] = &function;
  }

  /// The function that `node` calls, or null.
  const pb::FunctionProto *calledBy(const pb::NodeProto &node) const {
    auto it = functions.find({node.domain(), node.op_type(), node.overload()});
    return it == functions.end() ? nullptr : it->second;
  }

private:
  std::map<std::array<std::string, 3>, const pb::FunctionProto *> functions;
};
} // namespace

/// Functions that call functions double the nodes at each level: the bound is on
/// what inlining would produce.
static constexpr int64_t kMaxInlined = 1'000'000;

/// The number of nodes after inlining; at most kMaxInlined + 1. There are no
/// call cycles.
template <typename Nodes>
static int64_t inlinedSize(const Nodes &nodes, const FunctionTable &table,
                           std::map<const pb::FunctionProto *, int64_t> &sizes) {
  int64_t total = 0;
  for (const pb::NodeProto &node : nodes) {
    int64_t size = 1;
    if (const pb::FunctionProto *function = table.calledBy(node)) {
      auto [known, isNew] = sizes.try_emplace(function, 0);
      if (isNew)
        known->second = inlinedSize(function->node(), table, sizes);
      size = sizes[function];
    }
    total = std::min(total + size, kMaxInlined + 1);
  }
  return total;
}

/// Whether the operator of `node` is the same in versions `a` and `b` of its domain.
static bool isSameOperator(const pb::NodeProto &node, int a, int b) {
  auto schema = [&](int version) { return findSchema(node.op_type(), version, node.domain()); };
  const pb::OpSchema *first = schema(a), *second = schema(b);
  return first && second && first->SinceVersion() == second->SinceVersion();
}

/// Records at the nodes of `function` that its import of `domain` differs from the model's.
static void keepVersion(pb::FunctionProto &function, const FunctionTable &table,
                        const std::string &domain, int version, int ofModel) {
  forEachNode(*function.mutable_node(), [&](pb::NodeProto &node) {
    if (node.domain() == "ai.onnx")
      node.clear_domain();
    if (node.domain() != domain || table.calledBy(node) || isSameOperator(node, version, ofModel))
      return;
    setOpset(node, version);
  });
}

/// Makes the imports of all functions those of the model.
static void joinOpsets(Model &model) {
  const FunctionTable table(model.proto);
  for (pb::FunctionProto &function : *model.proto.mutable_functions()) {
    const std::string what =
        "function " + quote(function.name()) + " of domain " + quote(function.domain()) + ": ";
    for (const auto &[domain, version] : readOpsets(function.opset_import(), what)) {
      auto [ofModel, isNew] = model.opsets.try_emplace(domain, version);
      if (!isNew && ofModel->second != version)
        keepVersion(function, table, domain, version, ofModel->second);
    }
  }
  // The inliner of ONNX leaves out functions with other imports than the model.
  model.proto.clear_opset_import();
  for (const auto &[domain, version] : model.opsets) {
    pb::OperatorSetIdProto &import = *model.proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  for (pb::FunctionProto &function : *model.proto.mutable_functions())
    *function.mutable_opset_import() = model.proto.opset_import();
}

/// The functions that others call; none if all are, as overloads of one name may be.
static pb::inliner::FunctionIdVector innerFunctions(pb::ModelProto &proto) {
  const FunctionTable table(proto);
  std::map<pb::inliner::FunctionId, bool> isInner;
  for (const pb::FunctionProto &function : proto.functions())
    isInner.try_emplace({function.domain(), function.name()}, false);
  for (pb::FunctionProto &function : *proto.mutable_functions())
    forEachNode(*function.mutable_node(), [&](pb::NodeProto &node) {
      const bool isOther = node.domain() != function.domain() || node.op_type() != function.name();
      if (isOther && table.calledBy(node))
        isInner[{node.domain(), node.op_type()}] = true;
    });
  pb::inliner::FunctionIdVector inner;
  for (const auto &[id, value] : isInner)
    if (value)
      inner.push_back(id);
  if (inner.size() == isInner.size())
    inner.clear();
  return inner;
}

/// Gives the calls of functions the attributes that they leave at their defaults.
static void setDefaults(pb::ModelProto &proto) {
  const FunctionTable table(proto);
  forEachNode(*proto.mutable_graph()->mutable_node(), [&](pb::NodeProto &node) {
    const pb::FunctionProto *function = table.calledBy(node);
    if (!function)
      return;
    llvm::StringSet<> given;
    for (const pb::AttributeProto &attribute : node.attribute())
      given.insert(attribute.name());
    for (const pb::AttributeProto &attribute : function->attribute_proto())
      if (!given.contains(attribute.name()))
        *node.add_attribute() = attribute;
  });
}

void inlineLocalFunctions(Model &model) {
  pb::ModelProto &proto = model.proto;
  if (proto.functions_size() == 0)
    return;
  pb::checker::check_function_call_cycles(proto);
  std::map<const pb::FunctionProto *, int64_t> sizes;
  if (inlinedSize(proto.graph().node(), FunctionTable(proto), sizes) > kMaxInlined)
    fail("expected at most " + Twine(kMaxInlined) + " nodes after inlining its functions");
  joinOpsets(model);
  while (proto.functions_size() != 0) {
    auto inlined = pb::inliner::FunctionIdSet::Create(innerFunctions(proto), /*invert=*/true);
    setDefaults(proto);
    pb::inliner::InlineSelectedLocalFunctions(proto, *inlined);
  }
}

} // namespace zero::importer
