//===- Register.cpp - register dialects, passes and phases ----------------===//

#include "zero/Driver/Register.h"

#include "dialects/Onnx/Onnx.h"
#include "dialects/StableHlo/StableHlo.h"
#include "dialects/TmTensor/TmTensor.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"
#include "zero/Driver/Phases.h"
#include "zero/Emit/Passes.h"
#include "zero/Transforms/Differentiate/Passes.h"
#include "zero/Transforms/EmitOnnx/Passes.h"
#include "zero/Transforms/Import/Passes.h"
#include "zero/Transforms/Kernels/Passes.h"
#include "zero/Transforms/Lift/Passes.h"
#include "zero/Transforms/Pack/Passes.h"
#include "zero/Transforms/Partition/Passes.h"
#include "zero/Transforms/Place/Passes.h"
#include "zero/Transforms/Precision/Passes.h"
#include "zero/Transforms/Program/Passes.h"
#include "zero/Transforms/Recognise/Passes.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero/Transforms/Shape/Passes.h"
#include "zero/Transforms/Shard/Passes.h"
#include "zero/Transforms/Step/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace zero {

void registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<ZeroDialect, onnx::OnnxDialect, stablehlo::StableHloDialect, chlo::ChloDialect,
                  sdy::SdyDialect, tm_tensor::TmTensorDialect>();
}

void registerPasses() {
  mlir::registerAllPasses();
  registerZeroProgramPasses();
  registerZeroImportPasses();
  registerZeroLiftPasses();
  registerZeroRecognisePasses();
  registerZeroPrecisionPasses();
  registerZeroShardPasses();
  registerZeroDifferentiatePasses();
  registerZeroStepPasses();
  registerZeroShapePasses();
  registerZeroEmitOnnxPasses();
  registerZeroKernelsPasses();
  registerZeroPlacePasses();
  registerZeroPartitionPasses();
  registerZeroSchedulePasses();
  registerZeroPackPasses();
  registerZeroCodegenPasses();
  registerZeroEmitPasses();
  registerPhases();
}

} // namespace zero
