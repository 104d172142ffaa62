//===- Register.cpp - everything a tool offers ----------------------------===//

#include "zero/Pipelines/Register.h"

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"
#include "zero/Conversion/Passes.h"
#include "zero/Emit/Passes.h"
#include "zero/Pipelines/Phases.h"
#include "zero/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace zero {

void registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<ZeroDialect, onnx::OnnxDialect>();
}

void registerPasses() {
  mlir::registerAllPasses();
  registerZeroConversionPasses();
  registerZeroTransformsPasses();
  registerZeroCodegenPasses();
  registerZeroEmitPasses();
  registerPhases();
}

} // namespace zero
