//===- warp.h - the state of 32 threads -------------------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_PTX_WARP_H
#define TEST_UNIT_GPU_PTX_WARP_H

#include "launch.h"

#include <cstring>
#include <stdexcept>

namespace ptx {

using Mask = uint32_t; ///< a bit for each thread of a warp
inline constexpr Mask kAllLanes = ~Mask(0);

/// Shared and local memory have addresses of their own among the generic ones.
inline constexpr uint64_t kSharedWindow = uint64_t(1) << 60, kLocalWindow = uint64_t(1) << 61;
inline constexpr uint64_t kWindowBytes = uint64_t(1) << 32;

/// A launch in progress, with the block that runs.
struct Launch {
  const Entry &entry;
  Shape shape;
  const std::vector<uint8_t> &arguments; ///< of the layout of the parameters
  DeviceMemory &memory;
  std::mt19937_64 &random;
  uint64_t sharedBytes; ///< static and dynamic
  uint32_t firstPhase = 0;
  uint32_t block = 0, blockPhase = 0, phase = 0; ///< of the block
  Region shared{0, sharedBytes};
};

class Warp {
public:
  enum class State { Running, AtBarrier, Ended };

  Warp(Launch &launch, uint32_t number);
  ~Warp();

  /// Prepares for the first instruction of the launch's current block.
  void begin();
  /// Runs to a barrier, to the end, or past some branches.
  void run(uint32_t branches);
  /// Goes on behind a barrier of the block.
  void pass();

  State state() const { return current; }
  uint32_t barrier() const { return barrierNumber; }
  bool hasEndedThreads() const { return live != whole; }
  /// The statement that threads wait at.
  const Statement &waiting() const { return launch.entry.statements[groups.front().place]; }

  //===--------------------------------------------------------------------===//
  // For instructions
  //===--------------------------------------------------------------------===//

  template <typename T>
  T *at(uint32_t place) {
    return reinterpret_cast<T *>(registers.data() + place);
  }
  /// Writes the values of the active threads.
  template <typename T>
  void set(uint32_t place, const T (&values)[kLanes]) {
    T *to = at<T>(place);
    if (active == kAllLanes)
      std::memcpy(to, values, sizeof(values));
    else
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        if (active >> lane & 1)
          to[lane] = values[lane];
  }
  Mask predicate(uint32_t place) { return *at<Mask>(place); }
  void setPredicate(uint32_t place, Mask values) {
    Mask &to = *at<Mask>(place);
    to = (to & ~active) | (values & active);
  }
  template <typename Body>
  void forEachLane(Body body) {
    for (Mask rest = active; rest != 0; rest &= rest - 1)
      body(uint32_t(__builtin_ctz(rest)));
  }

  /// The active threads that `taken` has go on at `target`, all others behind the instruction.
  void jump(Mask taken, uint32_t target);
  void end() { ending |= active; }
  /// Orders the accesses of the threads of `mask`.
  void meetInWarp(Mask mask);
  void meetInBlock(uint32_t number);

  /// The host's address of the bytes that a thread accesses. `isWrite` and `value`: the bytes are
  /// about to become those.
  char *locate(const Instruction &instruction, uint64_t address, uint32_t lane, uint64_t bytes,
               const char *value);

  const char *locateArgument(uint64_t address, uint32_t lane, uint64_t bytes) const;

  [[noreturn]] void fault(uint32_t lane, const std::string &what) const;

  /// A copy to shared memory whose bytes are not there yet.
  struct Copy {
    Space space;
    uint32_t lane;
    uint64_t to;
    uint8_t bytes;
    char data[16];
  };

  Launch &launch;
  const uint32_t number; ///< in the block
  std::vector<Copy> copies;
  Mask active = 0; ///< the threads that run the instruction
  Mask live = 0;   ///< the threads that have not ended

private:
  /// Threads that are at the same place.
  struct Group {
    uint32_t place = 0;
    Mask lanes = 0;
    bool waits = false; ///< for others to come to this place
  };

  void checkAligned(uint64_t address, uint32_t lane, uint64_t bytes) const {
    if ((address & (bytes - 1)) != 0) // bytes is a power of two
      failAligned(lane, bytes);
  }
  [[noreturn]] void failAligned(uint32_t lane, uint64_t bytes) const;
  char *locateIn(Region &region, uint64_t offset, uint32_t lane, uint64_t bytes, uint32_t since,
                 const char *value, bool nonCoherent);
  char *locateLocal(uint64_t offset, uint32_t lane, uint64_t bytes, bool isWrite);
  void faultOf(uint32_t lane, uint64_t bytes, const char *value, const Verdict &verdict) const;
  void setSpecial(const char *name, uint32_t (*valueOf)(const Warp &, uint32_t lane));
  void setSpecials();

  size_t chooseGroup();
  bool haveMet(const Instruction &instruction);
  void runGroup(Group &group, uint32_t end);
  bool step(Group &group, const Instruction &instruction);
  [[noreturn]] void failToMeet() const;

  std::vector<uint8_t> registers;
  std::vector<Group> groups;
  std::vector<Group> arriving; ///< made by a jump
  Mask whole = 0, ending = 0;
  uint32_t epoch = 0, barrierNumber = 0, place = 0; ///< `place`: of the instruction that runs
  State current = State::Ended;
  Region *recent = nullptr; ///< was accessed last
  std::vector<char> local;
  Shadow localShadow;
};

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_WARP_H
