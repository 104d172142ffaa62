//===- calibrate.cpp - measure and describe this machine ------------------===//

#include "calibrate.h"

#include "handles.h"
#include "runtime/format/machine_file.h"

#include <algorithm>
#include <cstdio>
#include <limits>

using namespace zero::rt;

namespace zero::run {

/// "FROM to TO GFLOP/s" of what `flops` says of each row.
template <typename Rows, typename Flops>
static std::string rangeOf(const Rows &rows, Flops flops) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto &row : rows) {
    least = std::min(least, flops(row));
    most = std::max(most, flops(row));
  }
  return format("%8.1f to %.1f GFLOP/s", least * 1e-9, most * 1e-9);
}

static std::string linkText(const char *name, const proto::Machine::Collective &link) {
  return format("  %-12s  %8.1f GB/s received, %.1f us\n", name, link.bandwidth() * 1e-9,
                link.latency() * 1e6);
}

static std::string summaryOf(const proto::Machine &machine) {
  std::string text =
      format("%s, %s: %u rank%s of %u thread%s side by side\n", escape(machine.name()).c_str(),
             machine.isa().c_str(), machine.ranks(), machine.ranks() == 1 ? "" : "s",
             machine.threads(), machine.threads() == 1 ? "" : "s");
  text += format("  peak          %8.1f GFLOP/s\n", machine.peak_flops() * 1e-9);
  text += "  products      " +
          rangeOf(machine.products(), [](const auto &product) { return product.flops(); }) + "\n";
  text += "  attention     " +
          rangeOf(machine.attention(), [](const auto &rate) { return rate.forward_flops(); }) +
          " forward\n";
  text += format("  memory        %8.1f GB/s, %.1f out of %.1f MiB of caches\n",
                 machine.memory_bandwidth() * 1e-9, machine.cache_bandwidth() * 1e-9,
                 machine.cache_bytes() / (1 << 20));
  text += linkText("gather", machine.gather()) + linkText("reduce", machine.reduce());
  if (machine.has_disk()) {
    const proto::Machine::Disk &disk = machine.disk();
    const unsigned drives = disk.has_count() ? disk.count() : 1;
    text += format("  disk          %8.1f GB/s read, %.1f written, %.1f both at once, of all ranks",
                   drives * disk.read_bandwidth() * 1e-9, drives * disk.write_bandwidth() * 1e-9,
                   drives * disk.mixed_bandwidth() * 1e-9);
    text += drives > 1 ? format(" on %u drives\n", drives) : "\n";
  }
  return text;
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
  return {};
}

} // namespace zero::run
