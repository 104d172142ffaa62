//===- Error.cpp - errors of the importer ---------------------------------===//

#include "Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace zero::importer {

std::string quote(llvm::StringRef name) {
  // A message stays readable whatever a model calls its tensors.
  constexpr size_t kLongest = 200;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '\'';
  llvm::printEscapedString(name.take_front(kLongest), os);
  os << (name.size() > kLongest ? "...'" : "'");
  return text;
}

llvm::StringRef nodeName(const pb::NodeProto &node) {
  if (!node.name().empty() || node.output_size() == 0)
    return node.name();
  return node.output(0);
}

std::string describe(const pb::NodeProto &node) {
  std::string type = node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type();
  std::string quoted = quote(type);
  return quoted.substr(1, quoted.size() - 2) + " node " + quote(nodeName(node));
}

} // namespace zero::importer
