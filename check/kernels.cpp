//===- kernels.cpp - kernels by their content -----------------------------===//

#include "check/kernels.h"

#include <algorithm>

namespace zero::check {

/// All of a kernel that its results depend on: not its name, its costs, or the size of a workspace.
static std::string contentOf(const proto::Kernel &kernel,
                             const std::map<std::string, std::string> &functions) {
  if (kernel.body_case() == proto::Kernel::kSymbol) {
    auto it = functions.find(kernel.symbol());
    require(it != functions.end(),
            "kernel '" + kernel.name() + "': the code section has no '" + kernel.symbol() + "'");
    std::string content = "code:";
    for (uint64_t width : kernel.per_length())
      content += std::to_string(width) + ",";
    return content + it->second;
  }
  require(kernel.has_matmul() || kernel.has_convolution() || kernel.has_attention(),
          "kernel '" + kernel.name() + "' is neither native code nor a library call of CPUs");
  proto::Kernel described = kernel;
  described.clear_name();
  described.clear_workspace();
  described.clear_flops();
  described.clear_bytes();
  return "call:" + described.SerializeAsString();
}

void Kernels::add(Executable &executable) {
  const std::map<std::string, std::string> functions = contentsOf(executable.code);
  executable.kernelNumbers.clear();
  for (const proto::Kernel &kernel : executable.program.kernels()) {
    auto [it, isNew] = numbers.emplace(contentOf(kernel, functions), int64_t(names.size()));
    if (isNew) {
      const bool isTaken = std::find(names.begin(), names.end(), kernel.name()) != names.end();
      names.push_back(kernel.name() + (isTaken ? " with other code" : ""));
      meanings.emplace_back();
      accesses.emplace_back();
    }
    executable.kernelNumbers.push_back(it->second);
  }
}

const Meaning &Kernels::meaningOf(int64_t number, const Executable &executable,
                                  const proto::Launch &launch) {
  std::optional<Meaning> &meaning = meanings[size_t(number)];
  if (meaning)
    return *meaning;
  const proto::Kernel &kernel = executable.program.kernels(int(launch.kernel()));
  meaning.emplace();
  if (kernel.extent() != 1 || kernel.workspace() > 0 ||
      kernel.per_length_size() != launch.args_size())
    return *meaning;
  std::vector<ProbedArgument> arguments;
  for (int i = 0; i < launch.args_size(); ++i) {
    const proto::Address &argument = launch.args(i);
    arguments.push_back(
        {kernel.per_length(i), argument.bytes(), argument.reads() != 0, argument.writes() != 0});
    // Limits what a sample takes: real scalars have a few bytes, elements are at most a block of a
    // norm or of codes.
    if (arguments.back().width > 1024 || (!arguments.back().width && argument.bytes() > 4096) ||
        (!arguments.back().width && arguments.back().written))
      return *meaning;
  }
  return *(meaning = probe(executable.code, kernel.symbol(), arguments));
}

void Kernels::expectAccesses(int64_t number, const proto::Launch &launch) {
  std::string pattern = ":";
  for (const proto::Address &argument : launch.args())
    pattern += "-rwb"[(argument.reads() ? 1 : 0) + (argument.writes() ? 2 : 0)];
  std::string &known = accesses[size_t(number)];
  if (known.empty())
    known = pattern;
  require(known == pattern, "kernel '" + nameOf(number) + "' reads and writes arguments '" +
                                pattern.substr(1) + "' here, but '" + known.substr(1) +
                                "' elsewhere (r: reads, w: writes, b: both)");
}

std::map<std::string, std::string> Kernels::namesByForm() const {
  static const char *const kLinear[] = {"copy", "scale", "sum", "sum of scaled"};
  std::map<std::string, std::string> found;
  for (size_t i = 0; i < names.size(); ++i)
    if (meanings[i] && meanings[i]->form != Meaning::Opaque) {
      const int linear = 2 * meanings[i]->adds + (meanings[i]->factor != 1);
      std::string &list =
          found[meanings[i]->form == Meaning::Linear ? kLinear[linear] : "element-wise"];
      list += (list.empty() ? "" : ", ") + names[i];
    }
  return found;
}

} // namespace zero::check
