//===- machine.cpp - limits of this machine -------------------------------===//

#include "runtime/measure/machine.h"

#include "runtime/measure/measurements.h"

namespace zero::rt {

static constexpr int kRounds = 4;
static constexpr double kSeconds = 0.04; ///< of each limit in a round

Status measureMachine(const TeamOptions &options, zero_rt_machine &machine) {
  Measurements limits(options);
  auto add = [&](double (Roofline::*measure)(double seconds)) {
    return limits.add([measure](Probe &probe, double &rate) {
      rate = ((*probe.roofline).*measure)(kSeconds);
      return Status();
    });
  };
  const size_t flops = add(&Roofline::flops), triad = add(&Roofline::triadBandwidth),
               copy = add(&Roofline::copyBandwidth), halves = add(&Roofline::halfFlops);
  ZERO_RT_TRY(limits.run(kRounds));
  machine = {limits.rate(flops), limits.rate(triad), limits.rate(copy), limits.rate(halves)};
  return {};
}

} // namespace zero::rt
