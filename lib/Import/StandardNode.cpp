//===- StandardNode.cpp - infer types of ai.onnx's operators --------------===//

#include "StandardNode.h"
#include "Schemas.h"

#include "onnx/shape_inference/implementation.h"

namespace zero::importer {

StandardNode::StandardNode(llvm::StringRef type, int opset, AttributeOf attributeOf)
    : opset(opset) {
  node.set_op_type(type.str());
  for (const auto &[name, formal] : findSchema(type.str(), opset)->attributes())
    if (const pb::AttributeProto *attribute = attributeOf(name))
      *node.add_attribute() = *attribute;
}

std::vector<pb::TypeProto> StandardNode::infer(llvm::ArrayRef<const pb::TypeProto *> types,
                                               llvm::ArrayRef<const pb::TensorProto *> values) {
  std::unordered_map<std::string, pb::TypeProto> copies;
  std::unordered_map<std::string, pb::TypeProto *> typeOf;
  std::unordered_map<std::string, const pb::TensorProto *> valueOf;
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string &name = node.input(i);
    if (types[i])
      typeOf[name] = &(copies[name] = *types[i]);
    if (values[i])
      valueOf[name] = values[i];
  }
  pb::shape_inference::InferenceContextImpl context(node, typeOf, valueOf, {},
                                                    pb::ShapeInferenceOptions(true, 1));
  findSchema(node.op_type(), opset)->GetTypeAndShapeInferenceFunction()(context);
  std::vector<pb::TypeProto> results;
  for (int i = 0; i < node.output_size(); ++i)
    results.push_back(*context.getOutputType(i));
  return results;
}

} // namespace zero::importer
