//===- adversary.h - a program in the worst orders ------------------------===//
//
// Runs the commands of all ranks on one thread, with the kernels of the CPU. Among the orders that
// the waits allow, it chooses one that differs as much as possible from the listed order. A missing
// wait therefore causes wrong numbers in every run.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_ADVERSARY_H
#define TEST_UNIT_RUNTIME_ADVERSARY_H

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/load/program.h"
#include "runtime/verify/lifetimes.h"

#include <array>
#include <random>

namespace zero::rt {

/// Selects the lane that continues.
struct Policy {
  enum Kind {
    Listed, ///< the lane of the command that is listed first
    Starve, ///< `lane` only if no other lane can continue
    Rush,   ///< `lane` whenever it can continue
    Random
  };
  Kind kind = Listed;
  int lane = 0;
  uint64_t seed = 0; ///< seed for the remaining choices
};

/// All policies that differ for the lanes that `program` uses.
std::vector<Policy> policiesFor(const proto::Program &program);

class Adversary {
public:
  /// Takes the kernels and the initial state from the executable at `path`.
  explicit Adversary(const std::string &path);

  struct End {
    enum Kind { Done, Deadlock, CheckFailed } kind = Done;
    std::string bits; ///< losses, gradients, outputs and tensors of all ranks
    bool operator==(const End &) const = default;
  };
  /// Runs two training steps of `program`, with an evaluation between them, on data that is the
  /// same in every run. `program` must have the kernels and buffers of the executable. Memory that
  /// does not persist is filled with NaN before each of them.
  End run(const proto::Program &program, const Policy &policy);

private:
  static constexpr int kLanes = proto::Lane_ARRAYSIZE;
  using Memories = std::array<std::unique_ptr<Arena>, proto::Tier_ARRAYSIZE>;
  /// The progress of a rank in an iteration.
  struct Progress {
    std::vector<bool> done;          ///< by command
    std::array<size_t, kLanes> next; ///< index among the lane's commands
  };
  struct Candidate {
    int rank, lane;
    uint32_t command;
  };

  void reserve();
  void begin();
  void poison();
  bool step(bool evaluates);
  bool runIteration(const proto::Segment &segment, uint64_t iteration);
  std::vector<Candidate> candidates(const proto::Segment &segment) const;
  bool isReady(const proto::Command &command, int rank) const;
  const Candidate &choose(const std::vector<Candidate> &candidates);
  bool runs(const proto::Command &command, int rank, uint64_t iteration, uint64_t iterations) const;
  bool execute(const proto::Command &command, int rank);
  void collect(const proto::Collective &collective);
  void bind(const proto::Input &input, uint64_t microBatch);
  void keepOutputs(bool losses);
  void keepGradients();
  void keepTensors();
  void keepPart(const Block &block, int rank);

  char *at(int rank, proto::Tier tier, uint64_t offset) const {
    return memories[size_t(rank)][size_t(tier)]->base() + offset;
  }
  char *at(int rank, const proto::Address &address) const {
    return at(rank, address.tier(), placeOf(meshOf(*program), address, rank));
  }
  int ranks() const { return loaded->ranks(); }

  std::shared_ptr<const LoadedProgram> loaded;
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<Memories> memories;
  /// The initial contents by rank and buffer.
  std::vector<std::vector<std::string>> initial;

  // State of the current run.
  const proto::Program *program = nullptr;
  Policy policy;
  std::mt19937_64 random;
  bool evaluates = false;
  uint64_t stepNumber = 0;
  std::vector<Progress> progress; ///< by rank
  std::array<std::vector<uint32_t>, kLanes> lanes;
  End end;
};

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_ADVERSARY_H
