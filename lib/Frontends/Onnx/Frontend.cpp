//===- Frontend.cpp - ONNX ------------------------------------------------===//

#include "zero/Frontends/Frontend.h"

#include "zero/Import/Import.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace zero {

static OwningOpRef<ModuleOp> readOnnx(const FrontendInput &input, MLIRContext &context) {
  ImportOptions options;
  options.loss = input.flags.lookup("loss");
  options.batch = input.batch;
  options.forwardOnly = input.forwardOnly;
  options.allowSymlinks = input.flags.contains("allow-symlinks");
  options.verbose = input.verbose;
  options.checkData = input.checkData;
  options.isKnown = [](StringRef domain, StringRef type, int64_t opset) {
    return ops::lookup(domain, type, opset) != nullptr;
  };
  options.evaluatorOf = ops::evaluatorOf;
  if (auto carry = input.flags.find("carry"); carry != input.flags.end())
    if (std::string error = parseCarry(carry->second, options.carry); !error.empty()) {
      emitError(UnknownLoc::get(&context)) << "--carry: " << error;
      return nullptr;
    }
  options.trainingInfo = input.flags.lookup("training-info");
  options.keepInitializers = input.flags.contains("keep-initializers");
  options.ortOptimizer = input.flags.lookup("ort-optimizer");
  options.ortCheckpoint = input.flags.lookup("ort-checkpoint");
  if (!options.carry.empty() && !options.ortOptimizer.empty()) {
    emitError(UnknownLoc::get(&context))
        << "expected --carry or --ort-optimizer, not both: an optimizer model says what is carried";
    return nullptr;
  }
  const std::string zeros = input.flags.lookup("zeros");
  for (StringRef pattern : llvm::split(zeros, ','))
    if (!pattern.empty())
      options.zeros.push_back(pattern.str());
  std::string error = parseShapeBindings(input.flags.lookup("shape"), options.shapes);
  if (!error.empty()) {
    emitError(UnknownLoc::get(&context)) << "--shape: " << error;
    return nullptr;
  }
  return importOnnx(input.path, options, &context);
}

void registerOnnxFrontend() {
  Frontend onnx;
  onnx.name = "onnx";
  onnx.suffix = ".onnx";
  onnx.summary = "an ONNX model: forward and loss, or a whole training step";
  onnx.promises = "trainable initializers are parameters with the names of the module that was "
                  "exported; one scalar output is the loss";
  onnx.flags = {
      {"shape", "NAME=4x32,...",
       "bind the symbolic dimensions of inputs; 'NAME=4x{64,32}', or given twice: one program for "
       "each",
       "sizes of inputs with symbolic dimensions"},
      {"loss", "NAME", "train on this output of the model"},
      {"carry", "IN=OUT,...|@FILE",
       "the model is a whole training step: its input IN is state, and its output OUT "
       "the state of the next step; both may have one *"},
      {"zeros", "PATTERN,...", "carried inputs without an initializer that start as zero"},
      {"training-info", "N|none",
       "train as training_info N of the model says, counted from 0; none: ignore it"},
      {"keep-initializers", "",
       "begin with the initializers of the model: its training_info does not initialize them"},
      {"ort-optimizer", "FILE",
       "the model is a training model of onnxruntime-training, and FILE its optimizer model"},
      {"ort-checkpoint", "FILE",
       "a checkpoint of onnxruntime-training has the values of parameters"},
      {"allow-symlinks", "", "follow symbolic links to external data"}};
  onnx.takesParametersBack = true;
  onnx.recognises = beginsOnnx;
  onnx.read = readOnnx;
  registerFrontend(std::move(onnx));
}

} // namespace zero
