//===- product_timing.cpp - time the algorithms of a product --------------===//

#include "runtime/device/cuda/product_timing.h"

#include "runtime/format/tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zero::rt::cuda {

/// Algorithms that are timed. The library's order is an estimate; it is seldom far off.
static constexpr size_t kMost = 16;
/// One that takes longer than so many times the fastest, in one run, is timed no more. A run is
/// measured with its launch, which takes some microseconds more or less.
static constexpr double kHopeless = 1.5, kLaunchMilliseconds = 0.01;
/// Algorithms are timed in turns, so that a clock that changes changes for all. A turn takes about
/// so long, but at most as many runs; each has up to so many turns, fewer if a run takes long.
static constexpr double kTurnMilliseconds = 1, kAllMilliseconds = 20;
static constexpr double kMostRuns = 32, kMostTurns = 5;

/// Writes numbers of either sign between 2^-7 and 2, as float32, float16 and bfloat16 alike: no
/// denormals, infinities or NaN. Zeros would need less power, and so run at a higher clock.
static Status fill(Arena &arena, uint64_t offset, uint64_t bytes) {
  uint64_t state = 1;
  return arena.write(offset, bytes, [&](char *piece, uint64_t, uint64_t count) {
    for (uint64_t at = 0; at < count; at += sizeof(state)) {
      state = state * 6364136223846793005u + 1442695040888963407u; // of Knuth's MMIX
      const uint64_t four = ((state ^ state >> 29) & 0x83ff83ff83ff83ff) | 0x3c003c003c003c00;
      std::memcpy(piece + at, &four, std::min<uint64_t>(sizeof(four), count - at));
    }
    return Status();
  });
}

namespace {
struct Candidate {
  BlasAlgorithm algorithm;
  double milliseconds = INFINITY; ///< of a run, the least that was measured
};

/// Times runs of one product.
class Timer {
public:
  Timer(Product &product, const BlasContext &context, Lanes &lanes, std::vector<void *> args)
      : product(product), context(context), lanes(lanes), args(std::move(args)) {}

  Status create() {
    ZERO_RT_TRY(begin.create(lanes.sharedGpu(), kEventDefault));
    ZERO_RT_TRY(end.create(lanes.sharedGpu(), kEventDefault));
    return product.makeCall(call);
  }

  Status run(Candidate &candidate, int runs) {
    product.setAlgorithm(candidate.algorithm);
    ZERO_RT_LANES(lanes, cuEventRecord, begin.get(), lanes.current());
    for (int i = 0; i < runs; ++i)
      ZERO_RT_TRY(call->run(context, args.data(), lanes.current()));
    ZERO_RT_LANES(lanes, cuEventRecord, end.get(), lanes.current());
    ZERO_RT_TRY(lanes.await(end.get()));
    float milliseconds = 0;
    ZERO_RT_LANES(lanes, cuEventElapsedTime, &milliseconds, begin.get(), end.get());
    candidate.milliseconds = std::min(candidate.milliseconds, double(milliseconds) / runs);
    return {};
  }

private:
  Product &product;
  const BlasContext &context;
  Lanes &lanes;
  std::vector<void *> args;
  OwnedEvent begin, end;
  std::unique_ptr<ProductCall> call;
};
} // namespace

/// The first of the fastest.
static const Candidate &fastestOf(const std::vector<Candidate> &candidates) {
  return *std::ranges::min_element(candidates, {}, &Candidate::milliseconds);
}

static Status timeAll(Timer &timer, std::vector<Candidate> &candidates) {
  for (Candidate &candidate : candidates) {
    Candidate first = candidate; // the driver loads the kernel
    ZERO_RT_TRY(timer.run(first, 1));
    ZERO_RT_TRY(timer.run(candidate, 1));
  }
  const double least = std::max(fastestOf(candidates).milliseconds, 1e-3); // resolution: 0.5 us
  const double runs = std::clamp(std::floor(kTurnMilliseconds / least), 1.0, kMostRuns);
  const double turns = std::clamp(std::floor(kAllMilliseconds / (least * runs)), 1.0, kMostTurns);
  for (int turn = 0; turn < int(turns); ++turn)
    for (Candidate &candidate : candidates)
      if (candidate.milliseconds <= kHopeless * least + kLaunchMilliseconds)
        ZERO_RT_TRY(timer.run(candidate, int(runs)));
  return {};
}

/// Waits for what was begun before `failure`, since events and memory are freed next, unless it may
/// never end. Returns the cause.
static Status settle(Lanes &lanes, const Status &failure) {
  Status cause = lanes.causeOf(failure);
  if (!lanes.driver().isStuck())
    (void)lanes.finish();
  return cause;
}

static uint64_t nanosecondsOf(const Candidate &candidate) {
  return uint64_t(std::llround(candidate.milliseconds * 1e6));
}

Status chooseFastest(const TimingPlace &place, const proto::Launch &launch, bool hasWorkspace,
                     Product &product, ChosenAlgorithm &chosen) {
  std::vector<void *> args;
  for (const proto::Address &argument : launch.args()) {
    const uint64_t offset = placeOf(place.mesh, argument, place.rank);
    const bool isWorkspace = hasWorkspace && int(args.size()) + 1 == launch.args_size();
    if (!isWorkspace)
      ZERO_RT_TRY(fill(place.arena, offset, argument.bytes()));
    args.push_back(place.arena.base() + offset);
  }
  Timer timer(product, place.context, place.lanes, std::move(args));
  ZERO_RT_TRY(timer.create());
  std::vector<BlasAlgorithm> found;
  ZERO_RT_TRY(product.findAlgorithms(kMost, found));
  std::vector<Candidate> candidates;
  for (const BlasAlgorithm &algorithm : found)
    candidates.push_back({algorithm});
  if (Status status = timeAll(timer, candidates); !status.ok())
    return settle(place.lanes, status);
  const Candidate &fastest = fastestOf(candidates);
  product.setAlgorithm(fastest.algorithm);
  chosen = {fastest.algorithm, nanosecondsOf(fastest), nanosecondsOf(candidates.front())};
  return {};
}

} // namespace zero::rt::cuda
