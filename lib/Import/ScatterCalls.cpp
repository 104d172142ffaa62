//===- ScatterCalls.cpp - scatter reductions that ONNX lacks --------------===//
//
//   scatter_reduce(self, dim, index, src, reduce, include_self)
//
// onnxscript exports reduce="mean" as a ScatterElements that overwrites. It becomes a
// sum over a count: of the elements that were scattered to a place, and of self's own
// with include_self.
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

/// A tensor as large as `like`, and of its type, whose elements are all `value`.
static std::string filledLike(CallEditor &editor, const std::string &like, int64_t value) {
  std::string shape = editor.addNode("Shape", {like});
  std::string one = editor.addConstant(fromInts({}, {value}));
  return editor.addNode("Expand", {editor.addNode("CastLike", {one, like}), shape});
}

static void restoreMean(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  const bool isLast = node.output(0) == call.result;
  if (node.op_type() != "ScatterElements" || !isLast || call.text(4, "reduce") != "mean" ||
      node.input_size() != 3)
    return;
  const bool includesSelf = call.getBool(5, "include_self", true);
  const pb::NodeProto *cleared = editor.producerOf(node.input(0));
  if (!includesSelf && (!cleared || cleared->op_type() != "ScatterElements"))
    return editor.refuse(node, call,
                         "expected a preceding ScatterElements that clears the elements that "
                         "include_self=False excludes");
  const std::string self = node.input(0), index = node.input(1), source = node.input(2);
  const pb::AttributeProto axis = attributeOf(node, "axis");
  std::vector<pb::AttributeProto> adding{axis, stringAttribute("reduction", "add")};
  std::string sum = editor.addNode("ScatterElements", {self, index, source}, adding);
  std::string none = filledLike(editor, self, includesSelf ? 1 : 0);
  std::string count =
      editor.addNode("ScatterElements", {none, index, filledLike(editor, source, 1)}, adding);
  std::string least = editor.addNode("Max", {count, filledLike(editor, self, 1)});
  node.set_op_type("Div");
  node.clear_attribute();
  node.clear_input();
  node.add_input(sum);
  node.add_input(least);
  editor.restored("scatter_reduce(\"mean\") written as a sum over a count");
}

CallRule scatterRule(StringRef op) {
  return llvm::StringSwitch<CallRule>(op).Case("scatter_reduce", restoreMean).Default(nullptr);
}

} // namespace zero::importer
