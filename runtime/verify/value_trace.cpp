//===- value_trace.cpp - trace the values of bytes ------------------------===//

#include "runtime/verify/value_trace.h"

#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"

namespace zero::rt {

/// Positions of all tiers.
static constexpr uint64_t kPositions = uint64_t(proto::Tier_ARRAYSIZE) * kTierBytes;

ValueTrace::ValueTrace(const proto::Program &program, int rank, const SegmentAccesses &accesses)
    : program(program), mesh(meshOf(program)), rank(rank), accesses(accesses),
      kept(delayedReads(program, accesses)),
      shadow(kPositions, rank == kEveryRank ? mesh : Mesh()) {
  int64_t count = 0;
  for (const proto::Segment &segment : program.segments()) {
    first.push_back(count);
    count += segment.commands_size();
  }
}

std::vector<const proto::Input *> inputsOf(const proto::Program &program, const Moment &moment) {
  std::vector<const proto::Input *> inputs;
  if (moment.segment < 0)
    for (const proto::Input &input : program.inputs())
      inputs.push_back(&input);
  else
    for (uint32_t index : program.segments(moment.segment).inputs())
      inputs.push_back(&program.inputs(int(index)));
  return inputs;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string ValueTrace::prefix() const {
  return rank == kEveryRank ? "" : "rank " + std::to_string(rank) + ", ";
}

std::string ValueTrace::name(int64_t writer) const {
  if (writer == Content::State)
    return "the step before";
  if (writer == Content::Input)
    return "an input";
  if (writer == Content::Nobody)
    return "a gap of a bucket";
  const size_t segment =
      size_t(std::upper_bound(first.begin(), first.end(), writer) - first.begin());
  const proto::Command &command =
      program.segments(int(segment) - 1).commands(int(writer - first[segment - 1]));
  const std::string lane =
      command.lane() == proto::COMPUTE ? "" : std::string(", lane ") + rt::nameOf(command.lane());
  return format("command %lld ('%s'%s)", static_cast<long long>(writer),
                escape(command.label()).c_str(), lane.c_str());
}

std::string ValueTrace::nameOf(const Moment &moment) const {
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
Status ValueTrace::wrong(const std::string &reader, ByteRange range, const Content &found) const {
  const std::string who = found.live ? name(found.writer) + " wrote last, with another value"
                                     : "no command has written in this step";
  return fail(ZERO_RT_INTERNAL, "%s%s: it reads %s, which %s", prefix().c_str(), reader.c_str(),
              describe(range).c_str(), who.c_str());
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Whether the smaller of a collective's source and destination is each rank's slice of the
/// larger one.
bool ValueTrace::areOwnSlice(const proto::Collective &collective,
                             const std::vector<Access> &touched) const {
  auto [small, large] = std::minmax(touched[0].range, touched[1].range,
                                    [](auto a, auto b) { return a.size() < b.size(); });
  const PerAxis slices = sliceStrides(mesh, collective, small.size());
  if (rank != kEveryRank)
    return small.begin == large.begin + uint64_t(mesh.shift(slices, rank));
  PerAxis strides = large.strides;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    strides[axis] += slices[axis];
  return small.begin == large.begin && small.strides == strides;
}

/// The first part of `range` that does not hold `value`, or, if that is 0, anything that is
/// needed.
std::optional<std::pair<ByteRange, Content>> ValueTrace::strangerIn(RankRange range, uint32_t value,
                                                                    uint64_t origin) const {
  std::optional<std::pair<ByteRange, Content>> stranger;
  shadow.forEach(range, [&](ByteRange part, const Content &content) {
    const bool same = value == 0 || (content.value == value && content.origin == origin);
    if (!stranger && !(content.live && same))
      stranger.emplace(part, content);
  });
  return stranger;
}

Status ValueTrace::expect(RankRange range, uint32_t value, uint64_t origin,
                          const std::string &reader) const {
  if (voids.count(value))
    return fail(ZERO_RT_INTERNAL,
                "%s%s: it reads %s, which a command that a predicate skips would have written",
                prefix().c_str(), reader.c_str(), describe(range).c_str());
  const auto stranger = strangerIn(range, value, origin);
  return stranger ? wrong(reader, stranger->first, stranger->second) : Status();
}

/// Checks that the bytes that a command writes are not those it reads or writes elsewhere. A copy
/// behaves as if it reads everything first. A rank's slice of a collective remains in place.
Status ValueTrace::expectApart(const Moment &moment) const {
  const std::vector<Access> &touched = operandsOf(moment);
  const proto::Command &command = program.segments(moment.segment).commands(moment.index);
  if (command.has_copy())
    return {};
  for (const Access &written : touched)
    for (const Access &other : touched) {
      const ByteRange common = shadow.common(written.range, other.range);
      if (&written == &other || !written.writes || common.begin >= common.end ||
          (command.has_collective() && areOwnSlice(command.collective(), touched)))
        continue;
      return fail(ZERO_RT_INTERNAL, "%s%s: it writes %s twice, or also reads them",
                  prefix().c_str(), nameOf(moment).c_str(), describe(common).c_str());
    }
  return {};
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

void ValueTrace::begin() {
  shadow.clear();
  places.clear();
  for (const proto::Buffer &buffer : program.buffers()) {
    const RankRange range = rangeOf(mesh, buffer, rank);
    const uint64_t origin = positionOf(buffer.tier(), buffer.offset());
    shadow.write(range, {buffer.value(), origin, Content::State, true, 0, Content::State});
    auto &known = places[buffer.value()];
    if (range.isShared())
      known.emplace(range.begin, range.end, origin);
  }
}

void ValueTrace::writeInputs(const Moment &moment) {
  for (const proto::Input *input : inputsOf(program, moment))
    shadow.write(rangeOf(*input),
                 {input->value(), input->offset(), Content::Input, true, 0, Content::Input});
}

std::set<int64_t> ValueTrace::versionsIn(RankRange range, uint32_t value) const {
  std::set<int64_t> versions;
  shadow.forEach(range, [&](ByteRange, const Content &content) {
    if (content.live && (value == 0 || content.value == value))
      versions.insert(content.version);
  });
  return versions;
}

/// Ranges that differ between ranks are not tracked separately, so values there remain.
void ValueTrace::takeOver(RankRange range, uint32_t value, uint64_t origin) {
  auto known = places.find(value);
  if (known == places.end() || !range.isShared())
    return;
  const std::set<int64_t> versions = versionsIn(range, value);
  if (versions.empty())
    return;
  std::vector<ByteRange> outdated;
  for (auto [begin, end, first] : known->second) {
    const ByteRange same{std::max(begin, range.begin - origin + first),
                         std::min(end, range.end - origin + first)};
    if (first == origin || same.begin >= same.end || versions.count(Content::Mixed))
      continue;
    shadow.forEach(same, [&](ByteRange part, const Content &content) {
      if (content.live && content.value == value && content.version != Content::Mixed &&
          !versions.count(content.version))
        outdated.push_back(part);
    });
  }
  for (ByteRange part : outdated)
    shadow.kill(part);
  known->second.emplace(range.begin, range.end, origin);
}

Status ValueTrace::rename(const proto::Rename &rename, bool applies, const Moment &moment) {
  const proto::Address &place = rename.place();
  const RankRange range = rangeOf(mesh, place, place.bytes(), rank);
  const uint64_t origin = positionOf(place.tier(), place.offset());
  if (rename.strict() && applies)
    ZERO_RT_TRY(expect(range, rename.from(), origin - place.start(), nameOf(moment)));
  shadow.rename(range, rename.from(), rename.to(), origin - rename.start());
  takeOver(range, rename.to(), origin - rename.start());
  if (applies && voids.count(rename.from()))
    voids.insert(rename.to());
  return {};
}

bool ValueTrace::readsVoid(const Moment &moment) const {
  const std::vector<Access> &touched = operandsOf(moment);
  return std::any_of(touched.begin(), touched.end(),
                     [&](const Access &access) { return voids.count(access.reads) > 0; });
}

Status ValueTrace::readOperands(const Moment &moment) const {
  ZERO_RT_TRY(expectApart(moment));
  const std::vector<Access> &touched = operandsOf(moment);
  const bool writes =
      std::any_of(touched.begin(), touched.end(), [](auto &access) { return access.writes > 0; });
  for (const Access &access : touched)
    if (access.reads && !(writes && voids.count(access.reads)))
      ZERO_RT_TRY(expect(access.range, access.reads, access.origin, nameOf(moment)));
  return {};
}

/// A step initializes accumulators itself, so an evaluation may leave anything there.
Status ValueTrace::expectNoStateWritten(const Moment &moment) const {
  for (const Access &access : operandsOf(moment))
    for (const proto::Buffer &buffer : program.buffers())
      if (access.writes && buffer.role() != proto::GRADIENT) {
        const ByteRange common = shadow.common(access.range, rangeOf(mesh, buffer, rank));
        if (common.size() > 0)
          return fail(ZERO_RT_INTERNAL, "%s%s: an evaluation executes it, and it writes %s of '%s'",
                      prefix().c_str(), nameOf(moment).c_str(), describe(common).c_str(),
                      escape(buffer.name()).c_str());
      }
  return {};
}

/// A copy has the time of its source.
void ValueTrace::writeCopy(const Access &from, const Access &to, int64_t writer) {
  std::vector<std::pair<ByteRange, int64_t>> pieces;
  if (from.range.isShared() && to.range.isShared())
    shadow.forEach(from.range, [&](ByteRange part, const Content &content) {
      // A slice is in the range on some rank, but not on the first one.
      const uint64_t begin = std::max(part.begin, from.range.begin);
      const uint64_t end = std::min(part.end, from.range.end);
      if (begin < end)
        pieces.emplace_back(ByteRange{begin - from.range.begin, end - from.range.begin},
                            content.version);
    });
  const std::set<int64_t> versions = versionsIn(from.range, 0);
  const int64_t version = versions.size() == 1 ? *versions.begin() : int64_t(Content::Mixed);
  Content content{to.writes, to.written, writer, to.writes != kNoValue, 0, version};
  shadow.write(to.range, content);
  for (auto [piece, of] : pieces) {
    content.version = of;
    shadow.write(
        ByteRange{to.range.begin + piece.begin, std::min(to.range.end, to.range.begin + piece.end)},
        content);
  }
}

void ValueTrace::writeResults(const Moment &moment) {
  const int64_t writer = first[size_t(moment.segment)] + moment.index;
  const bool isVoid = readsVoid(moment);
  const std::vector<Access> &touched = operandsOf(moment);
  const bool isCopy = program.segments(moment.segment).commands(moment.index).has_copy();
  const Access *source = isCopy && touched.front().reads ? &touched.front() : nullptr;
  for (const Access &access : touched)
    if (access.writes) {
      if (source && source != &access)
        writeCopy(*source, access, writer);
      else
        shadow.write(access.range,
                     {access.writes, access.written, writer, access.writes != kNoValue, 0, writer});
      takeOver(access.range, access.writes, access.written);
      if (isVoid)
        voids.insert(access.writes);
      else
        voids.erase(access.writes);
    }
}

/// What is changed in place stays what it was, and has the name of the result: an update, and the
/// gather of the updated slices, until the write of the state gives back its name.
void ValueTrace::skip(const Moment &moment) {
  const proto::Segment &segment = program.segments(moment.segment);
  const proto::Command &command = segment.commands(moment.index);
  const bool byPredicate =
      runsInIteration(command.when(), moment.iteration, std::max(1u, segment.repeat()));
  const std::vector<Access> &touched = operandsOf(moment);
  if (!byPredicate && command.has_collective() &&
      touched[0].range.size() < touched[1].range.size() &&
      areOwnSlice(command.collective(), touched))
    shadow.rename(touched[0].range, touched[0].reads, touched[1].writes, touched[1].written);
  for (const Access &access : touched)
    if (access.reads && access.writes && voids.count(access.reads))
      voids.insert(access.writes);
    else if (access.reads && access.writes)
      shadow.rename(access.range, access.reads, access.writes, access.written);
    else if (access.writes && byPredicate &&
             strangerIn(access.range, access.writes, access.written))
      voids.insert(access.writes);
}

Status ValueTrace::readOutputs(bool all) const {
  for (const proto::Output &output : program.outputs())
    if (all || isLoss(output.name()))
      ZERO_RT_TRY(expect(rangeOf(output), output.value(), output.offset() - output.start(),
                         "output '" + escape(output.name()) + "'"));
  return {};
}

Status ValueTrace::readGradients() const {
  for (const proto::Gradient &gradient : program.gradients()) {
    const std::string reader = "the gradient of '" + escape(gradient.parameter()) + "'";
    for (const proto::Buffer *buffer : buffersOf(gradient))
      ZERO_RT_TRY(expect(rangeOf(mesh, *buffer, rank), buffer->value(),
                         positionOf(buffer->tier(), buffer->offset()), reader));
    if (gradient.has_scale())
      ZERO_RT_TRY(expect(rangeOf(mesh, gradient.scale(), sizeof(float), rank),
                         gradient.scale().reads(),
                         gradient.scale().offset() - gradient.scale().start(), reader));
  }
  return {};
}

Status ValueTrace::finish(Mode mode) const {
  ZERO_RT_TRY(readOutputs(/*all=*/false));
  return isTraining(mode) ? readGradients() : Status();
}

/// Checks that the next step reads the values that this step left. It initializes accumulators
/// itself, unless its delayed commands read them.
Status ValueTrace::end(Mode mode) const {
  if (mode != Mode::Finish)
    ZERO_RT_TRY(readOutputs(/*all=*/isTraining(mode)));
  for (const proto::Buffer &buffer : program.buffers())
    if (buffer.role() != proto::GRADIENT || (isTraining(mode) && isKept(buffer)))
      ZERO_RT_TRY(expect(rangeOf(mesh, buffer, rank), buffer.value(),
                         positionOf(buffer.tier(), buffer.offset()),
                         "the next step's '" + escape(buffer.name()) + "'"));
  return {};
}

} // namespace zero::rt
