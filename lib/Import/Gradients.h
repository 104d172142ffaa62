//===- Gradients.h - nodes that stand for a backward pass -------*- C++ -*-===//

#ifndef LIB_IMPORT_GRADIENTS_H
#define LIB_IMPORT_GRADIENTS_H

#include "Infer.h"

namespace zero::importer {

/// Whether `node` is ONNX's Gradient.
bool isGradient(const pb::NodeProto &node);

/// Appends to the operands of each Gradient node the tensors that its attributes `xs`, `zs` and `y`
/// name, so that it depends on them as the other nodes do on their operands.
void nameOperands(Model &model);

/// The tensor that the Gradient nodes of `model` differentiate; "" if there is none, or several.
std::string differentiatedTensor(const Model &model);

/// Enters the types of the results of `node`, a Gradient with appended operands.
void inferGradient(const pb::NodeProto &node, TypedGraph &graph);

} // namespace zero::importer

#endif // LIB_IMPORT_GRADIENTS_H
