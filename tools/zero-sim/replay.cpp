//===- replay.cpp - a step of an executable on a machine ------------------===//

#include "replay.h"

#include "costs.h"
#include "runtime/core/command_info.h"
#include "zero/Planning/Simulation.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

static bool runs(const proto::Command &command, uint64_t turn, uint64_t turns) {
  switch (command.when()) {
  case proto::Command::FIRST:
    return turn == 0;
  case proto::Command::LAST:
    return turn + 1 == turns;
  case proto::Command::LATER:
    return turn > 0;
  default:
    return true;
  }
}

namespace {
/// Replays the parts of a program one after the other.
class Player {
public:
  Player(const proto::Program &program, const Machine &machine, std::vector<double> slowness)
      : program(program), machine(machine), simulation(std::move(slowness), machine.overlaps) {}

  Replay play(size_t ranks);

private:
  struct Played {
    uint32_t command, turn;
    proto::Lane lane;
  };
  void playTurn(const proto::Segment &segment, uint32_t first, uint64_t turn, uint64_t turns);
  std::vector<zero_rt_event> eventsOf(size_t rank) const;

  const proto::Program &program;
  const Machine &machine;
  Simulation simulation;
  std::vector<double> costs; ///< of each command of the program
  std::vector<Played> played;
};
} // namespace

/// Waits are inside one turn: what the turn before has done is done when it begins.
void Player::playTurn(const proto::Segment &segment, uint32_t first, uint64_t turn,
                      uint64_t turns) {
  std::vector<size_t> numbers(size_t(segment.commands_size()), SIZE_MAX);
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    if (!runs(command, turn, turns))
      continue;
    TimedCommand timed{
        uint32_t(command.lane()), costs[first + uint32_t(i)], command.has_collective(), {}};
    for (uint32_t wait : command.waits())
      if (numbers[wait] != SIZE_MAX)
        timed.waits.push_back(numbers[wait]);
    numbers[size_t(i)] = simulation.run(timed);
    played.push_back({first + uint32_t(i), uint32_t(turn), command.lane()});
  }
  simulation.join();
}

static uint64_t nanoseconds(double seconds) { return uint64_t(std::llround(seconds * 1e9)); }

std::vector<zero_rt_event> Player::eventsOf(size_t rank) const {
  std::vector<zero_rt_event> events;
  for (size_t i = 0; i < played.size(); ++i) {
    const TimeSlot &slot = simulation.slots(rank)[i];
    events.push_back({played[i].command, played[i].turn, nanoseconds(slot.begin),
                      nanoseconds(slot.end), nanoseconds(slot.waited)});
  }
  return events;
}

Replay Player::play(size_t ranks) {
  Replay replay;
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      replay.commands.push_back(commandInfo(program, command));
      costs.push_back(secondsOf(machine, program, command));
    }
  uint32_t first = 0;
  for (const proto::Segment &segment : program.segments()) {
    const uint64_t turns = std::max(segment.repeat(), 1u);
    for (uint64_t turn = 0; turn < turns; ++turn)
      playTurn(segment, first, turn, turns);
    first += uint32_t(segment.commands_size());
  }
  replay.seconds = simulation.seconds();
  for (size_t i = 0; i < played.size(); ++i) {
    const TimeSlot &slot = simulation.slots(0)[i];
    replay.laneSeconds[size_t(played[i].lane)] += slot.end - slot.begin - slot.waited;
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    replay.events.push_back(eventsOf(rank));
    replay.steps.push_back({0, 0, nanoseconds(replay.seconds), 0, played.size()});
  }
  return replay;
}

std::vector<zero_rt_recording> Replay::recordings() const {
  std::vector<zero_rt_recording> recordings;
  for (size_t rank = 0; rank < steps.size(); ++rank)
    recordings.push_back({&steps[rank], 1, events[rank].data(), 1});
  return recordings;
}

Replay replay(const proto::Program &program, const Machine &machine, double slowest) {
  // Ranks that compute equally fast do everything at the same time: one stands for them.
  std::vector<double> slowness = {1};
  if (slowest > 1)
    slowness.push_back(slowest);
  const size_t ranks = slowness.size();
  return Player(program, machine, std::move(slowness)).play(ranks);
}

} // namespace zero::sim
