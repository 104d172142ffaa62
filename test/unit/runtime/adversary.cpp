//===- adversary.cpp - a program in the worst allowed orders --------------===//

#include "adversary.h"

#include "runtime/comm/reduce.h"
#include "runtime/device/cpu/arena.h"
#include "runtime/execute/commands.h"
#include "runtime/execute/state.h"
#include "runtime/format/collectives.h"
#include "runtime/load/reduction.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

namespace zero::rt {

std::vector<Policy> policiesFor(const proto::Program &program) {
  std::set<int> used;
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      used.insert(command.lane());
  std::vector<Policy> policies;
  for (int lane : used) {
    policies.push_back({Policy::Starve, lane, policies.size()});
    if (used.size() > 2) // with two lanes, starving one equals rushing the other
      policies.push_back({Policy::Rush, lane, policies.size()});
  }
  policies.push_back({Policy::Random, 0, 1});
  return policies;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Adversary::Adversary(const std::string &path) {
  EXPECT_TRUE(loadProgram(path, loaded).ok());
  device = makeCpuDevice(loaded->module);
  EXPECT_TRUE(device->prepare(loaded->tables(), 1).ok());
  InitialFiles files;
  EXPECT_TRUE(InitialFiles::open(loaded->tables(), files).ok());
  memories.resize(size_t(ranks()));
  program = &loaded->tables();
  reserve();
  Meter meter;
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_TRUE(device->makeQueue(rank, queues.emplace_back()).ok());
    EXPECT_TRUE(initialiseTensors(*loaded, files, rank, *memories[size_t(rank)][0], 2, meter).ok());
    auto &contents = initial.emplace_back();
    for (const proto::Buffer &buffer : program->buffers())
      contents.emplace_back(at(rank, buffer.tier(), placeOf(meshOf(*program), buffer, rank)),
                            rangeOf(meshOf(*program), buffer, rank).size());
  }
}

/// Spare bytes after each arena, for accesses that a mistake moves there.
static uint64_t roomFor(const proto::Arena &arena) { return 2 * arena.bytes() + (1 << 16); }

void Adversary::reserve() {
  for (Memories &memory : memories)
    for (const proto::Arena &arena : program->arenas())
      if (auto &tier = memory[size_t(arena.tier())]; !tier || tier->bytes() < roomFor(arena))
        EXPECT_TRUE(reserveHostMemory(roomFor(arena), false, false, tier).ok());
}

void Adversary::poison() {
  for (int rank = 0; rank < ranks(); ++rank) {
    RangeSet kept;
    for (const proto::Buffer &buffer : program->buffers())
      if (buffer.role() != proto::GRADIENT)
        kept.add(rangeOf(meshOf(*program), buffer, rank));
    for (const proto::Arena &arena : program->arenas())
      kept.forEachGap({positionOf(arena.tier(), 0), positionOf(arena.tier(), roomFor(arena))},
                      [&](ByteRange gap) {
                        std::memset(at(rank, arena.tier(), offsetOf(gap.begin)), 0xff, gap.size());
                      });
  }
}

void Adversary::begin() {
  for (int rank = 0; rank < ranks(); ++rank)
    for (int i = 0; i < program->buffers_size(); ++i) {
      const proto::Buffer &buffer = program->buffers(i);
      const std::string &contents = initial[size_t(rank)][size_t(i)];
      std::memcpy(at(rank, buffer.tier(), placeOf(meshOf(*program), buffer, rank)), contents.data(),
                  contents.size());
    }
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

bool Adversary::isReady(const proto::Command &command, int rank) const {
  return std::all_of(command.waits().begin(), command.waits().end(),
                     [&](uint32_t wait) { return progress[size_t(rank)].done[wait]; });
}

/// Lanes of ranks that can continue. A collective is listed once, when all ranks have reached it.
std::vector<Adversary::Candidate> Adversary::candidates(const proto::Segment &segment) const {
  std::vector<Candidate> found;
  for (int lane = 0; lane < kLanes; ++lane) {
    int collective = -1, come = 0;
    for (int rank = 0; rank < ranks(); ++rank) {
      const size_t next = progress[size_t(rank)].next[size_t(lane)];
      if (next == lanes[size_t(lane)].size())
        continue;
      const uint32_t index = lanes[size_t(lane)][next];
      if (!isReady(segment.commands(int(index)), rank))
        continue;
      if (!segment.commands(int(index)).has_collective())
        found.push_back({rank, lane, index});
      else if (collective < 0 || collective == int(index))
        collective = int(index), ++come;
    }
    if (come == ranks())
      found.push_back({0, lane, uint32_t(collective)});
  }
  return found;
}

const Adversary::Candidate &Adversary::choose(const std::vector<Candidate> &all) {
  if (policy.kind == Policy::Listed)
    return *std::min_element(all.begin(), all.end(), [](const auto &a, const auto &b) {
      return std::tie(a.command, a.rank) < std::tie(b.command, b.rank);
    });
  std::vector<const Candidate *> liked;
  for (const Candidate &candidate : all)
    if (policy.kind == Policy::Random ||
        (candidate.lane == policy.lane) == (policy.kind == Policy::Rush))
      liked.push_back(&candidate);
  const uint64_t number = random();
  return liked.empty() ? all[number % all.size()] : *liked[number % liked.size()];
}

bool Adversary::runIteration(const proto::Segment &segment, uint64_t iteration) {
  const int commands = segment.commands_size();
  const uint64_t iterations = std::max(1u, segment.repeat());
  progress.assign(size_t(ranks()), {std::vector<bool>(size_t(commands)), {}});
  lanes.fill({});
  for (int i = 0; i < commands; ++i)
    lanes[size_t(segment.commands(i).lane())].push_back(uint32_t(i));
  for (int left = commands * ranks(); left > 0;) {
    const auto ready = candidates(segment);
    if (ready.empty()) {
      end.kind = End::Deadlock;
      return false;
    }
    const Candidate chosen = choose(ready);
    const proto::Command &command = segment.commands(int(chosen.command));
    if (runs(command, chosen.rank, iteration, iterations) && !execute(command, chosen.rank)) {
      end.kind = End::CheckFailed;
      return false;
    }
    for (int rank = 0; rank < ranks(); ++rank)
      if (rank == chosen.rank || command.has_collective()) {
        progress[size_t(rank)].done[chosen.command] = true;
        ++progress[size_t(rank)].next[size_t(chosen.lane)];
        --left;
      }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

bool Adversary::runs(const proto::Command &command, int rank, uint64_t iteration,
                     uint64_t iterations) const {
  if ((evaluates && !command.forward()) || !runsInIteration(command.when(), iteration, iterations))
    return false;
  return command.predicate() == 0 ||
         *at(rank, program->predicates(int(command.predicate()) - 1)) != 0;
}

/// Returns false if a check fails.
bool Adversary::execute(const proto::Command &command, int rank) {
  if (command.has_collective()) {
    collect(command.collective());
  } else if (command.has_copy()) {
    const proto::Copy &copy = command.copy();
    std::memmove(at(rank, copy.dst()), at(rank, copy.src()), copy.bytes());
  } else if (command.has_check()) {
    int64_t value[2];
    std::memcpy(value, at(rank, command.check().value()), sizeof(value));
    return std::all_of(value, value + 2, [&](int64_t each) {
      return each >= command.check().lower() && each <= command.check().upper();
    });
  } else {
    std::vector<void *> args;
    for (const proto::Address &argument : command.launch().args())
      args.push_back(at(rank, argument));
    EXPECT_TRUE(queues[size_t(rank)]
                    ->launch(command.launch().kernel(), args.data(), command.launch().length())
                    .ok());
  }
  return true;
}

/// Executes the collective on all ranks.
void Adversary::collect(const proto::Collective &collective) {
  const uint64_t size = sizeOf(toDType(collective.dtype())), count = collective.elements();
  const bool scatters = collective.kind() == proto::Collective::REDUCE_SCATTER;
  const Mesh mesh = meshOf(*program);
  std::vector<std::string> results;
  for (int rank = 0; rank < ranks(); ++rank) {
    const RankGroup group(mesh, groupAxes(mesh, collective), rank);
    std::string &result = results.emplace_back();
    std::vector<uint64_t> begins; // of the members' slices
    for (int other : group.ranks())
      begins.push_back(uint64_t(mesh.shift(sliceStrides(mesh, collective, count * size), other)));
    std::vector<const void *> sources;
    for (int other : group.ranks())
      sources.push_back(at(other, collective.src()) +
                        (scatters ? begins[size_t(group.index())] : 0));
    if (collective.kind() == proto::Collective::ALL_GATHER) {
      result.resize(count * size * sources.size());
      for (size_t i = 0; i < sources.size(); ++i)
        std::memcpy(result.data() + begins[i], sources[i], count * size);
      continue;
    }
    if (collective.kind() == proto::Collective::BROADCAST) {
      result.assign(static_cast<const char *>(sources[collective.root()]), count * size);
      continue;
    }
    result.resize(count * size);
    sumInOrder(reductionOf(collective), sources, result.data(), count,
               collective.mean() ? group.size() : 1, program->ranks_per_node());
  }
  for (int rank = 0; rank < ranks(); ++rank)
    std::memcpy(at(rank, collective.dst()), results[size_t(rank)].data(),
                results[size_t(rank)].size());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Binds small numbers that every graph accepts.
void Adversary::bind(const proto::Input &input, uint64_t microBatch) {
  for (int rank = 0; rank < ranks(); ++rank) {
    char *target = at(rank, proto::DEVICE, input.offset());
    const uint64_t part = microBatch * uint64_t(ranks()) + uint64_t(rank);
    auto put = [&](auto value, uint64_t index) {
      std::memcpy(target + index * sizeof(value), &value, sizeof(value));
    };
    switch (input.kind()) {
    case proto::Input::LEARNING_RATE:
      put(program->learning_rate(), 0);
      continue;
    case proto::Input::STEP:
      put(int64_t(stepNumber), 0);
      continue;
    case proto::Input::PART:
      put(int64_t(part), 0);
      continue;
    case proto::Input::TRAINING:
      put(uint8_t(!evaluates), 0);
      continue;
    default:
      break;
    }
    for (uint64_t i = 0; i < elementsOf(input.shape()); ++i) {
      const auto number = int64_t(((stepNumber * 16 + part) * 977 + i) * 2654435761 >> 7) & 7;
      if (input.dtype() == proto::F32)
        put(float(number) / 8 - 0.5f, i);
      else
        put(number, i);
    }
  }
}

bool Adversary::step(bool evaluation) {
  evaluates = evaluation;
  poison();
  for (const proto::Input &input : program->inputs())
    bind(input, 0);
  bool isFirst = true, finished = false;
  auto finish = [&] {
    keepOutputs(/*losses=*/true);
    if (!evaluates)
      keepGradients();
    finished = true;
  };
  for (const proto::Segment &segment : program->segments()) {
    if (segment.kind() == proto::Segment::EPILOGUE && !finished)
      finish();
    for (uint64_t iteration = 0; iteration < std::max(1u, segment.repeat());
         ++iteration, isFirst = false) {
      for (uint32_t input : segment.inputs())
        if (!isFirst)
          bind(program->inputs(int(input)), iteration);
      if (!runIteration(segment, iteration))
        return false;
    }
  }
  if (!finished)
    finish();
  if (!evaluates)
    keepOutputs(/*losses=*/false);
  return true;
}

void Adversary::keepOutputs(bool losses) {
  for (int rank = 0; rank < ranks(); ++rank)
    for (const proto::Output &output : program->outputs())
      if (isLoss(output.name()) == losses)
        end.bits.append(at(rank, proto::DEVICE, output.offset()), rangeOf(output).size());
}

void Adversary::keepPart(const Block &block, int rank) {
  const proto::Buffer &buffer = *block.buffer;
  const uint64_t size = sizeOf(toDType(buffer.dtype()));
  (void)forEachPart(block, rank, [&](const Part &part) {
    end.bits.append(at(rank, buffer.tier(), placeOf(meshOf(*program), buffer, rank)) +
                        part.inBuffer * size,
                    part.count * size);
    return Status();
  });
}

void Adversary::keepGradients() {
  for (int rank = 0; rank < ranks(); ++rank)
    for (const proto::Gradient &gradient : program->gradients())
      for (const Block &block : blocksOf(*program, gradient, loaded->parameterOf(gradient)))
        keepPart(block, rank);
}

void Adversary::keepTensors() {
  for (int rank = 0; rank < ranks(); ++rank)
    for (const proto::Tensor &tensor : program->tensors())
      for (const Block &block : blocksOf(*program, tensor))
        keepPart(block, rank);
}

Adversary::End Adversary::run(const proto::Program &of, const Policy &by) {
  program = &of, policy = by, random.seed(by.seed), end = {};
  reserve();
  begin();
  for (stepNumber = 0; stepNumber < 3; ++stepNumber)
    if (!step(/*evaluates=*/stepNumber == 1))
      return end;
  keepTensors();
  return end;
}

} // namespace zero::rt
