//===- graph.cpp - commands that are launched together --------------------===//

#include "runtime/device/cuda/graph.h"

namespace zero::rt::cuda {

GpuGraph::~GpuGraph() {
  if (executable && gpu->canFree())
    gpu->driver().cuGraphExecDestroy(executable);
}

Status GpuGraph::create(Stream stream) {
  const Driver &driver = gpu->driver();
  GraphHandle captured = nullptr;
  Status status = driver.check(driver.cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
  if (status.ok())
    status =
        driver.check(driver.cuGraphInstantiate(&executable, captured, 0), "cuGraphInstantiate");
  if (captured)
    driver.cuGraphDestroy(captured);
  return status.ok() ? status
                     : fail(status.getCode(), "%s; --gpu-graphs=off runs without graphs",
                            status.getMessage().c_str());
}

} // namespace zero::rt::cuda
