//===- memory_check.cpp - a step that is watched --------------------------===//

#include "runtime/core/memory_check.h"

#include "runtime/core/program.h"

#include <cstring>

namespace zero::rt {

static constexpr unsigned char kPoison = 0xff; // a NaN in every float format
static constexpr uint64_t kMargin = 256;       // bytes

MemoryCheck::MemoryCheck(const proto::Program &program, int rank, char *base)
    : program(program), rank(rank), base(base), accesses(accessesOf(program, rank)),
      persistent(persistentBytes(program, rank)), shadow(deviceBytes(program)) {
  for (int evaluation = 0; evaluation < 2; ++evaluation)
    lists[size_t(evaluation)] = lifetimesOf(program, rank, accesses, evaluation != 0);
  int64_t count = 0;
  for (const proto::Segment &segment : program.segments()) {
    first.push_back(count);
    count += segment.commands_size();
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string MemoryCheck::name(int64_t writer) const {
  if (writer == Content::State)
    return "the step before";
  if (writer == Content::Input)
    return "an input";
  if (writer == Content::Nobody)
    return "a gap of a bucket";
  const size_t segment =
      size_t(std::upper_bound(first.begin(), first.end(), writer) - first.begin());
  const auto &commands = program.segments(int(segment) - 1).commands();
  return format("command %lld ('%s')", static_cast<long long>(writer),
                escape(commands[int(writer - first[segment - 1])].label()).c_str());
}

std::string MemoryCheck::nameOf(const Moment &moment) const {
  switch (moment.kind) {
  case Moment::Inputs:
    return "an input";
  case Moment::Command:
    return name(first[size_t(moment.segment)] + moment.index);
  case Moment::Renames:
    return "a state's new value";
  default:
    return "the end of a step";
  }
}

/// `reader` has met `found` where it expected something else.
Status MemoryCheck::wrong(const std::string &reader, ByteRange range, const Content &found) const {
  const std::string who = found.live ? name(found.writer) + " wrote last, as another value"
                                     : "nobody has written in this step";
  return fail(ZERO_RT_INTERNAL, "rank %d, %s: it reads bytes %llu to %llu of the arena, which %s",
              rank, reader.c_str(), static_cast<unsigned long long>(range.begin),
              static_cast<unsigned long long>(range.end), who.c_str());
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Whether the smaller of a collective's source and destination is this rank's slice of the
/// larger one.
static bool isOwnSlice(const std::vector<Access> &touched, int rank) {
  auto [small, large] = std::minmax(touched[0].range, touched[1].range,
                                    [](auto a, auto b) { return a.size() < b.size(); });
  return small.begin == large.begin + uint64_t(rank) * small.size();
}

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
  shadow.forEach(range, [&](ByteRange part, const Content &content) {
    if (status.ok() && !content.live && !isPoison(part))
      status = fail(ZERO_RT_INTERNAL,
                    "rank %d, %s: somebody wrote into bytes %llu to %llu of the arena, which "
                    "no command has written since they were free",
                    rank, nameOf(current()).c_str(), static_cast<unsigned long long>(part.begin),
                    static_cast<unsigned long long>(part.end));
  });
  return status;
}

void MemoryCheck::guardMargins(const std::vector<Access> &touched) {
  RangeSet written;
  for (const Access &access : touched)
    if (access.writes)
      written.add(access.range);
  for (const Access &access : touched) {
    const auto [begin, end] = access.range;
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
                  nameOf(current()).c_str(),
                  static_cast<unsigned long long>(range.begin + uint64_t(changed - bytes.begin())));
  }
  margins.clear();
  return {};
}

/// `range` holds `value`, or, if that is 0, anything that is needed.
Status MemoryCheck::expect(ByteRange range, uint32_t value, uint64_t origin,
                           const std::string &reader) const {
  Status status;
  shadow.forEach(range, [&](ByteRange part, const Content &content) {
    const bool same = value == 0 || (content.value == value && content.origin == origin);
    if (status.ok() && !(content.live && same))
      status = wrong(reader, part, content);
  });
  return status;
}

/// What a command writes is not what it reads or writes elsewhere. Copies do as if they read
/// all first; a rank's own slice of a collective stays where it is.
Status MemoryCheck::expectApart(const std::vector<Access> &touched, const Moment &moment) const {
  const proto::Command &command = program.segments(moment.segment).commands(moment.index);
  if (command.has_copy())
    return {};
  for (const Access &written : touched)
    for (const Access &other : touched) {
      const ByteRange common{std::max(written.range.begin, other.range.begin),
                             std::min(written.range.end, other.range.end)};
      if (&written == &other || !written.writes || common.begin >= common.end ||
          (command.has_collective() && isOwnSlice(touched, rank)))
        continue;
      return fail(
          ZERO_RT_INTERNAL,
          "rank %d, %s: it writes bytes %llu to %llu of the arena twice, or also reads them", rank,
          nameOf(moment).c_str(), static_cast<unsigned long long>(common.begin),
          static_cast<unsigned long long>(common.end));
    }
  return {};
}

/// `range` is about to be written.
Status MemoryCheck::claim(ByteRange range, const Content &content) {
  ZERO_RT_TRY(expectPoison(range));
  shadow.write(range, content);
  end = std::max(end, range.size() ? range.end : 0);
  return {};
}

void MemoryCheck::measure() { most = std::max(most, shadow.liveBytes()); }

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
  shadow.clear();
  persistent.forEachGap({0, deviceBytes(program)}, [&](ByteRange range) { poison(range); });
  for (const proto::Buffer &buffer : program.buffers()) {
    const ByteRange range = rangeOf(buffer, rank);
    shadow.write(range, {buffer.value(), buffer.offset(), Content::State, true});
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
      const uint64_t begin = placeOf(rename.place(), rank), origin = rename.place().offset();
      const ByteRange range{begin, begin + rename.place().bytes()};
      if (rename.strict() && applies(rename, moment.turn, moment.segment))
        ZERO_RT_TRY(expect(range, rename.from(), origin - rename.place().start(), nameOf(moment)));
      if (rename.from() == 0)
        end = std::max(end, range.end);
      shadow.rename(range, rename.from(), rename.to(), origin - rename.start());
    }
    measure();
    ZERO_RT_TRY(after());
  }
  return {};
}

