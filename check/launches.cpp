//===- launches.cpp - symbolic execution of kernels -----------------------===//

#include "check/machine.h"

#include <algorithm>

namespace zero::check {

void Machine::launch(const proto::Launch &launch) {
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  const int arguments = launch.args_size() - (kernel.workspace() > 0 ? 1 : 0);
  std::vector<Place> places;
  std::vector<Value> values;
  bool isAlike = true;
  for (int i = 0; i < launch.args_size(); ++i) {
    places.push_back(placeOf(launch.args(i), launch.args(i).bytes()));
    values.push_back(i < arguments && launch.args(i).reads() ? read(places.back()) : Value());
    isAlike &= values.back().isAlike();
  }
  const int64_t number = executable.kernelNumbers[launch.kernel()];
  kernels.expectAccesses(number, launch);
  for (int i = 0; i < int(places.size()); ++i)
    for (int j = 0; j < int(places.size()) && (launch.args(i).writes() || i >= arguments); ++j)
      if (i != j)
        expectApart(places[size_t(i)], places[size_t(j)],
                    "arguments " + std::to_string(i) + " and " + std::to_string(j));
  const Meaning &meaning = kernels.meaningOf(number, executable, launch);
  const bool isElementwise = meaning.form != Meaning::Opaque && kernel.extent() == 1;
  if (isElementwise)
    expectElements(launch, meaning);
  std::vector<std::vector<Slices>> left(places.size()); // by argument, then rank
  for (int rank = 0; rank < (isAlike ? 1 : executable.ranks()); ++rank) {
    Stretch given;
    std::vector<Slices> own(places.size());
    // On other ranks, the arguments may have no value.
    const bool runs = guardOn(rank).term != kZero || (isAlike && guards.size() > 1);
    for (int i = 0; i < launch.args_size(); ++i) {
      given.push_back(values[size_t(i)].on(rank));
      if (runs && (!isElementwise || kernel.per_length(i) == 0))
        expectWhole(given.back(), places[size_t(i)], rank, "argument " + std::to_string(i));
    }
    if (runs)
      own = isElementwise ? elements(launch, meaning, given) : results(launch, given);
    for (size_t i = 0; i < own.size(); ++i)
      left[i].push_back(own[i].empty() ? Slices{{kNone, 0, places[i].size}} : std::move(own[i]));
  }
  for (int i = 0; i < launch.args_size(); ++i)
    if (i >= arguments || launch.args(i).writes())
      write(places[size_t(i)], Value(std::move(left[size_t(i)])));
}

/// A kernel whose results may be any function of all that it reads.
std::vector<Slices> Machine::results(const proto::Launch &launch, const Stretch &given) {
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  std::vector<Operand> operands;
  for (int i = 0; i < launch.args_size(); ++i)
    if (launch.args(i).reads() && !given[size_t(i)].empty())
      operands.push_back({i, 0, given[size_t(i)]});
  const int64_t iterations = kernel.extent() > 1 ? int64_t(kernel.extent()) : launch.length();
  const Term call = terms.call(executable.kernelNumbers[launch.kernel()], iterations, operands);
  std::vector<Slices> left(given.size());
  const int arguments = launch.args_size() - (kernel.workspace() > 0 ? 1 : 0);
  for (int i = 0; i < arguments; ++i)
    if (launch.args(i).writes())
      left[size_t(i)] = {
          replacementOf({terms.result(call, i), 0, int64_t(launch.args(i).bytes())})};
  return left;
}

void Machine::expectElements(const proto::Launch &launch, const Meaning &meaning) const {
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  require(kernel.per_length_size() == launch.args_size(), [&] {
    return describe(current) + ": another number of arguments than the kernel states";
  });
  require(meaning.form == Meaning::Element ||
              (launch.args(1).reads() && (launch.args(0).reads() || !meaning.adds)),
          [&] { return describe(current) + ": does not read what it adds or copies"; });
  for (int i = 0; i < launch.args_size(); ++i)
    require(kernel.per_length(i) == 0 ||
                launch.args(i).bytes() == kernel.per_length(i) * uint64_t(launch.length()),
            [&] {
              return describe(current) + ": argument " + std::to_string(i) +
                     " has other bytes than the length of the launch says";
            });
}

/// A kernel that is known to be element-wise, on whatever values its elements have.
std::vector<Slices> Machine::elements(const proto::Launch &launch, const Meaning &meaning,
                                      const Stretch &given) {
  const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
  std::vector<const Slices *> streams;
  std::vector<int64_t> widths;
  std::vector<Operand> operands;
  for (int i = 0; i < launch.args_size(); ++i) {
    const bool isReplaced = i == 0 && meaning.form == Meaning::Linear && !meaning.adds;
    if (!launch.args(i).reads() || isReplaced)
      continue;
    operands.push_back({i, int64_t(kernel.per_length(i)), given[size_t(i)]});
    if (kernel.per_length(i) == 0)
      continue;
    streams.push_back(&given[size_t(i)]);
    widths.push_back(operands.back().width);
  }
  std::vector<Slices> left(given.size());
  auto compute = [&](const Stretch &parts, int64_t elements) {
    size_t next = 0;
    for (Operand &operand : operands)
      if (operand.width > 0)
        operand.slices = parts[next++];
    for (int i = 0; i < launch.args_size(); ++i)
      if (launch.args(i).writes()) {
        const int64_t width = int64_t(kernel.per_length(i));
        Slice value = resultOf(executable.kernelNumbers[launch.kernel()], meaning, {i, width, {}},
                               operands, parts);
        value.size = elements * width;
        append(left[size_t(i)], value);
      }
  };
  if (streams.empty())
    compute({}, launch.length());
  else
    forEachStretch(streams, widths, compute);
  return left;
}

/// What an element-wise kernel leaves in an argument.
Slice Machine::resultOf(int64_t number, const Meaning &meaning, const Operand &result,
                        const std::vector<Operand> &operands, const Stretch &parts) {
  bool isWhole = true, areZeros = true, isSingle = false;
  uint64_t signs = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    isSingle |= parts[i].size() > 1;
    for (const Slice &slice : parts[i]) {
      isWhole &= terms.hasValue(slice.term);
      areZeros &= isZero(slice.term) && slice.term == parts[i][0].term && i < 6;
    }
    signs |= uint64_t(parts[i][0].term == kMinusZero) << std::min<size_t>(i, 6);
  }
  if (areZeros && (meaning.zeros | meaning.minusZeros) >> signs & 1)
    return {meaning.zeros >> signs & 1 ? kZero : kMinusZero, 0, 0};
  if (!isWhole || (isSingle && meaning.form != Meaning::Element))
    return {};
  if (meaning.form == Meaning::Element)
    return terms.element(number, result.argument, result.width, operands);
  const Slice other = terms.scale(meaning.factor, parts.back()[0]);
  return meaning.adds ? terms.sum(proto::F32, proto::F32, 1, 4, {parts[0][0], other}) : other;
}

} // namespace zero::check
