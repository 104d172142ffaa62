//===- calibrate.cpp - measure and describe this machine ------------------===//

#include "runtime/measure/calibrate.h"

#include "runtime/io/disk_rate.h"
#include "runtime/measure/library_rate.h"
#include "runtime/measure/measurements.h"
#include "runtime/support/processor.h"
#include "runtime/support/thread.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <unistd.h>

namespace zero::rt {

static constexpr int kRounds = 3;
static constexpr double kSeconds = 0.01;      ///< of each kernel in a round
static constexpr double kLimitSeconds = 0.04; ///< of each limit and loop
/// Rows and columns of the products that are measured, in all combinations.
static constexpr uint32_t kSizes[] = {128, 512, 2048};
static constexpr uint32_t kAttentionRows[] = {64, 256, 1024};
/// The largest product's operands and workspace fit in.
static constexpr uint64_t kLeastBytes = uint64_t(96) << 20;
static constexpr uint64_t kCollectiveBytes = uint64_t(16) << 20; ///< of all slices together
static constexpr size_t kCollectives = 7, kEmptyCollectives = 512;

//===----------------------------------------------------------------------===//
// Measurements of ranks
//===----------------------------------------------------------------------===//

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A Measure that calls a function of Roofline.
template <typename... Args>
static auto limit(double (Roofline::*measure)(double, Args...),
                  std::type_identity_t<Args>... args) {
  return [=](Probe &probe, double &rate) {
    rate = ((*probe.roofline).*measure)(kLimitSeconds, args...);
    return Status();
  };
}

/// Launches a second.
static auto launches(TimedKernel timed) {
  return [timed = std::move(timed)](Probe &probe, double &rate) {
    double median = 0;
    ZERO_RT_TRY(timeKernel(timed, probe.threads, probe.roofline->getMemory(), kSeconds, median));
    rate = 1 / median;
    return Status();
  };
}

/// The same for attention, which omits tiles only if its operands are small.
static auto attentionLaunches(TimedKernel timed) {
  return [launch = launches(std::move(timed))](Probe &probe, double &rate) {
    probe.roofline->fill();
    return launch(probe, rate);
  };
}

/// Bytes a second that a rank receives in the median of some collectives, waiting left out.
static Status measureCollective(Probe &probe, bool gathers, double &rate) {
  Communicator &ranks = *probe.communicator;
  const Arena &memory = probe.roofline->getMemory();
  const uint64_t elements = kCollectiveBytes / sizeof(float) / unsigned(ranks.ranks());
  const uint64_t received = elements * sizeof(float) * unsigned(ranks.ranks() - 1);
  const uint64_t places = std::max<uint64_t>(memory.bytes() / kCollectiveBytes, 1);
  std::array<double, kCollectives> moving;
  for (size_t call = 0; call < kCollectives; ++call) {
    char *whole = memory.base() + call % places * kCollectiveBytes;
    void *own = whole + uint64_t(ranks.rank()) * elements * sizeof(float);
    const uint64_t waited = ranks.waited();
    const auto begin = std::chrono::steady_clock::now();
    ZERO_RT_TRY(gathers ? ranks.allGather({"gather"}, ZERO_RT_F32, own, whole, elements)
                        : ranks.reduceScatter({"reduce"}, {ZERO_RT_F32}, whole, own, elements));
    moving[call] = secondsSince(begin) - double(ranks.waited() - waited) * 1e-9;
  }
  std::ranges::nth_element(moving, moving.begin() + kCollectives / 2);
  rate = double(received) / moving[kCollectives / 2];
  return {};
}

/// Collectives a second that move nothing.
static Status measureLatency(Probe &probe, bool gathers, double &rate) {
  Communicator &ranks = *probe.communicator;
  char *place = probe.roofline->getMemory().base();
  for (size_t call = 0; call < kEmptyCollectives; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    ZERO_RT_TRY(gathers ? ranks.allGather({"gather"}, ZERO_RT_F32, place, place, 0)
                        : ranks.reduceScatter({"reduce"}, {ZERO_RT_F32}, place, place, 0));
    rate = std::max(rate, 1 / secondsSince(begin));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static const char *isaName() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
         : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
         : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                               : "x86-64";
#endif
}

static void describe(const TeamOptions &options, proto::Machine &machine) {
  machine.set_name(processorName());
  machine.set_source("measured by zero-run " ZERO_VERSION " --calibrate");
  machine.set_isa(isaName());
  machine.set_cores(uint32_t(usableCores()));
  machine.set_ranks(uint32_t(options.ranks));
  machine.set_threads(uint32_t(options.threadsPerRank));
  machine.set_memory_bytes(double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGESIZE)) /
                           options.ranks);
  machine.set_overlaps(false); // a rank's thread does one command after the other
}

/// Bytes of the caches that no other rank's threads use.
static uint64_t ownCache(const TeamOptions &options) {
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return uint64_t(std::max(bytes, 256L << 10)) * unsigned(options.threadsPerRank);
}

/// Operations per second of a loop, without the time for its bytes: `bandwidth` is that of the
/// loop, `memory` that of copies alone.
static double nativeFlops(const NativeLoop &loop, double bandwidth, double memory, double peak) {
  const double flopsPerByte = loop.flops / (2 * sizeof(float));
  const double seconds = 1 / bandwidth - 1 / memory;
  return seconds * peak > flopsPerByte ? flopsPerByte / seconds : peak;
}

namespace {
/// The figures of a machine, measured and then put where they belong.
class Calibration {
public:
  Calibration(const TeamOptions &options, proto::Machine &machine)
      : options(options), machine(machine), figures(options, kLeastBytes) {}

