//===- order.cpp - order of commands on lanes -----------------------------===//

#include "check/order.h"

#include "check/refusal.h"

#include <array>

namespace zero::check {

static constexpr int kLanes = 7;

/// Of each lane the last command that something knows of, or -1.
using Clock = std::array<int32_t, kLanes>;

namespace {
struct Access {
  int64_t begin, end;
  bool writes;
};

/// The last accesses of each lane, by bytes of an arena.
class Accesses {
public:
  /// A command of another lane that `command` is not ordered behind, or -1.
  int32_t add(const Access &access, int lane, int32_t command, const Clock &clock);

private:
  struct Piece {
    int64_t end;
    Clock read, written;
  };
  void splitAt(int64_t at);
  std::map<int64_t, Piece> pieces;
};

class OrderCheck {
public:
  OrderCheck(const Executable &executable, const proto::Segment &segment)
      : executable(executable), segment(segment) {}
  void computeClocks(const std::function<std::string(int32_t)> &describe);
  void run(int rank, const std::function<std::string(int32_t)> &describe) const;
  bool dependsOnRank() const;

private:
  template <typename Body>
  void forEachAccess(const proto::Command &command, Body body) const;

  const Executable &executable;
  const proto::Segment &segment;
  std::vector<Clock> clocks;
};
} // namespace

static Clock noClock() {
  Clock clock;
  clock.fill(-1);
  return clock;
}

void Accesses::splitAt(int64_t at) {
  auto it = pieces.upper_bound(at);
  if (it == pieces.begin())
    return;
  --it;
  if (it->first == at || it->second.end <= at)
    return;
  Piece rest = it->second;
  it->second.end = at;
  pieces.emplace(at, rest);
}

int32_t Accesses::add(const Access &access, int lane, int32_t command, const Clock &clock) {
  splitAt(access.begin);
  splitAt(access.end);
  auto it = pieces.lower_bound(access.begin);
  for (int64_t at = access.begin; at < access.end; ++it) {
    if (it == pieces.end() || it->first > at) {
      const int64_t end = it == pieces.end() ? access.end : std::min(access.end, it->first);
      it = pieces.emplace(at, Piece{end, noClock(), noClock()}).first;
    }
    Piece &piece = it->second;
    for (int other = 0; other < kLanes; ++other) {
      if (other == lane)
        continue;
      if (piece.written[size_t(other)] > clock[size_t(other)])
        return piece.written[size_t(other)];
      if (access.writes && piece.read[size_t(other)] > clock[size_t(other)])
        return piece.read[size_t(other)];
    }
    (access.writes ? piece.written : piece.read)[size_t(lane)] = command;
    at = piece.end;
  }
  return -1;
}

void OrderCheck::computeClocks(const std::function<std::string(int32_t)> &describe) {
  Clock last = noClock();
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    require(int(command.lane()) >= 0 && int(command.lane()) < kLanes,
            [&] { return describe(i) + ": no lane that the checker knows"; });
    Clock clock = noClock();
    auto follow = [&](int32_t earlier) {
      for (int lane = 0; lane < kLanes; ++lane)
        clock[size_t(lane)] = std::max(clock[size_t(lane)], clocks[size_t(earlier)][size_t(lane)]);
      const size_t lane = size_t(segment.commands(earlier).lane());
      clock[lane] = std::max(clock[lane], earlier);
    };
    if (last[size_t(command.lane())] >= 0)
      follow(last[size_t(command.lane())]);
    for (uint32_t wait : command.waits()) {
      require(wait < uint32_t(i),
              [&] { return describe(i) + ": waits for a command that is not before it"; });
      follow(int32_t(wait));
    }
    clocks.push_back(clock);
    last[size_t(command.lane())] = i;
  }
}

template <typename Body>
void OrderCheck::forEachAccess(const proto::Command &command, Body body) const {
  if (command.has_launch()) {
    const proto::Launch &launch = command.launch();
    const proto::Kernel &kernel = executable.program.kernels(int(launch.kernel()));
    for (int i = 0; i < launch.args_size(); ++i) {
      const bool isWorkspace = kernel.workspace() > 0 && i + 1 == launch.args_size();
      body(launch.args(i), launch.args(i).bytes(), isWorkspace || launch.args(i).writes() != 0);
    }
  } else if (command.has_copy()) {
    body(command.copy().src(), command.copy().bytes(), false);
    const uint64_t block = command.copy().dst().tier() == proto::NVME ? 4096 : 1;
    body(command.copy().dst(), (command.copy().bytes() + block - 1) / block * block, true);
  } else if (command.has_check()) {
    body(command.check().value(), 16, false);
  } else {
    const proto::Collective &collective = command.collective();
    const uint64_t members = groupsOf(executable, collective)[0].members.size();
    const uint64_t slice = collective.elements() * bytesOf(collective.dtype());
    const bool scatters = collective.kind() == proto::Collective::REDUCE_SCATTER;
    const bool gathers = collective.kind() == proto::Collective::ALL_GATHER;
    body(collective.src(), slice * (scatters ? members : 1), false);
    body(collective.dst(), slice * (gathers ? members : 1), true);
  }
}

bool OrderCheck::dependsOnRank() const {
  bool depends = false;
  for (const proto::Command &command : segment.commands())
    forEachAccess(command, [&](const proto::Address &address, uint64_t, bool) {
      for (int64_t stride : address.rank_strides())
        depends |= stride != 0;
    });
  return depends;
}

void OrderCheck::run(int rank, const std::function<std::string(int32_t)> &describe) const {
  std::array<Accesses, 3> tiers;
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    forEachAccess(command, [&](const proto::Address &address, uint64_t bytes, bool writes) {
      const int64_t begin = executable.placeOf(address.offset(), address.rank_strides(), rank);
      const int32_t other = tiers.at(size_t(address.tier()))
                                .add({begin, begin + int64_t(bytes), writes}, int(command.lane()),
                                     i, clocks[size_t(i)]);
      require(other < 0, [&] {
        return "rank " + std::to_string(rank) + ": " + describe(i) + " and " + describe(other) +
               " run beside each other, and one of them writes " + "to bytes " +
               std::to_string(begin) + " to " + std::to_string(begin + int64_t(bytes)) +
               " of the arena of tier " + std::to_string(address.tier());
      });
    });
  }
}

void expectOrdered(const Executable &executable,
                   const std::function<std::string(int32_t)> &describe) {
  int32_t first = 0;
  for (const proto::Segment &segment : executable.program.segments()) {
    OrderCheck check(executable, segment);
    auto name = [&](int32_t command) { return describe(first + command); };
    check.computeClocks(name);
    const int ranks = check.dependsOnRank() ? executable.ranks() : 1;
    for (int rank = 0; rank < ranks; ++rank)
      check.run(rank, name);
    first += segment.commands_size();
  }
}

} // namespace zero::check
