//===- executor_graphs.cpp - execute commands as graphs -------------------===//
//
// The commands of an iteration are divided into stretches. Where the host has to wait for a
// predicate, and around what cannot be part of a graph, a stretch ends. Each distinct one is given
// to the streams of a device once, captured into a graph the second time, and launched as one piece
// of work from then on.
//
//===----------------------------------------------------------------------===//

#include "runtime/execute/executor.h"

#include "runtime/format/tables.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>

namespace zero::rt {

/// Fewer commands are not worth a graph.
static constexpr std::ptrdiff_t kFewestCommands = 3;

bool Executor::usesGraphs() const {
  return graphsAllowed && !lanes && !observers.isAnyWatching() &&
         communicator.graphUse() != GraphUse::None;
}

/// Whether a graph may have `command`. It never waits on the host.
bool Executor::mayCapture(const Command &command) const {
  if (const auto *check = std::get_if<CheckCommand>(&command.body))
    return check->deferred;
  if (std::holds_alternative<CollectiveCommand>(command.body))
    return communicator.graphUse() == GraphUse::Within;
  return !std::holds_alternative<DiskCommand>(command.body);
}

bool Executor::mayRun(const Command &command, const CommandSegment &segment, uint64_t iteration,
                      const StepRequest &request) const {
  return runsIn(request.mode, command.forward, command.delayed) &&
         runsInIteration(command.when, iteration, segment.repeat);
}

/// Sets `stretch` to the commands from its begin on that can be captured together. The predicate of
/// the first one is known.
void Executor::cutStretch(const CommandSegment &segment, uint64_t iteration,
                          const StepRequest &request) {
  stretch.runs.clear();
  decided = known;
  for (size_t at = stretch.begin; at < segment.commands.size(); ++at) {
    const Command &command = segment.commands[at];
    bool runs = mayRun(command, segment, iteration, request);
    if (runs && command.predicate > 0) {
      if (!decided[command.predicate - 1])
        return;
      runs = *data.places().at<uint8_t>(data.places().predicates + command.predicate - 1) != 0;
    }
    if (runs && !mayCapture(command))
      return;
    stretch.runs.push_back(runs);
    if (runs)
      for (uint32_t predicate : command.settles)
        decided[predicate] = false;
  }
}

Status Executor::runInGraphs(const CommandSegment &segment, uint64_t iteration,
                             const StepRequest &request) {
  stretch.segment = size_t(&segment - segments.data());
  for (stretch.begin = 0; stretch.begin < segment.commands.size();) {
    const Command &command = segment.commands[stretch.begin];
    if (bool ignored; mayRun(command, segment, iteration, request)) {
      ZERO_RT_TRY(queue.begin(command.order));
      ZERO_RT_TRY(holds(command, ignored));
    }
    cutStretch(segment, iteration, request);
    if (stretch.runs.empty()) {
      ZERO_RT_TRY(visit(command, segment, iteration, request));
      ++stretch.begin;
    } else {
      ZERO_RT_TRY(runStretch(segment, iteration, request));
      stretch.begin = stretch.end();
    }
  }
  return {};
}

Status Executor::runStretch(const CommandSegment &segment, uint64_t iteration,
                            const StepRequest &request) {
  KeptStretch &kept = graphs.find(stretch);
  if (kept.graph) {
    repeat(kept);
  } else if (!kept.hasRun || std::ranges::count(stretch.runs, true) < kFewestCommands) {
    kept.hasRun = true;
    return visitStretch(segment, iteration, request);
  } else if (Status status = capture(kept, segment, iteration, request); !status.ok()) {
    queue.dropGraph();
    return status;
  }
  return queue.run(*kept.graph);
}

Status Executor::visitStretch(const CommandSegment &segment, uint64_t iteration,
                              const StepRequest &request) {
  for (uint32_t at = stretch.begin; at < stretch.end(); ++at)
    ZERO_RT_TRY(visit(segment.commands[at], segment, iteration, request));
  return {};
}

static std::map<AxisSet, uint64_t> difference(const std::map<AxisSet, uint64_t> &after,
                                              const std::map<AxisSet, uint64_t> &before) {
  std::map<AxisSet, uint64_t> result;
  for (const auto &[axes, elements] : after)
    if (auto found = before.find(axes); found == before.end() || found->second != elements)
      result[axes] = elements - (found == before.end() ? 0 : found->second);
  return result;
}

Status Executor::capture(KeptStretch &kept, const CommandSegment &segment, uint64_t iteration,
                         const StepRequest &request) {
  const Traffic before = communicator.traffic();
  const std::map<AxisSet, uint64_t> volumes = communicator.volumes();
  const uint64_t begun = collectives;
  ZERO_RT_TRY(queue.beginGraph());
  ZERO_RT_TRY(visitStretch(segment, iteration, request));
  ZERO_RT_TRY(queue.endGraph(kept.graph));
  kept.collectives = {collectives - begun,
                      {},
                      communicator.traffic() - before,
                      difference(communicator.volumes(), volumes)};
  for (uint32_t at = stretch.begin; at < stretch.end(); ++at) {
    const Command &command = segment.commands[at];
    if (!stretch.runs[at - stretch.begin])
      continue;
    kept.settles.insert(kept.settles.end(), command.settles.begin(), command.settles.end());
    if (std::holds_alternative<CollectiveCommand>(command.body))
      kept.collectives.last = {command.label, collectives - 1};
  }
  return {};
}

/// The graph of `kept` runs again: what its commands did on the host.
void Executor::repeat(const KeptStretch &kept) {
  for (uint32_t predicate : kept.settles)
    known[predicate] = false;
  collectives += kept.collectives.count;
  if (kept.collectives.count > 0)
    communicator.repeat(kept.collectives);
}

} // namespace zero::rt
