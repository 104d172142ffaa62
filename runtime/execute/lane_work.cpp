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
    ZERO_RT_TRY(device.makeHostQueue(communicator.rank(), made->queue));
  if (lane == proto::COLLECTIVE)
    made->communicator = &communicator;
  if (lane == proto::NVME_READ || lane == proto::NVME_WRITE) {
    ZERO_RT_TRY(
        DiskQueue::make(memory.queueKind(), memory.getFiles().getFiles().size(), made->disk));
    made->pages = std::make_unique<Page[]>(Batch::kMost);
  }
  work = std::move(made);
  return {};
}

LaneWork::Batch LaneWork::makeBatch() const {
  Batch batch;
  batch.mostBytes = DiskQueue::kBlock * DiskQueue::kDepth * memory.getFiles().getFiles().size();
  return batch;
}

static bool overlaps(uint64_t a, uint64_t aBytes, uint64_t b, uint64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

static bool overlaps(const DiskCommand &a, const DiskCommand &b) {
  return overlaps(a.offset, a.bytes, b.offset, b.bytes) ||
         overlaps(reinterpret_cast<uintptr_t>(a.memory), a.bytes,
                  reinterpret_cast<uintptr_t>(b.memory), b.bytes);
}

bool LaneWork::accepts(const Batch &batch, const Command &command) {
  const auto *added = std::get_if<DiskCommand>(&command.body);
  if (!added || batch.size == Batch::kMost)
    return false;
  uint64_t bytes = added->bytes;
  for (size_t i = 0; i < batch.size; ++i) {
    const auto &other = std::get<DiskCommand>(batch.commands[i]->body);
    if (overlaps(*added, other))
      return false;
    bytes += other.bytes;
  }
  return bytes <= batch.mostBytes;
}

/// A disk moves full blocks. The remaining bytes of a command are transferred through its page.
Status LaneWork::move(const Batch &batch) {
  std::array<Transfer, 2 * Batch::kMost> transfers;
  size_t count = 0;
  const TierFiles &files = memory.getFiles();
  for (size_t i = 0; i < batch.size; ++i) {
    const auto &command = std::get<DiskCommand>(batch.commands[i]->body);
    const uint64_t rest = command.bytes % kDiskAlignment, whole = command.bytes - rest;
    transfers[count++] = files.transfer(command.writes, command.offset, command.memory, whole);
    if (rest == 0)
      continue;
    if (command.writes)
      std::memcpy(pages[i].bytes, static_cast<char *>(command.memory) + whole, rest);
    transfers[count++] =
        files.transfer(command.writes, command.offset + whole, pages[i].bytes, kDiskAlignment);
  }
  ZERO_RT_TRY(files.move(*disk, std::span(transfers.data(), count)));
  for (size_t i = 0; i < batch.size; ++i) {
    const auto &command = std::get<DiskCommand>(batch.commands[i]->body);
    const uint64_t rest = command.bytes % kDiskAlignment, whole = command.bytes - rest;
    if (rest > 0 && !command.writes)
      std::memcpy(static_cast<char *>(command.memory) + whole, pages[i].bytes, rest);
    done.bytes += command.bytes;
  }
  return {};
}

/// Divides the time of a batch among its commands in proportion to their bytes.
static void divide(LaneWork::Batch &batch, LaneWork::Clock::time_point begin,
                   LaneWork::Clock::time_point end) {
  auto bytesOf = [&](size_t i) { return std::get<DiskCommand>(batch.commands[i]->body).bytes; };
  uint64_t total = 0, before = 0;
  for (size_t i = 0; i < batch.size; ++i)
    total += bytesOf(i);
  auto at = [&](uint64_t bytes) {
    return total == 0 ? end
                      : begin + std::chrono::duration_cast<LaneWork::Clock::duration>(
                                    (end - begin) * (double(bytes) / double(total)));
  };
  for (size_t i = 0; i < batch.size; ++i) {
    batch.spans[i] = {at(before), at(before + bytesOf(i))};
    before += bytesOf(i);
  }
}

Status LaneWork::run(Batch &batch) {
  const uint64_t waited = communicator ? communicator->waited() : 0;
  const Clock::time_point begin = Clock::now();
  Status status = disk ? move(batch) : execute(*batch.commands.front());
  const Clock::time_point end = Clock::now();
  batch.spans[0] = {begin, end, communicator ? communicator->waited() - waited : 0};
  done.time += end - begin - std::chrono::nanoseconds(batch.spans[0].waited);
  if (batch.size > 1)
    divide(batch, begin, end);
  return status;
}

Status LaneWork::run(const Command &command, Span &span) {
  Batch batch;
  batch.add(command);
  Status status = run(batch);
  span = batch.spans[0];
  return status;
}

Status LaneWork::execute(const Command &command) {
  if (const auto *launch = std::get_if<LaunchCommand>(&command.body))
    return zero::rt::launch(*queue, *launch);
  if (const auto *collective = std::get_if<CollectiveCommand>(&command.body))
    return runCollective(*communicator, *collective, command.label, collectives++);
  const auto &copy = std::get<CopyCommand>(command.body);
  if (copy.bytes > 0)
    std::memmove(copy.destination, copy.source, copy.bytes);
  done.bytes += copy.bytes;
  return {};
}

} // namespace zero::rt
