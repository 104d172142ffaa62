//===- Machine.h - rates of a machine and times of work ---------*- C++ -*-===//
//
// The plain form of a machine description (runtime/format/machine.proto) for planners and
// the simulator. Rates are those of one rank while all ranks do the same.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANNING_MACHINE_H
#define ZERO_PLANNING_MACHINE_H

#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
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

/// The drives of a node; see machine.proto.
struct Disk {
  double read = 0, write = 0; ///< bytes per second of each drive; 0: not known
  double mixed = 0;           ///< of a drive that does both; 0: reads do not delay writes
  double bus = 0;             ///< of all drives together; 0: no limit
  double count = 1;           ///< of drives
  double bytes = 0;           ///< of each drive; 0: not known
  double endurance = 0;       ///< bytes that may be written to each drive; 0: not known
};

/// What is beside the devices of a node; see machine.proto.
struct Host {
  double memoryBytes = 0;     ///< 0: not known
  double memoryBandwidth = 0; ///< bytes per second, read and written; 0: ranks compute on the host
  double nativeFlops = 0;     ///< of compiled loops; 0: bytes take longer
};

/// A connection between a device and the host, in one direction.
struct HostLink {
  double bandwidth = 0;     ///< bytes per second of a rank; 0: a transfer is a copy in memory
  double nodeBandwidth = 0; ///< of all ranks of a node; 0: as much as they have
  double latency = 0;       ///< seconds
};

/// The work of a launch by which times that were measured are found again: operations and bytes, as
/// the compiler counts them.
struct KernelWork {
  uint64_t flops = 0, bytes = 0;
  auto operator<=>(const KernelWork &) const = default;
};
inline KernelWork kernelWork(double flops, double bytes) {
  return {uint64_t(std::llround(flops)), uint64_t(std::llround(bytes))};
}

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
  Disk disk;
  Network network;
  Host host;
  HostLink hostToDevice, deviceToHost;
  double price = 0; ///< of a node for an hour, in any currency; 0: not known

  std::map<KernelWork, double> measured; ///< seconds of launches, instead of what the figures give
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

/// Of `ranks` ranks, how many share a node.
int64_t ranksOnNode(const Machine &machine, int64_t ranks);

/// Seconds of one launch on the host, while each of `ranks` ranks does the same.
double hostKernelSeconds(const Machine &machine, const KernelCost &cost, int64_t ranks);

/// Seconds of a copy of `bytes` inside a rank's memory.
double copySeconds(const Machine &machine, double bytes);

/// A link between adjacent tiers.
enum class Link { HostToDevice, DeviceToHost, DiskRead, DiskWrite };
inline constexpr int kNumLinks = 4;

/// Bytes per second that all drives of a node read or write while they do nothing else; 1e9 of
/// drives of unknown speed.
double drivesRate(const Machine &machine, Link link);

/// Seconds of a transfer of `bytes` of each of `ranks` ranks while nothing else uses what they
/// share.
double transferSeconds(const Machine &machine, Link link, double bytes, int64_t ranks);

/// The part of the bandwidth of all drives that one direction takes when it is alone, and the part
/// of the time of each drive. Where the parts of two directions exceed 1 they slow each other down.
struct DriveShare {
  double bus = 0, time = 0;
};
DriveShare driveShare(const Machine &machine, Link link);

/// The part of the bandwidth of the host's memory that transfers of `ranks` ranks over `link` take.
/// 0: ranks compute on the host.
double hostMemoryShare(const Machine &machine, Link link, int64_t ranks);

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
/// node are added first, one sum for each node. Devices beside a host add the values of a node
/// first and use all connections at once.
double networkBytes(const Machine &machine, const Exchange &exchange);

/// Seconds from when the last rank has arrived. On one rank nothing is received.
double collectiveSeconds(const Machine &machine, const Exchange &exchange);
/// The part of these that does not depend on bytes.
double collectiveLatency(const Machine &machine, const Exchange &exchange);

} // namespace zero::planning

#endif // ZERO_PLANNING_MACHINE_H
