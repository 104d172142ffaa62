//===- product.h - matrix products through cuBLASLt -------------*- C++ -*-===//
//
// cuBLASLt thinks in columns: a row-major C is its C^T = B^T A^T. Operands are float32,
// float16 or bfloat16, A and B of one type, and sums are made in float32, not in TF32. The
// algorithm is chosen once, at start, within the planned workspace: by the library's own
// heuristics, or from a file (algorithm_table.h). All ranks run the same one.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_PRODUCT_H
#define RUNTIME_DEVICE_CUDA_PRODUCT_H

#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/device/cuda/cublaslt.h"

#include <memory>

namespace zero::rt::cuda {

/// cuBLASLt's state on the GPU that is current when it is made.
class BlasContext {
public:
  static Status create(std::shared_ptr<const BlasLibrary> library,
                       std::shared_ptr<const BlasContext> &context);
  ~BlasContext();
  const BlasLibrary &library() const { return *functions; }
  BlasHandle get() const { return handle; }

private:
  std::shared_ptr<const BlasLibrary> functions;
  BlasHandle handle = nullptr;
};

/// The state that one rank needs to run a product. Must not outlive the product.
class ProductCall {
public:
  virtual ~ProductCall() = default;
  /// Arguments: A, B, [bias], [R], C, [workspace], on the GPU of `context`.
  virtual Status run(const BlasContext &context, void *const *args, Stream stream) = 0;
};

/// A product ready to run, shared by all ranks.
class Product {
public:
  /// `alignment`: the alignment of the addresses of all operands in bytes. An error
  /// (ZERO_RT_UNSUPPORTED) names: strides with gaps in both rows and columns, mixed types, a bias
  /// along C's strided dimension, two added matrices, and products for which the library has no
  /// algorithm within the workspace.
  static Status create(std::shared_ptr<const BlasContext> context, const proto::Kernel &kernel,
                       uint32_t alignment, std::unique_ptr<Product> &product);
  ~Product();

  /// Whether there is nothing to compute, and no algorithm.
  bool isEmpty() const;
  /// All that the choice of its algorithm depends on. Products with the same text run the same.
  std::string describe() const;
  /// Up to `most` algorithms that keep the workspace, in the order in which the library expects
  /// them to be fast, behind the one that the product has.
  Status findAlgorithms(size_t most, std::vector<BlasAlgorithm> &found) const;
  /// Whether `algorithm`, of which any bytes may be wrong, computes this product on the GPU of
  /// `context` within the workspace. Else the error says why not.
  Status check(const BlasContext &context, const BlasAlgorithm &algorithm) const;
  const BlasAlgorithm &algorithm() const;
  /// What all calls run from now on. It must be one of findAlgorithms(), or have passed check().
  void setAlgorithm(const BlasAlgorithm &algorithm);

  Status makeCall(std::unique_ptr<ProductCall> &call) const;

private:
  class Call;
  struct State;
  explicit Product(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The largest power of two, up to 16, that the addresses of all operands of kernel
/// `index` are multiples of, in all its launches on all ranks: vectors of 16 bytes are the
/// widest there are, and the choice of an algorithm must not depend on more.
uint32_t alignmentOf(const proto::Program &program, uint32_t index);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_PRODUCT_H
