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

/// The dialects of kernels in text.
mlir::DialectRegistry allDialects();

/// Kernels compiled from MLIR text and mapped into this process.
class Kernels {
public:
  /// Compiles `text` with the full pipeline. Check `ok()` afterwards.
  explicit Kernels(const std::string &text, unsigned threads = 1);
  ~Kernels();

  bool ok() const { return library != nullptr; }
  /// Calls a kernel with its buffers and adds the workspace, if there is one. The iterations that
  /// threads may share are split into `pieces` calls; the last piece runs first.
  void call(const std::string &name, std::vector<void *> buffers, int64_t length = 0,
            int64_t pieces = 3);
  /// Iterations that threads may share, as in executable.proto.
  int64_t extent(const std::string &name);
  /// The symbol of a kernel's code.
  const std::string &symbol(const std::string &name) const { return symbols.at(name); }
  const std::string &object() const { return bytes; }
  mlir::ModuleOp module() { return *parsed; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::string bytes;
  std::map<std::string, std::string> symbols;
  void *library = nullptr;
};

/// Returns `count` numbers in [-range, range) that are the same in every run.
inline std::vector<float> numbers(size_t count, unsigned seed, float range = 1.0f) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-range, range);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

/// The largest absolute difference divided by the largest magnitude in `expected`.
double relativeError(const std::vector<float> &actual, const std::vector<float> &expected);

/// Returns parts of test kernels as MLIR text.
namespace text {
/// Defines `%<name>` as a tensor of `type` whose elements all equal `value`.
std::string fill(const std::string &name, const std::string &type, const std::string &value);
/// Builds a linalg.generic. Operands have the form "%a : type : map", and `loops` has a letter p or
/// r per loop. The arguments of the body are %x0, %x1, ...; the last one is %out.
std::string generic(const std::string &name, const std::vector<std::string> &operands,
                    const std::string &init, const std::string &loops, const std::string &body);
} // namespace text

#endif // TEST_UNIT_CODEGEN_HARNESS_H
