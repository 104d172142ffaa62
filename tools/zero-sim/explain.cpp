//===- explain.cpp - why a simulated step takes so long -------------------===//

#include "explain.h"

#include "runtime/format/tables.h"
#include "runtime/support/status.h"
#include "runtime/verify/lifetimes.h"
#include "zero/Machine/CommandCosts.h"
#include "zero/Planning/ByteSize.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

namespace {
/// Operations of products, convolutions and attention on the devices.
struct Work {
  double flops = 0, again = 0;
  double least = 0; ///< seconds at the peak
};
} // namespace

static void addKernel(const proto::Program &program, const Machine &machine,
                      const proto::Command &command, double times, Work &work) {
  const KernelCost cost =
      costOf(program.kernels(int(command.launch().kernel())), command.launch().length());
  if (cost.kind == KernelKind::Native)
    return;
  work.flops += times * cost.flops;
  work.least += times * cost.flops / (cost.half ? machine.halfFlops : machine.peakFlops);
  if (command.recomputed())
    work.again += times * cost.flops;
}

static Work workOf(const proto::Program &program, const Machine &machine) {
  Work work;
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && command.lane() == proto::COMPUTE)
        addKernel(program, machine, command, double(iterationsOf(segment, command)), work);
  return work;
}

/// Tokens of all ranks in a step: those of an input of numbers of embeddings.
static uint64_t tokensOf(const proto::Program &program) {
  for (const proto::Input &input : program.inputs())
    if (input.tokens())
      return input.shape(0) * input.shape(1) * std::max(program.micro_batches(), 1u) *
             dataRanksOf(program);
  return 0;
}

static std::vector<LinkUse> linksOf(const Timeline &timeline) {
  std::vector<LinkUse> links;
  const double computing = timeline.lanes[ZERO_RT_COMPUTE].seconds;
  for (size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const auto [busy, bytes] = timeline.lanes[lane];
    if (bytes > 0 && busy > 0)
      links.push_back({zero_rt_lane(lane), bytes, double(bytes) / busy,
                       computing > 0 ? double(bytes) / computing : 0});
  }
  return links;
}

/// The price of the nodes of all ranks for a second; 0: unknown.
static double pricePerSecond(const proto::Program &program, const Machine &machine) {
  const auto here = double(ranksOnNode(machine, program.ranks()));
  return machine.price * std::ceil(double(program.ranks()) / here) / 3600;
}

Explanation explain(const proto::Program &program, const Machine &machine, const Replay &replay) {
  const double seconds = std::max(replay.timeline.seconds, 1e-12);
  const Work work = workOf(program, machine);
  Explanation explanation;
  explanation.flops = work.flops;
  explanation.again = work.again;
  explanation.flopsPerSecond = work.flops / seconds;
  explanation.peakShare = work.least / seconds;
  explanation.tokens = tokensOf(program);
  explanation.tokensPerSecond = double(explanation.tokens) / seconds;
  if (const double price = pricePerSecond(program, machine); price > 0)
    explanation.tokensPerPrice = explanation.tokensPerSecond / price;
  explanation.links = linksOf(replay.timeline);
  explanation.critical = replay.timeline.critical;
  return explanation;
}

static std::string rate(double bytesPerSecond) {
  return format("%.3g GB/s", bytesPerSecond * 1e-9);
}

/// How many operations a rank does for each byte of the lane: its arithmetic intensity.
static double intensity(const Explanation &explanation, const LinkUse &link) {
  return explanation.flops / double(link.bytes);
}

Rows linkRows(const Explanation &explanation) {
  Rows rows{{"link", "moved", "FLOP/byte", "as computing", "has", ""}};
  for (const LinkUse &link : explanation.links)
    rows.push_back({zero_rt_lane_name(link.lane), formatBytes(double(link.bytes)),
                    format("%.4g", intensity(explanation, link)), rate(link.needs), rate(link.has),
                    link.has < link.needs ? "slower than computing" : ""});
  return rows;
}

static std::string criticalText(const Explanation &explanation, double seconds) {
  std::vector<std::pair<double, size_t>> parts;
  for (size_t lane = 0; lane < explanation.critical.size(); ++lane)
    if (explanation.critical[lane] > 0)
      parts.push_back({explanation.critical[lane], lane});
  std::ranges::sort(parts, std::greater<>());
  std::string text;
  for (auto [part, lane] : parts)
    text += format("%s%s %.1f %%", text.empty() ? "critical path: " : ", ",
                   zero_rt_lane_name(zero_rt_lane(lane)), 100 * part / seconds);
  return text.empty() ? "" : text + "\n";
}

std::string explanationText(const Explanation &explanation, double seconds) {
  std::string text;
  if (explanation.flops > 0)
    text += format("each rank: %.4g TFLOP/s, %.1f %% of the peak%s\n",
                   explanation.flopsPerSecond * 1e-12, 100 * explanation.peakShare,
                   explanation.again > 0
                       ? format("; without what is recomputed %.4g TFLOP/s",
                                (explanation.flops - explanation.again) / seconds * 1e-12)
                             .c_str()
                       : "");
  if (explanation.tokens > 0)
    text += "all ranks: " + countText(explanation.tokensPerSecond) + " tokens/s";
  if (explanation.tokens > 0 && explanation.tokensPerPrice)
    text += format(", %.4g tokens for a price of 1", *explanation.tokensPerPrice);
  text += explanation.tokens > 0 ? "\n" : "";
  return text + criticalText(explanation, seconds) +
         (explanation.links.empty() ? "" : rowsText(linkRows(explanation)));
}

void writeTokens(JsonWriter &json, const Explanation &explanation) {
  json.member("tokens", explanation.tokens);
  json.member("tokens_per_second", explanation.tokensPerSecond);
  if (explanation.tokensPerPrice)
    json.member("tokens_per_price", *explanation.tokensPerPrice);
}

void writeExplanation(JsonWriter &json, const Explanation &explanation) {
  json.object([&] {
    json.member("flops", explanation.flops);
    json.member("recomputed_flops", explanation.again);
    json.member("flops_per_second", explanation.flopsPerSecond);
    json.member("peak_share", explanation.peakShare);
    writeTokens(json, explanation);
    json.key("critical_path").object([&] {
      for (size_t lane = 0; lane < explanation.critical.size(); ++lane)
        if (explanation.critical[lane] > 0)
          json.member(zero_rt_lane_name(zero_rt_lane(lane)), explanation.critical[lane]);
    });
    json.key("links").object([&] {
      for (const LinkUse &link : explanation.links)
        json.key(zero_rt_lane_name(link.lane)).object([&] {
          json.member("bytes", link.bytes);
          json.member("flops_per_byte", intensity(explanation, link));
          json.member("needs", link.needs);
          json.member("has", link.has);
        });
    });
  });
}

} // namespace zero::sim
