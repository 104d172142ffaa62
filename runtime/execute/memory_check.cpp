//===- memory_check.cpp - check the memory of a step ----------------------===//

#include "runtime/execute/memory_check.h"

#include "runtime/load/program.h"

#include <cstring>

namespace zero::rt {

static constexpr unsigned char kPoison = 0xff; // a NaN in every float format
static constexpr uint64_t kMargin = 256;       // bytes

/// Tiers in memory, whose bytes can be poisoned.
static constexpr proto::Tier kInMemory[] = {proto::DEVICE, proto::HOST};

MemoryCheck::MemoryCheck(const proto::Program &program, int rank, const ArenaBases &bases)
    : program(program), mesh(meshOf(program)), rank(rank), bases(bases),
      accesses(accessesOf(program, rank)), persistent(persistentBytes(program, rank)),
      trace(program, rank, accesses) {
  for (Mode each : modesOf(program))
    lists[each] = lifetimesOf(program, rank, accesses, each);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

ByteRange MemoryCheck::arenaOf(proto::Tier tier) const {
  const uint64_t begin = positionOf(tier, 0);
  return {begin, begin + arenaBytes(program, tier)};
}

/// The address of a byte in memory, or nullptr.
char *MemoryCheck::at(uint64_t position) const {
  char *base = bases[size_t(tierOf(position))];
  return base ? base + offsetOf(position) : nullptr;
}

/// `range` is in use.
void MemoryCheck::touch(ByteRange range) {
  uint64_t &highest = end[size_t(tierOf(range.begin))];
  if (range.size() > 0)
    highest = std::max(highest, offsetOf(range.begin) + range.size());
}

void MemoryCheck::poison(ByteRange range) {
  if (char *bytes = at(range.begin))
    std::memset(bytes, kPoison, range.size());
}

/// Bytes on disk are assumed to be correct.
bool MemoryCheck::isPoison(ByteRange range) const {
  const char *bytes = at(range.begin);
  return !bytes || range.size() == 0 ||
         (static_cast<unsigned char>(*bytes) == kPoison &&
          std::memcmp(bytes, bytes + 1, range.size() - 1) == 0);
}

/// Checks that dead bytes in `range` still have the values that poison() wrote.
Status MemoryCheck::expectPoison(ByteRange range) const {
  Status status;
  trace.contents().forEach(range, [&](ByteRange part, const Content &content) {
    if (status.ok() && !content.live && !isPoison(part))
      status =
          fail(ZERO_RT_INTERNAL,
               "rank %d, %s: a write to %s, which no command has written since they were freed",
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
    const ByteRange arena = arenaOf(tierOf(begin));
    const ByteRange before{begin - std::min(begin - arena.begin, kMargin), begin};
    const ByteRange behind{end, std::min(end + kMargin, arena.end)};
    for (ByteRange side : {before, behind})
      written.forEachGap(side, [&](ByteRange part) {
        margins.emplace_back(part, std::string(at(part.begin), part.size()));
      });
  }
}

Status MemoryCheck::expectMargins() {
  for (const auto &[range, bytes] : margins) {
    const auto changed = std::mismatch(bytes.begin(), bytes.end(), at(range.begin)).first;
    const uint64_t place = offsetOf(range.begin) + uint64_t(changed - bytes.begin());
    if (changed != bytes.end())
      return fail(ZERO_RT_INTERNAL,
                  "rank %d, %s: it wrote byte %llu of the arena, outside of its arguments", rank,
                  trace.nameOf(current()).c_str(), static_cast<unsigned long long>(place));
  }
  margins.clear();
  return {};
}

Status MemoryCheck::claim(ByteRange range) {
  ZERO_RT_TRY(expectPoison(range));
  touch(range);
  return {};
}

void MemoryCheck::measure() {
  for (size_t tier = 0; tier < most.size(); ++tier)
    most[tier] = std::max(most[tier], trace.contents().liveBytes(proto::Tier(tier)));
}

uint64_t MemoryCheck::peak(proto::Tier tier) const {
  uint64_t alignment = 1;
  for (const proto::Arena &arena : program.arenas())
    if (arena.tier() == tier)
      alignment = std::max<uint64_t>(1, arena.alignment());
  return (end[size_t(tier)] + alignment - 1) / alignment * alignment;
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

bool MemoryCheck::begin(uint64_t, Mode of) {
  mode = of;
  moments = &lists.at(mode);
  next = 0;
  trace.begin();
  for (proto::Tier tier : kInMemory)
    persistent.forEachGap(arenaOf(tier), [&](ByteRange range) { poison(range); });
  for (const proto::Buffer &buffer : program.buffers()) {
    const ByteRange range = rangeOf(mesh, buffer, rank);
    touch(range);
    // An accumulator: its first iteration fills it.
    if (buffer.role() == proto::GRADIENT && !trace.isKept(buffer))
      poison(range);
  }
  return true;
}

const Moment &MemoryCheck::take() { return (*moments)[next++]; }

bool MemoryCheck::applies(const proto::Rename &rename, uint64_t iteration, int segment) const {
  if (!runsIn(mode, /*forward=*/false, rename.delayed()) ||
      !runsInIteration(rename.when(), iteration, std::max(1u, program.segments(segment).repeat())))
    return false;
  return rename.predicate() == 0 ||
         *at(placeOf(mesh, program.predicates(int(rename.predicate()) - 1), rank)) != 0;
}

Status MemoryCheck::applyRenames() {
  while ((*moments)[next].kind == Moment::Renames) {
    const Moment &moment = take();
    for (int i = moment.index; i < moment.end; ++i) {
      const proto::Rename &rename = program.segments(moment.segment).renames(i);
      ZERO_RT_TRY(trace.rename(rename, applies(rename, moment.iteration, moment.segment), moment));
      if (rename.from() == 0)
        touch(rangeOf(mesh, rename.place(), rename.place().bytes(), rank));
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

Status MemoryCheck::beforeCommand(const CommandRun &run) {
  ZERO_RT_TRY(applyRenames());
  const Moment &moment = take();
  if (run.skipped) {
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
  return trace.finish(mode);
}

Status MemoryCheck::atEnd() {
  ZERO_RT_TRY(applyRenames());
  take();
  ZERO_RT_TRY(trace.end(mode));
  for (proto::Tier tier : kInMemory)
    ZERO_RT_TRY(expectPoison(arenaOf(tier)));
  return {};
}

} // namespace zero::rt
