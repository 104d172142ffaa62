//===- kernels.h - kernels by their content ---------------------*- C++ -*-===//

#ifndef CHECK_KERNELS_H
#define CHECK_KERNELS_H

#include "check/executable.h"
#include "check/probe.h"

#include <map>
#include <optional>

namespace zero::check {

/// Numbers the kernels of several executables by their content.
class Kernels {
public:
  /// Numbers the kernels of `executable`, which must outlive this.
  std::vector<int64_t> add(const Executable &executable);

  /// What the kernel does element by element. `launch` is one of it, in `executable`.
  const Meaning &meaningOf(int64_t number, const Executable &executable,
                           const proto::Launch &launch);
  /// Throws a Refusal if another launch of the kernel reads or writes other arguments.
  void expectAccesses(int64_t number, const proto::Launch &launch);

  const std::string &nameOf(int64_t number) const { return names[size_t(number)]; }
  /// The names of the kernels of each form, in order.
  std::map<Meaning::Form, std::string> namesByForm() const;

private:
  std::map<std::string, int64_t> numbers; ///< by content
  std::vector<std::string> names;
  std::vector<std::optional<Meaning>> meanings;
  std::vector<std::string> accesses;
};

} // namespace zero::check

#endif // CHECK_KERNELS_H
