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

/// How fast products C[m, n] = A[m, k] B[k, n] of one size are.
struct ProductRate {
  double m = 0, n = 0, k = 0;
  bool transposedA = false, transposedB = false; ///< stored by columns
  double flops = 0;                              ///< a second, 2 m n k each
};

/// How fast causal attention and its gradient over so many queries and keys are.
struct AttentionRate {
  double rows = 0;
  double forward = 0, backward = 0; ///< flops a second
};

/// A kind of collective, from when the last rank has come.
struct CollectiveRate {
  double bandwidth = 0; ///< bytes a second that a rank receives from the others
  double latency = 0;   ///< seconds of one that moves nothing
};

/// Field for field what machine.proto says. Defaults are those of the preset `cpu`: a core of
/// a server with AVX-512, beside one other that shares its memory.
struct Machine {
  std::string name = "cpu";
  std::string isa = "x86-64-v4";
  int64_t cores = 2;
  int64_t ranks = 2;      ///< that the figures hold for, side by side
  int64_t threads = 1;    ///< of each
  double memoryBytes = 0; ///< of a rank; 0: not known

  double peakFlops = 250e9;      ///< float32 multiply-adds, two each
  double halfFlops = 250e9;      ///< products of 16-bit operands at most
  double memoryBandwidth = 40e9; ///< bytes a second, read and written, beyond the caches
  double copyBandwidth = 40e9;   ///< the same of copies
  double cacheBytes = 1 << 20;   ///< of a rank's own caches
  double cacheBandwidth = 200e9; ///< of what lies there
  double launchSeconds = 3e-7;   ///< of a kernel that does next to nothing
  bool overlaps = false;         ///< collectives run beside kernels, also without transfers

  std::vector<ProductRate> products = {{512, 512, 512, false, false, 205e9},
                                       {512, 512, 512, false, true, 210e9},
                                       {512, 512, 512, true, false, 185e9}}; ///< empty: the peak
  std::vector<AttentionRate> attention = {{256, 115e9, 135e9}};              ///< empty: the peak
  double convolutionFlops = 190e9;
  double nativeFlops = 60e9; ///< of compiled loops, beside what their bytes take

  CollectiveRate gather = {15e9, 1e-6};
  CollectiveRate reduce = {12e9, 1e-6};
  double diskRead = 0, diskWrite = 0; ///< bytes a second of all ranks; 0: not known
};

enum class KernelKind { Native, Product, Convolution, Attention };

/// What one launch of a kernel does.
struct KernelCost {
  KernelKind kind = KernelKind::Native;
  double flops = 0;           ///< as the compiler counts them: a call of exp is one
  double bytes = 0;           ///< operands read and results written, each once
  double m = 0, n = 0, k = 0; ///< of a product; of attention m queries and n keys
  bool transposedA = false, transposedB = false;
  bool half = false;     ///< operands of 16 bits
  bool backward = false; ///< of attention
};

/// Seconds of one launch on a rank, while the others do the same. Products and attention
/// reach what the measured ones near them do, a native kernel what its bytes and its operations
/// take.
double kernelSeconds(const Machine &machine, const KernelCost &cost);

/// Seconds of a copy of `bytes` inside a rank's memory.
double copySeconds(const Machine &machine, double bytes);

/// Between neighbouring tiers.
enum class Link { HostToDevice, DeviceToHost, DiskRead, DiskWrite };
inline constexpr int kNumLinks = 4;

/// Seconds of a transfer of `bytes` of a rank while all ranks do the same. A disk whose speed
/// is not known moves 1e9 bytes a second.
double transferSeconds(const Machine &machine, Link link, double bytes);

/// What ranks do in a collective with a value of which each has the whole, or a slice of its own.
struct Exchange {
  double bytes = 0; ///< of the value as a whole, all ranks' slices together
  int64_t ranks = 1;
  bool sums = false;       ///< the ranks' values are added up
  bool fromSlices = false; ///< each brings a slice
  bool toSlices = false;   ///< each keeps a slice
  bool inPlace = true;     ///< the slice that a rank brings lies where it belongs
};

/// Seconds from when the last rank has come. On one rank nothing is received.
double collectiveSeconds(const Machine &machine, const Exchange &exchange);
/// The part of them that no bytes cause.
double collectiveLatency(const Machine &machine, const Exchange &exchange);

} // namespace zero::planning

#endif // ZERO_PLANNING_MACHINE_H
