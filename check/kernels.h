//===- kernels.h - kernels by their content ---------------------*- C++ -*-===//

#ifndef CHECK_KERNELS_H
#define CHECK_KERNELS_H

#include "check/executable.h"

#include <map>
#include <optional>

namespace zero::check {

/// What is known of a kernel over a length.
struct Meaning {
  enum Form : int {
    Opaque,  ///< samples contradict that it is element-wise, or it cannot be run
    Element, ///< element i of its results depends on element i of its operands only
    Linear,  ///< of two arguments, the first becomes the second times `factor`, plus itself if it
             ///< adds
  } form = Opaque;
  bool adds = false;
  float factor = 1;
  /// Whether elements that are all 0 give 0, or -0 as a float32: bit s is for those of which
  /// operand i is -0 if s has bit i.
  uint64_t zeros = 0, minusZeros = 0;
};

/// An argument of a kernel over a length: bytes of an element, or of all of it if that is 0.
struct ProbedArgument {
  uint64_t width = 0, bytes = 0;
  bool read = false, written = false;
};

/// Runs `symbol` of the shared object `code` on samples, in a child process that ends after some
/// seconds. Kernels of two arguments of 4 bytes are taken to be of float32.
Meaning probe(const std::string &code, const std::string &symbol,
              const std::vector<ProbedArgument> &arguments);

/// The content of each function that the shared object `code` defines: its bytes, where those of a
/// displacement to constants or to functions of other libraries stand for what they point to. It
/// depends on nothing else in the object. Throws a Refusal unless `code` is for x86-64.
std::map<std::string, std::string> contentsOf(const std::string &code);

/// Numbers the kernels of several executables by their content.
class Kernels {
public:
  /// Numbers the kernels of `executable`.
  void add(Executable &executable);

  /// What the kernel does element by element. `launch` is one of it, in `executable`.
  const Meaning &meaningOf(int64_t number, const Executable &executable,
                           const proto::Launch &launch);
  /// Throws a Refusal if another launch of the kernel reads or writes other arguments.
  void expectAccesses(int64_t number, const proto::Launch &launch);

  const std::string &nameOf(int64_t number) const { return names[size_t(number)]; }
  /// The names of the kernels of each form, in order.
  std::map<std::string, std::string> namesByForm() const;

private:
  std::map<std::string, int64_t> numbers; ///< by content
  std::vector<std::string> names;
  std::vector<std::optional<Meaning>> meanings;
  std::vector<std::string> accesses;
};

} // namespace zero::check

#endif // CHECK_KERNELS_H
