//===- simulation.h - simulate the times of commands ------------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_SIMULATION_H
#define RUNTIME_VERIFY_SIMULATION_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::rt {

/// What commands of different threads share.
enum class Resource { Cores, HostMemory, Drives, DriveBus };
inline constexpr size_t kResources = 4;

/// By resource: the part of it that a command takes while it runs at full speed.
using Shares = std::array<double, kResources>;

/// A command as time sees it, the same on all ranks.
struct TimedCommand {
  enum Kind {
    Computes,  ///< longer on a rank that is slowed down
    Moves,     ///< between tiers
    Collective ///< begins when all ranks have come to it
  };
  uint32_t thread = 0; ///< 0: the rank's own, which computes
  double seconds = 0;  ///< at full speed
  Kind kind = Computes;
  std::vector<size_t> waits; ///< numbers of earlier commands that must be done
  Shares shares = {};
};

/// When a command ran on a rank, in seconds since the step began.
struct TimeSlot {
  static constexpr size_t kNone = SIZE_MAX;
  double begin = 0;
  double waited = 0; ///< of it, for other ranks
  double end = 0;
  size_t after = kNone; ///< the command of this rank whose end it began at; kNone: the first ones
};

/// Replays commands: each thread of a rank does its commands one after the other, in the order in
/// which they were added. While the shares of the commands that run on a rank add up to more than a
/// resource has, all that use it slow down by the same factor.
class Simulation {
public:
  /// `slowness` has one entry a rank: how many times longer it computes.
  explicit Simulation(const std::vector<double> &slowness);

  /// Adds a command and returns its number, counted from 0 since the threads met.
  size_t add(TimedCommand command);
  /// Runs the commands that were added since the threads met, and makes every thread of each rank
  /// wait for the others, as between iterations of a step.
  void join();

  /// The slots of the commands that the last join() ran, by number.
  const std::vector<TimeSlot> &slots(size_t rank) const { return ranks[rank].slots; }
  /// The duration of the step up to the last join().
  double seconds() const;
  /// The part of these seconds in which the rank's own thread waited for its other threads.
  double stalled(size_t rank) const { return ranks[rank].stalled; }

private:
  /// The current command of a thread of a rank.
  struct Thread {
    enum { Idle, Arrived, Runs } state = Idle; ///< arrived: waits for other ranks
    size_t next = 0;                           ///< its place in the thread's order
    double free = 0;                           ///< when the one before ended
    double since = 0, left = 0;                ///< seconds at full speed that were left at `since`
    double speed = 1;                          ///< since then
    double end() const { return since + left / speed; }
  };
  struct Rank {
    double slowness = 1;
    double joined = 0; ///< when threads met last
    double stalled = 0;
    std::vector<Thread> threads;
    std::vector<TimeSlot> slots;
    std::vector<bool> done;
  };

  size_t numberOf(const Rank &rank, size_t thread) const;
  bool isPending(const Rank &rank, size_t thread) const;
  bool isReady(const Rank &rank, size_t number) const;
  bool haveAllArrived(size_t thread) const;
  bool progress(Rank &rank, size_t thread, double now);
  void progressAll(double now);
  void setSpeeds(Rank &rank, double now);
  double nextEvent(double now) const;
  void begin(Rank &rank) const;
  size_t lastBefore(const Rank &rank, size_t thread) const;
  static void meet(Rank &rank);

  std::vector<TimedCommand> commands;     ///< since the threads met
  std::vector<std::vector<size_t>> order; ///< by thread, its commands
  std::vector<Rank> ranks;
};

} // namespace zero::rt

#endif // RUNTIME_VERIFY_SIMULATION_H
