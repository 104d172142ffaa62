//===- Import.cpp - convert an ONNX file to the onnx dialect --------------===//

#include "zero/Import/Import.h"
#include "Build.h"
#include "CarriedState.h"
#include "EmbeddingBags.h"
#include "Gradients.h"
#include "Graph.h"
#include "Opsets.h"
#include "Origin.h"
#include "OrtArtifacts.h"
#include "TrainingSchemas.h"

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Findings.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

#include <new>

using namespace mlir;

namespace zero {
namespace importer {

/// The outputs that have to be typed: all of them, or just the loss.
static std::vector<std::string> wantedOutputs(const Model &model, const ImportOptions &options) {
  StringRef loss = options.loss;
  // An algorithm need not return the loss, only what it updates.
  std::string target = model.training ? differentiatedTensor(model) : "";
  if (loss.empty() && !target.empty())
    return {target};
  std::vector<std::string> outputs;
  llvm::StringSet<> carried;
  for (const auto &[state, value] : model.record.updates)
    carried.insert(value);
  for (const pb::ValueInfoProto &output : model.proto.graph().output())
    if (loss.empty() ? !carried.contains(output.name()) : output.name() == loss) {
      if (output.name().empty())
        fail("an output of the model has no name");
      outputs.push_back(output.name());
    }
  if (!outputs.empty())
    return outputs;
  if (loss.empty())
    fail(carried.empty() ? "the model has no outputs"
                         : "the model has no loss: all its outputs are carried to the next step");
  std::vector<std::string> notes;
  for (const pb::ValueInfoProto &output : model.proto.graph().output())
    notes.push_back("output " + quote(output.name()));
  fail("the model has no output " + quote(loss), std::move(notes));
}

/// Whether a value is a float with one element. A value of unknown type may be one.
static bool mayBeLoss(const TypedGraph &graph, StringRef name) {
  auto it = graph.types.find(name);
  return it == graph.types.end() ||
         (isFloat(it->second.type) &&
          llvm::all_of(it->second.dims, [](int64_t d) { return d == 1; }));
}

static std::string chooseLoss(const TypedGraph &graph, llvm::ArrayRef<std::string> outputs) {
  std::vector<std::string> candidates, notes;
  for (const std::string &name : outputs) {
    notes.push_back("output " + quote(name) + " is " + printType(graph, name));
    if (mayBeLoss(graph, name))
      candidates.push_back(name);
  }
  if (candidates.size() == 1)
    return candidates[0];
  fail(candidates.empty() ? "the model has no loss: expected a scalar float output"
                          : "the model has several scalar float outputs",
       std::move(notes), candidates.empty() ? "" : "choose one with --loss NAME");
}

/// The results of the step: the loss, or every output.
static std::vector<Result> chooseResults(const TypedGraph &graph,
                                         llvm::ArrayRef<std::string> outputs, bool forwardOnly) {
  if (!forwardOnly)
    return {{chooseLoss(graph, outputs), "loss"}};
  std::vector<Result> results;
  for (const std::string &name : outputs)
    results.push_back({name, name});
  return results;
}

/// Enters constants and inputs into the graph's tables.
static TypedGraph startGraph(const Model &model, const ImportOptions &options) {
  TypedGraph graph;
  graph.inputs = bindInputs(model, options.shapes, options.batch);
  for (const auto &[name, constant] : model.constants) {
    graph.types[name] = {constant.type, constant.dims};
    if (constant.value)
      graph.known[name] = *constant.value;
  }
  for (const Input &input : graph.inputs)
    graph.types[input.name] = input.shape;
  return graph;
}

/// Reports the restored semantics of the exported module, and those that could not be restored.
static void report(const ModuleRecord &record, Location loc) {
  for (const std::string &line : record.remarks)
    remark::passed(loc, remark::RemarkOpts::name("restored").category("import")) << line;
  for (const std::string &line : record.warnings)
    emitWarning(loc) << line;
}

/// Records the calls from which nodes of unknown operators were exported.
static void noteOrigins(const Model &model, const ImportOptions &options, TypedGraph &graph) {
  for (const pb::NodeProto *node : graph.nodes) {
    std::optional<int> opset = opsetOf(model, *node);
    std::string origin = originOf(*node);
    if (origin.empty() || !options.isKnown || !opset ||
        options.isKnown(node->domain(), node->op_type(), *opset))
      continue;
    std::string &note = graph.notes[node];
    note += (note.empty() ? "" : "; ") + origin;
  }
}

/// Says what a whole step takes from the user and what it returns besides state.
static void reportWholeStep(Model &model, const TypedGraph &graph, ArrayRef<Result> results,
                            llvm::ArrayRef<std::string> outputs) {
  auto list = [](auto &&names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "" : ", ") + quote(name);
    return text.empty() ? std::string("none") : text;
  };
  std::vector<std::string> inputs, left;
  for (const Input &input : graph.inputs)
    inputs.push_back(input.name);
  for (const std::string &output : outputs)
    if (output != results.front().value)
      left.push_back(output);
  std::string line = "a whole training step: " + std::to_string(model.record.updates.size()) +
                     " tensors are carried from step to step; inputs " + list(inputs) +
                     "; the loss is " + quote(results.front().value);
  model.record.remarks.push_back(line + (left.empty() ? "" : "; not computed: " + list(left)));
}

static OwningOpRef<ModuleOp> import(StringRef path, const ImportOptions &options,
                                    MLIRContext *context) {
  registerTrainingSchemas();
  Model model = readModel(path, options);
  std::vector<CarriedPair> carry = options.carry;
  if (!options.ortOptimizer.empty())
    carry = joinOrtOptimizer(model, options.ortOptimizer);
  else if (accumulatesGradients(model))
    fail(
        "the model accumulates gradients for an optimizer model of onnxruntime-training; give that "
        "model with --ort-optimizer=FILE");
  if (!options.ortCheckpoint.empty())
    bindOrtCheckpoint(model, options.ortCheckpoint);
  if (options.forwardOnly && !carry.empty())
    fail("expected --carry or --ort-optimizer, or --forward-only, not both: a whole training step "
         "updates its state");
  const bool isWhole = model.training || !carry.empty();
  // A model that only runs forward, or that is a whole step, is taken as it is.
  if (!carry.empty()) {
    carryState(model, carry, options.zeros);
  } else if (!options.forwardOnly && !isWhole) {
    restoreCalls(model);
    findBufferUpdates(model);
  }
  inlineFunctions(model, options);
  lowerEmbeddingBags(model);
  dropUnusedStatistics(model);
  nameOperands(model);
  std::vector<std::string> outputs = wantedOutputs(model, options);
  TypedGraph graph = startGraph(model, options);
  std::vector<std::string> wanted = outputs;
  for (const auto &[buffer, value] : model.record.updates)
    wanted.push_back(value);
  graph.nodes = sortNodes(model, wanted);
  inferTypes(model, graph, options);
  noteOrigins(model, options, graph);
  std::vector<Result> results = chooseResults(graph, outputs, options.forwardOnly);
  auto module = buildModule(model, graph, results, context);
  if (std::optional<float> rate = model.record.learningRate)
    module.get()->setAttr(kStartRateAttr, Builder(context).getF32FloatAttr(*rate));
  if (isWhole) {
    module.get()->setAttr(kWholeStepAttr, UnitAttr::get(context));
    if (model.training)
      module.get()->setAttr(kTrainingInfoAttr,
                            IntegerAttr::get(IntegerType::get(context, 64), *model.training));
    reportWholeStep(model, graph, results, outputs);
  }
  report(model.record, module->getLoc());
  return module;
}

} // namespace importer

OwningOpRef<ModuleOp> importOnnx(StringRef path, const ImportOptions &options,
                                 MLIRContext *context) {
  context->loadDialect<ZeroDialect, onnx::OnnxDialect, arith::ArithDialect, func::FuncDialect>();
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  try {
    OwningOpRef<ModuleOp> module = importer::import(path, options, context);
    return succeeded(verify(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
  } catch (const importer::ImportError &error) {
    InFlightDiagnostic diagnostic = emitError(loc) << error.message;
    SmallVector<StringRef> remedies;
    if (!error.remedy.empty())
      remedies.push_back(error.remedy);
    std::vector<Finding> findings;
    for (const std::string &note : error.notes)
      findings.push_back({note});
    attachFindings(diagnostic, remedies, findings, options.verbose);
  } catch (const std::bad_alloc &) {
    emitError(loc) << "there is not enough memory to read the model";
  } catch (const std::exception &error) {
    emitError(loc) << StringRef(error.what()).trim();
  }
  return {};
}

} // namespace zero
