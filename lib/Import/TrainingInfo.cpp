//===- TrainingInfo.cpp - how a model says that it trains -----------------===//
//
// A TrainingInfoProto has an algorithm, a graph that continues the main graph up to the next values
// of initializers, and update bindings, which say which output is the next value of which
// initializer. So the two graphs together are a whole training step.
//
//===----------------------------------------------------------------------===//

#include "TrainingInfo.h"

#include "CarriedState.h"
#include "InitialValues.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// "training_info[0]".
static std::string nameOf(int index) { return "training_info[" + std::to_string(index) + "]"; }

static void refuseOptions(const pb::ModelProto &proto, const ImportOptions &options) {
  if (options.forwardOnly && !options.trainingInfo.empty())
    fail("--training-info has no effect with --forward-only");
  if (proto.training_info_size() == 0 && !options.trainingInfo.empty())
    fail("--training-info=" + Twine(options.trainingInfo) + ": the model has no training_info");
  const bool isUsed =
      proto.training_info_size() > 0 && !options.forwardOnly && options.trainingInfo != "none";
  if (options.keepInitializers && !isUsed)
    fail("--keep-initializers has no effect: no training_info of the model is used");
  if (isUsed && !options.carry.empty())
    fail("--carry: the model says in its training_info which tensors are carried; expected no "
         "--carry, or --training-info=none");
}

/// "training_info[1] updates 12 initializers".
static std::vector<std::string> listInfos(const pb::ModelProto &proto) {
  std::vector<std::string> notes;
  for (int i = 0; i < proto.training_info_size(); ++i)
    notes.push_back(nameOf(i) + " updates " +
                    std::to_string(proto.training_info(i).update_binding_size()) + " initializers");
  return notes;
}

std::optional<int> chooseTraining(const pb::ModelProto &proto, const ImportOptions &options) {
  refuseOptions(proto, options);
  const int count = proto.training_info_size();
  if (count == 0 || options.forwardOnly || options.trainingInfo == "none")
    return std::nullopt;
  if (options.trainingInfo.empty()) {
    if (count == 1)
      return 0;
    fail("the model has " + Twine(count) + " training_infos", listInfos(proto),
         "choose one with --training-info=N, counted from 0");
  }
  int index = 0;
  if (!parseInteger(StringRef(options.trainingInfo), index) || index < 0 || index >= count)
    fail("--training-info=" + Twine(options.trainingInfo) + ": expected a number from 0 to " +
             Twine(count - 1) + ", or none",
         listInfos(proto));
  return index;
}

template <typename Proto>
static void moveTo(google::protobuf::RepeatedPtrField<Proto> &target,
                   google::protobuf::RepeatedPtrField<Proto> &source) {
  for (Proto &item : source)
    target.Add(std::move(item));
  source.Clear();
}

namespace {
using Bindings = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;

/// Checks bindings against the names of a graph.
class BindingChecker {
public:
  explicit BindingChecker(const pb::GraphProto &graph) : graph(graph) {
    for (const pb::TensorProto &tensor : graph.initializer())
      initializers.insert(tensor.name());
  }

  /// Fails unless each of `bindings`, called `what`, pairs an initializer with one of `outputs`.
  void check(const Twine &what, const Bindings &bindings, const llvm::StringSet<> &outputs) const {
    std::vector<std::string> problems;
    llvm::StringSet<> seen;
    for (const pb::StringStringEntryProto &pair : bindings) {
      std::string text = quote(pair.key()) + " = " + quote(pair.value()) + ": ";
      if (!initializers.contains(pair.key()))
        problems.push_back(text + whyNot(pair.key()));
      else if (!outputs.contains(pair.value()))
        problems.push_back(text + "no output is named " + quote(pair.value()));
      else if (!seen.insert(pair.key()).second)
        problems.push_back(text + quote(pair.key()) + " is bound twice");
    }
    if (!problems.empty())
      fail(what + ": expected pairs of an initializer and an output", std::move(problems));
  }

private:
  /// Why `name` cannot be updated.
  std::string whyNot(StringRef name) const {
    for (const pb::NodeProto &node : graph.node())
      if (llvm::is_contained(node.output(), name))
        return quote(name) + " is the result of " + describe(node) +
               "; only an initializer can be updated";
    for (const pb::ValueInfoProto &input : graph.input())
      if (input.name() == name)
        return quote(name) + " is an input; only an initializer can be updated";
    return "no initializer is named " + quote(name);
  }

  const pb::GraphProto &graph;
  llvm::StringSet<> initializers;
};
} // namespace

static llvm::StringSet<> outputsOf(const pb::GraphProto &graph) {
  llvm::StringSet<> names;
  for (const pb::ValueInfoProto &output : graph.output())
    names.insert(output.name());
  return names;
}

void appendAlgorithm(Model &model) {
  pb::TrainingInfoProto &info = *model.proto.mutable_training_info(*model.training);
  pb::GraphProto &graph = *model.proto.mutable_graph(), &algorithm = *info.mutable_algorithm();
  moveTo(*graph.mutable_input(), *algorithm.mutable_input());
  moveTo(*graph.mutable_output(), *algorithm.mutable_output());
  moveTo(*graph.mutable_initializer(), *algorithm.mutable_initializer());
  moveTo(*graph.mutable_sparse_initializer(), *algorithm.mutable_sparse_initializer());
  moveTo(*graph.mutable_node(), *algorithm.mutable_node());
  moveTo(*graph.mutable_value_info(), *algorithm.mutable_value_info());
  const std::string name = nameOf(*model.training);
  if (info.update_binding().empty())
    fail(name + " trains nothing: it has no update_binding");
  BindingChecker checker(graph);
  checker.check(name + ".update_binding", info.update_binding(), outputsOf(graph));
  checker.check(name + ".initialization_binding", info.initialization_binding(),
                outputsOf(info.initialization()));
}

void bindState(Model &model, const TensorRanges &ranges, const ImportOptions &options) {
  pb::TrainingInfoProto &info = *model.proto.mutable_training_info(*model.training);
  llvm::StringMap<Constant *> constants;
  for (auto &[name, constant] : model.constants)
    constants[name] = &constant;
  if (options.keepInitializers && info.initialization_binding().empty())
    fail("--keep-initializers has no effect: " + nameOf(*model.training) +
         " has no initialization_binding");
  if (!options.keepInitializers)
    initialize(model, info, ranges, constants);
  for (const pb::StringStringEntryProto &pair : info.update_binding()) {
    makeState(*constants.lookup(pair.key()), pair.key());
    model.record.updates.emplace_back(pair.key(), pair.value());
  }
}

} // namespace zero::importer
