//===- explain.h - why a simulated step takes so long -----------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_EXPLAIN_H
#define TOOLS_ZERO_SIM_EXPLAIN_H

#include "replay.h"
#include "rows.h"
#include "runtime/support/json_writer.h"

#include <array>
#include <optional>

namespace zero::sim {

/// What a lane moves for a rank, beside its computing.
struct LinkUse {
  zero_rt_lane lane;
  uint64_t bytes = 0;
  double has = 0;   ///< bytes a second while it is busy
  double needs = 0; ///< with which it would take as long as computing takes
};

/// Figures of a simulated step.
struct Explanation {
  double flops = 0;          ///< operations of a rank's products, convolutions and attention
  double again = 0;          ///< of these, those that are recomputed
  double flopsPerSecond = 0; ///< of a rank
  double peakShare = 0;      ///< of the peak of what it multiplies; 0: unknown
  uint64_t tokens = 0;       ///< of all ranks in a step; 0: inputs are no tokens
  double tokensPerSecond = 0;
  std::optional<double> tokensPerPrice;         ///< by the price of the machine
  std::vector<LinkUse> links;                   ///< of lanes that move something
  std::array<double, ZERO_RT_LANES> critical{}; ///< seconds of the critical path, by lane
};

Explanation explain(const rt::proto::Program &program, const planning::Machine &machine,
                    const Replay &replay);

/// The table of links.
Rows linkRows(const Explanation &explanation);

/// Lines of text.
std::string explanationText(const Explanation &explanation, double seconds);

/// Members of a JSON object: tokens of a step, a second and, if known, for a price of 1.
void writeTokens(rt::JsonWriter &json, const Explanation &explanation);

/// A JSON object.
void writeExplanation(rt::JsonWriter &json, const Explanation &explanation);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_EXPLAIN_H
