//===- compiled.h - executables that zeroc makes ----------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_COMPILED_H
#define TEST_UNIT_RUNTIME_COMPILED_H

#include "runtime/format/format.h"

#include <vector>

namespace zero::rt {

/// What a run leaves: losses, tensors and gradients, bit for bit.
struct Outcome {
  bool failed = false;
  std::string error;
  std::string bits;
  uint64_t peak = 0, mostLive = 0; ///< rank 0's, if memory was checked
};

/// A graph of test/data as an executable whose tables can be changed.
class Compiled {
public:
  /// Compiles test/data/`graph`/model.onnx with `flags` added.
  Compiled(const std::string &graph, const std::string &flags);
  ~Compiled();

  const proto::Program &program() const { return executable.program; }
  const std::string &file() const { return path; }
  /// Runs a few steps, and an evaluation between them, of `program` in place of the tables,
  /// on data that is always the same, in a process of its own: a wrong address may end it.
  Outcome run(const proto::Program &program, bool checkMemory) const;

private:
  std::string path;
  Executable executable;
};

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_COMPILED_H
