//===- NodeMaker.cpp - nodes in place of others ---------------------------===//

#include "NodeMaker.h"

using llvm::StringRef;

namespace zero::importer {

std::string NodeMaker::add(StringRef type, llvm::ArrayRef<std::string> inputs, std::string output) {
  pb::NodeProto &node = *graph.add_node();
  node.set_op_type(type.str());
  node.set_name(from.name());
  *node.mutable_metadata_props() = from.metadata_props();
  for (const std::string &input : inputs)
    node.add_input(input);
  if (output.empty())
    output = newName();
  node.add_output(output);
  made.push_back(&node);
  return output;
}

pb::AttributeProto &NodeMaker::addAttribute(StringRef name,
                                            pb::AttributeProto::AttributeType type) {
  pb::AttributeProto &attribute = *made.back()->add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(type);
  return attribute;
}

void NodeMaker::setInt(StringRef name, int64_t value) {
  addAttribute(name, pb::AttributeProto::INT).set_i(value);
}

void NodeMaker::setString(StringRef name, StringRef value) {
  addAttribute(name, pb::AttributeProto::STRING).set_s(value.str());
}

} // namespace zero::importer
