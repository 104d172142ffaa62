//===- figures.cpp - the figures of a machine by name ---------------------===//

#include "figures.h"

using namespace zero::planning;

namespace zero::sim {

static std::vector<double *> productRates(Machine &machine) {
  std::vector<double *> rates = {&machine.halfFlops, &machine.peakFlops};
  for (ProductRate &rate : machine.products)
    rates.push_back(&rate.flops);
  return rates;
}

static std::vector<double *> attentionRates(Machine &machine) {
  std::vector<double *> rates;
  for (AttentionRate &rate : machine.attention)
    rates.insert(rates.end(), {&rate.forward, &rate.backward});
  return rates;
}

static constexpr Figure kFigures[] = {
    {"peak", "FLOP/s", productRates},
    {"attention", "FLOP/s", attentionRates},
    {"convolutions", "FLOP/s", [](Machine &m) { return std::vector{&m.convolutionFlops}; }},
    {"loops", "FLOP/s", [](Machine &m) { return std::vector{&m.nativeFlops}; }},
    {"memory", "B/s", [](Machine &m) { return std::vector{&m.memoryBandwidth, &m.copyBandwidth}; }},
    {"caches", "B/s", [](Machine &m) { return std::vector{&m.cacheBandwidth}; }},
    {"launch-seconds", nullptr, [](Machine &m) { return std::vector{&m.launchSeconds}; }},
    {"node", "B/s",
     [](Machine &m) { return std::vector{&m.gather.bandwidth, &m.reduce.bandwidth}; }},
    {"node-seconds", nullptr,
     [](Machine &m) { return std::vector{&m.gather.latency, &m.reduce.latency}; }},
    {"network", "B/s", [](Machine &m) { return std::vector{&m.network.bandwidth}; }},
    {"network-seconds", nullptr, [](Machine &m) { return std::vector{&m.network.latency}; }},
    {"h2d", "B/s",
     [](Machine &m) {
       return std::vector{&m.hostToDevice.bandwidth, &m.hostToDevice.nodeBandwidth};
     }},
    {"d2h", "B/s",
     [](Machine &m) {
       return std::vector{&m.deviceToHost.bandwidth, &m.deviceToHost.nodeBandwidth};
     }},
    {"host", "B/s", [](Machine &m) { return std::vector{&m.host.memoryBandwidth}; }},
    {"host-loops", "FLOP/s", [](Machine &m) { return std::vector{&m.host.nativeFlops}; }},
    {"disks", nullptr, [](Machine &m) { return std::vector{&m.disk.count}; }},
    {"disk-read", "B/s", [](Machine &m) { return std::vector{&m.disk.read}; }},
    {"disk-write", "B/s", [](Machine &m) { return std::vector{&m.disk.write}; }},
    {"disk-mixed", "B/s", [](Machine &m) { return std::vector{&m.disk.mixed}; }},
    {"disk-bus", "B/s", [](Machine &m) { return std::vector{&m.disk.bus}; }},
};

std::span<const Figure> machineFigures() { return kFigures; }

bool hasFigure(const Figure &figure, Machine &machine) {
  const std::vector<double *> values = figure.of(machine);
  return !values.empty() && *values.front() > 0;
}

void scaleFigure(const Figure &figure, Machine &machine, double factor) {
  for (double *value : figure.of(machine))
    *value *= factor;
}

} // namespace zero::sim
