//===- products.cpp - measures calls of matrix products -------------------===//
//
// usage: products [ROUNDS]. Measures products of f32 in the form that the runtime uses, with B in
// its original layout and with B reordered first, by the CPU time of one thread. The two variants
// alternate, and the best of ROUNDS counts. The operands have several copies, which are used in
// turn, so that caches are as cold as in a step. Prints a table in Markdown in GFLOP/s, including
// the time of the copy.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/library.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace zero::rt;

namespace {

/// Computes C of m x n from A of m x k and B of k x n. A may be transposed.
struct Product {
  const char *name;
  uint64_t m, n, k;
  bool transposedA = false, bias = false, residual = false, accumulate = false;

  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
  uint64_t floats() const { return m * k + k * n + m * n * (residual ? 2 : 1) + n; }
};

/// The arguments of the call, without the workspace.
using Operands = std::vector<std::vector<float>>;

/// One way to compute a product, ready to run.
struct Variant {
  std::unique_ptr<LibraryKernel> kernel;
  std::unique_ptr<LibraryCall> call;
  void *workspace = nullptr;
  double best = 1e30; ///< seconds
};

} // namespace

static void check(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "products: %s\n", status.getMessage().c_str());
  std::exit(1);
}

static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static Operands operandsOf(const Product &product) {
  Operands operands{std::vector<float>(product.m * product.k),
                    std::vector<float>(product.k * product.n)};
  if (product.bias)
    operands.emplace_back(product.n);
  if (product.residual)
    operands.emplace_back(product.m * product.n);
  operands.emplace_back(product.m * product.n);
  uint32_t random = 1;
  for (std::vector<float> &operand : operands)
    for (float &value : operand)
      value = float((random = random * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f;
  return operands;
}

static Variant makeVariant(const Product &product, bool reorder) {
  proto::Kernel kernel;
  proto::Matmul &matmul = *kernel.mutable_matmul();
  matmul.set_dtype(proto::F32);
  matmul.set_m(product.m), matmul.set_n(product.n), matmul.set_k(product.k);
  const auto m = int64_t(product.m), n = int64_t(product.n), k = int64_t(product.k);
  matmul.add_a_strides(product.transposedA ? 1 : k);
  matmul.add_a_strides(product.transposedA ? m : 1);
  matmul.add_b_strides(n), matmul.add_b_strides(1);
  matmul.add_c_strides(n), matmul.add_c_strides(1);
  matmul.set_alpha(1);
  matmul.set_bias(product.bias);
  matmul.set_residual(product.residual);
  matmul.set_accumulate(product.accumulate);
  matmul.set_reorder_b(reorder);
  Variant variant;
  check(makeLibraryKernel(kernel, 1, variant.kernel));
  check(variant.kernel->makeCall(variant.call));
  variant.workspace = std::aligned_alloc(64, alignUp(variant.kernel->getWorkspace() + 64));
  return variant;
}

static void run(Variant &variant, Operands &operands) {
  std::vector<void *> args;
  for (std::vector<float> &operand : operands)
    args.push_back(operand.data());
  args.push_back(variant.workspace);
  const double start = now();
  check(variant.call->run(args.data()));
  variant.best = std::min(variant.best, now() - start);
}

static void measure(const Product &product, int rounds) {
  constexpr uint64_t kCold = 16 << 20; // floats
  std::vector<Operands> copies(std::clamp<uint64_t>(kCold / product.floats(), 1, 8));
  for (Operands &copy : copies)
    copy = operandsOf(product);
  std::array<Variant, 2> variants{makeVariant(product, false), makeVariant(product, true)};
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < 2; ++i)
      run(variants[(round + i) % 2], copies[(2 * round + i) % copies.size()]);
  const double plain = product.flops() / variants[0].best * 1e-9;
  const double reordered = product.flops() / variants[1].best * 1e-9;
  std::printf(
      "| %s | %llu x %llu x %llu | %.0f | %.0f | %+.1f %% |\n", product.name,
      static_cast<unsigned long long>(product.m), static_cast<unsigned long long>(product.n),
      static_cast<unsigned long long>(product.k), plain, reordered, 100 * (reordered / plain - 1));
  std::fflush(stdout);
  for (Variant &variant : variants)
    std::free(variant.workspace);
}

/// The products of a transformer layer with `rows` rows of `width` elements, in which B is stored
/// by rows.
static std::vector<Product> layerOf(uint64_t rows, uint64_t width) {
  const uint64_t inner = 4 * width, heads = 3 * width;
  return {{"qkv, bias", rows, heads, width, false, true},
          {"projection, bias, residual", rows, width, width, false, true, true},
          {"first of the feed-forward, bias", rows, inner, width, false, true},
          {"second, bias, residual", rows, width, inner, false, true, true},
          {"gradient of qkv's weight", width, heads, rows, true},
          {"of the projection's", width, width, rows, true},
          {"of the first's", width, inner, rows, true},
          {"of the second's", inner, width, rows, true}};
}

/// The products with logits of `classes` classes, computed in tiles of 256 rows.
static std::vector<Product> headOf(uint64_t width, uint64_t classes) {
  return {{"gradient of logits with the head", 256, width, classes},
          {"of the head's weight", classes, width, 256, true},
          {"the same, added up", classes, width, 256, true, false, false, true}};
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::max(int(std::strtol(argv[1], nullptr, 10)), 1) : 40;
  std::vector<Product> products;
  auto add = [&](const std::vector<Product> &more) {
    products.insert(products.end(), more.begin(), more.end());
  };
  add(layerOf(1024, 512)), add(headOf(512, 8192)); // B of the benchmarks
  add(layerOf(512, 256)), add(headOf(256, 8192));  // A
  add(layerOf(512, 768)), add(headOf(768, 50304)); // GPT-2
  for (uint64_t n : {512, 1024, 2048, 4096})
    for (uint64_t m : {256, 512, 1024, 2048, 4096}) {
      products.push_back({"plain", m, n, 512});
      products.push_back({"A transposed", m, n, 1024, true});
    }
  std::puts("| product | rows x columns x depth | as it lies | reordered first | |\n"
            "|---|---|--:|--:|--:|");
  for (const Product &product : products)
    measure(product, rounds);
}
