//===- NodeTypes.cpp - check element types of operands --------------------===//

#include "NodeRules.h"

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

using Formal = pb::OpSchema::FormalParameter;

/// The formal parameter of operand or result `index`. The last one may be variadic.
static const Formal &formalOf(const std::vector<Formal> &formals, int index) {
  return formals[std::min<size_t>(index, formals.size() - 1)];
}

static std::string allowedTypes(const Formal &formal) {
  std::vector<StringRef> names;
  for (const std::string *type : formal.GetTypes())
    if (StringRef name = *type; name.consume_front("tensor(") && name.consume_back(")"))
      names.push_back(name);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

/// Fails, naming `what`, unless `formal` may be a tensor of element type `type`.
static void expectAllowed(const Formal &formal, int32_t type, const Twine &what) {
  const auto *known = pb::Utils::DataTypeUtils::ToType("tensor(" + typeName(type) + ")");
  if (formal.GetTypes().count(known) == 0)
    fail(what + ": expected a tensor of " + allowedTypes(formal) + ", got " + typeName(type));
}

void checkElementTypes(const pb::NodeProto &node, const pb::OpSchema &schema, TypeOf typeOf) {
  llvm::StringMap<int32_t> bound;
  for (int i = 0; i < node.input_size() && !schema.inputs().empty(); ++i) {
    const TensorShape *operand = typeOf(node.input(i));
    if (!operand)
      continue;
    const Formal &formal = formalOf(schema.inputs(), i);
    std::string what = describe(node) + ": operand " + quote(node.input(i));
    expectAllowed(formal, operand->type, what);
    if (formal.GetOption() == pb::OpSchema::Variadic && !formal.GetIsHomogeneous())
      continue;
    auto [it, isNew] = bound.try_emplace(formal.GetTypeStr(), operand->type);
    if (it->second != operand->type)
      fail(what + ": expected a tensor of " + typeName(it->second) +
           " as the operands before it, got " + typeName(operand->type));
  }
}

void checkResultTypes(const pb::NodeProto &node, const pb::OpSchema &schema, TypeOf typeOf) {
  for (int i = 0; i < node.output_size() && !schema.outputs().empty(); ++i)
    if (const TensorShape *result = typeOf(node.output(i)))
      expectAllowed(formalOf(schema.outputs(), i), result->type,
                    describe(node) + ": result " + quote(node.output(i)));
}

} // namespace zero::importer
