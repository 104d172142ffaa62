//===- code.cpp - a program's kernels on a GPU ----------------------------===//

#include "runtime/device/cuda/code.h"

#include <algorithm>

namespace zero::rt::cuda {

/// More has to be asked for.
static constexpr uint32_t kUsualSharedBytes = 48 << 10;

GpuModule::~GpuModule() {
  if (handle && gpu->canFree())
    gpu->driver().cuModuleUnload(handle);
}

Status GpuModule::load(const std::shared_ptr<const Gpu> &gpu, const void *image,
                       std::unique_ptr<GpuModule> &module) {
  ZERO_RT_TRY(gpu->makeCurrent());
  std::unique_ptr<GpuModule> made(new GpuModule(gpu));
  char log[4096] = "";
  int kinds[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  const Result result = gpu->driver().cuModuleLoadDataEx(&made->handle, image, 2, kinds, values);
  if (result != kSuccess)
    return fail(ZERO_RT_UNSUPPORTED, "GPU %d (%s) does not accept the code: %s%s%s", gpu->ordinal(),
                escape(gpu->name()).c_str(), gpu->driver().describe(result).c_str(),
                *log ? ": " : "", escape(log).c_str());
  module = std::move(made);
  return {};
}

Status GpuModule::find(const std::string &symbol, Function &function) const {
  const Result result = gpu->driver().cuModuleGetFunction(&function, handle, symbol.c_str());
  if (result == kNotFound)
    return fail(ZERO_RT_BAD_FILE, "the GPU code has no symbol '%s'", escape(symbol).c_str());
  return gpu->driver().check(result, "cuModuleGetFunction");
}

Status GpuModule::allowShared(Function function, uint32_t bytes) const {
  if (bytes <= kUsualSharedBytes)
    return {};
  const Result result =
      gpu->driver().cuFuncSetAttribute(function, kMaxDynamicSharedBytes, int(bytes));
  int most = 0;
  if (result == kInvalidValue && gpu->mostSharedBytes(most).ok() && bytes > uint32_t(most))
    return fail(ZERO_RT_UNSUPPORTED,
                "it needs %u bytes of shared memory for a block, of which GPU %d (%s, sm_%d) has "
                "%d",
                bytes, gpu->ordinal(), escape(gpu->name()).c_str(), gpu->architecture(), most);
  return gpu->driver().check(result, "cuFuncSetAttribute");
}

std::vector<int> imagesFor(const proto::Program &program, int architecture) {
  auto rank = [&](int index) { // 0: of no use here
    const proto::GpuImage &image = program.gpu_images(index);
    const int from = int(image.architecture());
    if (from > architecture)
      return 0;
    if (image.kind() == proto::GpuImage::PTX)
      return from;
    return from / 10 == architecture / 10 ? 10000 + from : 0;
  };
  std::vector<int> found;
  for (int i = 0; i < program.gpu_images_size(); ++i)
    if (rank(i) > 0)
      found.push_back(i);
  std::ranges::stable_sort(found, std::greater(), rank);
  return found;
}

static Status noImage(const Gpu &gpu, const proto::Program &program) {
  std::string listed;
  for (const proto::GpuImage &image : program.gpu_images())
    listed +=
        format("%s%s for sm_%u", listed.empty() ? "" : ", ",
               image.kind() == proto::GpuImage::PTX ? "PTX" : "machine code", image.architecture());
  return fail(ZERO_RT_UNSUPPORTED,
              "no code for GPU %d (%s, sm_%d): the executable has %s; compile it for this GPU",
              gpu.ordinal(), escape(gpu.name()).c_str(), gpu.architecture(),
              listed.empty() ? "none" : listed.c_str());
}

Status loadCode(const std::shared_ptr<const Gpu> &gpu, const proto::Program &program,
                std::span<const uint8_t> code, std::unique_ptr<GpuModule> &module) {
  const auto &kernels = program.kernels();
  if (std::none_of(kernels.begin(), kernels.end(), [](const auto &each) { return each.has_gpu(); }))
    return {};
  const std::vector<int> images = imagesFor(program, gpu->architecture());
  if (images.empty())
    return noImage(*gpu, program);
  // A driver that is older than the toolkit may refuse its machine code, and assemble the PTX.
  Status status;
  for (const int image : images)
    if (status = GpuModule::load(gpu, code.data() + program.gpu_images(image).offset(), module);
        status.ok())
      return {};
  return status;
}

static Status findLaunch(const GpuModule &module, const proto::GpuEntry &entry, GpuLaunch &launch) {
  launch = {nullptr, entry.blocks(), entry.per_block(), entry.threads(), entry.shared_bytes()};
  ZERO_RT_TRY(module.find(entry.symbol(), launch.function));
  return module.allowShared(launch.function, launch.sharedBytes);
}

Status findLaunches(const GpuModule &module, const proto::Kernel &kernel,
                    std::vector<GpuLaunch> &launches) {
  for (const proto::GpuEntry &entry : kernel.gpu().entries())
    ZERO_RT_TRY(findLaunch(module, entry, launches.emplace_back()));
  return {};
}

} // namespace zero::rt::cuda
