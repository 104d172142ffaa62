//===- machine.cpp - symbolic execution of a program ----------------------===//

#include "check/machine.h"

#include <algorithm>
#include <cstring>

namespace zero::check {

static constexpr int64_t kBlock = 4096; ///< bytes that a disk moves at a time

Machine::Machine(const Executable &executable, Terms &terms, Kernels &kernels, uint32_t dataAxes,
                 bool gapsAreZero)
    : executable(executable), program(executable.program), terms(terms), kernels(kernels),
      dataAxes(dataAxes), gapsAreZero(gapsAreZero), arenas(3) {
  for (const proto::Arena &arena : program.arenas())
    sizes[arena.tier()] = arena.bytes();
}

std::string Machine::describe(int32_t number) const {
  static const char *const kinds[] = {"the prologue", "the micro-batch", "the epilogue"};
  for (const proto::Segment &segment : program.segments()) {
    if (number >= 0 && number < segment.commands_size()) {
      const proto::Command &command = segment.commands(number);
      std::string text = "command " + std::to_string(number) + " of " + kinds[segment.kind()];
      if (command.has_launch() && command.launch().kernel() < uint32_t(program.kernels_size()))
        text += " (" + program.kernels(int(command.launch().kernel())).name() + ")";
      return text + (command.label().empty() ? "" : " at '" + command.label() + "'");
    }
    number -= segment.commands_size();
  }
  return "no command";
}

std::string Machine::where(int rank) const {
  return "rank " + std::to_string(rank) + ", " + describe(current);
}

Term Machine::valueOf(const proto::Tensor &tensor) {
  if (tensor.role() != proto::CONSTANT || tensor.init().has_file())
    return terms.leaf("state '" + tensor.name() + "'", setOf(tensor.split().axes()));
  std::string content = executable.dataOf(tensor);
  if (!tensor.init().has_data()) {
    content = tensor.init().SerializeAsString() + std::to_string(tensor.dtype());
    for (uint64_t extent : tensor.shape())
      content += "x" + std::to_string(extent);
  }
  return replacementOf({terms.constant(content)}).term;
}

void Machine::forEachContent(uint32_t number, const VisitContent &visit) const {
  const proto::Buffer &buffer = program.buffers(int(number));
  const int64_t width = int64_t(bytesOf(buffer.dtype()));
  std::map<uint64_t, const proto::Tensor *> members;
  for (const proto::Tensor &tensor : program.tensors())
    if (tensor.buffer() == number && executable.elementsOf(tensor) > 0)
      require(members.emplace(tensor.start(), &tensor).second,
              "'" + tensor.name() + "' is where another tensor is");
  uint64_t at = 0;
  if (members.empty()) // it accumulates something in the step
    return;
  for (auto [start, tensor] : members) {
    require(start >= at, "'" + tensor->name() + "' overlaps another tensor");
    visit(nullptr, int64_t(start - at) * width);
    at = start + executable.elementsOf(*tensor);
    visit(tensor, int64_t(at - start) * width);
  }
  visit(nullptr, int64_t(buffer.elements() * std::max(1u, buffer.shards()) - at) * width);
}

void Machine::begin() {
  for (int number = 0; number < program.buffers_size(); ++number) {
    const proto::Buffer &buffer = program.buffers(number);
    Slices whole;
    forEachContent(uint32_t(number), [&](const proto::Tensor *tensor, int64_t size) {
      append(whole, {tensor ? valueOf(*tensor) : gapsAreZero ? kZero : kNone, 0, size});
    });
    if (whole.empty())
      continue;
    const int64_t size = int64_t(buffer.elements() * bytesOf(buffer.dtype()));
    std::vector<Slices> ofRanks;
    for (int rank = 0; rank < (buffer.shards() > 1 ? executable.ranks() : 1); ++rank)
      ofRanks.push_back(sliceOf(whole, executable.sliceOf(buffer, rank) * size, size));
    write(placeOf(buffer.tier(), buffer.offset(), buffer.rank_strides(), uint64_t(size)),
          Value(std::move(ofRanks)));
  }
}

void Machine::writeInputs(int microBatch) {
  for (const proto::Input &input : program.inputs())
    writeInput(input, microBatch < 0 ? int(input.micro_batch()) : microBatch);
}

void Machine::writeInput(const proto::Input &input, int microBatch) {
  const int64_t bytes = int64_t(elementsOf(input.shape()) * bytesOf(input.dtype()));
  std::string name = "input '" + input.name() + "'";
  uint32_t axes = 0;
  if (input.kind() == proto::Input::DATA || input.kind() == proto::Input::PART) {
    name += " of micro-batch " + std::to_string(microBatch);
    axes = dataAxes;
  } else if (input.kind() == proto::Input::COORDINATE) {
    axes = 1u << input.axis();
  }
  const Place place = placeOf(proto::DEVICE, input.offset(), {}, uint64_t(bytes));
  arena().write(place.begins[0], Slices{{terms.leaf(name, axes), 0, bytes}}, -1);
}

static std::string describeBytes(proto::Tier tier, int64_t begin, int64_t size) {
  static const char *const names[] = {"device", "host", "disk"};
  return "bytes " + std::to_string(begin) + " to " + std::to_string(begin + size) + " of the " +
         names[tier];
}

static bool runsIn(proto::Command::When when, uint32_t iteration, uint32_t iterations) {
  return when == proto::Command::ALWAYS || (when == proto::Command::FIRST && iteration == 0) ||
         (when == proto::Command::LAST && iteration + 1 == iterations) ||
         (when == proto::Command::LATER && iteration > 0);
}

void Machine::run(proto::Segment::Kind kind, bool delayed) {
  int32_t first = 0;
  for (const proto::Segment &segment : program.segments()) {
    const uint32_t iterations = segment.kind() == kind ? std::max(1u, segment.repeat()) : 0;
    if (iterations > 0)
      order = std::make_unique<Order>(segment);
    for (uint32_t iteration = 0; iteration < iterations; ++iteration) {
      order->restart();
      for (uint32_t number : segment.inputs())
        if (const proto::Input &input = program.inputs(int(number)); !delayed) // they read none
          writeInput(input, int(iterations > 1 ? iteration : input.micro_batch()));
      for (int i = 0; i < segment.commands_size(); ++i) {
        firstCommand = first;
        current = first + i;
        if (segment.commands(i).delayed() == delayed &&
            runsIn(segment.commands(i).when(), iteration, iterations))
          execute(segment.commands(i));
      }
    }
    first += segment.commands_size();
  }
  order = nullptr;
}

/// What ranks access at different places is taken for all in between.
void Machine::expectOrdered(const Place &place, bool writes) const {
  const auto [first, last] = std::minmax_element(place.begins.begin(), place.begins.end());
  if (!order || place.size == 0)
    return;
  const int other =
      order->access(place.tier, *first, *last + place.size, writes, current - firstCommand);
  require(other < 0, [&] {
    return describe(current) + " and " + describe(firstCommand + other) +
           " run beside each other, and one of them writes to " +
           describeBytes(place.tier, *first, *last + place.size - *first);
  });
}

void Machine::execute(const proto::Command &command) {
  readGuards(command.predicate());
  if (command.has_launch())
    launch(command.launch());
  else if (command.has_copy())
    copy(command.copy());
  else if (command.has_collective())
    collective(command.collective());
  else
    check(command.check());
  guards.clear();
}

/// A predicate is a byte of a constant, or one that the step computes.
void Machine::readGuards(uint32_t predicate) {
  if (predicate == 0)
    return;
  const Place place = placeOf(program.predicates(int(predicate) - 1), 1);
  Slices found;
  const Value value = read(place);
  for (size_t rank = 0; rank < value.all().size(); ++rank) {
    Slice slice = value.on(int(rank))[0];
    expectWhole({slice}, place, int(rank), "the predicate");
    if (slice.term > kZero && terms.kindOf(slice.term) == Kind::Leaf &&
        terms.nameOf(slice.term).starts_with("constant ")) {
      const std::string &name = terms.nameOf(slice.term);
      const size_t at = strlen("constant ") + size_t(slice.offset);
      require(at < name.size() && uint8_t(name[at]) <= 1,
              [&] { return where(int(rank)) + ": the predicate is neither 0 nor 1"; });
      slice = {name[at] ? kNone : kZero, 0, 1};
    }
    found.push_back(slice);
  }
  guards = std::move(found);
}

void Machine::check(const proto::Check &check) {
  require(guards.empty(), [&] { return describe(current) + ": a check that may be skipped"; });
  const Place place = placeOf(check.value(), 16);
  const Value value = read(place);
  for (size_t rank = 0; rank < value.all().size(); ++rank) {
    const Slices &slices = value.on(int(rank));
    expectWhole(slices, place, int(rank), "the checked numbers");
    require(slices.size() == 1,
            [&] { return describe(current) + ": the checked numbers are of several values"; });
    conditions.insert({slices[0].term, slices[0].offset, check.lower(), check.upper()});
  }
}

Machine::Place Machine::placeOf(proto::Tier tier, uint64_t offset, const Strides &strides,
                                uint64_t bytes) const {
  const bool moves =
      std::any_of(strides.begin(), strides.end(), [](int64_t by) { return by != 0; });
  Place place{tier, {}, int64_t(bytes)};
  auto size = sizes.find(tier);
  for (int rank = 0; rank < (moves ? executable.ranks() : 1); ++rank) {
    const int64_t begin = executable.placeOf(offset, strides, rank);
    require(begin >= 0 && size != sizes.end() && bytes <= size->second &&
                uint64_t(begin) <= size->second - bytes,
            [&] {
              return where(rank) + ": " + describeBytes(tier, begin, place.size) +
                     " are outside of the arena";
            });
    place.begins.push_back(begin);
  }
  return place;
}

void Machine::expectApart(const Place &some, const Place &other, const std::string &what) const {
  const size_t ranks = std::max(some.begins.size(), other.begins.size());
  for (int rank = 0; rank < int(ranks) && some.tier == other.tier; ++rank)
    require(some.on(rank) + some.size <= other.on(rank) ||
                other.on(rank) + other.size <= some.on(rank),
            [&] { return where(rank) + ": " + what + " overlap, and one of them is written"; });
}

/// What a condition decides about is what it is where that holds.
Value Machine::read(const Place &place) const {
  expectOrdered(place, false);
  const Memory &memory = arena(place.tier);
  std::vector<Slices> found = memory.read(place.begins[0], place.size).all();
  for (size_t rank = 0; rank < place.begins.size() && place.begins.size() > 1; ++rank) {
    found.resize(place.begins.size());
    found[rank] = memory.readOn(int(rank), place.begins[rank], place.size);
  }
  for (size_t i = 0; i < found.size() && (guards.size() == 1 || found.size() > 1); ++i)
    for (Slice &slice : found[i])
      slice = terms.under(guardOn(int(i)), slice);
  return Value(std::move(found));
}

/// `whole` with `part` from byte `begin` on.
static Slices replaced(const Slices &whole, int64_t begin, const Slices &part) {
  const int64_t end = begin + sizeOf(part);
  Slices left = sliceOf(whole, 0, begin);
  for (const Slices &next : {part, sliceOf(whole, end, sizeOf(whole) - end)})
    for (const Slice &slice : next)
      append(left, slice);
  return left;
}

/// What the place is on other ranks, and what it was, is left as it is.
void Machine::write(const Place &place, const Value &value) {
  expectOrdered(place, true);
  Memory &memory = arena(place.tier);
  const auto [first, last] = std::minmax_element(place.begins.begin(), place.begins.end());
  if (first == last && place.begins.size() == 1 && guards.empty())
    return memory.write(*first, value, current);
  const Value before = memory.read(*first, *last - *first + place.size);
  const bool isAlike =
      place.begins.size() == 1 && before.isAlike() && value.isAlike() && guards.size() <= 1;
  std::vector<Slices> after;
  for (int rank = 0; rank < (isAlike ? 1 : executable.ranks()); ++rank) {
    const int64_t begin = place.on(rank) - *first;
    const Slices old = sliceOf(before.on(rank), begin, place.size);
    auto chosen = [&](const Stretch &parts) {
      return terms.select(guardOn(rank), parts[0][0], parts[1][0]);
    };
    after.push_back(
        replaced(before.on(rank), begin, overStretches({&value.on(rank), &old}, 1, chosen)));
  }
  memory.write(*first, Value(std::move(after)), current);
}

/// What a command reads must have a value in each byte.
void Machine::expectWhole(const Slices &value, const Place &place, int rank,
                          const std::string &what) const {
  int64_t at = place.on(rank);
  for (const Slice &slice : value) {
    require(terms.hasValue(slice.term), [&] {
      const int32_t writer = arena(place.tier).writerOf(at);
      return where(rank) + ": " + what + " has no value in " +
             describeBytes(place.tier, at, slice.size) + ", which " +
             (writer < 0 ? "no command wrote" : describe(writer) + " wrote last");
    });
    at += slice.size;
  }
}

void Machine::copy(const proto::Copy &copy) {
  const Place from = placeOf(copy.src(), copy.bytes()), to = placeOf(copy.dst(), copy.bytes());
  expectApart(from, to, "source and destination");
  write(to, read(from));
  // A disk writes whole blocks: what is behind the bytes has no value any more.
  if (to.tier == proto::NVME) {
    Place rest = to;
    for (int64_t &begin : rest.begins)
      begin += to.size;
    rest.size = (rest.begins[0] + kBlock - 1) / kBlock * kBlock - rest.begins[0];
    write(rest, Slices{{kNone, 0, rest.size}});
  }
}

} // namespace zero::check
