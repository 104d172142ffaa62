//===- roofline.cpp - limits of cores -------------------------------------===//

#include "runtime/measure/roofline.h"

#include "runtime/device/cpu/arena.h"
#include "runtime/device/cpu/openmp.h"
#include "runtime/support/vector_targets.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zero::rt {

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

/// Chains that do not wait for each other: two units of a latency of at most 6.
static constexpr int kChains = 12;
static constexpr int kTurns = 4096;

/// x = x / 2 + 1 tends to 2: neither denormal nor infinite. One operation where the
/// caller's target has FMA. The compiler must not know where a chain begins, or it would
/// leave out those whose end it knows.
template <int Lanes>
[[gnu::always_inline]] static inline float runChains(const float *begin) {
  typedef float Vector __attribute__((vector_size(Lanes * sizeof(float))));
  Vector x[kChains];
  for (int chain = 0; chain < kChains; ++chain)
    x[chain] = Vector{} + begin[chain];
  for (int turn = 0; turn < kTurns; ++turn)
    for (int chain = 0; chain < kChains; ++chain)
      x[chain] = x[chain] * 0.5f + 1.0f;
  for (int chain = 1; chain < kChains; ++chain)
    x[0] += x[chain];
  return x[0][0];
}

ZERO_RT_TARGET("avx512f,fma") static float chainsAvx512(const float *begin) {
  return runChains<16>(begin);
}

ZERO_RT_TARGET("avx2,fma") static float chainsAvx2(const float *begin) {
  return runChains<8>(begin);
}

static float chainsPlain(const float *begin) { return runChains<4>(begin); }

#if defined(__x86_64__)
/// The same with two products of bf16 for each sum. `begin` has the bits of all operands.
ZERO_RT_TARGET("avx512f,avx512bf16") static float chainsOfHalves(const float *begin) {
  __m512 sums[kChains];
  for (int chain = 0; chain < kChains; ++chain)
    sums[chain] = _mm512_set1_ps(begin[chain]);
  const auto factor = (__m512bh)_mm512_set1_ps(begin[0] * 0x1p-64f);
  for (int turn = 0; turn < kTurns; ++turn)
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = _mm512_dpbf16_ps(sums[chain], factor, factor);
  for (int chain = 1; chain < kChains; ++chain)
    sums[0] = _mm512_add_ps(sums[0], sums[chain]);
  return _mm512_cvtss_f32(sums[0]);
}
#endif

namespace {
struct Chains {
  float (*run)(const float *begin);
  int lanes;
};
} // namespace

