//===- cuda_device.h - ranks on GPUs ----------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H
#define RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H

#include "runtime/device/cuda/algorithm_table.h"
#include "runtime/device/cuda/arena.h"
#include "runtime/device/cuda/lanes.h"
#include "runtime/device/cuda/queue.h"

namespace zero::rt::cuda {

/// GPUs by rank. Native kernels come from the program's images, matrix products from
/// cuBLASLt, which is only looked for if there are any.
class CudaDevice : public Device {
public:
  /// `gpus`: the GPU of each rank, or one GPU of all ranks; if empty, GPU 0. Fails if there is no
  /// driver or no such GPU; the error says what was tried. `code`: the program's code section,
  /// which must outlive the device. `only`: the only rank in this process; -1: all. `host`: runs
  /// the kernels of lane HOST_COMPUTE; nullptr if the program has none.
  static Status create(const proto::Program &program, std::span<const uint8_t> code,
                       const std::vector<int> &gpus, int only, double timeoutSeconds,
                       std::unique_ptr<Device> host, std::unique_ptr<CudaDevice> &device);

  /// Before prepare(): lets matrix products run the algorithms of the file at `path`, or that for
  /// these GPUs in the folder at `path`. Those that it lacks are timed and added. That takes the
  /// memory of an arena, which is freed again, on the GPU of the first rank here. `contents`: those
  /// of the file, for other processes; empty if the program has no products.
  Status tuneProducts(const proto::Program &program, const std::string &path,
                      std::string &contents);

  Status reserve(int rank, proto::Tier tier, uint64_t bytes, bool guarded,
                 std::unique_ptr<Arena> &arena) override;
  Status prepare(const proto::Program &program, int threads) override;
  Status makeQueue(int rank, std::unique_ptr<Queue> &queue) override;
  Status makeHostQueue(int rank, std::unique_ptr<Queue> &queue) override;
  std::string algorithms(const proto::Program &program) const override;
  /// Between steps, or before prepare().
  Status useAlgorithms(const proto::Program &program, const std::string &text,
                       const std::string &source, bool onlyChecks) override;
  std::string timed() const override { return whatWasTimed; }

  /// Before reserve(): who allocates the memory of ranks; nullptr: the driver.
  void setAllocator(std::shared_ptr<const GpuAllocator> wanted) { allocator = std::move(wanted); }

  /// The lanes of each rank, which receive its commands, including collectives; nullptr for a rank
  /// in another process.
  const std::vector<std::shared_ptr<Lanes>> &lanes() const { return laneSets; }
  /// Whether all ranks are on one GPU.
  bool isShared() const { return gpus.size() == 1; }

private:
  /// A GPU in use.
  struct Place {
    std::shared_ptr<const Gpu> gpu;
    GpuKernels kernels;
  };
  Status openGpus(const proto::Program &program, const std::vector<int> &wanted, int only);
  Status prepare(const proto::Program &program, Place &place);
  Status openBlas(Place &place);
  Status makeProducts(const proto::Program &program);
  std::vector<int> chosenProducts(const proto::Program &program) const;
  Status check(const proto::Program &program, const AlgorithmTable &table,
               const std::string &source);
  Status read(const proto::Program &program, const std::string &file, AlgorithmTable &table);
  std::vector<int> apply(const proto::Program &program, const AlgorithmTable &table);
  Status timeProducts(const proto::Program &program, const std::vector<int> &kernels,
                      AlgorithmTable &table);

  std::span<const uint8_t> code;
  std::string whatWasTimed;
  double timeoutSeconds = 0;
  std::unique_ptr<Device> host;
  std::shared_ptr<const GpuAllocator> allocator;
  std::shared_ptr<const BlasLibrary> blas;
  std::vector<std::unique_ptr<Place>> gpus;
  /// By kernel, all of them once they are made; nullptr: no product. Shared by all GPUs, so that
  /// all ranks run the same algorithms.
  std::vector<std::shared_ptr<Product>> products;
  std::vector<Place *> placeOf; ///< by rank; nullptr: not here
  std::vector<std::shared_ptr<Lanes>> laneSets;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H
