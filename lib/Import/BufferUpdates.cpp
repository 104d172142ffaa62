//===- BufferUpdates.cpp - buffers that a module's forward writes ---------===//
//
// The signature of an exported module lists the values that forward writes to buffers:
// moving averages, the vectors of a power iteration, running statistics. A value in the
// graph becomes the buffer's in the next step. No gradient flows through it: PyTorch
// could not run a second step's backward otherwise.
//
//===----------------------------------------------------------------------===//

#include "Metadata.h"
#include "ModelFile.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace zero::importer {

namespace {
/// The names that the nodes of a graph read and define.
struct Uses {
  explicit Uses(const pb::GraphProto &graph) {
    for (const pb::NodeProto &node : graph.node()) {
      for (const std::string &name : node.output())
        made.insert(name);
      if (node.op_type() == "Identity" && node.domain().empty()) {
        sameAs[node.output(0)] = source(node.input(0));
        continue;
      }
      const bool isNorm = node.op_type() == "BatchNormalization" && node.domain().empty();
      for (auto [index, name] : llvm::enumerate(node.input()))
        (isNorm && index >= 3 ? statistics : read).insert(source(name));
    }
    for (const pb::ValueInfoProto &output : graph.output())
      read.insert(source(output.name()));
    for (const pb::ValueInfoProto &value : graph.value_info())
      folded += metadata(value, kFoldedFromKey);
  }

  /// The value that `name` is an Identity of: the exporter writes the statistics that a second call
  /// of a batch normalization reads as one of those that the first reads.
  std::string source(const std::string &name) const {
    auto found = sameAs.find(name);
    return found == sameAs.end() ? name : found->second;
  }

  llvm::StringMap<std::string> sameAs;
  /// Running statistics, other inputs of nodes, and results of nodes.
  llvm::StringSet<> statistics, read, made;
  std::string folded; ///< all that constants were folded from
};
} // namespace

/// A step cannot both train a parameter and take it from forward.
static void refuseParameterUpdates(const Signature &signature) {
  if (signature.parameterUpdates.empty())
    return;
  std::vector<std::string> notes;
  for (const auto &[value, parameter] : signature.parameterUpdates)
    notes.push_back("parameter " + quote(parameter) + " becomes " + quote(value));
  fail("the module's forward changes its own parameters, as Embedding(max_norm=) does; remove that "
       "from the module before the export",
       std::move(notes));
}

/// Whether `node` is a batch normalization in inference mode that lists statistics as results.
static bool listsStatistics(const pb::NodeProto &node) {
  auto isTraining = [](const pb::AttributeProto &attribute) {
    return attribute.name() == "training_mode" && attribute.i() != 0;
  };
  return node.op_type() == "BatchNormalization" && node.domain().empty() &&
         node.output_size() > 1 && llvm::none_of(node.attribute(), isTraining);
}

void dropUnusedStatistics(Model &model) {
  // Before opset 14 the number of results says whether a node trains.
  if (model.standardOpset() < 14)
    return;
  pb::GraphProto &graph = *model.proto.mutable_graph();
  llvm::StringSet<> read;
  for (const pb::NodeProto &node : graph.node())
    for (const std::string &name : node.input())
      read.insert(name);
  for (const pb::ValueInfoProto &output : graph.output())
    read.insert(output.name());
  for (pb::NodeProto &node : *graph.mutable_node())
    while (listsStatistics(node) && !read.contains(*node.output().rbegin()))
      node.mutable_output()->RemoveLast();
}

void findBufferUpdates(Model &model) {
  refuseParameterUpdates(model.signature);
  if (model.signature.updates.empty())
    return;
  Uses uses(model.proto.graph());
  llvm::StringMap<Constant *> constants;
  for (auto &[name, constant] : model.constants)
    constants[name] = &constant;
  auto warn = [&](const std::string &buffer, StringRef why) {
    model.record.warnings.push_back("buffer " + quote(buffer) +
                                    " is updated by the module's forward, but keeps its initial "
                                    "value here: " +
                                    why.str());
  };
  for (const auto &[value, buffer] : model.signature.updates) {
    const bool isMade = uses.made.contains(value), isRead = uses.read.contains(buffer);
    if (isMade)
      model.record.detached.insert(value);
    Constant *constant = constants.lookup(buffer);
    if (!constant && uses.folded.find("'" + buffer + "'") != std::string::npos)
      warn(buffer, "the exporter has folded it into constants; export with optimize=False");
    if (!constant || !isRead)
      continue;
    if (!isMade)
      warn(buffer, "its new value is not in the graph");
    else if (!isFloat(constant->type) || !constant->data)
      warn(buffer, "only buffers of floats, stored as raw bytes, are carried from step to step");
    else {
      constant->value.reset();
      model.record.updates.emplace_back(buffer, value);
    }
  }
}

} // namespace zero::importer
