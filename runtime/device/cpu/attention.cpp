//===- attention.cpp - attention by tiles ---------------------------------===//

#include "runtime/device/cpu/attention.h"

#include "runtime/device/cpu/openmp.h"

#include <algorithm>

namespace zero::rt {

std::vector<const AttentionCode *> attentionCodes() {
  std::vector<const AttentionCode *> codes{&attention_v1::kCode};
#if defined(__x86_64__)
  if (!missingFeature("avx avx2 bmi bmi2 f16c fma lzcnt movbe").empty())
    return codes;
  codes.insert(codes.begin(), &attention_v3::kCode);
  if (missingFeature("avx512f avx512bw avx512cd avx512dq avx512vl").empty())
    codes.insert(codes.begin(), &attention_v4::kCode);
#endif
  return codes;
}

Status Attention::create(const proto::Kernel &kernel, int threads,
                         std::unique_ptr<Attention> &attention, const AttentionCode *code) {
  auto made = std::make_unique<Attention>();
  ZERO_RT_TRY(planAttention(kernel, made->plan));
#if defined(__x86_64__)
  if (made->plan.isHalf())
    made->code = &attention_bf16::kCode;
  else
#endif
    made->code = code ? code : attentionCodes().front();
  made->threads = int(std::min<int64_t>(threads, made->plan.tasks()));
  attention = std::move(made);
  return {};
}

/// The scratch bytes of one thread.
static uint64_t scratchBytes(const AttentionPlan &plan) {
  return alignUp(uint64_t(plan.layout.floats) * sizeof(float));
}

uint64_t Attention::getWorkspace() const { return uint64_t(threads) * scratchBytes(plan); }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class Attention::Call : public LibraryCall {
public:
  explicit Call(const Attention &attention) : attention(attention), plan(attention.plan) {}

  Status run(void *const *arguments) override {
    args = arguments;
    if (attention.threads > 1)
      runOnTeam(runShare, this, int(attention.threads));
    else if (attention.threads == 1)
      runHeads(0, plan.batch * plan.heads, scratch(0));
    return {};
  }

private:
  /// The work of one thread of a team: its heads are adjacent.
  static void runShare(void *call) {
    auto &self = *static_cast<Call *>(call);
    const int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
    const int64_t tasks = self.plan.tasks();
    const int64_t each = self.plan.batch * self.plan.heads / tasks;
    self.runHeads(thread * tasks / team * each, (thread + 1) * tasks / team * each,
                  self.scratch(thread));
  }

  float *scratch(int64_t thread) const {
    auto *workspace = static_cast<char *>(args[plan.arguments.size()]);
    return reinterpret_cast<float *>(workspace + uint64_t(thread) * scratchBytes(plan));
  }

  /// Heads [from, to) of all batches.
  void runHeads(int64_t from, int64_t to, float *scratch) const {
    const int64_t served = plan.heads / plan.groups;
    for (int64_t index = from; index < to; ++index) {
      const bool first = index == from || index % served == 0;
      if (plan.isBackward)
        attention.code->backward(plan.shape, plan.layout, headOf(index), first,
                                 (index + 1) % served == 0, scratch);
      else
        attention.code->forward(plan.shape, plan.layout, headOf(index), first, scratch);
    }
  }

  AttentionHead headOf(int64_t index) const {
    const int64_t batch = index / plan.heads, head = index % plan.heads;
    const int64_t group = head / (plan.heads / plan.groups);
    AttentionHead result{};
    result.q = rows(plan.q, batch, head);
    result.k = rows(plan.k, batch, group);
    result.v = rows(plan.v, batch, group);
    result.o = rows(plan.o, batch, head);
    result.padding = maskOf(plan.padding, batch, head);
    result.mask = maskOf(plan.mask, batch, head);
    if (plan.segments) {
      result.querySegments = segmentsOf(plan.segments->queries, batch * plan.segments->queryBatch);
      result.keySegments = segmentsOf(plan.segments->queries + 1, batch * plan.segments->keyBatch);
    }
    result.lse = static_cast<float *>(args[plan.lse]) + index * plan.shape.queries;
    if (plan.isBackward) {
      result.dO = rows(plan.dO, batch, head);
      result.dQ = rows(plan.dQ, batch, head);
      result.dK = rows(plan.dK, batch, group);
      result.dV = rows(plan.dV, batch, group);
    }
    return result;
  }

  HeadRows rows(const HeadsPlan &heads, int64_t batch, int64_t head) const {
    char *data = static_cast<char *>(args[heads.argument]) + heads.start;
    return {data + batch * heads.batch + head * heads.head, heads.row,
            plan.arguments[heads.argument].stored};
  }

  HeadMask maskOf(const std::optional<MaskPlan> &mask, int64_t batch, int64_t head) const {
    if (!mask)
      return {};
    const char *data = static_cast<char *>(args[mask->argument]);
    return {data + batch * mask->batch + head * mask->head, mask->query, mask->key,
            plan.arguments[mask->argument].stored};
  }

  const int64_t *segmentsOf(size_t argument, int64_t first) const {
    return static_cast<const int64_t *>(args[argument]) + first;
  }

  const Attention &attention;
  const AttentionPlan &plan;
  void *const *args = nullptr;
};

Status Attention::makeCall(std::unique_ptr<LibraryCall> &call) const {
  if (std::string feature = missingForHalves(); plan.isHalf() && !feature.empty())
    return fail(ZERO_RT_UNSUPPORTED, "an attention of bfloat16 needs the CPU feature '%s'",
                feature.c_str());
  call = std::make_unique<Call>(*this);
  return {};
}

} // namespace zero::rt
