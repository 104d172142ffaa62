//===- profile.cpp - aggregate the times of a step ------------------------===//

#include "profile.h"

#include "runtime/support/status.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace zero::run {

std::string ProfileRow::rooflineText() const {
  if (least == 0)
    return "";
  const double fraction = fractionOfRoofline();
  return fraction >= 1.005 ? "> 100 %" : rt::format("%.0f %%", 100 * fraction);
}

double bandwidthOf(const zero_rt_machine &machine) {
  return std::max(machine.triad_bandwidth, machine.copy_bandwidth);
}

double Profile::flops() const {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, const ProfileRow &row) { return sum + row.flops; });
}

double Profile::recomputed() const {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, const ProfileRow &row) { return sum + row.recomputed; });
}

std::map<std::string, double> Profile::receivedAlong() const {
  std::map<std::string, double> bytes;
  for (const ProfileRow &row : kernels)
    if (!row.axis.empty())
      bytes[row.axis] += row.bytes;
  return bytes;
}

double Profile::fractionOfPeak() const {
  const double least =
      std::accumulate(kernels.begin(), kernels.end(), 0.0,
                      [](double sum, const ProfileRow &row) { return sum + row.leastOfFlops; });
  return seconds() > 0 ? least / seconds() : 0;
}

static double secondsOf(uint64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

static bool isCollective(zero_rt_command_kind kind) { return kind >= ZERO_RT_ALL_GATHER; }

/// "layernormalization" of k3_layernormalization, the operator that a kernel was formed
/// round; names of other forms as they are.
static std::string operatorOf(const std::string &kernel) {
  const size_t digits = kernel.find_first_not_of("0123456789", 1);
  const bool isNumbered = kernel[0] == 'k' && digits != std::string::npos && digits > 1 &&
                          kernel[digits] == '_' && digits + 1 < kernel.size();
  return isNumbered ? kernel.substr(digits + 1) : kernel;
}

static std::string kindOf(const zero_rt_command_info &command) {
  switch (command.kind) {
  case ZERO_RT_NATIVE:
    return operatorOf(command.name);
  case ZERO_RT_MATMUL:
    return command.halves ? "matrix product, bf16" : "matrix product";
  case ZERO_RT_CONVOLUTION:
    return command.halves ? "convolution, bf16" : "convolution";
  case ZERO_RT_ATTENTION:
    return command.halves ? "attention, bf16" : "attention";
  default:
    return command.name;
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static double Parts::*partOf(const zero_rt_command_info &command) {
  return isCollective(command.kind)             ? &Parts::collectives
         : command.kind == ZERO_RT_TRANSFER     ? &Parts::transfers
         : command.lane == ZERO_RT_HOST_COMPUTE ? &Parts::hostCompute
                                                : &Parts::compute;
}

static Parts partsOf(const std::vector<zero_rt_command_info> &commands,
                     const zero_rt_recording &recording, const zero_rt_recorded_step &step) {
  Parts parts;
  parts.total = parts.between = secondsOf(step.end - step.begin);
  uint64_t covered = step.begin; // up to here
  for (size_t i = 0; i < step.events; ++i) {
    const zero_rt_event &event = recording.events[step.first_event + i];
    const double took = secondsOf(event.end - event.begin), waited = secondsOf(event.waited);
    double Parts::*part = partOf(commands[event.command]);
    parts.*part += took - waited;
    if (part == &Parts::transfers || part == &Parts::hostCompute)
      continue; // beside the rest
    parts.waiting += waited;
    parts.between -= secondsOf(std::max(event.end, covered) - std::max(event.begin, covered));
    covered = std::max(covered, event.end);
  }
  parts.between = std::max(parts.between, 0.0); // not below it by rounding
  return parts;
}

/// Indices of the middle half of all steps, by what they took.
static std::vector<size_t> middleHalf(const std::vector<Parts> &steps) {
  std::vector<size_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return std::pair(steps[left].total, left) < std::pair(steps[right].total, right);
  });
  const auto cut = ptrdiff_t(steps.size() / 4);
  return {order.begin() + cut, order.end() - cut};
}

static Parts meanOf(const std::vector<Parts> &steps, const std::vector<size_t> &chosen) {
  Parts mean;
  for (double Parts::*part : {&Parts::total, &Parts::compute, &Parts::collectives, &Parts::waiting,
                              &Parts::between, &Parts::transfers, &Parts::hostCompute})
    for (size_t step : chosen)
      mean.*part += steps[step].*part / double(chosen.size());
  return mean;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Rows by name and axis.
class Table {
public:
  void add(const std::string &name, const std::string &kind, const ProfileRow &costs) {
    auto [it, isNew] = places.try_emplace({name, costs.axis}, rows.size());
    if (isNew)
      rows.push_back({.name = name,
                      .kind = kind,
                      .axis = costs.axis,
                      .label = costs.label,
                      .boundByFlops = costs.boundByFlops,
                      .isCollective = costs.isCollective});
    ProfileRow &row = rows[it->second];
    for (double ProfileRow::*field : kFields)
      row.*field += costs.*field;
  }

  /// Means over so many steps, the longest first.
  std::vector<ProfileRow> finish(size_t steps) {
    for (ProfileRow &row : rows)
      for (double ProfileRow::*field : kFields)
        row.*field /= double(steps);
    std::sort(rows.begin(), rows.end(), [](const ProfileRow &left, const ProfileRow &right) {
      return std::tie(right.seconds, left.name, left.axis) <
             std::tie(left.seconds, right.name, right.axis);
    });
    return std::move(rows);
  }

private:
  static constexpr double ProfileRow::*kFields[] = {
      &ProfileRow::launches,   &ProfileRow::flops, &ProfileRow::bytes,       &ProfileRow::seconds,
      &ProfileRow::recomputed, &ProfileRow::least, &ProfileRow::leastOfFlops};
  std::vector<ProfileRow> rows;
  std::map<std::pair<std::string, std::string>, size_t> places;
};
} // namespace

/// What one event adds to its row. Memory's limit holds for what a rank computes, not for
/// what it takes from another's.
static ProfileRow costsOf(const zero_rt_machine &machine, const zero_rt_command_info &command,
                          const zero_rt_event &event) {
  const bool isFaster = command.halves && machine.half_flops > 0;
  const double computing = double(command.flops) / (isFaster ? machine.half_flops : machine.flops);
  const double moving = double(command.bytes) / bandwidthOf(machine);
  ProfileRow row;
  row.axis = command.axis ? command.axis : "";
  row.label = command.label;
  row.launches = 1;
  row.flops = double(command.flops);
  row.bytes = double(command.bytes);
  row.seconds = secondsOf(event.end - event.begin - event.waited);
  row.recomputed = command.recomputed ? row.seconds : 0;
  row.isCollective = isCollective(command.kind);
  row.boundByFlops = computing > moving;
  row.leastOfFlops = computing;
  const bool hasLimit = !row.isCollective && command.kind != ZERO_RT_TRANSFER;
  row.least = hasLimit ? std::max(computing, moving) : 0;
  return row;
}

static void addRows(Profile &profile, const std::vector<zero_rt_command_info> &commands,
                    const zero_rt_recording &recording, const std::vector<size_t> &steps) {
  Table kinds, kernels;
  for (size_t step : steps)
    for (size_t i = 0; i < recording.steps[step].events; ++i) {
      const zero_rt_event &event = recording.events[recording.steps[step].first_event + i];
      const zero_rt_command_info &command = commands[event.command];
      const ProfileRow costs = costsOf(profile.machine, command, event);
      const std::string kind = kindOf(command);
      kinds.add(kind, kind, costs);
      kernels.add(command.name, kind, costs);
      profile.reorders += command.reorders ? 1.0 / double(steps.size()) : 0;
    }
  profile.kinds = kinds.finish(steps.size());
  profile.kernels = kernels.finish(steps.size());
}

Profile makeProfile(const zero_rt_machine &machine,
                    const std::vector<zero_rt_command_info> &commands,
                    const std::vector<zero_rt_recording> &ranks) {
  Profile profile;
  profile.machine = machine;
  std::vector<size_t> chosen;
  for (const zero_rt_recording &recording : ranks) {
    std::vector<Parts> parts;
    for (size_t step = 0; step < recording.step_count; ++step)
      parts.push_back(partsOf(commands, recording, recording.steps[step]));
    if (profile.ranks.empty()) {
      chosen = middleHalf(parts);
      profile.parts = parts;
    }
    profile.ranks.push_back(meanOf(parts, chosen));
  }
  for (size_t step = 0; step < ranks.front().step_count; ++step)
    profile.steps.push_back(ranks.front().steps[step].step);
  addRows(profile, commands, ranks.front(), chosen);
  return profile;
}

} // namespace zero::run
