//===- adversary.h - a program in the worst orders that waits allow *- C++ -*-===//
//
// Runs the commands of all ranks on one thread, with the kernels of the CPU. Lanes go on in
// an order that is chosen, among all that waits leave open, to be as far from the listed one
// as can be: so a wait that is missing shows as wrong numbers, each time.
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

/// Which of the lanes that can go on does so.
struct Policy {
  enum Kind {
    Listed, ///< that of the command listed first
    Starve, ///< `lane` only if no other can
    Rush,   ///< `lane` whenever it can
    Random
  };
  Kind kind = Listed;
  int lane = 0;
  uint64_t seed = 0; ///< of what else is left open
};

/// All policies that differ for the lanes which `program` uses.
std::vector<Policy> policiesFor(const proto::Program &program);

class Adversary {
public:
  /// Kernels, and the state that a run begins with, are those of the executable at `path`.
  explicit Adversary(const std::string &path);

  struct End {
    enum Kind { Done, Deadlock, CheckFailed } kind = Done;
    std::string bits; ///< losses, gradients, outputs and tensors of all ranks
    bool operator==(const End &) const = default;
  };
  /// Two training steps of `program`, which has the kernels and buffers of the executable, and
  /// an evaluation between them, on data that is always the same. What does not persist is NaN
  /// before each of them.
  End run(const proto::Program &program, const Policy &policy);

private:
  static constexpr int kLanes = proto::Lane_ARRAYSIZE;
  using Memories = std::array<std::unique_ptr<Arena>, proto::Tier_ARRAYSIZE>;
  /// How far a rank has come in a iteration.
  struct Progress {
    std::vector<bool> done;          ///< by command
    std::array<size_t, kLanes> next; ///< among the lane's commands
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
    return at(rank, address.tier(), placeOf(address, rank));
  }
  int ranks() const { return loaded->ranks(); }

  std::shared_ptr<const LoadedProgram> loaded;
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<Memories> memories;
  /// By rank and buffer: what it holds in the beginning.
  std::vector<std::vector<std::string>> initial;

  // Of the run that is under way.
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
