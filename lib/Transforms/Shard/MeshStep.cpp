//===- MeshStep.cpp - the step that a mesh divides ------------------------===//

#include "MeshStep.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Options/MeshAxes.h"

using namespace mlir;

namespace zero {

FailureOr<func::FuncOp> findDividedStep(ModuleOp module, StringRef text, StringRef axis,
                                        StringRef what) {
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  MeshAxes axes;
  if (std::string error = parseMesh(text, axes); !error.empty())
    return module.emitError() << "--mesh: " << error;
  if (axisSize(axes, axis) == 1)
    return func::FuncOp();
  if (!step->getBody().getOps<GradientOp>().empty())
    return step->emitError("the graph already contains a training step, so --mesh cannot ")
           << what << " over the axis '" << axis << "'";
  setMesh(module, axes);
  return step;
}

} // namespace zero
