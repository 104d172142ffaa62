//===- ModuleRecord.h - training semantics that the graph lost --*- C++ -*-===//
//
// ONNX cannot express all that a PyTorch module means for training: where gradients
// stop, what dropout an attention has, which buffers forward updates. torch.onnx.export
// records the module's calls (FxCall.h) and its signature; this restores from them what
// the nodes do not say, or refuses the model where that is not possible.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_MODULERECORD_H
#define LIB_IMPORT_MODULERECORD_H

#include "Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace zero::importer {

struct Model;

/// Semantics that the record adds to the graph, by names of values.
struct ModuleRecord {
  /// Values through which no gradient flows.
  llvm::StringSet<> detached;
  /// Attributes that ONNX's schema of the operator does not have, by a node's first result.
  llvm::StringMap<std::vector<pb::AttributeProto>> attributes;
  /// Buffers that forward updates, each with the value that it has in the next step.
  std::vector<std::pair<std::string, std::string>> updates;
  /// The learning rate with which the artifacts of the model begin.
  std::optional<float> learningRate;
  /// Restored semantics, and those that could not be restored but do not prevent training.
  std::vector<std::string> remarks, warnings;

  /// The entry of `attributes` for `result`; empty if there is none.
  llvm::ArrayRef<pb::AttributeProto> attributesOf(llvm::StringRef result) const {
    auto it = attributes.find(result);
    if (it == attributes.end())
      return {};
    return it->second;
  }
};

/// Restores the semantics of `model`'s calls: changes nodes, and fills `model.record`.
/// Fails, listing all calls, where the graph would train otherwise than the module.
void restoreCalls(Model &model);

/// Enters the buffers of `model` that its forward updates into `model.record`. Fails where
/// forward changes parameters.
void findBufferUpdates(Model &model);

/// Removes results of batch normalizations in inference mode that nothing reads. ONNX defines one
/// result there; the evaluation models of onnxruntime-training have three.
void dropUnusedStatistics(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_MODULERECORD_H
