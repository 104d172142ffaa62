//===- attention.cpp - attention on a GPU ---------------------------------===//

#include "runtime/device/cuda/attention.h"

#include "runtime/device/cuda/kernels/attention_code.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zero::rt::cuda {

Status GpuAttentionCode::find(DType factors, int width, const GpuModule *&module) {
  std::unique_ptr<GpuModule> &found = modules[{factors, width}];
  if (!found)
    ZERO_RT_TRY(GpuModule::load(gpu, attentionCode(factors, width), found));
  module = found.get();
  return {};
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static StoredAs storedAs(DType dtype) {
  switch (dtype) {
  case ZERO_RT_F16:
    return StoredAs::Float16;
  case ZERO_RT_BF16:
    return StoredAs::BFloat16;
  case ZERO_RT_BOOL:
    return StoredAs::Shown;
  default:
    return StoredAs::Float32;
  }
}

/// Its address is that of the head's start inside the argument.
GpuRows GpuAttention::rowsOf(const HeadsPlan &heads) const {
  const DType stored = plan.arguments[heads.argument].stored;
  const auto size = int64_t(sizeOf(stored));
  return {reinterpret_cast<char *>(heads.start),
          heads.batch / size,
          heads.head / size,
          heads.row / size,
          storedAs(stored),
          0};
}

GpuMask GpuAttention::maskOf(const std::optional<MaskPlan> &mask) const {
  if (!mask)
    return {};
  const DType stored = plan.arguments[mask->argument].stored;
  const auto size = int64_t(sizeOf(stored));
  return {nullptr,
          mask->batch / size,
          mask->head / size,
          mask->query / size,
          mask->key / size,
          storedAs(stored),
          0};
}

/// A finite number that, added to a score, leaves no weight beside any score that is not hidden.
static constexpr float kHides = -3e38f;

/// Whether keys that positions and segments hide have no weight. With a mask, before the first key,
/// or behind the last one of a window, a row may have only hidden keys, which share its weight;
/// with segments, too, unless a guard makes such rows zeros, or each query sees itself because
/// queries and keys have the same segments.
bool GpuAttention::skips(bool hasSameSegments) const {
  const AttentionShape &from = plan.shape;
  const bool seesOne =
      from.causalOffset >= 0 && (!from.window || from.beginOf(from.queries - 1) < from.keys);
  const bool seesItself = hasSameSegments && from.queries == from.keys &&
                          (!from.window || from.causalOffset < from.window);
  return seesOne && from.fill <= kHides && !plan.padding && !plan.mask &&
         (!plan.segments || seesItself || (from.guard && std::isinf(from.fill)));
}

void GpuAttention::takeShape() {
  const AttentionShape &from = plan.shape;
  shape.q = rowsOf(plan.q), shape.k = rowsOf(plan.k), shape.v = rowsOf(plan.v);
  shape.o = rowsOf(plan.o);
  if (plan.isBackward) {
    shape.dO = rowsOf(plan.dO), shape.dQ = rowsOf(plan.dQ);
    shape.dK = rowsOf(plan.dK), shape.dV = rowsOf(plan.dV);
  }
  shape.padding = maskOf(plan.padding), shape.mask = maskOf(plan.mask);
  shape.batch = int(plan.batch), shape.heads = int(plan.heads);
  shape.served = plan.groups > 0 ? int(plan.heads / plan.groups) : 1;
  shape.queries = int(from.queries), shape.keys = int(from.keys);
  shape.width = int(from.width), shape.valueWidth = int(from.valueWidth);
  shape.causal = from.causal, shape.causalOffset = int(from.causalOffset);
  shape.guard = from.guard;
  shape.window = int(from.window), shape.prefix = int(from.prefix);
  if (plan.segments)
    shape.querySegments.batch = long(plan.segments->queryBatch),
    shape.keySegments.batch = long(plan.segments->keyBatch);
  shape.scale = from.scale, shape.fill = from.fill;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

template <bool IsFloat>
void GpuAttention::takeTiles(int width) {
  auto take = [&](auto tiles) {
    threads = unsigned(tiles.kThreads), own = unsigned(tiles.kOwn);
    sharedBytes =
        unsigned(tiles.bytes(plan.isBackward ? 2 : 1, plan.padding || plan.mask || plan.segments));
  };
  if (width == 32)
    take(AttentionTiles<IsFloat, 32>());
  else if (width == 64)
    take(AttentionTiles<IsFloat, 64>());
  else
    take(AttentionTiles<IsFloat, 128>());
}

Status GpuAttention::addLaunch(const GpuModule &module, const char *entry, uint64_t blocks) {
  if (blocks > INT32_MAX)
    return fail(ZERO_RT_UNSUPPORTED, "an attention of so many heads and rows on a GPU");
  Launch &launch = launches.emplace_back();
  launch = {nullptr, unsigned(blocks), threads, sharedBytes};
  ZERO_RT_TRY(module.find(std::string("attention_") + entry, launch.function));
  return module.allowShared(launch.function, sharedBytes);
}

Status GpuAttention::create(GpuAttentionCode &code, const proto::Kernel &kernel,
                            std::unique_ptr<GpuAttention> &attention) {
  auto made = std::make_unique<GpuAttention>();
  AttentionPlan &plan = made->plan;
  ZERO_RT_TRY(planAttention(kernel, plan, /*onGpu=*/true));
  int width = 0;
  uint64_t workspace = 0;
  ZERO_RT_TRY(limitAttention(plan, width, workspace));
  if (kernel.workspace() < workspace)
    return fail(ZERO_RT_BAD_FILE, "an attention on a GPU needs %llu bytes of workspace, got %llu",
                static_cast<unsigned long long>(workspace),
                static_cast<unsigned long long>(kernel.workspace()));
  made->takeShape();
  plan.factors == ZERO_RT_F32 ? made->takeTiles<true>(width) : made->takeTiles<false>(width);
  const GpuModule *module = nullptr;
  ZERO_RT_TRY(code.find(plan.factors, width, module));
  const auto tiles = [&](int64_t rows) { return (uint64_t(rows) + made->own - 1) / made->own; };
  const uint64_t heads = uint64_t(plan.batch * plan.heads);
  const uint64_t groups = uint64_t(plan.batch * plan.groups);
  const uint64_t rows = heads * uint64_t(plan.shape.queries), warps = made->threads / 32;
  if (!plan.isBackward) {
    ZERO_RT_TRY(made->addLaunch(*module, "forward", heads * tiles(plan.shape.queries)));
  } else {
    ZERO_RT_TRY(made->addLaunch(*module, "prepare", (rows + warps - 1) / warps));
    ZERO_RT_TRY(made->addLaunch(*module, "queries", heads * tiles(plan.shape.queries)));
    ZERO_RT_TRY(made->addLaunch(*module, "keys", groups * tiles(plan.shape.keys)));
  }
  attention = std::move(made);
  return {};
}

/// Whether all rows of these tensors have the type of factors, of 16 bits, begin at multiples of 16
/// bytes, and so do their ends.
bool GpuAttention::areVectors(void *const *args,
                              std::initializer_list<const HeadsPlan *> tensors) const {
  if (plan.factors == ZERO_RT_F32)
    return false;
  uint64_t bits = uint64_t(plan.shape.width | plan.shape.valueWidth) * sizeof(uint16_t);
  for (const HeadsPlan *heads : tensors) {
    if (plan.arguments[heads->argument].stored != plan.factors)
      return false;
    bits |= reinterpret_cast<uint64_t>(args[heads->argument]) | uint64_t(heads->start) |
            uint64_t(heads->batch) | uint64_t(heads->head) | uint64_t(heads->row);
  }
  return bits % 16 == 0;
}

Status GpuAttention::run(void *const *args, const Lanes &lanes) const {
  AttentionParameters parameters = shape;
  auto place = [&](GpuRows &rows, const HeadsPlan &heads) {
    rows.data += reinterpret_cast<uint64_t>(args[heads.argument]);
  };
  place(parameters.q, plan.q), place(parameters.k, plan.k), place(parameters.v, plan.v);
  place(parameters.o, plan.o);
  if (plan.isBackward) {
    place(parameters.dO, plan.dO), place(parameters.dQ, plan.dQ);
    place(parameters.dK, plan.dK), place(parameters.dV, plan.dV);
    parameters.delta = static_cast<float *>(args[plan.arguments.size()]);
    parameters.share = parameters.delta + plan.batch * plan.heads * plan.shape.queries;
  }
  if (plan.padding)
    parameters.padding.data = static_cast<const char *>(args[plan.padding->argument]);
  if (plan.mask)
    parameters.mask.data = static_cast<const char *>(args[plan.mask->argument]);
  if (plan.segments) {
    parameters.querySegments.data = static_cast<const long *>(args[plan.segments->queries]);
    parameters.keySegments.data = static_cast<const long *>(args[plan.segments->queries + 1]);
  }
  parameters.skips = skips(parameters.querySegments.data == parameters.keySegments.data &&
                           parameters.querySegments.batch == parameters.keySegments.batch);
  parameters.lse = static_cast<float *>(args[plan.lse]);
  parameters.vectors = areVectors(args, {&plan.q, &plan.k, &plan.v}) &&
                       (!plan.isBackward || areVectors(args, {&plan.dO}));
  parameters.storesVectors = plan.isBackward ? areVectors(args, {&plan.dQ, &plan.dK, &plan.dV})
                                             : areVectors(args, {&plan.o});
  void *given[] = {&parameters};
  for (const Launch &launch : launches)
    if (launch.blocks > 0)
      ZERO_RT_LANES(lanes, cuLaunchKernel, launch.function, launch.blocks, 1, 1, launch.threads, 1,
                    1, launch.sharedBytes, lanes.current(), given, nullptr);
  return {};
}

} // namespace zero::rt::cuda
