//===- machine.cpp - symbolic execution of a program ----------------------===//

#include "check/machine.h"

#include "check/refusal.h"

#include <algorithm>

namespace zero::check {

static constexpr int64_t kBlock = 4096; ///< bytes that a disk moves at a time

Machine::Machine(const Executable &executable, const std::vector<int64_t> &kernelNumbers,
                 Terms &terms, Kernels &kernels, PartName partName)
    : executable(executable), program(executable.program), kernelNumbers(kernelNumbers),
      terms(terms), kernels(kernels), partName(std::move(partName)),
      arenas(size_t(executable.ranks()) * 3) {
  for (int rank = 0; rank < executable.ranks(); ++rank)
    coordinates.push_back(executable.coordinatesOf(rank));
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

//===----------------------------------------------------------------------===//
// States and inputs
//===----------------------------------------------------------------------===//

Term Machine::valueOf(const proto::Tensor &tensor) {
  if (tensor.role() != proto::CONSTANT || tensor.init().has_file())
    return terms.leaf("state '" + tensor.name() + "'");
  std::string content;
  if (tensor.init().has_data()) {
    const proto::Init::Range &range = tensor.init().data();
    require(range.offset() <= executable.data.size() &&
                range.bytes() <= executable.data.size() - range.offset(),
            "constant '" + tensor.name() + "' is outside of the data section");
    content = executable.data.substr(range.offset(), range.bytes());
  } else {
    content = tensor.init().SerializeAsString() + std::to_string(tensor.dtype());
    for (uint64_t extent : tensor.shape())
      content += "x" + std::to_string(extent);
  }
  const Term value = terms.leaf("constant " + content);
  auto it = replacements.find(value);
  return it == replacements.end() ? value : it->second;
}

void Machine::forEachPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank,
                          const Visit &visit) const {
  const Coordinates &own = coordinates[size_t(rank)];
  const int64_t place = executable.placeOf(buffer.offset(), buffer.rank_strides(), rank);
  int64_t slice = 0;
  for (uint32_t axis : buffer.shard_axes())
    slice = slice * program.mesh(int(axis)).size() + own.at(axis);
  const int64_t width = int64_t(bytesOf(buffer.dtype())), elements = int64_t(buffer.elements());
  const int64_t first = buffer.shards() > 1 ? slice * elements : 0;
  const int64_t from = std::max(int64_t(start), first);
  const int64_t to = std::min(int64_t(start + count), first + elements);
  if (from < to)
    visit(buffer.tier(), place + (from - first) * width, (from - int64_t(start)) * width,
          (to - from) * width);
}

void Machine::begin() {
  for (int rank = 0; rank < executable.ranks(); ++rank)
    for (const proto::Tensor &tensor : program.tensors()) {
      const Term value = valueOf(tensor);
      const proto::Buffer &buffer = program.buffers(int(tensor.buffer()));
      forEachPart(buffer, tensor.start(), elementsOf(tensor.shape()), rank,
                  [&](proto::Tier tier, int64_t place, int64_t start, int64_t size) {
                    arena(rank, tier).write(place, size, {value, start, size}, -1);
                  });
    }
  for (const proto::Input &input : program.inputs())
    writeInput(input, int(input.micro_batch()));
}

void Machine::writeInput(const proto::Input &input, int microBatch) {
  const int64_t bytes = int64_t(elementsOf(input.shape()) * bytesOf(input.dtype()));
  for (int rank = 0; rank < executable.ranks(); ++rank) {
    std::string name = "input '" + input.name() + "'";
    if (input.kind() == proto::Input::DATA || input.kind() == proto::Input::PART)
      name += " of " + partName(rank, microBatch);
    arena(rank).write(int64_t(input.offset()), bytes, {terms.leaf(name), 0, bytes}, -1);
  }
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

static bool runsIn(proto::Command::When when, uint32_t iteration, uint32_t iterations) {
  return when == proto::Command::ALWAYS || (when == proto::Command::FIRST && iteration == 0) ||
         (when == proto::Command::LAST && iteration + 1 == iterations) ||
         (when == proto::Command::LATER && iteration > 0);
}

void Machine::run(proto::Segment::Kind kind) {
  int32_t first = 0;
  for (const proto::Segment &segment : program.segments()) {
    const uint32_t iterations = segment.kind() == kind ? std::max(1u, segment.repeat()) : 0;
    for (uint32_t iteration = 0; iteration < iterations; ++iteration) {
      for (uint32_t number : segment.inputs()) {
        const proto::Input &input = program.inputs(int(number));
        writeInput(input, int(iterations > 1 ? iteration : input.micro_batch()));
      }
      for (int i = 0; i < segment.commands_size();) {
        const int begin = i;
        while (i < segment.commands_size() && !segment.commands(i).has_collective())
          ++i;
        // Ranks do not see each other between collectives.
        for (int rank = 0; rank < executable.ranks(); ++rank)
          for (int own = begin; own < i; ++own)
            if (runsIn(segment.commands(own).when(), iteration, iterations)) {
              current = first + own;
              execute(segment.commands(own), rank);
            }
        if (i == segment.commands_size())
          break;
        current = first + i;
        if (runsIn(segment.commands(i).when(), iteration, iterations))
          collective(segment.commands(i).collective());
        ++i;
      }
    }
    first += segment.commands_size();
  }
}

void Machine::execute(const proto::Command &command, int rank) {
  if (command.has_launch()) {
    launch(command.launch(), rank);
  } else if (command.has_copy()) {
    copy(command.copy(), rank);
  } else {
    const proto::Check &check = command.check();
    const Slices value = readAll(placeOf(check.value(), 16, rank), rank, "the checked numbers");
    require(value.size() == 1,
            [&] { return describe(current) + ": the checked numbers are of several values"; });
    conditions.insert({value[0].term, value[0].offset, check.lower(), check.upper()});
  }
}

Machine::Place Machine::placeOf(const proto::Address &address, uint64_t bytes, int rank) const {
  const int64_t begin = executable.placeOf(address.offset(), address.rank_strides(), rank);
  auto size = sizes.find(address.tier());
  require(begin >= 0 && size != sizes.end() && bytes <= size->second &&
              uint64_t(begin) <= size->second - bytes,
          [&] {
            return where(rank) + ": bytes " + std::to_string(begin) + " to " +
                   std::to_string(begin + int64_t(bytes)) + " are outside of the arena";
          });
  return {address.tier(), begin, int64_t(bytes)};
}

static std::string describeBytes(proto::Tier tier, int64_t begin, int64_t size) {
  static const char *const names[] = {"device", "host", "disk"};
  return "bytes " + std::to_string(begin) + " to " + std::to_string(begin + size) + " of the " +
         names[tier];
}

/// What a command reads must have a value in each byte.
Slices Machine::readAll(const Place &place, int rank, const std::string &what) {
  Slices found = arena(rank, place.tier).read(place.begin, place.size);
  int64_t at = place.begin;
  for (const Slice &slice : found) {
    if (slice.term == 0) {
      const int32_t writer = arena(rank, place.tier).writerOf(at);
      throw Refusal(where(rank) + ": " + what + " has no value in " +
                    describeBytes(place.tier, at, slice.size) + ", which " +
                    (writer < 0 ? "no command wrote" : describe(writer) + " wrote last"));
    }
    at += slice.size;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Commands of one rank
//===----------------------------------------------------------------------===//

void Machine::copy(const proto::Copy &copy, int rank) {
  const Place from = placeOf(copy.src(), copy.bytes(), rank);
  const Place to = placeOf(copy.dst(), copy.bytes(), rank);
  require(from.tier != to.tier || from.begin + from.size <= to.begin ||
              to.begin + to.size <= from.begin,
          [&] { return where(rank) + ": source and destination of the copy overlap"; });
  arena(rank, to.tier).write(to.begin, arena(rank, from.tier).read(from.begin, from.size), current);
  // A disk writes whole blocks: what is behind the bytes has no value any more.
  if (to.tier == proto::NVME) {
    const int64_t end = to.begin + to.size, rest = (end + kBlock - 1) / kBlock * kBlock - end;
    arena(rank, to.tier).write(end, rest, {}, current);
  }
}

/// A result may not be where another argument is.
void Machine::expectApart(const proto::Launch &launch, const std::vector<Place> &places,
                          int results) const {
  for (int i = 0; i < int(places.size()); ++i)
    for (int j = 0; j < int(places.size()) && (launch.args(i).writes() || i >= results); ++j)
      require(i == j || places[size_t(i)].tier != places[size_t(j)].tier ||
                  places[size_t(i)].begin + places[size_t(i)].size <= places[size_t(j)].begin ||
                  places[size_t(j)].begin + places[size_t(j)].size <= places[size_t(i)].begin,
              [&] {
                return describe(current) + ": arguments " + std::to_string(i) + " and " +
                       std::to_string(j) + " overlap, and one of them is written";
              });
}

void Machine::launch(const proto::Launch &launch, int rank) {
  require(launch.kernel() < uint32_t(program.kernels_size()),
          [&] { return describe(current) + ": no kernel"; });
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  const int64_t number = kernelNumbers[launch.kernel()];
  const int workspaces = kernel.workspace() > 0 ? 1 : 0,
            arguments = launch.args_size() - workspaces;
  require(arguments >= 0, [&] { return describe(current) + ": the workspace is missing"; });
  std::vector<Place> places;
  for (const proto::Address &argument : launch.args())
    places.push_back(placeOf(argument, argument.bytes(), rank));
  if (rank == 0)
    kernels.expectAccesses(number, launch);
  expectApart(launch, places, arguments);
  if (launchElements(launch, places, rank))
    return;
  std::vector<Operand> operands;
  for (int i = 0; i < arguments; ++i)
    if (launch.args(i).reads())
      operands.push_back({i, 0, readAll(places[size_t(i)], rank, "argument " + std::to_string(i))});
  const int64_t iterations = kernel.extent() > 1 ? int64_t(kernel.extent()) : launch.length();
  const Term call = terms.call(number, iterations, operands);
  for (int i = 0; i < launch.args_size(); ++i) {
    const Place &place = places[size_t(i)];
    if (i >= arguments) {
      arena(rank, place.tier).write(place.begin, place.size, {}, current);
    } else if (launch.args(i).writes()) {
      Term value = terms.result(call, i);
      if (auto it = replacements.find(value); it != replacements.end())
        value = it->second;
      arena(rank, place.tier).write(place.begin, place.size, {value, 0, place.size}, current);
    }
  }
}

/// Executes a kernel that is known to be element-wise, on whatever values its elements have.
bool Machine::launchElements(const proto::Launch &launch, const std::vector<Place> &places,
                             int rank) {
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  const int64_t number = kernelNumbers[launch.kernel()];
  const Meaning &meaning = kernels.meaningOf(number, executable, launch);
  if (meaning.form == Meaning::Opaque || kernel.extent() != 1)
    return false;
  require(kernel.per_length_size() == launch.args_size(), [&] {
    return describe(current) + ": another number of arguments than the kernel states";
  });
  const bool readsFirst = meaning.form != Meaning::Copy && meaning.form != Meaning::Scale;
  require(meaning.form == Meaning::Element ||
              (launch.args(1).reads() && (launch.args(0).reads() || !readsFirst)),
          [&] { return describe(current) + ": does not read what it adds or copies"; });
  std::vector<Slices> streams;
  std::vector<int64_t> widths;
  std::vector<Operand> operands;
  for (int i = 0; i < launch.args_size(); ++i) {
    const int64_t width = int64_t(kernel.per_length(i));
    const Place &place = places[size_t(i)];
    require(width == 0 || place.size == width * launch.length(), [&] {
      return describe(current) + ": argument " + std::to_string(i) +
             " has other bytes than the length of the launch says";
    });
    if (!launch.args(i).reads() || (i == 0 && !readsFirst))
      continue;
    if (width == 0) {
      operands.push_back({i, 0, readAll(place, rank, "argument " + std::to_string(i))});
      continue;
    }
    operands.push_back({i, width, {{}}});
    streams.push_back(arena(rank, place.tier).read(place.begin, place.size));
    widths.push_back(width);
  }
  std::map<int, Slices> results;
  forEachStretch(streams, widths, [&](const Slices &parts, int64_t elements) {
    const bool isWhole =
        std::all_of(parts.begin(), parts.end(), [](const Slice &part) { return part.term != 0; });
    size_t next = 0;
    for (Operand &operand : operands)
      if (operand.width > 0)
        operand.slices = {parts[next++]};
    for (int i = 0; i < launch.args_size(); ++i)
      if (launch.args(i).writes()) {
        const int64_t width = int64_t(kernel.per_length(i));
        Slice value;
        if (isWhole && meaning.form == Meaning::Element)
          value = terms.element(number, i, width, operands);
        else if (isWhole)
          value = combined(meaning, parts);
        append(results[i], {value.term, value.offset, elements * width});
      }
  });
  for (auto &[i, values] : results)
    arena(rank, places[size_t(i)].tier).write(places[size_t(i)].begin, values, current);
  return true;
}

/// What a kernel that adds or scales float32 gives.
Slice Machine::combined(const Meaning &meaning, const Slices &parts) {
  const Slice other = terms.scale(meaning.factor, parts.back());
  const bool adds = meaning.form == Meaning::Add || meaning.form == Meaning::AddScaled;
  return adds ? terms.sum(proto::F32, proto::F32, 1, 4, {parts[0], other}) : other;
}

} // namespace zero::check
