//===- memory_check.h - check the memory of a step --------------*- C++ -*-===//
//
// What --check-memory does beside guarding an arena with pages: follows what each command
// reads and writes. Bytes that were read for the last time are overwritten with NaN at
// once. A command that reads what is not there is an error, as is a byte that changes
// though no command has written it: a free one, or one right before or behind what a kernel
// was given. So an arena that is too small, two values in one place and a kernel that
// reaches further than it says are found where they happen.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_MEMORY_CHECK_H
#define RUNTIME_EXECUTE_MEMORY_CHECK_H

#include "runtime/execute/step_observer.h"
#include "runtime/verify/value_trace.h"

#include <array>

namespace zero::rt {

/// Watches one rank's arenas. Bytes are positions in all of them; those on disk are followed,
/// not poisoned. Errors name command, bytes and who wrote there last; they are
/// ZERO_RT_INTERNAL.
class MemoryCheck : public StepObserver {
public:
  /// `program` must outlive it and have passed validate(); `bases`: the arenas of `rank`.
  MemoryCheck(const proto::Program &program, int rank, const ArenaBases &bases);

  bool begin(uint64_t step, Mode mode) override;
  Status beforeInputs() override;
  Status beforeCommand(const CommandRun &run) override;
  Status beforeFinish() override;
  Status after() override;
  Status atEnd() override;

  /// The end of the highest byte of `tier` that persists or that a step has touched so far,
  /// rounded up to the alignment of the arena.
  uint64_t peak(proto::Tier tier) const;
  /// The maximum of the bytes of `tier` that are needed at the same time.
  uint64_t mostLive(proto::Tier tier) const { return most[size_t(tier)]; }

private:
  const Moment &take();
  const Moment &current() const { return (*moments)[next - 1]; }
  Status applyRenames();
  bool applies(const proto::Rename &rename, uint64_t iteration, int segment) const;
  /// `range` is about to be written.
  Status claim(ByteRange range);
  Status expectPoison(ByteRange range) const;
  void guardMargins(const std::vector<Access> &touched);
  Status expectMargins();
  ByteRange arenaOf(proto::Tier tier) const;
  char *at(uint64_t position) const;
  void touch(ByteRange range);
  void poison(ByteRange range);
  bool isPoison(ByteRange range) const;
  void measure();

  const proto::Program &program;
  Mesh mesh;
  int rank;
  ArenaBases bases;
  SegmentAccesses accesses;
  RangeSet persistent;
  std::map<Mode, std::vector<Moment>> lists;
  ValueTrace trace;
  Mode mode = Mode::Step;
  const std::vector<Moment> *moments = nullptr;
  size_t next = 0;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> end{}, most{}; ///< by tier
  /// The bytes directly before and after a launch's arguments, which it must not change.
  std::vector<std::pair<ByteRange, std::string>> margins;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_MEMORY_CHECK_H
