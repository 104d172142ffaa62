//===- eigen_matmul.h - matrix products through Eigen -----------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_EIGEN_MATMUL_H
#define RUNTIME_DEVICE_CPU_EIGEN_MATMUL_H

#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/matmul_plan.h"

namespace zero::rt {

/// A product of f32 that is ready to run, with the arguments and the order of terms of Matmul. Its
/// workspace is the same on every machine.
class EigenMatmul : public LibraryKernel {
public:
  static Status create(const proto::Matmul &desc, const StoredTypes &types, int threads,
                       std::unique_ptr<EigenMatmul> &matmul);

  uint64_t getWorkspace() const override;
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;
  EigenMatmul(MatmulPlan plan, int threads);
  uint64_t scratchBytes() const; ///< of one thread

  MatmulPlan plan;
  int64_t matrices = 1; ///< of the batch
  int64_t parts = 1;    ///< into which rows or columns of C are divided
  bool dividesColumns = false;
  Matrix a, b, c; ///< of the largest part
  int threads = 1;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_EIGEN_MATMUL_H
