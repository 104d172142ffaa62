//===- value_trace.h - trace the values of bytes ----------------*- C++ -*-===//
// Tracks the numbers of values in the arenas of one rank, moment by moment. The caller provides the
// events, their order, and the values of predicates: a checked run (execute/memory_check.h), or a
// proof that executes nothing.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_VERIFY_VALUE_TRACE_H
#define RUNTIME_VERIFY_VALUE_TRACE_H

#include "runtime/support/status.h"
#include "runtime/verify/lifetimes.h"
#include "runtime/verify/rank_shadow.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace zero::rt {

/// Errors name reader, bytes and who wrote there last; they are ZERO_RT_INTERNAL.
class ValueTrace {
public:
  /// Follows `rank`, or all ranks at once: kEveryRank. `program`, which has passed validate(),
  /// and `accesses`, those of `rank`, must outlive it.
  ValueTrace(const proto::Program &program, int rank, const SegmentAccesses &accesses);

  /// A step begins: what persists holds what the one before has left, the rest nothing.
  void begin();

  /// What the runtime writes at `moment`, of kind Inputs.
  void writeInputs(const Moment &moment);
  /// Applies a rename to the bytes in its place. If it `applies`, by iteration and predicate, and
  /// is strict, they must hold the value that it renames.
  Status rename(const proto::Rename &rename, bool applies, const Moment &moment);
  /// A command that runs finds what it reads, and writes nothing twice.
  Status readOperands(const Moment &moment) const;
  void writeResults(const Moment &moment);
  /// A command that its iteration or predicate skips passes on the values that it would have
  /// changed in place. Other values that it would have written are void: further void values may be
  /// computed from them, but no state and no output of the step.
  void skip(const Moment &moment);

  /// What is read at the end of the micro-batches: the losses, and perhaps the gradients.
  Status finish(bool evaluates) const;
  /// What is read at the end of a step, by the caller and by the next step.
  Status end(bool evaluates) const;

  const RankShadow &contents() const { return shadow; }
  /// Whether every reader finds the same here and there.
  bool isSame(const ValueTrace &other) const {
    return voids == other.voids && shadow.isSame(other.shadow);
  }
  /// Nothing there is needed any more.
  void kill(ByteRange range) { shadow.kill(range); }
  const std::vector<Access> &operandsOf(const Moment &moment) const {
    return accesses[size_t(moment.segment)][size_t(moment.index)];
  }
  /// What happens at `moment`, in words.
  std::string nameOf(const Moment &moment) const;

private:
  Status expect(RankRange range, uint32_t value, uint64_t origin, const std::string &reader) const;
  Status expectApart(const Moment &moment) const;
  std::optional<std::pair<ByteRange, Content>> strangerIn(RankRange range, uint32_t value,
                                                          uint64_t origin) const;
  /// The commands that computed what `range` holds, of `value` or, if that is 0, of any.
  std::set<int64_t> versionsIn(RankRange range, uint32_t value) const;
  void writeCopy(const Access &from, const Access &to, int64_t writer);
  /// `range` holds a state's `value` now. Where it was computed anew, other places that hold
  /// an older one are dead.
  void takeOver(RankRange range, uint32_t value, uint64_t origin);
  bool areOwnSlice(const std::vector<Access> &touched) const;
  bool readsVoid(const Moment &moment) const;
  /// "rank 1, ", where it is one.
  std::string prefix() const;
  Status readOutputs(bool all) const;
  Status readGradients() const;
  std::string name(int64_t writer) const;
  Status wrong(const std::string &reader, ByteRange range, const Content &found) const;

  const proto::Program &program;
  int rank;
  const SegmentAccesses &accesses;
  std::vector<int64_t> first; ///< command of each segment, counted over all
  RankShadow shadow;
  std::set<uint32_t> voids; ///< values
  /// Where values that outlive the step have lain in it, with where each begins there.
  std::map<uint32_t, std::set<std::tuple<uint64_t, uint64_t, uint64_t>>> places;
};

/// The inputs that are written at `moment`, of kind Inputs.
std::vector<const proto::Input *> inputsOf(const proto::Program &program, const Moment &moment);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_VALUE_TRACE_H
