//===- gradient_checks.cpp - whether gradients are finite -----------------===//

#include "runtime/execute/gradient_checks.h"

#include "runtime/format/tables.h"

namespace zero::rt {

/// The elements of the gradient of `launch` that its argument has.
static uint64_t elementsOf(const proto::Launch &launch) {
  const proto::Launch::Gradient &gradient = launch.gradient();
  const uint64_t most = gradient.buffer().elements() - gradient.start();
  const uint64_t bytes = launch.args(int(gradient.argument())).bytes();
  return std::min(most, bytes / sizeOf(toDType(gradient.buffer().dtype())));
}

/// What these elements are of the parameters of the bucket on `rank`.
static std::vector<FiniteCheck::Range> rangesOf(const proto::Program &program, int rank,
                                                const proto::Launch &launch) {
  const proto::Launch::Gradient &gradient = launch.gradient();
  const Mesh mesh = meshOf(program);
  const uint64_t start = gradient.start(), stop = start + elementsOf(launch);
  std::vector<FiniteCheck::Range> ranges;
  auto add = [&](uint32_t tensor, uint64_t begin, uint64_t count) {
    const Part part = partOf(mesh, gradient.buffer(), begin, count, rank);
    const uint64_t first = std::max(part.inBuffer, start);
    const uint64_t end = std::min(part.inBuffer + part.count, stop);
    if (first < end)
      ranges.push_back({first - start, end - start, tensor});
  };
  const proto::Buffer &bucket = program.buffers(int(gradient.bucket()));
  for (int i = 0; i < program.tensors_size(); ++i) {
    const proto::Tensor &tensor = program.tensors(i);
    if (tensor.role() != proto::PARAMETER)
      continue;
    for (const Block &block : blocksOf(program, tensor))
      if (block.buffer == &bucket)
        add(uint32_t(i), block.start, block.count);
  }
  return ranges;
}

void GradientChecks::open(const proto::Program &tables, int rank, bool onDevice,
                          std::vector<CommandSegment> &segments) {
  program = &tables;
  for (size_t segment = 0; segment < segments.size(); ++segment)
    for (size_t i = 0; i < segments[segment].commands.size(); ++i) {
      const proto::Command &source = tables.segments(int(segment)).commands(int(i));
      if (!source.launch().has_gradient() || (!onDevice && !isHostLane(source.lane())))
        continue;
      const proto::Launch::Gradient &gradient = source.launch().gradient();
      auto &launch = std::get<LaunchCommand>(segments[segment].commands[i].body);
      checks.emplace_back(toDType(gradient.buffer().dtype()), launch.args[gradient.argument()],
                          elementsOf(source.launch()), rangesOf(tables, rank, source.launch()));
      launch.check = &checks.back();
    }
}

void GradientChecks::clear() {
  for (FiniteCheck &check : checks)
    check.clear();
}

void GradientChecks::lookSkipped(const Command &command) {
  const auto *launch = std::get_if<LaunchCommand>(&command.body);
  if (launch && launch->check)
    launch->check->look(0, launch->check->size());
}

std::optional<FiniteCheck::Finding> GradientChecks::finding() const {
  std::optional<FiniteCheck::Finding> first;
  for (const FiniteCheck &check : checks)
    if (auto found = check.finding(); found && (!first || found->tensor < first->tensor))
      first = found;
  return first;
}

const std::string &GradientChecks::name() const {
  static const std::string none;
  const auto found = finding();
  return found ? program->tensors(int(found->tensor)).name() : none;
}

Status GradientChecks::outcome(int rank) const {
  const auto found = finding();
  if (!found)
    return {};
  return fail(ZERO_RT_NOT_FINITE,
              "rank %d: the gradient of '%s' is %s; a model compiled with --nonfinite=skip skips "
              "such steps",
              rank, escape(name()).c_str(), found->isNan ? "NaN" : "infinite");
}

} // namespace zero::rt
