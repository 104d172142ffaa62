//===- lane_work.cpp - execute the commands of one lane -------------------===//

#include "runtime/execute/lane_work.h"

#include <cstring>

namespace zero::rt {

LaneUse &LaneUse::operator+=(const LaneUse &other) {
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    lanes[lane].time += other.lanes[lane].time;
    lanes[lane].bytes += other.lanes[lane].bytes;
  }
  stalled += other.stalled;
  return *this;
}

LaneUse LaneUse::operator-(const LaneUse &other) const {
  LaneUse difference = *this;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    difference.lanes[lane].time -= other.lanes[lane].time;
    difference.lanes[lane].bytes -= other.lanes[lane].bytes;
  }
  difference.stalled -= other.stalled;
  return difference;
}

Status LaneWork::open(proto::Lane lane, Communicator &communicator, Device &device,
                      RankMemory &memory, std::unique_ptr<LaneWork> &work) {
  std::unique_ptr<LaneWork> made(new LaneWork(memory));
  if (lane == proto::HOST_COMPUTE)
    ZERO_RT_TRY(device.makeQueue(communicator.rank(), made->queue));
  if (lane == proto::COLLECTIVE)
    made->communicator = &communicator;
  if (lane == proto::NVME_READ || lane == proto::NVME_WRITE) {
    ZERO_RT_TRY(DiskQueue::make(memory.queueKind(), made->disk));
    made->page = std::make_unique<Page>();
  }
  work = std::move(made);
  return {};
}

/// A disk moves full blocks. The remaining bytes are transferred through the page.
Status LaneWork::move(const DiskCommand &command) {
  const uint64_t rest = command.bytes % kDiskAlignment, whole = command.bytes - rest;
  char *last = static_cast<char *>(command.memory) + whole;
  auto moveBlocks = [&](uint64_t offset, void *at, uint64_t bytes) {
    return memory.getFile().move(*disk, command.writes, offset, at, bytes);
  };
  ZERO_RT_TRY(moveBlocks(command.offset, command.memory, whole));
  if (rest > 0) {
    if (command.writes)
      std::memcpy(page->bytes, last, rest);
    ZERO_RT_TRY(moveBlocks(command.offset + whole, page->bytes, kDiskAlignment));
    if (!command.writes)
      std::memcpy(last, page->bytes, rest);
  }
  done.bytes += command.bytes;
  return {};
}

Status LaneWork::run(const Command &command, Span &span) {
  const uint64_t waited = communicator ? communicator->waited() : 0;
  span.begin = Clock::now();
  Status status = execute(command);
  span.end = Clock::now();
  span.waited = communicator ? communicator->waited() - waited : 0;
  done.time += span.end - span.begin - std::chrono::nanoseconds(span.waited);
  return status;
}

Status LaneWork::execute(const Command &command) {
  if (const auto *launch = std::get_if<LaunchCommand>(&command.body))
    return queue->launch(launch->kernel, launch->args.data(), launch->length);
  if (const auto *transfer = std::get_if<DiskCommand>(&command.body))
    return move(*transfer);
  if (const auto *collective = std::get_if<CollectiveCommand>(&command.body))
    return runCollective(*communicator, *collective, command.label, collectives++);
  const auto &copy = std::get<CopyCommand>(command.body);
  if (copy.bytes > 0)
    std::memmove(copy.destination, copy.source, copy.bytes);
  done.bytes += copy.bytes;
  return {};
}

} // namespace zero::rt