Status MemoryCheck::beforeInputs() {
  ZERO_RT_TRY(applyRenames());
  const Moment &moment = take();
  auto write = [&](const proto::Input &input) {
    return claim(rangeOf(input.offset(), input.dtype(), elementsOf(input.shape())),
                 {input.value(), input.offset(), Content::Input, true});
  };
  if (moment.segment < 0)
    for (const proto::Input &input : program.inputs())
      ZERO_RT_TRY(write(input));
  else
    for (uint32_t input : program.segments(moment.segment).inputs())
      ZERO_RT_TRY(write(program.inputs(int(input))));
  measure();
  return {};
}

Status MemoryCheck::beforeCommand(bool skipped) {
  ZERO_RT_TRY(applyRenames());
  const Moment &moment = take();
  const auto &touched = accesses[size_t(moment.segment)][size_t(moment.index)];
  if (skipped) {
    for (const Access &access : touched)
      if (access.reads && access.writes)
        shadow.rename(access.range, access.reads, access.writes, access.written);
    return {};
  }
  ZERO_RT_TRY(expectApart(touched, moment));
  for (const Access &access : touched)
    if (access.reads)
      ZERO_RT_TRY(expect(access.range, access.reads, access.origin, nameOf(moment)));
  for (const Access &access : touched)
    if (access.writes)
      ZERO_RT_TRY(claim(access.range, {access.writes, access.written,
                                       first[size_t(moment.segment)] + moment.index, true}));
  measure();
  if (program.segments(moment.segment).commands(moment.index).has_launch())
    guardMargins(touched);
  return {};
}

Status MemoryCheck::after() {
  ZERO_RT_TRY(expectMargins());
  for (ByteRange range : current().deaths) {
    poison(range);
    shadow.kill(range);
  }
  return {};
}

Status MemoryCheck::readOutputs(bool all) const {
  for (const proto::Output &output : program.outputs())
    if (all || isLoss(output.name()))
      ZERO_RT_TRY(expect(rangeOf(output.offset(), output.dtype(), elementsOf(output.shape())),
                         output.value(), output.offset() - output.start(),
                         "output '" + escape(output.name()) + "'"));
  return {};
}

Status MemoryCheck::readGradients() const {
  for (const proto::Gradient &gradient : program.gradients()) {
    const std::string reader = "the gradient of '" + escape(gradient.parameter()) + "'";
    for (const proto::Buffer *buffer : buffersOf(gradient))
      ZERO_RT_TRY(expect(rangeOf(*buffer, rank), buffer->value(), buffer->offset(), reader));
    const uint64_t scale = placeOf(gradient.scale(), rank);
    if (gradient.has_scale())
      ZERO_RT_TRY(expect({scale, scale + sizeof(float)}, gradient.scale().reads(),
                         gradient.scale().offset() - gradient.scale().start(), reader));
  }
  return {};
}

/// The next step finds what this one has left. Accumulators it fills anew.
Status MemoryCheck::readState() const {
  for (const proto::Buffer &buffer : program.buffers())
    if (buffer.role() != proto::GRADIENT)
      ZERO_RT_TRY(expect(rangeOf(buffer, rank), buffer.value(), buffer.offset(),
                         "the next step's '" + escape(buffer.name()) + "'"));
  return {};
}

Status MemoryCheck::beforeFinish() {
  ZERO_RT_TRY(applyRenames());
  take();
  ZERO_RT_TRY(readOutputs(/*all=*/false));
  return evaluates ? Status() : readGradients();
}

Status MemoryCheck::atEnd() {
  ZERO_RT_TRY(applyRenames());
  take();
  ZERO_RT_TRY(readOutputs(/*all=*/!evaluates));
  ZERO_RT_TRY(readState());
  return expectPoison({0, deviceBytes(program)});
}

} // namespace zero::rt
