//===- offload.cpp - a program with offloaded state -----------------------===//

#include "offload.h"

#include "runtime/format/accesses.h"
#include "runtime/format/tables.h"
#include "zero/Planning/LaneOrder.h"

#include <array>
#include <list>

namespace zero::rt {

static constexpr uint64_t kBlock = 4096; // block size of a disk

void orderByBytes(proto::Program &program) {
  for (proto::Segment &segment : *program.mutable_segments()) {
    planning::LaneOrder order(proto::Lane_ARRAYSIZE);
    for (proto::Command &command : *segment.mutable_commands()) {
      std::vector<planning::Touch> touches;
      for (const Access &access : accessesOfAllRanks(program, command))
        touches.push_back(
            {int64_t(access.range.begin), int64_t(access.range.end), access.writes != 0});
      command.clear_waits();
      for (uint32_t wait : order.add(command.lane(), touches))
        command.add_waits(wait);
    }
  }
}

namespace {

/// The range of commands of a segment that access some bytes.
struct Span {
  int first = -1, last = -1; ///< -1: none
  bool writes = false, forward = false;
};

class Offload {
public:
  Offload(const proto::Program &source, bool toDisk, int lead)
      : program(source), toDisk(toDisk), lead(lead) {
    for (const proto::Arena &arena : source.arenas())
      ends[size_t(arena.tier())] = arena.bytes();
  }

  proto::Program run() {
    for (int i = 0; i < program.buffers_size(); ++i)
      if (isMoved(program.buffers(i)))
        moveUpdates(program.buffers(i));
    for (int i = 0; i < program.buffers_size(); ++i)
      if (isMoved(program.buffers(i)))
        move(*program.mutable_buffers(i));
    program.clear_arenas();
    for (int tier = 0; tier < proto::Tier_ARRAYSIZE; ++tier) {
      proto::Arena &arena = *program.add_arenas();
      arena.set_tier(proto::Tier(tier));
      arena.set_bytes(ends[size_t(tier)]);
      arena.set_alignment(tier == proto::NVME ? kBlock : 64);
    }
    orderByBytes(program);
    return program;
  }

private:
  static bool isMoved(const proto::Buffer &buffer) {
    return buffer.tier() == proto::DEVICE && buffer.elements() > 64 &&
           (buffer.role() == proto::OPTIMIZER || buffer.role() == proto::PARAMETER);
  }

  /// The bytes of `buffer` on all ranks.
  ByteRange reachOfBuffer(const proto::Buffer &buffer) const {
    return reachOf(rangeOf(meshOf(program), buffer, kEveryRank), meshOf(program));
  }

  static bool meet(ByteRange a, ByteRange b) { return a.begin < b.end && b.begin < a.end; }

  Span spanOf(const proto::Segment &segment, ByteRange range) const {
    Span span;
    auto touch = [&](int index) {
      span.first = span.first < 0 ? index : std::min(span.first, index);
      span.last = std::max(span.last, index);
    };
    for (int i = 0; i < segment.commands_size(); ++i)
      for (const Access &access : accessesOfAllRanks(program, segment.commands(i)))
        if (meet(access.range, range)) {
          touch(i);
          span.writes |= access.writes != 0;
          span.forward |= segment.commands(i).forward();
        }
    for (const proto::Rename &rename : segment.renames())
      if (meet(reachOf(rangeOf(meshOf(program), rename.place(), rename.place().bytes(), kEveryRank),
                       meshOf(program)),
               range)) {
        touch(int(rename.command()) - 1);
        span.writes = true;
      }
    return span;
  }

  /// Moves the commands of the epilogue that change optimizer state to the host.
  void moveUpdates(const proto::Buffer &buffer) {
    if (buffer.role() != proto::OPTIMIZER)
      return;
    for (proto::Segment &segment : *program.mutable_segments())
      for (proto::Command &command : *segment.mutable_commands())
        for (const Access &access : accessesOfAllRanks(program, command))
          if (access.writes && command.has_launch() && meet(access.range, reachOfBuffer(buffer)))
            command.set_lane(proto::HOST_COMPUTE);
  }

  uint64_t reserve(proto::Tier tier, uint64_t bytes) {
    uint64_t &end = ends[size_t(tier)];
    const uint64_t alignment = tier == proto::DEVICE ? 256 : kBlock;
    const uint64_t begin = (end + alignment - 1) / alignment * alignment;
    end = (begin + bytes + alignment - 1) / alignment * alignment;
    return begin;
  }

  /// Bytes that several states share one after the other, and the last command that needs the
  /// previous state.
  struct Slot {
    uint64_t device, host, bytes;
    int busyUntil;
  };

  /// Returns a slot that no command needs from command `first` of the epilogue on.
  Slot &slotFor(uint64_t bytes, int first) {
    for (Slot &slot : slots)
      if (slot.bytes >= bytes && slot.busyUntil < first)
        return slot;
    return slots.emplace_back(
        Slot{reserve(proto::DEVICE, bytes), reserve(proto::HOST, bytes), bytes, -1});
  }

