//===- session_results.cpp - results of a session -------------------------===//

#include "runtime/session/session.h"

#include <algorithm>
#include <chrono>

namespace zero::rt {

//===----------------------------------------------------------------------===//
// Results. Those of ranks of other processes are sent to process 0.
//===----------------------------------------------------------------------===//

Status Session::serve() {
  for (Request request; ranks->isOneOfMany();) {
    ZERO_RT_TRY(awaitRequest(*ranks, request));
    if (request.kind == Request::End)
      break;
    ZERO_RT_TRY(answer(request));
  }
  return {};
}

Status Session::endService() { return announce(*ranks, {Request::End}); }

Status Session::answer(const Request &request) {
  zero_rt_stats stats;
  zero_rt_recording recording;
  switch (request.kind) {
  case Request::Tensor:
    return weights.collect(request.index, request.range, nullptr);
  case Request::Gradient:
    return gradients.collect(request.index, request.range, nullptr);
  case Request::Output:
    return sendOutput(request.index, request.rank, request.range, nullptr);
  case Request::Stats:
    return sendStats(request.rank, stats);
  case Request::Recording:
    return sendRecording(request.rank, recording);
  case Request::FinishStep:
    return finishStep();
  default:
    return fail(ZERO_RT_INTERNAL, "process 0 has sent no request");
  }
}

/// Whether the program has `rank`, and whether it is here.
static Status findOrRequest(Ranks &ranks, const Request &request, bool &isHere) {
  Rank *found = nullptr;
  Status status = ranks.find(request.rank, found);
  isHere = status.ok();
  if (isHere || status.getCode() != ZERO_RT_UNSUPPORTED || !ranks.isFirst())
    return status;
  return announce(ranks, request);
}

Status Session::readOutput(const std::string &name, int rank, const ValueRange &range,
                           void *destination) const {
  for (int i = 0; i < tables().outputs_size(); ++i) {
    if (tables().outputs(i).name() != name)
      continue;
    ZERO_RT_TRY(checkRange(name, ranks->here().front()->results().output(i).size(), range));
    bool isHere;
    ZERO_RT_TRY(findOrRequest(*ranks, {Request::Output, i, rank, range}, isHere));
    return sendOutput(i, rank, range, destination);
  }
  return notFound("output", name);
}

Status Session::sendOutput(int index, int rank, const ValueRange &range, void *destination) const {
  Rank *owner = nullptr;
  const bool isHere = ranks->find(rank, owner).ok();
  const std::vector<uint8_t> &value =
      (isHere ? owner : ranks->here().front().get())->results().output(index);
  if (isHere && destination) {
    std::copy_n(value.data() + range.offset, range.bytes, static_cast<uint8_t *>(destination));
    return {};
  }
  return fetch(*ranks, rank, value.data() + range.offset, destination, range.bytes);
}

Status Session::recording(int rank, zero_rt_recording &recording) {
  bool isHere;
  ZERO_RT_TRY(findOrRequest(*ranks, {Request::Recording, 0, rank}, isHere));
  return sendRecording(rank, recording);
}

Status Session::sendRecording(int rank, zero_rt_recording &recording) {
  Rank *owner = nullptr;
  const bool isHere = ranks->find(rank, owner).ok();
  recording = isHere ? owner->recording() : zero_rt_recording{};
  if (isHere && ranks->isFirst())
    return {};
  uint64_t sizes[3] = {recording.step_count, 0, uint64_t(recording.full)};
  for (size_t i = 0; i < recording.step_count; ++i)
    sizes[1] += recording.steps[i].events;
  ZERO_RT_TRY(fetch(*ranks, rank, sizes, sizes, sizeof(sizes)));
  // Processes that are neither see other sizes, and send and receive nothing.
  Copy copy;
  copy.steps.resize(sizes[0]);
  copy.events.resize(sizes[1]);
  const void *steps = isHere ? recording.steps : copy.steps.data();
  const void *events = isHere ? recording.events : copy.events.data();
  ZERO_RT_TRY(fetch(*ranks, rank, steps, copy.steps.data(), sizes[0] * sizeof(copy.steps[0])));
  ZERO_RT_TRY(fetch(*ranks, rank, events, copy.events.data(), sizes[1] * sizeof(copy.events[0])));
  if (ranks->isFirst()) {
    const Copy &kept = recordings[rank] = std::move(copy);
    recording = {kept.steps.data(), kept.steps.size(), kept.events.data(), int(sizes[2])};
  }
  return {};
}

Status Session::stats(int rank, zero_rt_stats &stats) const {
  bool isHere;
  ZERO_RT_TRY(findOrRequest(*ranks, {Request::Stats, 0, rank}, isHere));
  return sendStats(rank, stats);
}

Status Session::sendStats(int rank, zero_rt_stats &stats) const {
  Rank *owner = nullptr;
  const bool isHere = ranks->find(rank, owner).ok();
  stats = isHere ? statsOf(*owner) : zero_rt_stats{};
  return isHere && ranks->isFirst() ? Status() : fetch(*ranks, rank, &stats, &stats, sizeof(stats));
}

zero_rt_stats Session::statsOf(const Rank &rank) const {
  const Traffic traffic = rank.traffic();
  zero_rt_stats stats = {};
  stats.steps = ran;
  for (int number = 0; number < ZERO_RT_TIERS; ++number) {
    const auto tier = static_cast<proto::Tier>(number);
    stats.arena_bytes[tier] = arenaBytes(tables(), tier);
    stats.measured_peak[tier] = rank.measuredPeak(tier);
    stats.measured_live[tier] = rank.measuredLive(tier);
  }
  stats.model_elements = traffic.modelElements;
  stats.control_elements = traffic.controlElements;
  stats.model_bytes = traffic.modelBytes;
  stats.control_bytes = traffic.controlBytes;
  stats.link_bytes = traffic.linkBytes;
  for (int i = 0; i < std::min(tables().volumes_size(), ZERO_RT_VOLUMES); ++i) {
    const AxisSet axes = axisSet(tables().volumes(i).axes());
    const auto found = rank.volumes().find(meshOf(tables()).proper(axes));
    stats.volume_elements[i] = found == rank.volumes().end() ? 0 : found->second;
  }
  stats.seconds = seconds;
  const auto toSeconds = [](std::chrono::nanoseconds time) { return double(time.count()) * 1e-9; };
  const LaneUse last = rank.getExecutor().lastUse(), all = rank.laneUse();
  stats.nvme_read = last.lanes[proto::NVME_READ].bytes;
  stats.nvme_written = last.lanes[proto::NVME_WRITE].bytes;
  for (size_t lane = 0; lane < all.lanes.size(); ++lane)
    stats.lanes[lane] = {toSeconds(all.lanes[lane].time), all.lanes[lane].bytes};
  stats.stalled = toSeconds(all.stalled);
  return stats;
}

/// False if the program keeps nothing on disk.
bool Session::describeNvme(zero_rt_nvme_info &info) const {
  const RankMemory &memory = ranks->here().front()->getMemory();
  if (memory.getFiles().empty())
    return false;
  info = {memory.queueName(), memory.getFiles().isDirect(), 0, 0};
  for (const auto &rank : ranks->here()) {
    info.read += rank->getMemory().getFiles().bytesRead();
    info.written += rank->getMemory().getFiles().bytesWritten();
  }
  return true;
}

const char *Session::nvmeFile(int number) const {
  Rank *rank = nullptr;
  if (!ranks->find(number, rank).ok() || rank->getMemory().getFiles().empty())
    return nullptr;
  return rank->getMemory().getFiles().getFiles().front().path;
}

} // namespace zero::rt
