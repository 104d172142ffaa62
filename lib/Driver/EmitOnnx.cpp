//===- EmitOnnx.cpp - write the step as an ONNX model ---------------------===//

#include "EmitOnnx.h"

#include "zero/EmitOnnx/EmitOnnx.h"
#include "zero/Pipelines/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

LogicalResult writeStep(ModuleOp module, const CompilerOptions &options, StringRef dataRoot,
                        llvm::raw_ostream &report) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  addPlainStep(pm);
  if (failed(pm.run(module)) || failed(verify(module)))
    return failure();
  EmitOnnxOptions emit;
  emit.output = options.emitOnnx;
  emit.dataRoot = dataRoot.str();
  emit.learningRate = options.learningRate;
  emit.externalData = options.externalData;
  FailureOr<EmittedGraph> graph = emitOnnx(module, emit);
  if (failed(graph))
    return failure();
  report << "wrote the training step to " << options.emitOnnx << ": " << graph->nodes
         << " nodes of ai.onnx, " << graph->states << " tensors of state IN, each with an output "
         << "IN.new; state without an initializer begins as zeros\n";
  if (graph->hasExternalData)
    report << "its tensors are in " << externalDataOf(options.emitOnnx) << "\n";
  return success();
}

} // namespace zero
