//===- mixed.cpp - library kernels with 16-bit arguments ------------------===//

#include "runtime/device/cpu/mixed.h"

#include "runtime/support/half.h"

#include <algorithm>
#include <array>

namespace zero::rt {

bool isMixed(const proto::Kernel &kernel) {
  return std::any_of(kernel.stored().begin(), kernel.stored().end(),
                     [](int dtype) { return dtype != proto::F32; });
}

Status MixedKernel::create(const proto::Kernel &kernel, int threads, ProductLibrary library,
                           std::unique_ptr<MixedKernel> &mixed) {
  auto made = std::make_unique<MixedKernel>();
  ZERO_RT_TRY(planMixed(kernel, made->plan));
  ZERO_RT_TRY(makeLibraryKernel(made->plan.main.kernel, threads, made->main, library));
  made->innerWorkspace = alignUp(made->main->getWorkspace());
  if (made->plan.rest) {
    ZERO_RT_TRY(makeLibraryKernel(made->plan.rest->kernel, threads, made->rest, library));
    made->innerWorkspace = std::max(made->innerWorkspace, alignUp(made->rest->getWorkspace()));
  }
  mixed = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

using Dim = MixedArgument::Dim;

/// Strided elements are gathered this many at a time.
static constexpr uint64_t kChunk = 512;

static void widenRun(DType stored, const uint16_t *from, Dim run, float *to) {
  if (run.stride == 1)
    return widenHalves(stored, from, to, run.count);
  uint16_t chunk[kChunk];
  for (uint64_t start = 0; start < run.count; start += kChunk) {
    const uint64_t count = std::min(kChunk, run.count - start);
    for (uint64_t i = 0; i < count; ++i)
      chunk[i] = from[int64_t(start + i) * run.stride];
    widenHalves(stored, chunk, to + start, count);
  }
}

static void narrowRun(DType stored, const float *from, Dim run, uint16_t *to) {
  if (run.stride == 1)
    return narrowToHalves(stored, from, to, run.count);
  uint16_t chunk[kChunk];
  for (uint64_t start = 0; start < run.count; start += kChunk) {
    const uint64_t count = std::min(kChunk, run.count - start);
    narrowToHalves(stored, from + start, chunk, count);
    for (uint64_t i = 0; i < count; ++i)
      to[int64_t(start + i) * run.stride] = chunk[i];
  }
}

/// Calls body(stored, dense, run) for each run of the innermost dimension, from dimension `depth`
/// on. `dense` advances over the elements of these runs.
template <typename Body>
static void forEachRun(const std::vector<Dim> &dims, size_t depth, uint16_t *stored, float *&dense,
                       Body body) {
  if (depth + 1 >= dims.size()) {
    const Dim run = dims.empty() ? Dim{1, 1} : dims.back();
    body(stored, dense, run);
    dense += run.count;
    return;
  }
  for (uint64_t i = 0; i < dims[depth].count; ++i)
    forEachRun(dims, depth + 1, stored + int64_t(i) * dims[depth].stride, dense, body);
}

static void widen(const MixedArgument &argument, void *stored, float *dense) {
  forEachRun(argument.dims, 0, static_cast<uint16_t *>(stored), dense,
             [&](uint16_t *from, float *to, Dim run) { widenRun(argument.stored, from, run, to); });
}

static void narrow(const MixedArgument &argument, float *dense, void *stored) {
  forEachRun(
      argument.dims, 0, static_cast<uint16_t *>(stored), dense,
      [&](uint16_t *to, float *from, Dim run) { narrowRun(argument.stored, from, run, to); });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class MixedKernel::Call : public LibraryCall {
public:
  Call(const MixedKernel &kernel, std::unique_ptr<LibraryCall> main,
       std::unique_ptr<LibraryCall> rest)
      : kernel(kernel), main(std::move(main)), rest(std::move(rest)) {}

  Status run(void *const *args) override {
    const uint64_t blocks = kernel.plan.blocks;
    for (uint64_t block = 0; block < blocks; ++block) {
      const bool isRest = rest && block + 1 == blocks;
      ZERO_RT_TRY(runBlock(isRest ? *kernel.plan.rest : kernel.plan.main, isRest ? *rest : *main,
                           block, args));
    }
    return {};
  }

private:
  /// Arguments of a kernel, workspace included.
  static constexpr size_t kMostArguments = 6;

  Status runBlock(const MixedPart &part, LibraryCall &call, uint64_t block, void *const *args) {
    const size_t count = part.arguments.size();
    auto *workspace = static_cast<char *>(kernel.getWorkspace() > 0 ? args[count] : nullptr);
    std::array<void *, kMostArguments> stored{}, plain{};
    plain[count] = workspace;
    for (size_t i = 0; i < count; ++i) {
      const MixedArgument &argument = part.arguments[i];
      const uint64_t start = block * uint64_t(argument.step) * sizeOf(argument.stored);
      plain[i] = stored[i] = static_cast<char *>(args[i]) + start;
      if (!argument.isCopied())
        continue;
      plain[i] = workspace + kernel.innerWorkspace + argument.offset;
      if (argument.isRead && (block == 0 || argument.step != 0))
        widen(argument, stored[i], static_cast<float *>(plain[i]));
    }
    ZERO_RT_TRY(call.run(plain.data()));
    for (size_t i = 0; i < count; ++i)
      if (part.arguments[i].isWritten && part.arguments[i].isCopied())
        narrow(part.arguments[i], static_cast<float *>(plain[i]), stored[i]);
    return {};
  }

  const MixedKernel &kernel;
  std::unique_ptr<LibraryCall> main, rest;
};

Status MixedKernel::makeCall(std::unique_ptr<LibraryCall> &call) const {
  std::unique_ptr<LibraryCall> mainCall, restCall;
  ZERO_RT_TRY(main->makeCall(mainCall));
  if (rest)
    ZERO_RT_TRY(rest->makeCall(restCall));
  call = std::make_unique<Call>(*this, std::move(mainCall), std::move(restCall));
  return {};
}

} // namespace zero::rt