  /// Adds a copy before command `index` of `segment`, after the renames there.
  proto::Copy &insertCopy(proto::Segment &segment, int index, proto::Lane lane,
                          const std::string &label, bool forward, uint64_t bytes) {
    proto::Command &command = *segment.add_commands();
    command.set_lane(lane);
    command.set_label(label);
    command.set_forward(forward);
    command.mutable_copy()->set_bytes(bytes);
    for (int i = segment.commands_size() - 1; i > index; --i)
      segment.mutable_commands()->SwapElements(i, i - 1);
    for (proto::Rename &rename : *segment.mutable_renames())
      if (int(rename.command()) > index)
        rename.set_command(rename.command() + 1);
    for (Slot &slot : slots)
      if (segment.kind() == proto::Segment::EPILOGUE && slot.busyUntil >= index)
        ++slot.busyUntil;
    return *segment.mutable_commands(index)->mutable_copy();
  }

  /// Moves every address of `segment` in `range` to `to`.
  void replace(proto::Segment &segment, ByteRange range, uint64_t to) {
    auto change = [&](proto::Address &address) {
      if (address.tier() == proto::DEVICE && address.offset() >= range.begin &&
          address.offset() < range.end)
        address.set_offset(address.offset() - range.begin + to);
    };
    for (proto::Rename &rename : *segment.mutable_renames())
      change(*rename.mutable_place());
    for (proto::Command &command : *segment.mutable_commands())
      if (command.has_launch())
        for (proto::Address &argument : *command.mutable_launch()->mutable_args())
          change(argument);
      else if (command.has_copy())
        change(*command.mutable_copy()->mutable_src()),
            change(*command.mutable_copy()->mutable_dst());
  }

  void move(proto::Buffer &buffer) {
    const proto::Buffer source = buffer;
    const uint64_t bytes = rangeOf(meshOf(program), source, 0).size();
    const bool onDisk = toDisk && source.role() == proto::OPTIMIZER;
    proto::Address device, host, home;
    device.set_offset(source.offset()), *device.mutable_rank_strides() = source.rank_strides();
    host.set_tier(proto::HOST);
    std::vector<Span> spans;
    int users = 0;
    for (const proto::Segment &segment : program.segments())
      users += spans.emplace_back(spanOf(segment, reachOfBuffer(source))).last >= 0;
    proto::Segment &last = *program.mutable_segments(program.segments_size() - 1);
    if (users == 1 && spans.back().last >= 0 && source.rank_strides().empty()) {
      Slot &slot = slotFor(bytes, spans.back().first);
      replace(last, rangeOf(meshOf(program), source, 0), slot.device);
      device.set_offset(slot.device), host.set_offset(slot.host);
      earliest = slot.busyUntil + 1;
      chosen = &slot;
    } else {
      host.set_offset(reserve(proto::HOST, bytes));
      earliest = 0, chosen = nullptr;
    }
    home = host;
    if (onDisk)
      home.set_tier(proto::NVME), home.set_offset(reserve(proto::NVME, bytes));
    else if (chosen) // no other state uses its bytes
      home.set_offset(reserve(proto::HOST, bytes));
    buffer.set_tier(home.tier()), buffer.set_offset(home.offset()), buffer.clear_rank_strides();
    for (int i = 0; i < program.segments_size(); ++i)
      if (spans[size_t(i)].last >= 0)
        carry(*program.mutable_segments(i), spans[size_t(i)], source, bytes,
              onDisk ? std::vector{home, host, device} : std::vector{home, device});
  }

  static proto::Lane laneOf(proto::Tier from, proto::Tier to) {
    if (from == proto::NVME)
      return proto::NVME_READ;
    if (to == proto::NVME)
      return proto::NVME_WRITE;
    return from == proto::HOST ? proto::H2D : proto::D2H;
  }

  /// Copies the state along `way` before `span`, and back after it.
  void carry(proto::Segment &segment, Span span, const proto::Buffer &buffer, uint64_t bytes,
             std::vector<proto::Address> way) {
    int at = std::max(std::max(span.first, 0) - lead, std::min(earliest, std::max(span.first, 0)));
    auto hop = [&](const proto::Address &from, const proto::Address &to, bool forward) {
      proto::Copy &copy = insertCopy(segment, at++, laneOf(from.tier(), to.tier()),
                                     buffer.name() + (forward ? " in" : ""), forward, bytes);
      *copy.mutable_src() = from, *copy.mutable_dst() = to;
      copy.mutable_src()->set_reads(buffer.value());
      copy.mutable_dst()->set_writes(buffer.value());
    };
    for (size_t i = 0; i + 1 < way.size(); ++i)
      hop(way[i], way[i + 1], span.forward);
    at = std::max(span.last + int(way.size()), at); // after the span and the copies before it
    if (span.writes)
      for (size_t i = way.size() - 1; i > 0; --i)
        hop(way[i], way[i - 1], false);
    if (chosen)
      chosen->busyUntil = at - 1;
  }

  proto::Program program;
  bool toDisk;
  int lead;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> ends{}; ///< by tier: end of the allocated bytes
  std::list<Slot> slots;                              // a list, so that slots do not move
  int earliest = 0;
  Slot *chosen = nullptr;
};
} // namespace

proto::Program offload(const proto::Program &program, bool toDisk, int lead) {
  return Offload(program, toDisk, lead).run();
}

} // namespace zero::rt
