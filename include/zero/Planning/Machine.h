//===- Machine.h - rates of a machine and times of work ---------*- C++ -*-===//
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

/// The rate of products C[m, n] = A[m, k] B[k, n] of one size.
struct ProductRate {
  double m = 0, n = 0, k = 0;
  bool transposedA = false, transposedB = false; ///< stored by columns
  double flops = 0;                              ///< per second, 2 m n k each
};

/// The rate of causal attention and its gradient for a number of queries and keys.
struct AttentionRate {
  double rows = 0;
  double forward = 0, backward = 0; ///< flops a second
};

/// The rate of a kind of collective, from when the last rank has arrived.
struct CollectiveRate {
  double bandwidth = 0; ///< bytes per second that a rank receives from the others
  double latency = 0;   ///< seconds of one without data
};

/// The connections between nodes; see machine.proto.
struct Network {
  int64_t ranksPerNode = 0; ///< 0: all ranks are on one node
  double bandwidth = 0;     ///< bytes per second of a node, in each direction
  double latency = 0;       ///< seconds of a message
};

/// The fields of machine.proto. Defaults are those of the preset `cpu`: a core of a server with
/// AVX-512, beside one other core that shares its memory.
struct Machine {
  std::string name = "cpu";
  std::string isa = "x86-64-v4";
  int64_t cores = 2;
  int64_t ranks = 2;      ///< in parallel, for which the figures hold
  int64_t threads = 1;    ///< of each
  double memoryBytes = 0; ///< of a rank; 0: not known

  double peakFlops = 250e9;      ///< float32 multiply-adds, two each
  double halfFlops = 250e9;      ///< products of 16-bit operands at most
  double memoryBandwidth = 40e9; ///< bytes per second, read and written, beyond the caches
  double copyBandwidth = 40e9;   ///< the same of copies
  double cacheBytes = 1 << 20;   ///< of a rank's own caches
  double cacheBandwidth = 200e9; ///< of data in the caches
  double launchSeconds = 3e-7;   ///< of a kernel with almost no work
  bool overlaps = false;         ///< collectives overlap with kernels, also without transfers

  std::vector<ProductRate> products = {{512, 512, 512, false, false, 205e9},
                                       {512, 512, 512, false, true, 210e9},
                                       {512, 512, 512, true, false, 185e9}}; ///< empty: the peak
  std::vector<AttentionRate> attention = {{256, 115e9, 135e9}};              ///< empty: the peak
  double convolutionFlops = 190e9;
  double nativeFlops = 60e9; ///< of compiled loops, beside the time of their bytes

  CollectiveRate gather = {15e9, 1e-6};
  CollectiveRate reduce = {12e9, 1e-6};
  double diskRead = 0, diskWrite = 0; ///< bytes per second of all ranks; 0: not known
  Network network;
};

enum class KernelKind { Native, Product, Convolution, Attention };

/// The work of one launch of a kernel.
struct KernelCost {
  KernelKind kind = KernelKind::Native;
  double flops = 0;           ///< as counted by the compiler: a call of exp is one
  double bytes = 0;           ///< operands read and results written, each once
  double m = 0, n = 0, k = 0; ///< of a product; of attention m queries and n keys
  bool transposedA = false, transposedB = false;
  bool half = false;     ///< operands of 16 bits
  bool backward = false; ///< of attention
};

/// Seconds of one launch on a rank, while the others do the same. Products and attention reach the
/// rate of the nearest measured sizes; a native kernel takes the time of its bytes and operations.
double kernelSeconds(const Machine &machine, const KernelCost &cost);

/// Seconds of a copy of `bytes` inside a rank's memory.
double copySeconds(const Machine &machine, double bytes);

/// A link between adjacent tiers.
enum class Link { HostToDevice, DeviceToHost, DiskRead, DiskWrite };
inline constexpr int kNumLinks = 4;

/// Seconds of a transfer of `bytes` of a rank while all ranks do the same. A disk of unknown speed
/// transfers 1e9 bytes per second.
double transferSeconds(const Machine &machine, Link link, double bytes);

/// A collective on a value of which each rank has all, or its own slice.
struct Exchange {
  double bytes = 0; ///< of the value as a whole, all ranks' slices together
  int64_t ranks = 1;
  bool sums = false;        ///< the values of the ranks are summed
  bool fromSlices = false;  ///< each rank contributes a slice
  bool toSlices = false;    ///< each rank receives a slice
  bool inPlace = true;      ///< the slice that a rank contributes is already in place
  int64_t ranksPerNode = 0; ///< whose values are added first, as the program says; 0: none
  double sumRatio = 1;      ///< bytes of a sum of some ranks, by those of their values
  /// Of these ranks, how many are on a node, beside other groups that exchange at the same time; 0:
  /// as many as the network says. `ranksPerNode` then counts these ranks, too.
  int64_t perNode = 0;
};

/// Bytes that cross the connection of each node in a collective, in each direction: each slice of
/// another node once, and of a sum the values of all ranks of other nodes, or, if the ranks of each
/// node are added first, one sum for each node.
double networkBytes(const Machine &machine, const Exchange &exchange);

/// Seconds from when the last rank has arrived. On one rank nothing is received.
double collectiveSeconds(const Machine &machine, const Exchange &exchange);
/// The part of these that does not depend on bytes.
double collectiveLatency(const Machine &machine, const Exchange &exchange);

} // namespace zero::planning

#endif // ZERO_PLANNING_MACHINE_H
