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
  /// Tracks `rank`, or all ranks (kEveryRank). `program`, which must have passed validate(), and
  /// `accesses`, those of `rank`, must outlive it.
  ValueTrace(const proto::Program &program, int rank, const SegmentAccesses &accesses);

  /// Begins a step: persistent bytes contain the values of the previous step, the others nothing.
  void begin();

  /// The writes of the runtime at `moment`, of kind Inputs.
  void writeInputs(const Moment &moment);
  /// Applies a rename to the bytes in its place. If it `applies`, by iteration and predicate, and
  /// is strict, they must hold the value that it renames.
  Status rename(const proto::Rename &rename, bool applies, const Moment &moment);
  /// Checks that a command reads the expected values and writes no byte twice.
  Status readOperands(const Moment &moment) const;
  void writeResults(const Moment &moment);
  /// Checks that a command of an evaluation writes nothing that outlives the step.
  Status expectNoStateWritten(const Moment &moment) const;
  /// A command that its iteration or predicate skips passes on the values that it would have
  /// changed in place. Other values that it would have written are void: further void values may be
  /// computed from them, but no state and no output of the step.
  void skip(const Moment &moment);

  /// Checks the reads at the end of the micro-batches: the losses, and optionally the gradients.
  Status finish(Mode mode) const;
  /// Checks the reads at the end of a step, by the caller and by the next step.
  Status end(Mode mode) const;

  /// Whether the next step reads what this one leaves in `buffer`, an accumulator: a gradient whose
  /// update is delayed. A step initializes others itself.
  bool isKept(const proto::Buffer &buffer) const { return kept.contains(buffer.value()); }

  const Mesh &getMesh() const { return mesh; }
  const RankShadow &contents() const { return shadow; }
  /// Whether every reader finds the same here and there.
  bool isSame(const ValueTrace &other) const {
    return voids == other.voids && shadow.isSame(other.shadow);
  }
  /// The bytes are no longer needed.
  void kill(ByteRange range) { shadow.kill(range); }
  const std::vector<Access> &operandsOf(const Moment &moment) const {
    return accesses[size_t(moment.segment)][size_t(moment.index)];
  }
  /// A description of `moment`.
  std::string nameOf(const Moment &moment) const;

private:
  Status expect(RankRange range, uint32_t value, uint64_t origin, const std::string &reader) const;
  Status expectApart(const Moment &moment) const;
  std::optional<std::pair<ByteRange, Content>> strangerIn(RankRange range, uint32_t value,
                                                          uint64_t origin) const;
  /// The commands that computed the contents of `range`, of `value` or, if that is 0, of any value.
  std::set<int64_t> versionsIn(RankRange range, uint32_t value) const;
  void writeCopy(const Access &from, const Access &to, int64_t writer);
  /// `range` now contains a state's `value`. If it was recomputed, other places with an older value
  /// are dead.
  void takeOver(RankRange range, uint32_t value, uint64_t origin);
  bool areOwnSlice(const proto::Collective &collective, const std::vector<Access> &touched) const;
  bool readsVoid(const Moment &moment) const;
  /// "rank 1, ", where it is one.
  std::string prefix() const;
  Status readOutputs(bool all) const;
  Status readGradients() const;
  std::string name(int64_t writer) const;
  Status wrong(const std::string &reader, ByteRange range, const Content &found) const;

  const proto::Program &program;
  Mesh mesh;
  int rank;
  const SegmentAccesses &accesses;
  std::set<uint32_t> kept;    ///< values that delayed commands read
  std::vector<int64_t> first; ///< command of each segment, counted over all
  RankShadow shadow;
  std::set<uint32_t> voids; ///< values
  /// The places of values that outlive the step, with the start of each.
  std::map<uint32_t, std::set<std::tuple<uint64_t, uint64_t, uint64_t>>> places;
};

/// The inputs that are written at `moment`, of kind Inputs.
std::vector<const proto::Input *> inputsOf(const proto::Program &program, const Moment &moment);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_VALUE_TRACE_H
