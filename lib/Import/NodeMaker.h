//===- NodeMaker.h - nodes in place of others -------------------*- C++ -*-===//

#ifndef LIB_IMPORT_NODEMAKER_H
#define LIB_IMPORT_NODEMAKER_H

#include "Error.h"

namespace zero::importer {

/// Creates nodes of ai.onnx that replace `from`. They get its name and metadata.
class NodeMaker {
public:
  /// New nodes are stored in `graph`, whose nodes keep their addresses.
  NodeMaker(pb::GraphProto &graph, const pb::NodeProto &from) : graph(graph), from(from) {}
  virtual ~NodeMaker() = default;

  /// All created nodes, operands before users.
  std::vector<pb::NodeProto *> made;

protected:
  /// A node of `type`; returns its result, which is `output` or has a new name.
  std::string add(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                  std::string output = "");
  /// Attributes of the node made last.
  void setInt(llvm::StringRef name, int64_t value);
  void setString(llvm::StringRef name, llvm::StringRef value);

  /// A name that no other value has.
  virtual std::string newName() = 0;

private:
  pb::AttributeProto &addAttribute(llvm::StringRef name, pb::AttributeProto::AttributeType type);

  pb::GraphProto &graph;
  const pb::NodeProto &from;
};

} // namespace zero::importer

#endif // LIB_IMPORT_NODEMAKER_H
