//===- LegacyExport.cpp - undo merges of PyTorch's old exporter -----------===//
//
// Unless it exports for training, torch.onnx.export(dynamo=False) lets equal tensors share
// one initializer. The others become results of nodes Identity_7, outside all scopes, that
// still have the names of the module's tensors. Tied tensors do not: they have one name.
//
// It also folds the Transposes of the weights of linear layers into constants
// onnx::MatMul_12. Nothing tells these from weights that the module computes, as scaled or
// normalized ones, which fold into the same: they are not restored.
//
//===----------------------------------------------------------------------===//

#include "RestoreParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace zero::importer {

/// Whether `node` represents a tensor of the module that was merged with another.
static bool isMergedTensor(const pb::NodeProto &node) {
  StringRef number = node.name();
  return node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1 &&
         number.consume_front("Identity_") && !number.empty() &&
         llvm::all_of(number, llvm::isDigit) && !StringRef(node.output(0)).contains('/') &&
         !StringRef(node.output(0)).contains(':');
}

bool lacksRecord(const Model &model) {
  return model.proto.producer_name() == "pytorch" && model.signature.entries.empty();
}

void splitMergedTensors(Model &model) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  if (!lacksRecord(model))
    return;
  llvm::StringMap<size_t> byName;
  for (size_t i = 0; i < model.constants.size(); ++i)
    byName[model.constants[i].first] = i;
  google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
  for (pb::NodeProto &node : *graph.mutable_node()) {
    auto it = isMergedTensor(node) ? byName.find(node.input(0)) : byName.end();
    if (it == byName.end() || !isFloat(model.constants[it->second].second.type)) {
      kept.Add(std::move(node));
      continue;
    }
    // Now neither of them has a separate initializer.
    Constant &shared = model.constants[it->second].second;
    shared.initializer = "";
    Constant own = shared;
    model.constants.emplace_back(node.output(0), std::move(own));
    ++model.signature.restored;
  }
  graph.mutable_node()->Swap(&kept);
}

} // namespace zero::importer
