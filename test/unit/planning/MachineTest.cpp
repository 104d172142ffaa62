//===- MachineTest.cpp - durations of work on a machine -------------------===//

#include "zero/Planning/Machine.h"

#include <gtest/gtest.h>

using namespace zero::planning;

namespace {

/// Uses round figures, so that the seconds of a Gflop and a GB are easy to recognize.
Machine roundMachine() {
  Machine machine;
  machine.ranks = 4;
  machine.peakFlops = 100e9;
  machine.halfFlops = 200e9;
  machine.memoryBandwidth = machine.copyBandwidth = 10e9;
  machine.cacheBytes = 1e6;
  machine.cacheBandwidth = 100e9;
  machine.launchSeconds = 0;
  machine.products.clear();
  machine.attention = {{128, 50e9, 25e9}, {1024, 80e9, 40e9}};
  machine.nativeFlops = 20e9;
  machine.gather = {4e9, 0.5};
  machine.reduce = {2e9, 0.25};
  return machine;
}

KernelCost product(double m, double n, double k) {
  KernelCost cost;
  cost.kind = KernelKind::Product;
  cost.m = m;
  cost.n = n;
  cost.k = k;
  cost.flops = 2 * m * n * k;
  return cost;
}

double rateOf(const Machine &machine, const KernelCost &cost) {
  return cost.flops / kernelSeconds(machine, cost);
}

TEST(Machine, ProductsWithoutMeasurementReachThePeakOfTheirType) {
  KernelCost cost = product(512, 512, 512);
  EXPECT_DOUBLE_EQ(rateOf(roundMachine(), cost), 100e9);
  cost.half = true;
  EXPECT_DOUBLE_EQ(rateOf(roundMachine(), cost), 200e9);
}

TEST(Machine, AProductTakesTheMeasuredRateOfItsSizeAndLayout) {
  Machine machine = roundMachine();
  machine.products = {{64, 64, 64, false, false, 10e9},
                      {1024, 1024, 1024, false, false, 90e9},
                      {1024, 1024, 1024, true, false, 70e9}};
  EXPECT_NEAR(rateOf(machine, product(64, 64, 64)), 10e9, 1e6);
  EXPECT_NEAR(rateOf(machine, product(1024, 1024, 1024)), 90e9, 1e6);
  KernelCost transposed = product(1024, 1024, 1024);
  transposed.transposedA = true;
  EXPECT_NEAR(rateOf(machine, transposed), 70e9, 1e6);
  const double between = rateOf(machine, product(256, 256, 256));
  EXPECT_GT(between, 10e9);
  EXPECT_LT(between, 90e9);
}

TEST(Machine, AProductIsNoFasterThanItsOperandsArrive) {
  KernelCost cost = product(1, 512, 512);
  cost.bytes = 1e9;
  EXPECT_DOUBLE_EQ(kernelSeconds(roundMachine(), cost), 0.1);
}

TEST(Machine, AttentionHasARateForEachDirection) {
  KernelCost cost;
  cost.kind = KernelKind::Attention;
  cost.flops = 100e9;
  cost.m = cost.n = 128;
  EXPECT_NEAR(kernelSeconds(roundMachine(), cost), 2, 1e-4);
  cost.backward = true;
  EXPECT_NEAR(kernelSeconds(roundMachine(), cost), 4, 1e-4);
  cost.m = 2048; // 2048 queries and 512 keys have the rate of 1024 and 1024
  cost.n = 512;
  EXPECT_NEAR(kernelSeconds(roundMachine(), cost), 2.5, 1e-4);
}

TEST(Machine, ANativeKernelTakesItsOperationsAndItsBytes) {
  KernelCost cost;
  cost.flops = 20e9;
  cost.bytes = 10e9;
  EXPECT_DOUBLE_EQ(kernelSeconds(roundMachine(), cost), 2);
  cost.flops = 0;
  cost.bytes = 1e6; // fits into the caches
  EXPECT_DOUBLE_EQ(kernelSeconds(roundMachine(), cost), 1e-5);
}

TEST(Machine, CollectivesReceiveWhatOtherRanksHave) {
  const Machine machine = roundMachine();
  auto seconds = [&](Exchange exchange, int64_t ranks, bool inPlace = true) {
    exchange.bytes = 8e9;
    exchange.ranks = ranks;
    exchange.inPlace = inPlace;
    return collectiveSeconds(machine, exchange);
  };
  Exchange allGather, reduceScatter, allReduce, broadcast;
  allGather.fromSlices = true;
  allReduce.sums = reduceScatter.sums = true;
  reduceScatter.toSlices = true;
  EXPECT_DOUBLE_EQ(seconds(allGather, 4), 0.5 + 1.5);
  EXPECT_DOUBLE_EQ(seconds(allGather, 4, false), 2 + 0.4);
  EXPECT_DOUBLE_EQ(seconds(reduceScatter, 4), 0.25 + 3);
  EXPECT_DOUBLE_EQ(seconds(allReduce, 4), 2 + 3.25);
  EXPECT_DOUBLE_EQ(seconds(broadcast, 4), 0.5 + 2);
  EXPECT_DOUBLE_EQ(seconds(allGather, 1), 0.5);
  EXPECT_DOUBLE_EQ(seconds(broadcast, 1), 0.5);
  EXPECT_DOUBLE_EQ(collectiveLatency(machine, allGather), 0.5);
  EXPECT_DOUBLE_EQ(collectiveLatency(machine, reduceScatter), 0.25);
  EXPECT_DOUBLE_EQ(collectiveLatency(machine, allReduce), 0.75);
  EXPECT_DOUBLE_EQ(collectiveLatency(machine, broadcast), 0.5);
}

TEST(Machine, OneSumOfEachNodeCrossesTheNetwork) {
  Machine machine;
  machine.network = {/*ranksPerNode=*/4, /*bandwidth=*/1e9, /*latency=*/1e-3};
  Exchange gather{.bytes = 8e6, .ranks = 8, .fromSlices = true};
  EXPECT_DOUBLE_EQ(networkBytes(machine, gather), 4e6);
  Exchange reduce{.bytes = 8e6, .ranks = 8, .sums = true, .toSlices = true};
  EXPECT_DOUBLE_EQ(networkBytes(machine, reduce), 16e6); // the values of four ranks to each of four
  reduce.ranksPerNode = 4;
  EXPECT_DOUBLE_EQ(networkBytes(machine, reduce), 4e6);
  reduce.sumRatio = 2; // 16-bit values that are added in 32 bits
  EXPECT_DOUBLE_EQ(networkBytes(machine, reduce), 8e6);
  Exchange both{.bytes = 8e6, .ranks = 8, .sums = true, .ranksPerNode = 4};
  EXPECT_DOUBLE_EQ(networkBytes(machine, both), 8e6);
  Exchange broadcast{.bytes = 8e6, .ranks = 8};
  EXPECT_DOUBLE_EQ(networkBytes(machine, broadcast), 8e6);

  Machine alone = machine;
  alone.network = {};
  EXPECT_NEAR(collectiveSeconds(machine, gather) - collectiveSeconds(alone, gather), 5e-3, 1e-12);
  EXPECT_NEAR(collectiveSeconds(machine, both) - collectiveSeconds(alone, both), 10e-3, 1e-12);
  // Four pairs of ranks, each with one rank on each of two nodes; and pairs inside of nodes.
  Exchange pairs{.bytes = 8e6, .ranks = 2, .fromSlices = true, .perNode = 1};
  EXPECT_DOUBLE_EQ(networkBytes(machine, pairs), 16e6);
  pairs.perNode = 2;
  EXPECT_EQ(networkBytes(machine, pairs), 0);
  gather.ranks = 4;
  EXPECT_EQ(networkBytes(machine, gather), 0);
}

/// Nodes of four devices.
Machine devices() {
  Machine machine = roundMachine();
  machine.network = {/*ranksPerNode=*/4, /*bandwidth=*/1e9, /*latency=*/0};
  machine.host = {/*memoryBytes=*/1e12, /*memoryBandwidth=*/100e9, /*nativeFlops=*/10e9};
  machine.hostToDevice = {/*bandwidth=*/10e9, /*nodeBandwidth=*/20e9, /*latency=*/0.5};
  machine.deviceToHost = {/*bandwidth=*/5e9, /*nodeBandwidth=*/0, /*latency=*/0};
  machine.disk = {/*read=*/4e9, /*write=*/2e9, /*mixed=*/3e9, /*bus=*/6e9, /*count=*/2};
  return machine;
}

TEST(Machine, RanksOfANodeShareItsLinks) {
  const Machine machine = devices();
  auto seconds = [&](Link link, int64_t ranks) {
    return transferSeconds(machine, link, 20e9, ranks);
  };
  EXPECT_DOUBLE_EQ(seconds(Link::HostToDevice, 1), 0.5 + 2);
  EXPECT_DOUBLE_EQ(seconds(Link::HostToDevice, 2), 0.5 + 2);
  EXPECT_DOUBLE_EQ(seconds(Link::HostToDevice, 4), 0.5 + 4);
  EXPECT_DOUBLE_EQ(seconds(Link::HostToDevice, 64), 0.5 + 4); // those of other nodes have their own
  EXPECT_DOUBLE_EQ(seconds(Link::DeviceToHost, 4), 4);
  EXPECT_DOUBLE_EQ(seconds(Link::DiskRead, 1), 20 / 6.); // of 8 GB/s that the drives have
  EXPECT_DOUBLE_EQ(seconds(Link::DiskRead, 8), 80 / 6.);
  EXPECT_DOUBLE_EQ(seconds(Link::DiskWrite, 1), 5);
}

TEST(Machine, WithoutLinksATransferIsACopy) {
  EXPECT_DOUBLE_EQ(transferSeconds(roundMachine(), Link::HostToDevice, 5e9, 4), 1);
  EXPECT_DOUBLE_EQ(hostMemoryShare(roundMachine(), Link::HostToDevice, 4), 0);
  EXPECT_DOUBLE_EQ(transferSeconds(roundMachine(), Link::DiskRead, 5e9, 4), 20); // 1 GB/s
}

TEST(Machine, AHostComputesForTheRanksOfItsNode) {
  KernelCost cost;
  cost.flops = 10e9;
  cost.bytes = 50e9;
  EXPECT_DOUBLE_EQ(hostKernelSeconds(devices(), cost, 1), 1 + 0.5);
  EXPECT_DOUBLE_EQ(hostKernelSeconds(devices(), cost, 8), 4 * 1.5);
  EXPECT_DOUBLE_EQ(hostKernelSeconds(roundMachine(), cost, 8), kernelSeconds(roundMachine(), cost));
}

TEST(Machine, DirectionsShareDrivesAndMemory) {
  Machine machine = devices();
  // 3 GB/s of both is half of 4 + 2: they take turns. The bus ends reading at 6 of 8 GB/s.
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskRead).time, 0.75);
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskRead).bus, 1);
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskWrite).time, 1);
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskWrite).bus, 4 / 6.);
  machine.disk.mixed = 6e9; // both at full speed
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskWrite).time, 0.5);
  machine.disk.mixed = machine.disk.bus = 0;
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskRead).time, 0);
  EXPECT_DOUBLE_EQ(driveShare(machine, Link::DiskRead).bus, 0);
  EXPECT_DOUBLE_EQ(hostMemoryShare(machine, Link::HostToDevice, 4), 0.2);
  EXPECT_DOUBLE_EQ(hostMemoryShare(machine, Link::DeviceToHost, 1), 0.05);
}

TEST(Machine, RingsKeepAllConnectionsBusy) {
  const Machine machine = devices();
  Exchange reduce{.bytes = 8e9, .ranks = 8, .sums = true, .toSlices = true};
  EXPECT_DOUBLE_EQ(networkBytes(machine, reduce), 4e9);    // one sum of each node
  EXPECT_DOUBLE_EQ(collectiveSeconds(machine, reduce), 4); // while 7 GB at 2 GB/s are added
}

} // namespace
