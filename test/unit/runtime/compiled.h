//===- compiled.h - executables that zeroc makes ----------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_COMPILED_H
#define TEST_UNIT_RUNTIME_COMPILED_H

#include "runtime/format/format.h"

#include <vector>

namespace zero::rt {

/// The results of a run: losses, tensors and gradients, bitwise.
struct Outcome {
  bool failed = false;
  std::string error;
  std::string bits;
  uint64_t peak = 0, mostLive = 0; ///< of rank 0, if memory was checked
};

/// A graph of test/data as an executable whose tables can be changed.
class Compiled {
public:
  /// Compiles test/data/`graph`/model.onnx with `flags` added.
  Compiled(const std::string &graph, const std::string &flags);
  ~Compiled();

  const proto::Program &program() const { return executable.program; }
  const std::string &file() const { return path; }
  /// Runs a few steps of `program` with an evaluation between them. `program` replaces the tables
  /// of the executable. The data is the same in every run. The run is a separate process, because a
  /// wrong address may end it.
  Outcome run(const proto::Program &program, bool checkMemory) const;

private:
  std::string path;
  Executable executable;
};

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_COMPILED_H
