//===- ProgramMesh.cpp - the mesh that a model says -----------------------===//

#include "ProgramMesh.h"

#include "dialects/Zero/ExporterAttrs.h"

using namespace mlir;

namespace zero {

LogicalResult takeProgramMesh(ModuleOp module, CompilerOptions &options) {
  if (!options.takesMesh)
    return success();
  options.takesMesh = false;
  if (auto mesh = module->getAttrOfType<StringAttr>(kProgramMeshAttr)) {
    options.phases.shard.mesh = mesh.str();
    options.given["mesh"] = {"the program's --mesh", mesh.str()};
    module->removeAttr(kProgramMeshAttr);
  }
  if (std::string error = options.check(options); !error.empty())
    return emitError(UnknownLoc::get(module.getContext())) << error;
  return success();
}

} // namespace zero