static Chains chainsOfThisMachine() {
  if (ZERO_RT_HAS("avx512f") && ZERO_RT_HAS("fma"))
    return {chainsAvx512, 16};
  if (ZERO_RT_HAS("avx2") && ZERO_RT_HAS("fma"))
    return {chainsAvx2, 8};
  return {chainsPlain, 4};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

[[gnu::always_inline]] static inline void runTriad(float *a, const float *b, const float *c,
                                                   size_t count) {
  for (size_t i = 0; i < count; ++i)
    a[i] = b[i] + 0.5f * c[i];
}

ZERO_RT_TARGET("avx512f,fma")
static void triadAvx512(float *a, const float *b, const float *c, size_t count) {
  runTriad(a, b, c, count);
}

ZERO_RT_TARGET("avx2,fma")
static void triadAvx2(float *a, const float *b, const float *c, size_t count) {
  runTriad(a, b, c, count);
}

static void triadPlain(float *a, const float *b, const float *c, size_t count) {
  runTriad(a, b, c, count);
}

static auto triadOfThisMachine() {
  const int lanes = chainsOfThisMachine().lanes;
  return lanes == 16 ? triadAvx512 : lanes == 8 ? triadAvx2 : triadPlain;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Floats of an array that are done between two looks at the clock.
static constexpr uint64_t kPiece = uint64_t(1) << 16;

/// The best window counts: a window is shorter than the time slice of a thread, so that other work
/// on the machine does not lower the figure.
static constexpr double kWindow = 1e-3;

Roofline::Roofline(int threads, std::unique_ptr<Arena> memory)
    : threads(threads), memory(std::move(memory)),
      perThread(this->memory->bytes() / sizeof(float) / unsigned(threads)) {}

/// Runs `body(thread)` on the team's threads, the calling one among them.
template <typename Body>
static void onTeam(int threads, const Body &body) {
  struct Shared {
    const Body &body;
    std::atomic<int> next{0};
  } shared{body};
  auto run = [](void *data) {
    auto *shared = static_cast<Shared *>(data);
    shared->body(shared->next++);
  };
  runOnTeam(run, &shared, threads);
}

Status Roofline::create(int threads, uint64_t bytes, std::unique_ptr<Roofline> &roofline) {
  std::unique_ptr<Arena> memory;
  // Three arrays of at least a piece on each thread.
  bytes = std::max<uint64_t>(bytes, 3 * kPiece * sizeof(float) * unsigned(threads));
  ZERO_RT_TRY(reserveHostMemory(bytes, false, false, memory));
  std::unique_ptr<Roofline> made(new Roofline(threads, std::move(memory)));
  made->fill();
  roofline = std::move(made);
  return {};
}

void Roofline::fill() {
  onTeam(threads, [&](int thread) {
    float *start = reinterpret_cast<float *>(memory->base()) + unsigned(thread) * perThread;
    std::fill_n(start, perThread, 1.0f);
  });
}

/// `work(memory, n)` does the n-th piece of a thread and returns how much that was. In the
/// first window others may not have begun.
template <typename Work>
double Roofline::measure(double seconds, Work work) {
  using Clock = std::chrono::steady_clock;
  std::atomic<double> rate = 0;
  onTeam(threads, [&](int thread) {
    float *own = reinterpret_cast<float *>(memory->base()) + thread * perThread;
    const auto begin = Clock::now();
    double best = 0, done = 0, start = 0;
    for (uint64_t piece = 0, windows = 0; windows < 2 || start < seconds; ++piece) {
      done += work(own, piece);
      const double now = std::chrono::duration<double>(Clock::now() - begin).count();
      if (now - start < kWindow)
        continue;
      if (windows++ > 0)
        best = std::max(best, done / (now - start));
      done = 0;
      start = now;
    }
    rate += best;
  });
  return rate;
}

double Roofline::flops(double seconds) {
  const Chains chains = chainsOfThisMachine();
  return measure(seconds, [chains](float *own, uint64_t) {
    *own = chains.run(own); // kept, so that it is computed
    return 2.0 * kTurns * kChains * chains.lanes;
  });
}

double Roofline::halfFlops(double seconds) {
#if defined(__x86_64__)
  if (ZERO_RT_HAS("avx512bf16"))
    return measure(seconds, [](float *own, uint64_t) {
      own[0] = chainsOfHalves(own) > 0 ? 1.0f : 0.5f; // used, so that it is computed
      return 2.0 * kTurns * kChains * 32;
    });
#endif
  (void)seconds;
  return 0;
}

double Roofline::triadBandwidth(double seconds) {
  const uint64_t array = perThread / 3, pieces = array / kPiece;
  return measure(seconds, [=, triad = triadOfThisMachine()](float *own, uint64_t piece) {
    float *a = own + piece % pieces * kPiece;
    triad(a, a + array, a + 2 * array, kPiece);
    return 3.0 * kPiece * sizeof(float);
  });
}

double Roofline::cacheBandwidth(double seconds, uint64_t bytes) {
  const uint64_t array = std::min(bytes / sizeof(float) / unsigned(threads), perThread) / 3;
  return measure(seconds, [=, triad = triadOfThisMachine()](float *own, uint64_t) {
    triad(own, own + array, own + 2 * array, array);
    return 3.0 * double(array) * sizeof(float);
  });
}

double Roofline::loopBandwidth(double seconds, const NativeLoop &loop) {
  const uint64_t array = perThread / 2, pieces = array / kPiece;
  return measure(seconds, [=](float *own, uint64_t piece) {
    float *target = own + piece % pieces * kPiece;
    loop.run(target, target + array, kPiece);
    return 2.0 * kPiece * sizeof(float);
  });
}

double Roofline::copyBandwidth(double seconds) {
  const uint64_t array = perThread / 2, pieces = array / kPiece;
  return measure(seconds, [=](float *own, uint64_t piece) {
    float *target = own + piece % pieces * kPiece;
    std::memcpy(target, target + array, kPiece * sizeof(float));
    return 2.0 * kPiece * sizeof(float);
  });
}

} // namespace zero::rt
