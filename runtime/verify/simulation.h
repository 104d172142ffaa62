//===- simulation.h - simulate the times of commands ------------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_SIMULATION_H
#define RUNTIME_VERIFY_SIMULATION_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::rt {

/// A command as time sees it, the same on all ranks.
struct TimedCommand {
  enum Kind {
    Computes,  ///< longer on a rank that is slowed down
    Moves,     ///< between tiers
    Collective ///< begins when all ranks have come to it, and takes all as long
  };
  uint32_t thread = 0; ///< 0: the rank's own, which computes
  double seconds = 0;
  Kind kind = Computes;
  std::vector<size_t> waits; ///< numbers of earlier commands that must be done
};

/// When a command ran on a rank, in seconds since the step began.
struct TimeSlot {
  double begin = 0;
  double waited = 0; ///< of it, for other ranks
  double end = 0;
};

/// Replays commands in their order: each thread of a rank does one after the other.
class Simulation {
public:
  /// `slowness` has one entry a rank: how many times longer it computes.
  explicit Simulation(const std::vector<double> &slowness);

  /// Replays the next command and returns its number, counted since threads met.
  size_t run(const TimedCommand &command);
  /// Makes every thread of each rank wait for the others, as between iterations of a step.
  void join();

  /// The slot of each command since the last synchronization of the threads, by number.
  const std::vector<TimeSlot> &slots(size_t rank) const { return ranks[rank].slots; }
  /// The duration of the step so far.
  double seconds() const;
  /// The part of these seconds in which the rank's thread waited for the others.
  double stalled(size_t rank) const { return ranks[rank].stalled; }

private:
  struct Rank {
    double slowness = 1;
    std::vector<double> free; ///< of each thread, when it may begin
    double joined = 0;        ///< when threads met last
    double stalled = 0;
    std::vector<TimeSlot> slots;
  };
  static double readyAt(Rank &rank, const TimedCommand &command);

  std::vector<Rank> ranks;
};

} // namespace zero::rt

#endif // RUNTIME_VERIFY_SIMULATION_H
