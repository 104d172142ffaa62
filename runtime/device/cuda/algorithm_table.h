//===- algorithm_table.h - chosen algorithms of products --------*- C++ -*-===//
//
// What was chosen for the products of a GPU, by timing, in a file:
//
//   {
//     "format": "zero-gpu-algorithms-1",
//     "gpu": "NVIDIA H100 80GB HBM3",
//     "architecture": 90,
//     "cublaslt": 130000,
//     "driver": 13000,
//     "products": [
//       {"product": "bfloat16 ...", "algorithm": "21000000...", "nanoseconds": 9800,
//        "first_nanoseconds": 12300}
//     ]
//   }
//
// "algorithm" has the bytes of cublasLtMatmulAlgo_t in hexadecimal. The library documents them as
// opaque, and valid for the same version of the library. The driver is for people to read.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_ALGORITHM_TABLE_H
#define RUNTIME_DEVICE_CUDA_ALGORITHM_TABLE_H

#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/gpu.h"

#include <map>

namespace zero::rt::cuda {

/// An algorithm, and how long the product takes with it and with the library's first choice.
struct ChosenAlgorithm {
  BlasAlgorithm algorithm{};
  uint64_t nanoseconds = 0, firstNanoseconds = 0;
};

/// Algorithms by Product::describe(), for one kind of GPU and one version of cuBLASLt.
class AlgorithmTable {
public:
  AlgorithmTable(const Gpu &gpu, const BlasLibrary &library);

  /// Adds those of the file at `path`, if there is one. An error says that the file is damaged, or
  /// for another kind of GPU or another version of the library.
  Status read(const std::string &path);
  /// The same for the text of a file; `source` names it in errors: "'FILE'".
  Status parse(std::string_view text, const std::string &source);
  std::string text() const;
  /// A name for its file in a folder with those of other GPUs and versions of the library.
  std::string fileName() const;

  /// nullptr: it has none.
  const ChosenAlgorithm *find(const std::string &product) const;
  void add(const std::string &product, const ChosenAlgorithm &chosen) { all[product] = chosen; }

private:
  /// For what its algorithms are.
  struct Target {
    std::string gpu;
    uint64_t architecture = 0, library = 0, driver = 0;
    std::string text() const;
  };
  struct File;

  Target target;
  std::map<std::string, ChosenAlgorithm> all;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_ALGORITHM_TABLE_H
