//===- EmitOnnx.cpp - write the step as an ONNX model ---------------------===//

#include "EmitOnnx.h"

#include "zero/EmitOnnx/EmitOnnx.h"
#include "zero/Pipelines/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

std::string emittedFile(const CompilerOptions &options, size_t index) {
  if (index == 0)
    return options.emitOnnx;
  SmallString<128> path(options.emitOnnx);
  llvm::sys::path::replace_extension(path, "");
  return (path + "-" + Twine(index + 1) + ".onnx").str();
}

static LogicalResult writeStep(ModuleOp module, const CompilerOptions &options,
                               const std::string &path, StringRef dataRoot,
                               llvm::raw_ostream &report) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  addPlainStep(pm);
  if (failed(pm.run(module)) || failed(verify(module)))
    return failure();
  EmitOnnxOptions emit;
  emit.output = path;
  emit.dataRoot = dataRoot.str();
  emit.learningRate = options.learningRate;
  emit.externalData = options.externalData;
  FailureOr<EmittedGraph> graph = emitOnnx(module, emit);
  if (failed(graph))
    return failure();
  report << "wrote the training step to " << path << ": " << graph->nodes << " nodes of ai.onnx, "
         << graph->states << " tensors of state IN, each with an output "
         << "IN.new; state without an initializer begins as zeros\n";
  if (graph->hasExternalData)
    report << "its tensors are in " << externalDataOf(path) << "\n";
  return success();
}

LogicalResult writeSteps(ArrayRef<ShapeModule> shapes, const CompilerOptions &options,
                         StringRef dataRoot, llvm::raw_ostream &report) {
  for (auto [index, shape] : llvm::enumerate(shapes)) {
    if (shapes.size() > 1)
      report << "--shape=" << shape.shape << ": ";
    if (failed(writeStep(*shape.module, options, emittedFile(options, index), dataRoot, report)))
      return failure();
  }
  return success();
}

} // namespace zero
