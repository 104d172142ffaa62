//===- Harness.h - compiles kernels from text and calls them ----*- C++ -*-===//

#ifndef TEST_UNIT_CODEGEN_HARNESS_H
#define TEST_UNIT_CODEGEN_HARNESS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <random>
#include <string>
#include <vector>

/// Kernels compiled from MLIR text and mapped into this process.
class Kernels {
public:
  /// Compiles `text` with the whole pipeline; check `ok()`.
  explicit Kernels(const std::string &text, unsigned threads = 1);
  ~Kernels();

  bool ok() const { return library != nullptr; }
  /// Calls a kernel with its buffers; the workspace, if any, is added. What threads may
  /// share is called in `pieces`, the last one first.
  void call(const std::string &name, std::vector<void *> buffers, int64_t length = 0,
            int64_t pieces = 3);
  /// Iterations that threads may share, as in executable.proto.
  int64_t extent(const std::string &name);
  const std::string &object() const { return bytes; }
  mlir::ModuleOp module() { return *parsed; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::string bytes;
  std::map<std::string, std::string> symbols;
  void *library = nullptr;
};

/// `count` numbers in [-range, range), the same in every run.
inline std::vector<float> numbers(size_t count, unsigned seed, float range = 1.0f) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-range, range);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

/// The largest difference over the largest magnitude of `expected`.
double relativeError(const std::vector<float> &actual, const std::vector<float> &expected);

/// MLIR text of the pieces that test kernels are made of.
namespace text {
/// `%<name> =` a tensor of `type` whose elements are all `value`.
std::string fill(const std::string &name, const std::string &type, const std::string &value);
/// A linalg.generic: operands as "%a : type : map", loops as "pr" letters, the
/// body's arguments are %x0, %x1, ... and the last is %out.
std::string generic(const std::string &name, const std::vector<std::string> &operands,
                    const std::string &init, const std::string &loops, const std::string &body);
} // namespace text

#endif // TEST_UNIT_CODEGEN_HARNESS_H
