//===- calibrate.cpp - describes this machine -----------------------------===//

#include "calibrate.h"

#include "handles.h"
#include "runtime/format/machine_file.h"

#include <algorithm>
#include <cstdio>

using namespace zero::rt;

namespace zero::run {

static std::string summaryOf(const proto::Machine &machine) {
  double least = 0, most = 0;
  for (const auto &product : machine.products()) {
    least = least > 0 ? std::min(least, product.flops()) : product.flops();
    most = std::max(most, product.flops());
  }
  auto giga = [](double rate) { return rate * 1e-9; };
  return format("%s, %s: %u rank%s of %u thread%s side by side\n"
                "  peak          %8.1f GFLOP/s of a rank\n"
                "  products      %8.1f to %.1f GFLOP/s, %d sizes\n"
                "  attention     %8.1f GFLOP/s forward, %.1f backward\n"
                "  memory        %8.1f GB/s, %.1f out of %.1f MiB of caches\n"
                "  gather        %8.1f GB/s received, %.1f us\n"
                "  reduce        %8.1f GB/s received, %.1f us\n",
                escape(machine.name()).c_str(), machine.isa().c_str(), machine.ranks(),
                machine.ranks() == 1 ? "" : "s", machine.threads(),
                machine.threads() == 1 ? "" : "s", giga(machine.peak_flops()), giga(least),
                giga(most), machine.products_size(), giga(machine.attention().forward_flops()),
                giga(machine.attention().backward_flops()), giga(machine.memory_bandwidth()),
                giga(machine.cache_bandwidth()), machine.cache_bytes() / (1 << 20),
                giga(machine.gather().bandwidth()), machine.gather().latency() * 1e6,
                giga(machine.reduce().bandwidth()), machine.reduce().latency() * 1e6);
}

Status calibrate(const Options &options) {
  zero_rt_calibration_options calibration;
  zero_rt_calibration_options_default(&calibration);
  calibration.ranks = static_cast<int>(options.ranks.value_or(0));
  if (options.session.threads_per_rank > 0)
    calibration.threads_per_rank = options.session.threads_per_rank;
  calibration.pin = options.session.pin;
  calibration.disk_folder = options.disk.empty() ? nullptr : options.disk.c_str();
  ZERO_RT_TRY(take(zero_rt_calibrate(&calibration, options.calibration.c_str())));
  proto::Machine machine;
  ZERO_RT_TRY(readMachine(options.calibration, machine));
  if (!options.quiet)
    std::fputs(summaryOf(machine).c_str(), stdout);
  if (!options.quiet && machine.has_disk())
    std::printf("  disk          %8.1f GB/s read, %.1f written, of all ranks\n",
                machine.disk().read_bandwidth() * 1e-9, machine.disk().write_bandwidth() * 1e-9);
  return {};
}

} // namespace zero::run
