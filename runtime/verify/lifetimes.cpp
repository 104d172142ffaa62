//===- lifetimes.cpp - lifetimes of bytes ---------------------------------===//

#include "runtime/verify/lifetimes.h"

#include "runtime/format/tables.h"

namespace zero::rt {

SegmentAccesses accessesOf(const proto::Program &program, int rank) {
  SegmentAccesses accesses;
  for (const proto::Segment &segment : program.segments()) {
    auto &commands = accesses.emplace_back();
    for (const proto::Command &command : segment.commands())
      commands.push_back(accessesOf(program, command, rank));
  }
  return accesses;
}

std::set<uint32_t> delayedReads(const proto::Program &program, const SegmentAccesses &accesses) {
  std::set<uint32_t> values;
  for (int number = 0; number < program.segments_size(); ++number)
    for (int i = 0; i < program.segments(number).commands_size(); ++i)
      if (program.segments(number).commands(i).delayed())
        for (const Access &access : accesses[size_t(number)][size_t(i)])
          values.insert(access.reads);
  return values;
}

RangeSet persistentBytes(const proto::Program &program, int rank) {
  const Mesh mesh = meshOf(program);
  RangeSet bytes;
  for (const proto::Buffer &buffer : program.buffers())
    bytes.add(rangeOf(mesh, buffer, rank));
  return bytes;
}

bool runsInIteration(proto::Command::When when, uint64_t iteration, uint64_t iterations) {
  return !((when == proto::Command::FIRST && iteration != 0) ||
           (when == proto::Command::LAST && iteration + 1 != iterations) ||
           (when == proto::Command::LATER && iteration == 0));
}

uint64_t iterationsOf(const proto::Segment &segment, const proto::Command &command) {
  const uint64_t iterations = std::max(1u, segment.repeat());
  switch (command.when()) {
  case proto::Command::FIRST:
  case proto::Command::LAST:
    return 1;
  case proto::Command::LATER:
    return iterations - 1;
  default:
    return iterations;
  }
}

bool isLoss(std::string_view name) {
  return name == "loss" || name == "local_loss" || name == "loss_weight";
}

//===----------------------------------------------------------------------===//
// Forward: the moments of a step
//===----------------------------------------------------------------------===//

void listIteration(const proto::Program &program, int number, uint64_t iteration, Mode mode,
                   std::vector<Moment> &moments) {
  const proto::Segment &segment = program.segments(number);
  if ((iteration > 0 || number > 0) && mode != Mode::Finish)
    moments.push_back({Moment::Inputs, number});
  int renamed = 0; // each command is after the renames before it
  auto renameUpTo = [&](uint32_t command) {
    const int begin = renamed;
    while (renamed < segment.renames_size() && segment.renames(renamed).command() <= command)
      ++renamed;
    if (renamed > begin)
      moments.push_back({Moment::Renames, number, begin, renamed, iteration, {}});
  };
  for (int i = 0; i < segment.commands_size(); ++i) {
    renameUpTo(uint32_t(i));
    if (runsIn(mode, segment.commands(i).forward(), segment.commands(i).delayed()))
      moments.push_back({Moment::Command, number, i, 0, iteration, {}});
  }
  renameUpTo(uint32_t(segment.commands_size()));
}

/// A step is finished in one iteration of the micro-batches, without inputs.
static std::vector<Moment> listFinish(const proto::Program &program) {
  std::vector<Moment> moments;
  for (int number = 0; number < program.segments_size(); ++number)
    if (program.segments(number).kind() == proto::Segment::MICRO_BATCH)
      listIteration(program, number, /*iteration=*/0, Mode::Finish, moments);
  moments.push_back({Moment::Outputs, -1});
  return moments;
}

static std::vector<Moment> listMoments(const proto::Program &program, Mode mode) {
  if (mode == Mode::Finish)
    return listFinish(program);
  std::vector<Moment> moments{{Moment::Inputs, -1}};
  bool finished = false;
  for (int number = 0; number < program.segments_size(); ++number) {
    const proto::Segment &segment = program.segments(number);
    if (segment.kind() == proto::Segment::EPILOGUE && !finished) {
      moments.push_back({Moment::Finish, -1});
      finished = true;
    }
    for (uint64_t iteration = 0; iteration < std::max(1u, segment.repeat()); ++iteration)
      listIteration(program, number, iteration, mode, moments);
  }
  if (!finished)
    moments.push_back({Moment::Finish, -1});
  moments.push_back({Moment::Outputs, -1});
  return moments;
}

//===----------------------------------------------------------------------===//
// Backward: bytes that are still needed
//===----------------------------------------------------------------------===//

namespace {
class Backward {
public:
  Backward(const proto::Program &program, int rank, const SegmentAccesses &accesses, Mode mode)
      : program(program), mesh(meshOf(program)), rank(rank), accesses(accesses), mode(mode),
        persistent(persistentBytes(program, rank)) {}

