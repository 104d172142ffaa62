//===- cuda_device.cpp - ranks on GPUs ------------------------------------===//

#include "runtime/device/cuda/cuda_device.h"

#include "runtime/device/cuda/arena.h"
#include "runtime/format/tables.h"

#include <algorithm>
#include <set>

namespace zero::rt::cuda {

static bool isDeferredCheck(const proto::Command &command) { return command.check().deferred(); }

/// Lanes of the program's commands that are streams, the one for kernels first.
static std::vector<uint32_t> lanesOf(const proto::Program &program) {
  std::set<uint32_t> used = {proto::COMPUTE};
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (!isHostLane(command.lane())) {
        used.insert(uint32_t(command.lane()));
        if (isDeferredCheck(command))
          used.insert(Lanes::kCalls);
      }
  return {used.begin(), used.end()};
}

Status CudaDevice::openGpus(const proto::Program &program, const std::vector<int> &wanted,
                            int only) {
  std::shared_ptr<const Driver> driver;
  ZERO_RT_TRY(Driver::open(driver));
  placeOf.resize(program.ranks());
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    if (only >= 0 && int(rank) != only)
      continue;
    const int ordinal = wanted.empty() ? 0 : wanted[wanted.size() == 1 ? 0 : rank];
    auto known = std::find_if(gpus.begin(), gpus.end(),
                              [&](const auto &place) { return place->gpu->ordinal() == ordinal; });
    if (known == gpus.end()) {
      known = gpus.insert(gpus.end(), std::make_unique<Place>());
      ZERO_RT_TRY(Gpu::open(driver, ordinal, (*known)->gpu));
    }
    placeOf[rank] = known->get();
  }
  return {};
}

Status CudaDevice::create(const proto::Program &program, std::span<const uint8_t> code,
                          const std::vector<int> &gpus, int only, double timeoutSeconds,
                          std::unique_ptr<Device> host, std::unique_ptr<CudaDevice> &device) {
  if (gpus.size() > 1 && gpus.size() != program.ranks())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected one GPU for all ranks or one for each of the %u, got %zu",
                program.ranks(), gpus.size());
  auto made = std::make_unique<CudaDevice>();
  made->code = code;
  made->timeoutSeconds = timeoutSeconds;
  made->host = std::move(host);
  ZERO_RT_TRY(made->openGpus(program, gpus, only));
  const std::vector<uint32_t> used = lanesOf(program);
  made->laneSets.resize(program.ranks());
  for (size_t rank = 0; rank < made->placeOf.size(); ++rank)
    if (const Place *place = made->placeOf[rank])
      ZERO_RT_TRY(Lanes::create(place->gpu, used, timeoutSeconds, made->laneSets[rank]));
  device = std::move(made);
  return {};
}

Status CudaDevice::reserve(int rank, proto::Tier tier, uint64_t bytes, bool guarded,
                           std::unique_ptr<Arena> &arena) {
  if (guarded)
    return fail(ZERO_RT_UNSUPPORTED, "the memory of a GPU cannot be watched; check the same "
                                     "model compiled for the CPU");
  const std::shared_ptr<const Gpu> &gpu = placeOf[size_t(rank)]->gpu;
  return tier == proto::HOST ? reservePinnedMemory(gpu, bytes, arena)
                             : reserveGpuMemory(gpu, bytes, timeoutSeconds, arena);
}

/// Arguments of kernel `index`, as its launches have them.
static uint32_t argumentsOf(const proto::Program &program, uint32_t index) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && command.launch().kernel() == index)
        return uint32_t(command.launch().args_size());
  return 0;
}

Status CudaDevice::prepare(const proto::Program &program, int threads) {
  if (host)
    ZERO_RT_TRY(host->prepare(program, threads));
  for (const auto &place : gpus) {
    const Gpu &gpu = *place->gpu;
    if (gpu.architecture() != gpus.front()->gpu->architecture())
      return fail(ZERO_RT_UNSUPPORTED, "expected GPUs of one kind, got sm_%d and sm_%d",
                  gpus.front()->gpu->architecture(), gpu.architecture());
    ZERO_RT_TRY(gpu.makeCurrent());
    ZERO_RT_TRY(prepare(program, *place, place == gpus.front()));
  }
  return {};
}

/// Products are chosen on the first GPU, so that all ranks run the same algorithms.
Status CudaDevice::prepare(const proto::Program &program, Place &place, bool isFirst) {
  ZERO_RT_TRY(loadCode(place.gpu, program, code, place.kernels.module));
  place.kernels.attention.emplace(place.gpu);
  for (int i = 0; i < program.kernels_size(); ++i) {
    const proto::Kernel &source = program.kernels(i);
    GpuKernel &kernel = place.kernels.kernels.emplace_back();
    kernel.name = source.name();
    if (source.has_symbol())
      continue; // a kernel of the host
    Status status;
    if (source.has_gpu()) {
      kernel.arguments = argumentsOf(program, uint32_t(i));
      status = findLaunches(*place.kernels.module, source, kernel.launches);
    } else if (source.has_attention()) {
      status = GpuAttention::create(*place.kernels.attention, source, kernel.attention);
    } else {
      status = prepareProduct(program, uint32_t(i), place, isFirst);
    }
    if (!status.ok())
      return fail(status.getCode(), "kernel '%s': %s", escape(source.name()).c_str(),
                  status.getMessage().c_str());
  }
  return {};
}

Status CudaDevice::prepareProduct(const proto::Program &program, uint32_t index, Place &place,
                                  bool isFirst) {
  GpuKernels &kernels = place.kernels;
  if (!kernels.blas) {
    if (!blas)
      ZERO_RT_TRY(BlasLibrary::open(blas));
    ZERO_RT_TRY(BlasContext::create(blas, kernels.blas));
  }
  if (!isFirst) {
    kernels.kernels[index].product = gpus.front()->kernels.kernels[index].product;
    return {};
  }
  std::unique_ptr<Product> product;
  ZERO_RT_TRY(Product::create(kernels.blas, program.kernels(int(index)),
                              alignmentOf(program, index), product));
  kernels.kernels[index].product = std::move(product);
  return {};
}

Status CudaDevice::makeQueue(int rank, std::unique_ptr<Queue> &queue) {
  return makeGpuQueue(placeOf[size_t(rank)]->kernels, laneSets[size_t(rank)], queue);
}

Status CudaDevice::makeHostQueue(int rank, std::unique_ptr<Queue> &queue) {
  return host ? host->makeHostQueue(rank, queue)
              : Status(ZERO_RT_INTERNAL, "no device for the kernels of the host");
}

} // namespace zero::rt::cuda
