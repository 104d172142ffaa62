//===- Frontend.cpp - folders of Hugging Face -----------------------------===//
//
// config.json describes a model, and the safetensors beside it have its weights: their headers say
// where each parameter is stored. What is built is the forward pass and the loss that
// AutoModelForCausalLM computes from input_ids and labels.
//
//===----------------------------------------------------------------------===//

#include "zero/Frontends/Frontend.h"

#include "Decoder.h"
#include "dialects/Onnx/Onnx.h"
#include "runtime/support/checked.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kConfigFile = "config.json";

/// Whether a JSON object with the keys of a configuration begins here.
static bool beginsConfig(StringRef head) {
  return head.ltrim().starts_with("{") &&
         (head.contains("\"model_type\"") || head.contains("\"architectures\""));
}

/// The shape that --shape=4x2048 says. Fails after an error.
static FailureOr<hf::BatchShape> readShape(StringRef text, Location loc) {
  hf::BatchShape shape;
  auto [batch, sequence] = text.split('x');
  if (!parseInteger(batch, shape.batch) || !parseInteger(sequence, shape.sequence) ||
      shape.batch < 1 || shape.sequence < 1 || shape.batch > hf::kMaxSize / shape.sequence)
    return emitError(loc) << "expected --shape=BATCHxSEQUENCE, such as --shape=4x2048: how many "
                             "sequences of how many tokens a rank takes at a time; got '"
                          << text << "'";
  return shape;
}

static OwningOpRef<ModuleOp> readFolder(const FrontendInput &input, MLIRContext &context) {
  context.loadDialect<func::FuncDialect, arith::ArithDialect, ZeroDialect, onnx::OnnxDialect>();
  Location loc = FileLineColLoc::get(&context, input.path, 0, 0);
  llvm::Expected<llvm::json::Object> object = hf::readObject(input.path);
  if (!object) {
    emitError(loc) << "cannot read the configuration: " << llvm::toString(object.takeError());
    return nullptr;
  }
  FailureOr<hf::BatchShape> shape = readShape(input.flags.lookup("shape"), loc);
  if (failed(shape))
    return nullptr;
  hf::Keys keys(std::move(*object), loc);
  std::optional<hf::Config> config = hf::readConfig(keys, *shape);
  hf::Weights weights;
  if (!config ||
      (input.checkData && failed(weights.open(llvm::sys::path::parent_path(input.path), loc))))
    return nullptr;
  SmallVector<StringRef> inputs{"input_ids"};
  const bool hasDocuments = input.flags.contains("documents");
  if (hasDocuments)
    inputs.push_back("position_ids");
  if (!input.forwardOnly)
    inputs.push_back("labels");
  hf::Graph graph(loc, weights, config->family->names.stem, inputs,
                  {shape->batch, shape->sequence});
  hf::Decoder decoder(*config, *shape, graph, hasDocuments ? graph.input(1) : Value());
  Value result = decoder.logits(graph.input(0));
  if (!input.forwardOnly)
    result = decoder.loss(result, graph.input(inputs.size() - 1));
  if (weights.hasErrors())
    return nullptr;
  weights.warnOfUnused(loc);
  return graph.finish(result, input.forwardOnly ? "logits" : "loss");
}

/// The longest sequence that plans assume by themselves.
static constexpr int64_t kUsualSequence = 2048;

/// One sequence, as long as the model's positions allow. An unreadable configuration is the error
/// of who reads the model.
static std::string usualShape(const std::string &path) {
  MLIRContext context;
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  int64_t sequence = kUsualSequence;
  if (llvm::Expected<llvm::json::Object> object = hf::readObject(path)) {
    hf::Keys keys(std::move(*object), UnknownLoc::get(&context));
    if (std::optional<hf::Config> config = hf::readConfig(keys, {/*batch=*/1, /*sequence=*/1}))
      sequence = std::min(sequence, config->positions);
  } else {
    llvm::consumeError(object.takeError());
  }
  return "1x" + std::to_string(sequence);
}

void registerHuggingFaceFrontend() {
  Frontend folder;
  folder.name = "huggingface";
  folder.suffix = kConfigFile;
  folder.summary = "a folder of Hugging Face: config.json and safetensors";
  folder.promises =
      "parameters have the names of the safetensors; one scalar output is the loss of "
      "the next tokens";
  folder.flags = {
      {"shape", "4x32|NAME=4x32,...",
       "sequences of a batch and tokens of a sequence, or bind the symbolic dimensions "
       "of inputs by name; '4x{64,32}', or the flag given twice, compiles a program for each shape",
       "sizes of a batch, or of symbolic inputs"},
      {"documents", "",
       "a sequence has several documents: adds the input position_ids, the position of "
       "each token in its document; no token attends to another document"}};
  folder.takesParametersBack = true;
  folder.fileInFolder = kConfigFile;
  folder.recognises = beginsConfig;
  folder.read = readFolder;
  folder.usualShape = usualShape;
  registerFrontend(std::move(folder));
}

} // namespace zero
