//===- validate_gpu.cpp - validate tables for GPUs ------------------------===//

#include "runtime/load/validate_gpu.h"

#include "runtime/format/tables.h"
#include "runtime/support/checked.h"

#include <vector>

namespace zero::rt {

static constexpr uint32_t kMostThreads = 1024; ///< of a block

static Status badKernel(const proto::Kernel &kernel, const char *why) {
  return fail(ZERO_RT_BAD_FILE, "kernel '%s': %s", escape(kernel.name()).c_str(), why);
}

static Status checkKernel(const proto::Program &program, const proto::Kernel &kernel) {
  const bool onGpu = program.target() == proto::CUDA;
  if (kernel.has_gpu() && !onGpu)
    return badKernel(kernel, "code for a GPU in a program for the CPU");
  if (kernel.has_convolution() && onGpu)
    return fail(ZERO_RT_UNSUPPORTED, "kernel '%s': this runtime has no such kernel for a GPU",
                escape(kernel.name()).c_str());
  for (const proto::GpuEntry &entry : kernel.gpu().entries())
    if (entry.threads() == 0 || entry.threads() > kMostThreads ||
        (entry.blocks() == 0 && entry.per_block() == 0))
      return badKernel(kernel, "a launch of no threads, or of too many");
  return {};
}

static Status checkImage(const proto::GpuImage &image, std::span<const uint8_t> code) {
  if (image.bytes() == 0 || !isWithin(image.offset(), image.bytes(), code.size()) ||
      !proto::GpuImage::Kind_IsValid(image.kind()) || image.architecture() > 10000)
    return fail(ZERO_RT_BAD_FILE, "GPU code for sm_%u: it lies outside the code section",
                image.architecture());
  if (image.kind() == proto::GpuImage::PTX && code[image.offset() + image.bytes() - 1] != 0)
    return fail(ZERO_RT_BAD_FILE, "GPU code for sm_%u: a text without end", image.architecture());
  return {};
}

/// All launches of a kernel have as many arguments: `arguments` is by kernel, -1 without a launch.
static Status checkArguments(const proto::Program &program, std::vector<int> &arguments) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      const uint32_t kernel = command.launch().kernel();
      if (!command.has_launch() || kernel >= arguments.size() ||
          !program.kernels(int(kernel)).has_gpu())
        continue;
      int &expected = arguments[kernel];
      if (expected >= 0 && expected != command.launch().args_size())
        return badKernel(program.kernels(int(kernel)),
                         "its launches have different numbers of arguments");
      expected = command.launch().args_size();
    }
  return {};
}

Status validateTarget(const Executable &executable) {
  const proto::Program &program = executable.program;
  if (!proto::Target_IsValid(program.target()))
    return fail(ZERO_RT_UNSUPPORTED, "it is compiled for a device that this runtime does not know");
  if (program.target() == proto::CPU && program.gpu_images_size() > 0)
    return fail(ZERO_RT_BAD_FILE, "code for a GPU in a program for the CPU");
  for (const proto::Kernel &kernel : program.kernels())
    ZERO_RT_TRY(checkKernel(program, kernel));
  for (const proto::GpuImage &image : program.gpu_images())
    ZERO_RT_TRY(checkImage(image, executable.code));
  std::vector<int> arguments(size_t(program.kernels_size()), -1);
  for (size_t shape = 0; shape < countShapes(program); ++shape)
    ZERO_RT_TRY(checkArguments(programOf(program, shape), arguments));
  return {};
}

} // namespace zero::rt
