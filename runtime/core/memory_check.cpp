//===- memory_check.cpp - a step that is watched --------------------------===//

#include "runtime/core/memory_check.h"

#include "runtime/core/program.h"

#include <cstring>

namespace zero::rt {

static constexpr unsigned char kPoison = 0xff; // a NaN in every float format
static constexpr uint64_t kMargin = 256;       // bytes

MemoryCheck::MemoryCheck(const proto::Program &program, int rank, char *base)
    : program(program), rank(rank), base(base), accesses(accessesOf(program, rank)),
      persistent(persistentBytes(program, rank)), trace(program, rank, accesses) {
  for (int evaluation = 0; evaluation < 2; ++evaluation)
    lists[size_t(evaluation)] = lifetimesOf(program, rank, accesses, evaluation != 0);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void MemoryCheck::poison(ByteRange range) {
  std::memset(base + range.begin, kPoison, range.size());
}

bool MemoryCheck::isPoison(ByteRange range) const {
  const char *at = base + range.begin;
  return range.size() == 0 || (static_cast<unsigned char>(*at) == kPoison &&
                               std::memcmp(at, at + 1, range.size() - 1) == 0);
}

/// What is dead in `range` is as poison() left it.
Status MemoryCheck::expectPoison(ByteRange range) const {
  Status status;
  trace.contents().forEach(range, [&](ByteRange part, const Content &content) {
    if (status.ok() && !content.live && !isPoison(part))
      status = fail(ZERO_RT_INTERNAL,
                    "rank %d, %s: somebody wrote into %s, which no command has written since "
                    "they were free",
                    rank, trace.nameOf(current()).c_str(), describe(part).c_str());
  });
  return status;
}

void MemoryCheck::guardMargins(const std::vector<Access> &touched) {
  RangeSet written;
  for (const Access &access : touched)
    if (access.writes)
      written.add(access.range);
  for (const Access &access : touched) {
    const uint64_t begin = access.range.begin, end = access.range.end;
    const ByteRange before{begin - std::min(begin, kMargin), begin};
    const ByteRange behind{end, std::min(end + kMargin, deviceBytes(program))};
    for (ByteRange side : {before, behind})
      written.forEachGap(side, [&](ByteRange part) {
        margins.emplace_back(part, std::string(base + part.begin, part.size()));
      });
  }
}

Status MemoryCheck::expectMargins() {
  for (const auto &[range, bytes] : margins) {
    const auto changed = std::mismatch(bytes.begin(), bytes.end(), base + range.begin).first;
    if (changed != bytes.end())
      return fail(ZERO_RT_INTERNAL,
                  "rank %d, %s: it wrote byte %llu of the arena, outside of its arguments", rank,
                  trace.nameOf(current()).c_str(),
                  static_cast<unsigned long long>(range.begin + uint64_t(changed - bytes.begin())));
  }
  margins.clear();
  return {};
}

Status MemoryCheck::claim(ByteRange range) {
  ZERO_RT_TRY(expectPoison(range));
  end = std::max(end, range.size() ? range.end : 0);
  return {};
}

void MemoryCheck::measure() { most = std::max(most, trace.contents().liveBytes()); }

uint64_t MemoryCheck::peak() const {
  uint64_t alignment = 1;
  for (const proto::Arena &arena : program.arenas())
    if (arena.tier() == proto::DEVICE)
      alignment = std::max<uint64_t>(1, arena.alignment());
  return (end + alignment - 1) / alignment * alignment;
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

void MemoryCheck::begin(bool evaluation) {
  evaluates = evaluation;
  moments = &lists[evaluation ? 1 : 0];
  next = 0;
  trace.begin();
  persistent.forEachGap({0, deviceBytes(program)}, [&](ByteRange range) { poison(range); });
  for (const proto::Buffer &buffer : program.buffers()) {
    const ByteRange range = rangeOf(buffer, rank);
    end = std::max(end, range.end);
    if (buffer.role() == proto::GRADIENT) // an accumulator: its first turn fills it
      poison(range);
  }
}

const Moment &MemoryCheck::take() { return (*moments)[next++]; }

bool MemoryCheck::applies(const proto::Rename &rename, uint64_t turn, int segment) const {
  if (evaluates ||
      !runsInTurn(rename.when(), turn, std::max(1u, program.segments(segment).repeat())))
    return false;
  return rename.predicate() == 0 ||
         base[placeOf(program.predicates(int(rename.predicate()) - 1), rank)] != 0;
}

Status MemoryCheck::applyRenames() {
  while ((*moments)[next].kind == Moment::Renames) {
    const Moment &moment = take();
    for (int i = moment.index; i < moment.end; ++i) {
      const proto::Rename &rename = program.segments(moment.segment).renames(i);
      ZERO_RT_TRY(trace.rename(rename, applies(rename, moment.turn, moment.segment), moment));
      if (rename.from() == 0)
        end = std::max(end, rangeOf(rename.place(), rename.place().bytes(), rank).end);
    }
    measure();
    ZERO_RT_TRY(after());
  }
  return {};
}

Status MemoryCheck::beforeInputs() {
  ZERO_RT_TRY(applyRenames());
  const Moment &moment = take();
  for (const proto::Input *input : inputsOf(program, moment))
    ZERO_RT_TRY(claim(rangeOf(*input)));
  trace.writeInputs(moment);
  measure();
  return {};
}

Status MemoryCheck::beforeCommand(bool skipped) {
  ZERO_RT_TRY(applyRenames());
  const Moment &moment = take();
  if (skipped) {
    trace.skip(moment);
    return {};
  }
  ZERO_RT_TRY(trace.readOperands(moment));
  for (const Access &access : trace.operandsOf(moment))
    if (access.writes)
      ZERO_RT_TRY(claim(access.range));
  trace.writeResults(moment);
  measure();
  if (program.segments(moment.segment).commands(moment.index).has_launch())
    guardMargins(trace.operandsOf(moment));
  return {};
}

Status MemoryCheck::after() {
  ZERO_RT_TRY(expectMargins());
  for (ByteRange range : current().deaths) {
    poison(range);
    trace.kill(range);
  }
  return {};
}

Status MemoryCheck::beforeFinish() {
  ZERO_RT_TRY(applyRenames());
  take();
  return trace.finish(evaluates);
}

Status MemoryCheck::atEnd() {
  ZERO_RT_TRY(applyRenames());
  take();
  ZERO_RT_TRY(trace.end(evaluates));
  return expectPoison({0, deviceBytes(program)});
}

} // namespace zero::rt
