//===- rank_memory.cpp - one rank's memory of all tiers -------------------===//

#include "runtime/execute/rank_memory.h"

#include <cstring>

namespace zero::rt {

/// The identity of an executable.
static uint64_t checksumOf(const Executable &executable) {
  Header header;
  std::memcpy(&header, executable.file.bytes().data(), sizeof(header));
  return header.checksum;
}

Status RankMemory::openFiles(const LoadedProgram &program, int rank) {
  const uint64_t bytes = arenaBytes(program.tables(), proto::NVME);
  if (bytes == 0)
    return {};
  if (options.folders.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "the program stores %llu bytes of each rank on disk: expected a directory for them "
                "(--nvme-dir)",
                static_cast<unsigned long long>(bytes));
  const TierIdentity identity{checksumOf(program.executable), uint32_t(rank),
                              uint32_t(program.ranks()), bytes};
  ZERO_RT_TRY(files.create(options.folders, identity));
  return DiskMemory::open(files, options.queue, disk);
}

Status RankMemory::reserve(Device &device, const proto::Program &program, int rank, bool guarded,
                           Meter &meter) {
  const uint64_t onDevice = arenaBytes(program, proto::DEVICE),
                 onHost = arenaBytes(program, proto::HOST);
  meter.expect(onDevice + onHost);
  ZERO_RT_TRY(device.reserve(rank, proto::DEVICE, onDevice, guarded, deviceArena));
  ZERO_RT_TRY(deviceArena->touch());
  meter.add(onDevice);
  if (onHost == 0)
    return {};
  ZERO_RT_TRY(device.reserve(rank, proto::HOST, onHost, guarded, hostArena));
  ZERO_RT_TRY(hostArena->touch());
  meter.add(onHost);
  return {};
}

ArenaBases RankMemory::bases() const {
  return {deviceArena->base(), hostArena ? hostArena->base() : nullptr, nullptr};
}

MemoryByTier RankMemory::byTier() {
  MemoryByTier all(*deviceArena);
  if (hostArena)
    all.set(proto::HOST, *hostArena);
  if (disk)
    all.set(proto::NVME, *disk);
  return all;
}

} // namespace zero::rt