  Status run();

private:
  using Put = std::function<void(double rate)>;
  void add(Measurements::Measure measure, Put put) {
    puts.emplace_back(figures.add(std::move(measure)), std::move(put));
  }
  void addLimits();
  void addLoops();
  void addProducts();
  void addLibrary();
  void addCollectives();

  const TeamOptions &options;
  proto::Machine &machine;
  Measurements figures;
  std::vector<std::pair<size_t, Put>> puts; ///< done in this order
};
} // namespace

void Calibration::addLimits() {
  add(limit(&Roofline::flops), [this](double rate) { machine.set_peak_flops(rate); });
  add(limit(&Roofline::halfFlops), [this](double rate) {
    if (rate > 0)
      machine.set_half_flops(std::max(rate, machine.peak_flops()));
  });
  add(limit(&Roofline::triadBandwidth),
      [this](double rate) { machine.set_memory_bandwidth(rate); });
  // The better of both, as in a profile.
  add(limit(&Roofline::copyBandwidth), [this](double rate) {
    machine.set_copy_bandwidth(rate);
    machine.set_memory_bandwidth(std::max(rate, machine.memory_bandwidth()));
  });
  const uint64_t cache = ownCache(options);
  machine.set_cache_bytes(double(cache));
  add(limit(&Roofline::cacheBandwidth, cache / 2), [this](double rate) {
    machine.set_cache_bandwidth(std::max(rate, machine.memory_bandwidth()));
  });
}

/// Compiled loops are between the two that are measured: their mean time counts.
void Calibration::addLoops() {
  const NativeLoop gelu = geluLoop(), norm = layerNormLoop();
  auto flopsOf = [this](const NativeLoop &loop, double bandwidth) {
    return nativeFlops(loop, bandwidth, machine.memory_bandwidth(), machine.peak_flops());
  };
  add(limit(&Roofline::loopBandwidth, gelu),
      [=, this](double rate) { machine.set_native_flops(flopsOf(gelu, rate)); });
  add(limit(&Roofline::loopBandwidth, norm), [=, this](double rate) {
    machine.set_native_flops(2 / (1 / machine.native_flops() + 1 / flopsOf(norm, rate)));
  });
}

void Calibration::addProducts() {
  for (auto [transposedA, transposedB] : {std::pair(false, false), {false, true}, {true, false}})
    for (uint32_t m : kSizes)
      for (uint32_t n : kSizes)
        for (uint32_t k : kSizes) {
          proto::Machine::Product &product = *machine.add_products();
          product.set_m(m);
          product.set_n(n);
          product.set_k(k);
          product.set_transposed_a(transposedA);
          product.set_transposed_b(transposedB);
          TimedKernel timed = timedProduct(m, n, k, transposedA, transposedB);
          add(launches(timed),
              [this, at = machine.products_size() - 1, flops = timed.flops](double rate) {
                machine.mutable_products(at)->set_flops(rate * flops);
              });
        }
}

void Calibration::addLibrary() {
  add(launches(timedProduct(8, 8, 8, false, false)),
      [this](double rate) { machine.set_launch_seconds(1 / rate); });
  for (uint32_t rows : kAttentionRows) {
    proto::Machine::Attention &attention = *machine.add_attention();
    attention.set_rows(rows);
    const TimedKernel forward = timedAttention(rows, false), backward = timedAttention(rows, true);
    add(attentionLaunches(forward), [&attention, flops = forward.flops](double rate) {
      attention.set_forward_flops(rate * flops);
    });
    add(attentionLaunches(backward), [&attention, flops = backward.flops](double rate) {
      attention.set_backward_flops(rate * flops);
    });
  }
  const TimedKernel convolution = timedConvolution();
  add(launches(convolution), [this, flops = convolution.flops](double rate) {
    machine.set_convolution_flops(rate * flops);
  });
}

/// A single rank receives nothing from others: it would copy.
void Calibration::addCollectives() {
  for (bool gathers : {true, false}) {
    proto::Machine::Collective &kind =
        gathers ? *machine.mutable_gather() : *machine.mutable_reduce();
    add([gathers](Probe &probe, double &rate) { return measureLatency(probe, gathers, rate); },
        [&kind](double rate) { kind.set_latency(1 / rate); });
    add([gathers](Probe &probe, double &rate) { return measureCollective(probe, gathers, rate); },
        [this, &kind](double rate) {
          kind.set_bandwidth(rate > 0 ? rate : machine.copy_bandwidth() / 2);
        });
  }
}

Status Calibration::run() {
  describe(options, machine);
  addLimits();
  addLoops();
  addProducts();
  addLibrary();
  addCollectives();
  ZERO_RT_TRY(figures.run(kRounds));
  for (auto &[number, put] : puts)
    put(figures.rate(number));
  return {};
}

/// All drives together, since a step uses them so.
static Status addDisks(const TeamOptions &options, const DriveFolders &folders,
                       proto::Machine &machine) {
  DiskRate all;
  ZERO_RT_TRY(measureDisks(folders, size_t(options.ranks), all));
  proto::Machine::Disk &disk = *machine.mutable_disk();
  const size_t drives = folders.drives();
  disk.set_read_bandwidth(all.read / double(drives));
  disk.set_write_bandwidth(all.write / double(drives));
  disk.set_mixed_bandwidth(all.mixed / double(drives));
  if (drives > 1)
    disk.set_count(drives);
  return {};
}

Status calibrate(const TeamOptions &options, const std::string &diskFolders,
                 proto::Machine &machine) {
  DriveFolders folders;
  ZERO_RT_TRY(DriveFolders::parse(diskFolders, folders));
  if (!folders.empty())
    ZERO_RT_TRY(addDisks(options, folders, machine));
  return Calibration(options, machine).run();
}

} // namespace zero::rt
