//===- kernels.cpp - kernels by their content -----------------------------===//

#include "check/kernels.h"

#include "check/code.h"
#include "check/refusal.h"

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
  require(kernel.body_case() == proto::Kernel::kMatmul ||
              kernel.body_case() == proto::Kernel::kConvolution ||
              kernel.body_case() == proto::Kernel::kAttention,
          "kernel '" + kernel.name() +
              "': the checker knows native code and library calls of CPUs "
              "only");
  proto::Kernel described;
  if (kernel.has_matmul())
    *described.mutable_matmul() = kernel.matmul();
  else if (kernel.has_convolution())
    *described.mutable_convolution() = kernel.convolution();
  else
    *described.mutable_attention() = kernel.attention();
  *described.mutable_stored() = kernel.stored();
  return "call:" + described.SerializeAsString();
}

std::vector<int64_t> Kernels::add(const Executable &executable) {
  const std::map<std::string, std::string> functions = contentsOf(executable.code);
  std::vector<int64_t> found;
  for (const proto::Kernel &kernel : executable.program.kernels()) {
    auto [it, isNew] = numbers.emplace(contentOf(kernel, functions), int64_t(names.size()));
    if (isNew) {
      const bool isTaken = std::find(names.begin(), names.end(), kernel.name()) != names.end();
      names.push_back(kernel.name() + (isTaken ? " with other code" : ""));
      meanings.emplace_back();
      accesses.emplace_back();
    }
    found.push_back(it->second);
  }
  return found;
}

const Meaning &Kernels::meaningOf(int64_t number, const Executable &executable,
                                  const proto::Launch &launch) {
  std::optional<Meaning> &meaning = meanings[size_t(number)];
  if (meaning)
    return *meaning;
  const proto::Kernel &kernel = executable.program.kernels(int(launch.kernel()));
  meaning.emplace();
  if (kernel.extent() != 1 || kernel.workspace() > 0 || kernel.per_length().empty() ||
      kernel.per_length_size() != launch.args_size())
    return *meaning;
  std::vector<ProbedArgument> arguments;
  for (int i = 0; i < launch.args_size(); ++i) {
    const proto::Address &argument = launch.args(i);
    arguments.push_back({kernel.per_length(i), argument.bytes(), argument.writes() != 0});
    // Limits what a sample takes: real scalars have a few bytes, elements at most 8.
    if (arguments.back().width > 64 || (!arguments.back().width && argument.bytes() > 4096) ||
        (!arguments.back().width && arguments.back().written))
      return *meaning;
  }
  return *(meaning = probe(executable.code, kernel.symbol(), arguments));
}

void Kernels::expectAccesses(int64_t number, const proto::Launch &launch) {
  std::string pattern = ":";
  for (const proto::Address &argument : launch.args())
    pattern += argument.reads() && argument.writes() ? 'b'
               : argument.reads()                    ? 'r'
               : argument.writes()                   ? 'w'
                                                     : '-';
  std::string &known = accesses[size_t(number)];
  if (known.empty())
    known = pattern;
  require(known == pattern, "kernel '" + nameOf(number) + "' reads and writes arguments '" +
                                pattern.substr(1) + "' here, but '" + known.substr(1) +
                                "' elsewhere (r: reads, w: writes, b: both)");
}

std::map<Meaning::Form, std::string> Kernels::namesByForm() const {
  std::map<Meaning::Form, std::string> found;
  for (size_t i = 0; i < names.size(); ++i)
    if (meanings[i] && meanings[i]->form != Meaning::Opaque) {
      std::string &list = found[meanings[i]->form];
      list += (list.empty() ? "" : ", ") + names[i];
    }
  return found;
}

} // namespace zero::check
