//===- cuda_device.cpp - ranks on GPUs ------------------------------------===//

#include "runtime/device/cuda/cuda_device.h"

#include "runtime/device/cuda/product_timing.h"
#include "runtime/format/tables.h"
#include "runtime/support/file.h"

#include <algorithm>
#include <filesystem>
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
                             : reserveGpuMemory(gpu, bytes, timeoutSeconds, arena, allocator);
}

/// The first launch of kernel `index` in the program of any shape; nullptr: none.
static const proto::Launch *launchOf(const proto::Program &program, int index) {
  for (size_t shape = 0; shape < countShapes(program); ++shape)
    for (const proto::Segment &segment : programOf(program, shape).segments())
      for (const proto::Command &command : segment.commands())
        if (command.has_launch() && int(command.launch().kernel()) == index)
          return &command.launch();
  return nullptr;
}

/// `status` of kernel `name`.
static Status nameKernel(const std::string &name, const Status &status) {
  return status.ok() ? status
                     : fail(status.getCode(), "kernel '%s': %s", escape(name).c_str(),
                            status.getMessage().c_str());
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
    ZERO_RT_TRY(prepare(program, *place));
  }
  return {};
}

Status CudaDevice::prepare(const proto::Program &program, Place &place) {
  ZERO_RT_TRY(loadCode(place.gpu, program, code, place.kernels.module));
  ZERO_RT_TRY(makeProducts(program));
  place.kernels.attention.emplace(place.gpu);
  for (int i = 0; i < program.kernels_size(); ++i) {
    const proto::Kernel &source = program.kernels(i);
    GpuKernel &kernel = place.kernels.kernels.emplace_back();
    kernel.name = source.name();
    Status status;
    if (source.has_gpu()) {
      const proto::Launch *launch = launchOf(program, i);
      kernel.arguments = launch ? uint32_t(launch->args_size()) : 0;
      status = findLaunches(*place.kernels.module, source, kernel.launches);
    } else if (source.has_attention()) {
      status = GpuAttention::create(*place.kernels.attention, source, kernel.attention);
    } else if (products[size_t(i)]) {
      kernel.product = products[size_t(i)];
      status = openBlas(place);
    }
    ZERO_RT_TRY(nameKernel(source.name(), status));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Whether a GPU runs `kernel` by cuBLASLt. Those with symbols are the host's.
static bool isProduct(const proto::Kernel &kernel) {
  return !kernel.has_symbol() && !kernel.has_gpu() && !kernel.has_attention();
}

/// Makes the context of `place` current, and cuBLASLt ready there.
Status CudaDevice::openBlas(Place &place) {
  ZERO_RT_TRY(place.gpu->makeCurrent());
  if (place.kernels.blas)
    return {};
  if (!blas)
    ZERO_RT_TRY(BlasLibrary::open(blas));
  return BlasContext::create(blas, place.kernels.blas);
}

/// On the first GPU, once.
Status CudaDevice::makeProducts(const proto::Program &program) {
  if (!products.empty())
    return {};
  Place &place = *gpus.front();
  std::vector<std::shared_ptr<Product>> made(size_t(program.kernels_size()));
  for (int i = 0; i < program.kernels_size(); ++i) {
    const proto::Kernel &kernel = program.kernels(i);
    if (!isProduct(kernel))
      continue;
    std::unique_ptr<Product> product;
    Status status = openBlas(place);
    if (status.ok())
      status =
          Product::create(place.kernels.blas, kernel, alignmentOf(program, uint32_t(i)), product);
    ZERO_RT_TRY(nameKernel(kernel.name(), status));
    made[size_t(i)] = std::move(product);
  }
  products = std::move(made);
  return {};
}

/// Kernels that are products with something to compute, and are launched.
std::vector<int> CudaDevice::chosenProducts(const proto::Program &program) const {
  std::vector<int> found;
  for (int i = 0; i < int(products.size()); ++i)
    if (products[size_t(i)] && !products[size_t(i)]->isEmpty() && launchOf(program, i))
      found.push_back(i);
  return found;
}

/// Whether what `table`, of `source`, has for products computes them on all GPUs here.
Status CudaDevice::check(const proto::Program &program, const AlgorithmTable &table,
                         const std::string &source) {
  for (int i : chosenProducts(program)) {
    const Product &product = *products[size_t(i)];
    const ChosenAlgorithm *chosen = table.find(product.describe());
    for (const auto &place : gpus) {
      if (!chosen)
        break;
      ZERO_RT_TRY(openBlas(*place));
      Status status = product.check(*place->kernels.blas, chosen->algorithm);
      status = nameKernel(program.kernels(i).name(), status);
      if (!status.ok())
        return fail(ZERO_RT_BAD_FILE, "%s: %s", source.c_str(), status.getMessage().c_str());
    }
  }
  return {};
}

/// Gives products what `table` has for them. Returns the kernels of the others.
std::vector<int> CudaDevice::apply(const proto::Program &program, const AlgorithmTable &table) {
  std::vector<int> missing;
  for (int i : chosenProducts(program)) {
    Product &product = *products[size_t(i)];
    if (const ChosenAlgorithm *chosen = table.find(product.describe()))
      product.setAlgorithm(chosen->algorithm);
    else
      missing.push_back(i);
  }
  return missing;
}

/// Times the products of `kernels`, and adds the fastest algorithm of each to `table`.
Status CudaDevice::timeProducts(const proto::Program &program, const std::vector<int> &kernels,
                                AlgorithmTable &table) {
  const int rank = int(std::ranges::find(placeOf, gpus.front().get()) - placeOf.begin());
  Place &place = *gpus.front();
  Lanes &lanes = *laneSets[size_t(rank)];
  uint64_t bytes = 0;
  for (const proto::Arena &each : program.arenas())
    bytes += each.tier() == proto::DEVICE ? each.bytes() : 0;
  std::unique_ptr<Arena> arena;
  ZERO_RT_TRY(reserveGpuMemory(place.gpu, bytes, timeoutSeconds, arena));
  for (int i : kernels) {
    const proto::Kernel &kernel = program.kernels(i);
    Product &product = *products[size_t(i)];
    if (const ChosenAlgorithm *known = table.find(product.describe())) {
      product.setAlgorithm(known->algorithm);
      continue;
    }
    lanes.announce(kernel.name());
    ChosenAlgorithm chosen;
    Status status = chooseFastest({*place.kernels.blas, lanes, *arena, meshOf(program), rank},
                                  *launchOf(program, i), kernel.workspace() > 0, product, chosen);
    if (!status.ok())
      return nameKernel(kernel.name(), fail(status.getCode(), "while algorithms were timed: %s",
                                            status.getMessage().c_str()));
    table.add(product.describe(), chosen);
  }
  return lanes.finish();
}

/// Reads `table` from its file, whose algorithms must run here.
Status CudaDevice::read(const proto::Program &program, const std::string &file,
                        AlgorithmTable &table) {
  Status status = table.read(file);
  if (status.ok())
    status = check(program, table, format("'%s'", escape(file).c_str()));
  const bool isForeign =
      status.getCode() == ZERO_RT_BAD_FILE || status.getCode() == ZERO_RT_UNSUPPORTED;
  return !isForeign
             ? status
             : fail(status.getCode(), "%s; remove it to time products again, or name another file",
                    status.getMessage().c_str());
}

Status CudaDevice::tuneProducts(const proto::Program &program, const std::string &path,
                                std::string &contents) {
  ZERO_RT_TRY(makeProducts(program));
  if (!blas)
    return {};
  AlgorithmTable table(*gpus.front()->gpu, *blas);
  std::error_code ignored;
  const bool isFolder = std::filesystem::is_directory(path, ignored);
  const std::string name = isFolder ? path + "/" + table.fileName() : path;
  ZERO_RT_TRY(read(program, name, table));
  if (const std::vector<int> missing = apply(program, table); !missing.empty()) {
    OutputFile file;
    ZERO_RT_TRY(OutputFile::create(name, file)); // before the time is spent
    ZERO_RT_TRY(timeProducts(program, missing, table));
    ZERO_RT_TRY(file.write(table.text()));
    ZERO_RT_TRY(file.commit());
    whatWasTimed = format("the algorithms of %zu matrix product%s were timed on the GPU, and are "
                          "in '%s' now",
                          missing.size(), missing.size() == 1 ? "" : "s", escape(name).c_str());
  }
  contents = table.text();
  return {};
}

std::string CudaDevice::algorithms(const proto::Program &program) const {
  const std::vector<int> chosen = chosenProducts(program);
  if (chosen.empty())
    return {};
  AlgorithmTable table(*gpus.front()->gpu, *blas);
  for (int i : chosen)
    table.add(products[size_t(i)]->describe(), {products[size_t(i)]->algorithm()});
  return table.text();
}

Status CudaDevice::useAlgorithms(const proto::Program &program, const std::string &text,
                                 const std::string &source, bool onlyChecks) {
  ZERO_RT_TRY(makeProducts(program));
  if (!blas)
    return {};
  AlgorithmTable table(*gpus.front()->gpu, *blas);
  ZERO_RT_TRY(table.parse(text, source));
  ZERO_RT_TRY(check(program, table, source));
  if (!onlyChecks)
    (void)apply(program, table);
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
