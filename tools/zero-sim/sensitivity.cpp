//===- sensitivity.cpp - which figures of a machine a step depends on ------===//

#include "sensitivity.h"

#include "runtime/support/status.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

/// The factor between the machines that are compared.
static constexpr double kStep = 1.01;
static constexpr double kLeast = 0.005;

namespace {
/// A figure of a machine, of which some are several rates.
struct Figure {
  const char *name;
  std::vector<double *> (*of)(Machine &machine);
};
} // namespace

static std::vector<double *> productRates(Machine &machine) {
  std::vector<double *> rates = {&machine.peakFlops, &machine.halfFlops};
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
    {"products (flops)", productRates},
    {"attention (flops)", attentionRates},
    {"convolutions (flops)", [](Machine &m) { return std::vector{&m.convolutionFlops}; }},
    {"compiled loops (flops)", [](Machine &m) { return std::vector{&m.nativeFlops}; }},
    {"memory", [](Machine &m) { return std::vector{&m.memoryBandwidth, &m.copyBandwidth}; }},
    {"caches", [](Machine &m) { return std::vector{&m.cacheBandwidth}; }},
    {"a launch (seconds)", [](Machine &m) { return std::vector{&m.launchSeconds}; }},
    {"collectives in a node",
     [](Machine &m) { return std::vector{&m.gather.bandwidth, &m.reduce.bandwidth}; }},
    {"their latency (seconds)",
     [](Machine &m) { return std::vector{&m.gather.latency, &m.reduce.latency}; }},
    {"network", [](Machine &m) { return std::vector{&m.network.bandwidth}; }},
    {"its latency (seconds)", [](Machine &m) { return std::vector{&m.network.latency}; }},
    {"host to device",
     [](Machine &m) {
       return std::vector{&m.hostToDevice.bandwidth, &m.hostToDevice.nodeBandwidth};
     }},
    {"device to host",
     [](Machine &m) {
       return std::vector{&m.deviceToHost.bandwidth, &m.deviceToHost.nodeBandwidth};
     }},
    {"memory of the host", [](Machine &m) { return std::vector{&m.host.memoryBandwidth}; }},
    {"loops on the host (flops)", [](Machine &m) { return std::vector{&m.host.nativeFlops}; }},
    {"disk, read", [](Machine &m) { return std::vector{&m.disk.read}; }},
    {"disk, write", [](Machine &m) { return std::vector{&m.disk.write}; }},
    {"disk, both at once", [](Machine &m) { return std::vector{&m.disk.mixed}; }},
    {"bus of all disks", [](Machine &m) { return std::vector{&m.disk.bus}; }},
};

/// The logarithm of the time of a step on `machine` with `figure` times `factor`.
static double logSeconds(const proto::Program &program, Machine machine, double slowest,
                         const Figure &figure, double factor) {
  for (double *value : figure.of(machine))
    *value *= factor; // what the machine does not have stays 0
  return std::log(replay(program, machine, slowest).timeline.seconds);
}

std::vector<Sensitivity> findSensitivities(const proto::Program &program, const Machine &machine,
                                           double slowest) {
  std::vector<Sensitivity> found;
  for (const Figure &figure : kFigures) {
    const double slope = (logSeconds(program, machine, slowest, figure, kStep) -
                          logSeconds(program, machine, slowest, figure, 1 / kStep)) /
                         (2 * std::log(kStep));
    if (std::abs(slope) >= kLeast)
      found.push_back({figure.name, slope});
  }
  std::ranges::sort(found, std::ranges::greater(),
                    [](const Sensitivity &each) { return std::abs(each.slope); });
  return found;
}

Rows sensitivityRows(const std::vector<Sensitivity> &found) {
  Rows rows{{"figure of the machine", "d log time / d log figure"}};
  for (const auto &[figure, slope] : found)
    rows.push_back({figure, format("%+.3f", slope)});
  return rows;
}

void writeSensitivities(JsonWriter &json, const std::vector<Sensitivity> &found) {
  json.object([&] {
    for (const auto &[figure, slope] : found)
      json.member(figure, slope);
  });
}

} // namespace zero::sim
