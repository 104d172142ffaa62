//===- Machine.h - what a machine can do, and how long work takes *- C++ -*-===//
//
// The plain form of a machine description (runtime/format/machine.proto) for planners and
// the simulator. Rates are those of one rank while all ranks do the same.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANNING_MACHINE_H
#define ZERO_PLANNING_MACHINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace zero::planning {

/// How fast products C[m, n] += A[m, k] B[k, n] of one size are.
struct ProductRate {
  double m = 0, n = 0, k = 0;
  double flops = 0; ///< a second, 2 m n k each
};

/// A kind of collective: every rank begins after `latency`, then receives and adds.
struct CollectiveRate {
  double bandwidth = 0; ///< bytes a second that a rank receives from the others
  double latency = 0;   ///< seconds of one that moves nothing
};

/// Defaults are those of the preset `cpu`: a core of a server with AVX-512, of which
/// two share their memory.
struct Machine {
  std::string name = "cpu";
  std::string isa = "x86-64-v4";
  int64_t ranks = 2;   ///< that were measured side by side
  int64_t threads = 1; ///< of each
  int64_t cores = 2;
  double memoryBytes = 8e9; ///< of a rank; 0: not known

  double peakFlops = 250e9;      ///< float32 multiply-adds, two each
  double memoryBandwidth = 20e9; ///< bytes a second, read and written, beyond the caches
  double copyBandwidth = 20e9;   ///< the same of copies
  double cacheBandwidth = 60e9;  ///< of operands that a cache holds
  double cacheBytes = 1 << 20;   ///< the cache of a rank
  double launchSeconds = 1e-6;   ///< of a kernel that does nothing
  bool overlaps = false; ///< whether lanes run side by side; else a rank does one thing at a time

  std::vector<ProductRate> products; ///< empty: all reach the peak
  double attentionForward = 100e9;   ///< flops a second
  double attentionBackward = 100e9;
  double convolutionFlops = 150e9;
  double nativeFlops = 30e9; ///< of compiled loops; a call of exp counts one

  CollectiveRate gather = {8e9, 5e-6};
  CollectiveRate reduce = {8e9, 5e-6};
  double diskRead = 0, diskWrite = 0; ///< bytes a second of all ranks; 0: not known
};

enum class KernelKind { Native, Product, Convolution, Attention };

/// What one launch of a kernel does.
struct KernelCost {
  KernelKind kind = KernelKind::Native;
  double flops = 0;                      ///< as the compiler counts them
  double bytes = 0;                      ///< operands read and results written, each once
  double m = 0, n = 0, k = 0, batch = 1; ///< of a product
  bool backward = false;                 ///< of attention
};

/// Seconds of one launch on a rank.
double kernelSeconds(const Machine &machine, const KernelCost &cost);

/// Seconds of a copy of `bytes` inside a rank's memory.
double copySeconds(const Machine &machine, double bytes);

enum class CollectiveKind { AllGather, ReduceScatter, AllReduce };

/// Seconds from when the last rank has come. `bytes`: of the value as a whole, all ranks'
/// slices together. On one rank it costs a launch.
double collectiveSeconds(const Machine &machine, CollectiveKind kind, double bytes, int64_t ranks);

} // namespace zero::planning

#endif // ZERO_PLANNING_MACHINE_H