  void visit(Moment &moment) {
    reads.clear(), writes.clear(), overwrites = true;
    collect(moment);
    for (const auto *list : {&reads, &writes})
      for (ByteRange range : *list)
        live.forEachGap(range, [&](ByteRange dead) { moment.deaths.push_back(dead); });
    for (ByteRange range : writes)
      if (overwrites)
        live.remove(range);
    for (ByteRange range : reads)
      live.add(range);
  }

private:
  void add(std::vector<ByteRange> &list, ByteRange range) {
    persistent.forEachGap(range, [&](ByteRange part) { list.push_back(part); });
  }

  void collect(const Moment &moment) {
    switch (moment.kind) {
    case Moment::Inputs:
      return collectInputs(moment);
    case Moment::Renames:
      return collectRenames(moment);
    case Moment::Command:
      return collectCommand(moment);
    case Moment::Finish:
      collectOutputs(/*all=*/false);
      return collectGradients();
    case Moment::Outputs:
      return mode == Mode::Finish ? void() : collectOutputs(/*all=*/isTraining(mode));
    }
  }

  void collectInput(const proto::Input &input) { add(writes, rangeOf(input)); }
  void collectInputs(const Moment &moment) {
    if (moment.segment < 0)
      for (const proto::Input &input : program.inputs())
        collectInput(input);
    else
      for (uint32_t input : program.segments(moment.segment).inputs())
        collectInput(program.inputs(int(input)));
  }

  void collectRenames(const Moment &moment) {
    for (int i = moment.index; i < moment.end; ++i) {
      const proto::Rename &rename = program.segments(moment.segment).renames(i);
      if (rename.from() == 0 || (rename.strict() && runsIn(mode, true, rename.delayed())))
        add(rename.strict() ? reads : writes,
            rangeOf(mesh, rename.place(), rename.place().bytes(), rank));
    }
  }

  void collectCommand(const Moment &moment) {
    const proto::Segment &segment = program.segments(moment.segment);
    const proto::Command &command = segment.commands(moment.index);
    if (!runsInIteration(command.when(), moment.iteration, std::max(1u, segment.repeat())))
      return;
    overwrites = command.predicate() == 0;
    for (const Access &access : accesses[size_t(moment.segment)][size_t(moment.index)]) {
      if (access.reads)
        add(reads, access.range);
      if (access.writes)
        add(writes, access.range);
    }
  }

  void collectOutputs(bool all) {
    for (const proto::Output &output : program.outputs())
      if (all || isLoss(output.name()))
        add(reads, rangeOf(output));
  }

  void collectGradients() {
    if (!isTraining(mode))
      return;
    for (const proto::Gradient &gradient : program.gradients()) {
      for (const proto::Buffer *buffer : buffersOf(gradient))
        add(reads, rangeOf(mesh, *buffer, rank));
      const uint64_t scale = placeOf(mesh, gradient.scale(), rank);
      if (gradient.has_scale())
        add(reads, {scale, scale + sizeof(float)});
    }
  }

  const proto::Program &program;
  Mesh mesh;
  int rank;
  const SegmentAccesses &accesses;
  Mode mode;
  RangeSet persistent, live;
  std::vector<ByteRange> reads, writes; ///< of one moment, except for persistent bytes
  bool overwrites = true;
};
} // namespace

std::vector<Moment> lifetimesOf(const proto::Program &program, int rank,
                                const SegmentAccesses &accesses, Mode mode) {
  std::vector<Moment> moments = listMoments(program, mode);
  Backward backward(program, rank, accesses, mode);
  for (auto it = moments.rbegin(); it != moments.rend(); ++it)
    backward.visit(*it);
  return moments;
}

} // namespace zero::rt
