//===- Simulation.h - when the commands of a step run -----------*- C++ -*-===//

#ifndef ZERO_PLANNING_SIMULATION_H
#define ZERO_PLANNING_SIMULATION_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::planning {

/// A command as time sees it, the same on all ranks.
struct TimedCommand {
  uint32_t lane = 0;
  double seconds = 0;        ///< on a rank that is not slowed down
  bool isCollective = false; ///< begins when all ranks have come to it, and takes all as long
  std::vector<size_t> waits; ///< numbers of earlier commands that must be done
};

/// When a command ran on a rank, in seconds since the step began.
struct TimeSlot {
  double begin = 0;
  double waited = 0; ///< of it, for other ranks
  double end = 0;
};

/// Replays commands in their order: a lane does one after the other, and a rank whose lanes
/// do not overlap one at all.
class Simulation {
public:
  /// `slowness` has one entry a rank: how many times longer it computes.
  Simulation(std::vector<double> slowness, bool overlaps);

  /// Replays the next command and returns its number.
  size_t run(const TimedCommand &command);
  /// Lets every lane of each rank wait for the others, as between the parts of a step.
  void join();

  /// Of each command, by number.
  const std::vector<TimeSlot> &slots(size_t rank) const { return ranks[rank].slots; }
  /// Of the step so far.
  double seconds() const;

private:
  struct Rank {
    double slowness = 1;
    std::vector<double> free; ///< of each lane, when it may begin
    double joined = 0;        ///< when lanes met last
    std::vector<TimeSlot> slots;
  };
  double readyAt(Rank &rank, const TimedCommand &command) const;

  std::vector<Rank> ranks;
  bool overlaps;
};

} // namespace zero::planning

#endif // ZERO_PLANNING_SIMULATION_H
