//===- Harness.cpp - compiles kernels from text and calls them ------------===//

#include "Harness.h"

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

DialectRegistry allDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<zero::ZeroDialect>();
  return registry;
}

static void *load(const std::string &bytes) {
  int file = memfd_create("kernels", 0);
  if (write(file, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
    return nullptr;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    llvm::errs() << dlerror() << "\n";
  close(file);
  return library;
}

Kernels::Kernels(const std::string &text, unsigned threads) : context(allDialects()) {
  parsed = parseSourceString<ModuleOp>(text, &context);
  if (!parsed)
    return;
  PassManager manager(&context);
  zero::buildCodegenPipeline(manager);
  if (failed(manager.run(*parsed)))
    return;
  auto compiled = zero::compileKernels(*parsed, {.threads = threads, .cacheFolder = ""});
  if (failed(compiled))
    return;
  bytes = compiled->object;
  for (auto &[kernel, symbol] : compiled->symbols)
    symbols.emplace(kernel.getName().str(), symbol);
  library = load(bytes);
}

Kernels::~Kernels() {
  if (library)
    dlclose(library);
}

int64_t Kernels::extent(const std::string &name) {
  auto attr = parsed->lookupSymbol(name)->getAttrOfType<IntegerAttr>(zero::kExtentAttr);
  return attr ? attr.getInt() : 0;
}

void Kernels::call(const std::string &name, std::vector<void *> buffers, int64_t length,
                   int64_t pieces) {
  auto *symbol = reinterpret_cast<void (*)(void *const *, int64_t, int64_t)>(
      dlsym(library, symbols.at(name).c_str()));
  auto kernel = parsed->lookupSymbol(name);
  void *workspace = nullptr;
  if (auto size = kernel->getAttrOfType<IntegerAttr>(zero::kWorkspaceAttr)) {
    workspace = std::aligned_alloc(64, llvm::alignTo(size.getInt(), 64));
    buffers.push_back(workspace);
  }
  const int64_t split = extent(name), end = split > 1 ? split : length;
  if (!split)
    pieces = 1;
  for (int64_t piece = pieces; piece-- > 0;)
    symbol(buffers.data(), end * piece / pieces, end * (piece + 1) / pieces);
  std::free(workspace);
}

double relativeError(const std::vector<float> &actual, const std::vector<float> &expected) {
  double difference = 0, magnitude = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference = std::max(difference, double(std::abs(actual[i] - expected[i])));
    magnitude = std::max(magnitude, double(std::abs(expected[i])));
    if (std::isnan(actual[i]) != std::isnan(expected[i]))
      return INFINITY;
  }
  return magnitude == 0 ? difference : difference / magnitude;
}
