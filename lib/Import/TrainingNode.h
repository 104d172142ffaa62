//===- TrainingNode.h - nodes of training graphs ----------------*- C++ -*-===//
// What the importer knows about operators of ONNX Runtime's training graphs beyond their
// signatures, which are in TrainingSchemas.cpp.
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_TRAININGNODE_H
#define LIB_IMPORT_TRAININGNODE_H

#include "NodeRules.h"

namespace zero::importer {

inline constexpr const char *kRuntimeDomain = "com.microsoft";

/// The dimensions of a broadcast result along which a tensor of shape `from` was repeated to fit
/// one of shape `to`.
Dims broadcastAxes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Completes the type of result `index` of `node` where no operand has its shape: the gradient of a
/// pooling takes the one that the model declares. Fails if a shape that an operand must hold is not
/// known.
void completeType(const pb::NodeProto &node, int index, TypeOf typeOf,
                  const pb::TypeProto *declared, pb::TypeProto &type);

/// Fails unless the operands and results of `node` fit together, if it is of a training operator: a
/// gradient has the shapes of the operator of ai.onnx that it differentiates.
void checkTrainingNode(const pb::NodeProto &node, TypeOf typeOf,
                       const llvm::StringMap<pb::TensorProto> &known);

/// Adds to `known` the results of `node` that follow from shapes.
void evaluateTrainingNode(const pb::NodeProto &node, TypeOf typeOf,
                          llvm::StringMap<pb::TensorProto> &known);

} // namespace zero::importer

#endif // LIB_IMPORT_TRAININGNODE_H
