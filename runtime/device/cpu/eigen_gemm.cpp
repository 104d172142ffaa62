//===- eigen_gemm.cpp - products of f32 matrices through Eigen ------------===//

#include "runtime/device/cpu/eigen_gemm.h"

#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace zero::rt {

namespace {
/// A block of A of mc x kc and one of B of kc x nc are copied in the order in which they are read.
/// The sizes are multiples of what Eigen keeps in registers on any architecture. Both fit into the
/// second-level cache of small cores.
struct Blocking : Eigen::internal::level3_blocking<float, float> {
  Blocking(int64_t rows, int64_t columns, int64_t depth) {
    m_mc = std::min<int64_t>(rows, 192);
    m_nc = std::min<int64_t>(columns, 192);
    m_kc = std::min<int64_t>(depth, 256);
  }
  int64_t left() const { return m_mc * m_kc; }
  int64_t right() const { return m_kc * m_nc; }
  void place(float *scratch, int64_t start) {
    m_blockA = scratch;
    m_blockB = scratch + start;
  }
};
} // namespace

/// Floats in front of the second block, so that both are aligned.
static int64_t startOfRight(const Blocking &blocking) {
  return int64_t(alignUp(uint64_t(blocking.left()) * sizeof(float)) / sizeof(float));
}

uint64_t gemmScratch(int64_t rows, int64_t columns, int64_t depth) {
  // Eigen computes the transposed product where rows of C are contiguous.
  const Blocking blocking(columns, rows, depth);
  return alignUp(uint64_t(startOfRight(blocking) + blocking.right()) * sizeof(float));
}

/// C^T (+)= B^T A^T, all by columns: the transpose of a matrix by rows is one by columns.
template <int OrderOfA, int OrderOfB>
static void run(int64_t rows, int64_t columns, int64_t depth, float alpha, GemmMatrix a,
                GemmMatrix b, float *c, int64_t strideOfC, Blocking &blocking) {
  using Product =
      Eigen::internal::general_matrix_matrix_product<int64_t, float, OrderOfB, false, float,
                                                     OrderOfA, false, Eigen::ColMajor, 1>;
  Product::run(columns, rows, depth, b.data, b.stride, a.data, a.stride, c, 1, strideOfC, alpha,
               blocking, nullptr);
}

void gemm(int64_t rows, int64_t columns, int64_t depth, float alpha, GemmMatrix a, GemmMatrix b,
          float *c, int64_t strideOfC, void *scratch) {
  Blocking blocking(columns, rows, depth);
  blocking.place(static_cast<float *>(scratch), startOfRight(blocking));
  constexpr int kTransposedRows = Eigen::ColMajor, kTransposedColumns = Eigen::RowMajor;
  const auto product = a.byColumns   ? b.byColumns ? run<kTransposedColumns, kTransposedColumns>
                                                   : run<kTransposedColumns, kTransposedRows>
                       : b.byColumns ? run<kTransposedRows, kTransposedColumns>
                                     : run<kTransposedRows, kTransposedRows>;
  product(rows, columns, depth, alpha, a, b, c, strideOfC, blocking);
}

} // namespace zero::rt
