//===- graph.h - commands that are launched together ------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_GRAPH_H
#define RUNTIME_DEVICE_CUDA_GRAPH_H

#include "runtime/device/cuda/gpu.h"
#include "runtime/device/device.h"

namespace zero::rt::cuda {

/// A CUDA graph of the commands that the lanes of a rank were given between Lanes::beginGraph() and
/// Lanes::endGraph(), with the order that their events gave them.
class GpuGraph : public Graph {
public:
  explicit GpuGraph(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  ~GpuGraph() override;
  /// Ends the capture that `stream` began, and makes the graph ready for launches.
  Status create(Stream stream);
  GraphExec get() const { return executable; }

  /// Kernels in it, for errors; nullptr: there are none.
  const std::string *first = nullptr, *last = nullptr;

private:
  std::shared_ptr<const Gpu> gpu;
  GraphExec executable = nullptr;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_GRAPH_H
