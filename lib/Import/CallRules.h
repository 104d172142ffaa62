//===- CallRules.h - calls that ONNX nodes express only in part -*- C++ -*-===//

#ifndef LIB_IMPORT_CALLRULES_H
#define LIB_IMPORT_CALLRULES_H

#include "FxCall.h"
#include "ModelFile.h"

namespace zero::importer {

/// A model whose calls are being restored: its nodes, and how rules change them.
class CallEditor {
public:
  explicit CallEditor(Model &model);

  /// The node whose result is `name`, or null.
  pb::NodeProto *producerOf(llvm::StringRef name) const { return producers.lookup(name); }
  /// The declared type of a value, or null.
  const pb::TypeProto::Tensor *typeOf(llvm::StringRef name) const { return types.lookup(name); }

  /// A name that no value has yet.
  std::string freeName(llvm::StringRef base);
  /// Adds a node of the default domain; returns its first result's name, which is `result`
  /// or, if that is empty, a free one.
  std::string addNode(llvm::StringRef type, std::vector<std::string> inputs,
                      std::vector<pb::AttributeProto> attributes = {}, llvm::StringRef result = {});
  /// Adds a constant; returns its name.
  std::string addConstant(pb::TensorProto tensor);
  /// The same of a scalar of a floating-point type.
  std::string addNumber(int32_t type, double value);
  /// Adds an attribute that ONNX's schema does not have.
  void annotate(const pb::NodeProto &node, pb::AttributeProto attribute);

  /// Records that a call cannot be restored: "`why`".
  void refuse(const pb::NodeProto &node, const FxCall &call, const llvm::Twine &why);
  /// Counts a restored call under the heading `what`.
  void restored(llvm::StringRef what) { ++counts[what.str()]; }
  /// Fails if calls were rejected. Otherwise adds the restored calls to the model's record.
  void finish();

  Model &model;

private:
  llvm::StringMap<pb::NodeProto *> producers;
  llvm::StringMap<const pb::TypeProto::Tensor *> types;
  llvm::StringSet<> names;
  std::vector<std::string> refusals;
  std::map<std::string, int> counts;
};

pb::AttributeProto intAttribute(llvm::StringRef name, int64_t value);
pb::AttributeProto floatAttribute(llvm::StringRef name, float value);
pb::AttributeProto stringAttribute(llvm::StringRef name, llvm::StringRef value);
/// The attribute `name` of `node`, added if there is none.
pb::AttributeProto &attributeOf(pb::NodeProto &node, llvm::StringRef name);

/// Restores the semantics of `call` that `node`, which was exported from it, lacks. Does nothing if
/// none is missing.
using CallRule = void (*)(CallEditor &editor, pb::NodeProto &node, const FxCall &call);

/// The rule for the operator of a call, or null.
CallRule lossRule(llvm::StringRef op);
CallRule layerRule(llvm::StringRef op);
CallRule scatterRule(llvm::StringRef op);
CallRule tieRule(llvm::StringRef op);
CallRule exponentialRule(llvm::StringRef op);

} // namespace zero::importer

#endif // LIB_IMPORT_CALLRULES_H
