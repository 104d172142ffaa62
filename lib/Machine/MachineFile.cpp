//===- MachineFile.cpp - machines by name or file -------------------------===//

#include "zero/Machine/MachineFile.h"

#include "Presets.h"
#include "runtime/format/machine_file.h"

#include <algorithm>
#include <filesystem>

namespace zero {

using rt::proto::Machine;

static planning::CollectiveRate rateOf(const Machine::Collective &collective) {
  return {collective.bandwidth(), collective.latency()};
}

static planning::HostLink linkOf(const Machine::HostLink &link) {
  return {link.bandwidth(), link.node_bandwidth(), link.latency()};
}

/// A missing figure is set to the limit that applies to it.
static planning::Machine toPlanning(const Machine &from) {
  planning::Machine machine;
  machine.name = from.name();
  machine.isa = from.isa();
  machine.cores = from.cores();
  machine.ranks = from.ranks();
  machine.threads = from.threads();
  machine.memoryBytes = from.memory_bytes();
  const double peak = machine.peakFlops = from.peak_flops();
  machine.halfFlops = from.has_half_flops() ? from.half_flops() : peak;
  const double memory = machine.memoryBandwidth = from.memory_bandwidth();
  machine.copyBandwidth = from.has_copy_bandwidth() ? from.copy_bandwidth() : memory;
  machine.cacheBytes = from.cache_bytes();
  machine.cacheBandwidth = from.has_cache_bandwidth() ? from.cache_bandwidth() : memory;
  machine.launchSeconds = from.launch_seconds();
  machine.overlaps = from.overlaps();
  machine.products.clear();
  for (const Machine::Product &product : from.products())
    machine.products.push_back({double(product.m()), double(product.n()), double(product.k()),
                                product.transposed_a(), product.transposed_b(), product.flops()});
  machine.attention.clear();
  for (const Machine::Attention &attention : from.attention())
    machine.attention.push_back(
        {double(attention.rows()), attention.forward_flops(), attention.backward_flops()});
  machine.convolutionFlops = from.has_convolution_flops() ? from.convolution_flops() : peak;
  machine.nativeFlops = from.has_native_flops() ? from.native_flops() : peak;
  machine.gather = rateOf(from.gather());
  machine.reduce = rateOf(from.reduce());
  const Machine::Disk &disk = from.disk();
  machine.disk = {disk.read_bandwidth(),
                  disk.write_bandwidth(),
                  disk.mixed_bandwidth(),
                  disk.bus_bandwidth(),
                  disk.has_count() ? double(disk.count()) : 1,
                  disk.bytes(),
                  disk.endurance()};
  machine.price = from.price();
  const Machine::Host &host = from.host();
  machine.host = {host.memory_bytes(), host.memory_bandwidth(), host.native_flops()};
  machine.hostToDevice = linkOf(from.host_to_device());
  machine.deviceToHost = linkOf(from.device_to_host());
  machine.network = {from.network().ranks_per_node(), from.network().bandwidth(),
                     from.network().latency()};
  return machine;
}

std::string defaultMachine(bool onGpu) { return onGpu ? "h100" : planning::Machine().name; }

std::string machinePresets() {
  std::string names = planning::Machine().name;
  for (const Preset &preset : presets())
    names += ", " + std::string(preset.name);
  return names;
}

std::string loadMachine(const std::string &name, planning::Machine &machine) {
  if (name == planning::Machine().name) {
    machine = {};
    return "";
  }
  Machine description;
  rt::Status status;
  auto preset = std::ranges::find(presets(), name, &Preset::name);
  if (preset != presets().end())
    status = rt::parseMachine(std::string(preset->json), description);
  else
    status = rt::readMachine(name, description);
  if (status.ok())
    machine = toPlanning(description);
  else if (!std::filesystem::exists(name))
    return status.getMessage() + "; the presets are " + machinePresets();
  return status.getMessage();
}

} // namespace zero
