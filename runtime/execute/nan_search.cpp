//===- nan_search.cpp - the first command that writes NaN -----------------===//

#include "runtime/execute/nan_search.h"

#include "runtime/load/program.h"
#include "runtime/support/finite.h"

namespace zero::rt {

NanSearch::NanSearch(const proto::Program &program, int rank) : program(program), rank(rank) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      commands.push_back(&command);
  for (const proto::Kernel &kernel : program.kernels())
    types.push_back(argumentTypes(kernel));
}

uint64_t NanSearch::Floats::find(bool onlyNan) const {
  const uint64_t size = sizeOf(dtype);
  for (uint64_t at = 0; at < count; ++at) {
    const char *rest = static_cast<const char *>(values) + at * size;
    at += findNonFinite(dtype, rest, count - at);
    if (at == count || !onlyNan || isNan(dtype, static_cast<const char *>(values) + at * size))
      return at;
  }
  return count;
}

static bool isFloat(DType dtype) {
  return dtype == ZERO_RT_F32 || dtype == ZERO_RT_F64 || dtype == ZERO_RT_F16 ||
         dtype == ZERO_RT_BF16;
}

std::vector<NanSearch::Floats> NanSearch::floatsOf(const CommandRun &run) const {
  const proto::Launch &launch = commands[run.index]->launch();
  const auto &body = std::get<LaunchCommand>(run.command->body);
  const std::vector<DType> &known = types[launch.kernel()];
  std::vector<Floats> found;
  for (size_t i = 0; i < known.size(); ++i) {
    const proto::Address &address = launch.args(int(i));
    if (isFloat(known[i]))
      found.push_back({int(i), known[i], body.args[i], address.bytes() / sizeOf(known[i]),
                       address.reads() != 0, address.writes() != 0});
  }
  return found;
}

Status NanSearch::beforeCommand(const CommandRun &run) {
  current = {};
  if (run.skipped || !std::holds_alternative<LaunchCommand>(run.command->body))
    return {};
  current = run;
  floats = floatsOf(run);
  bad.clear();
  for (const Floats &each : floats)
    if (const uint64_t at = each.isRead ? each.find(/*onlyNan=*/false) : each.count;
        at < each.count)
      bad.push_back(format("argument %d has %s at element %llu", each.argument,
                           each.find(/*onlyNan=*/true) < each.count ? "NaN" : "infinity",
                           static_cast<unsigned long long>(at)));
  return {};
}

Status NanSearch::after() {
  if (!current.command)
    return {};
  for (const Floats &each : floats)
    if (const uint64_t at = each.isWritten ? each.find(/*onlyNan=*/true) : each.count;
        at < each.count)
      return describe(each, at);
  return {};
}

Status NanSearch::describe(const Floats &result, uint64_t element) const {
  std::string before;
  for (const std::string &each : bad)
    before += (before.empty() ? "" : ", ") + each;
  const proto::Kernel &kernel = program.kernels(int(commands[current.index]->launch().kernel()));
  return fail(ZERO_RT_NOT_FINITE,
              "rank %d, micro-batch %llu: '%s' (kernel %s) is the first to write NaN, to element "
              "%llu of its argument %d of %llu; before it, %s",
              rank, static_cast<unsigned long long>(current.iteration),
              escape(current.command->label).c_str(), escape(kernel.name()).c_str(),
              static_cast<unsigned long long>(element), result.argument,
              static_cast<unsigned long long>(result.count),
              before.empty() ? "all that it reads is finite" : before.c_str());
}

} // namespace zero::rt
