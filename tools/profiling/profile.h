//===- profile.h - aggregate the times of a step ----------------*- C++ -*-===//
//
// Arithmetic on what the ranks recorded, or were simulated to do. Every figure is the mean over the
// middle half of the recorded steps, by what they took on rank 0: like a median it does not see the
// few that something else disturbed, and unlike medians its parts add up. Times are in seconds and,
// where no rank is named, of rank 0.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PROFILING_PROFILE_H
#define TOOLS_PROFILING_PROFILE_H

#include "zero_rt/zero_rt.h"

#include <map>
#include <string>
#include <vector>

namespace zero::run {

/// What a step is made of; nothing counts twice, unless lanes overlap.
struct Parts {
  double total = 0;       ///< the step
  double compute = 0;     ///< kernels, copies and checks of the rank's own lane
  double collectives = 0; ///< moving and adding
  double waiting = 0;     ///< for other ranks, in collectives
  double between = 0;     ///< commands: inputs, outputs, waits for lanes, this runtime itself
  double transfers = 0;   ///< between tiers, beside all this
  double hostCompute = 0; ///< kernels on the host beside all this
};

/// The commands of one kernel, or of one kind, in a step.
struct ProfileRow {
  std::string name;
  std::string kind;  ///< the row of the other table that it is part of
  std::string axis;  ///< of the mesh, of a collective of the ranks along one of several; else empty
  std::string label; ///< a node that one of its commands came from
  double launches = 0, flops = 0, bytes = 0;
  double seconds = 0; ///< without waiting
  /// Of these, in commands that recompute values that forward did not save.
  double recomputed = 0;
  /// The least time that the machine's limits allow, and that its multiply-adds alone allow.
  double least = 0, leastOfFlops = 0;
  bool boundByFlops = false; ///< rather than by memory
  bool isCollective = false;

  /// The name, and the axis if there is one: "all-gather, tensor".
  std::string title() const { return axis.empty() ? name : name + ", " + axis; }
  /// 1: as fast as the machine can; more when data came out of caches. 0: no limit known.
  double fractionOfRoofline() const { return seconds > 0 ? least / seconds : 0; }
  /// The same as "87 %", "> 100 %" where data came out of caches, or "" without a known limit.
  std::string rooflineText() const;
};

struct Profile {
  std::string shape; ///< of the inputs in these steps, of a program with several; else empty
  zero_rt_machine machine;
  std::vector<uint64_t> steps;            ///< numbers of those recorded
  std::vector<Parts> parts;               ///< of each
  std::vector<Parts> ranks;               ///< of each rank
  std::vector<ProfileRow> kinds, kernels; ///< by time, most first
  double reorders = 0;                    ///< products of a step that first reorder their B

  /// What shares are of.
  double seconds() const { return ranks.front().total; }
  double flops() const;      ///< of a step
  double recomputed() const; ///< seconds of a step, as in ProfileRow
  /// Bytes that collectives along each axis of a mesh of several received in a step.
  std::map<std::string, double> receivedAlong() const;
  /// The least time in which registers could do the multiply-adds of a step, over its time.
  double fractionOfPeak() const;
};

/// What a rank can read and write in a second: the better of both measurements.
double bandwidthOf(const zero_rt_machine &machine);

/// `commands` are those of the program, `ranks` what each rank recorded: at least one step,
/// and the same ones.
Profile makeProfile(const zero_rt_machine &machine,
                    const std::vector<zero_rt_command_info> &commands,
                    const std::vector<zero_rt_recording> &ranks);

} // namespace zero::run

#endif // TOOLS_PROFILING_PROFILE_H
