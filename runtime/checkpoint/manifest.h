//===- manifest.h - manifest.json of a checkpoint ---------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_MANIFEST_H
#define RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/checkpoint/manifest.pb.h"
#include "runtime/format/selection.h"
#include "runtime/support/file.h"

namespace zero::rt {

inline constexpr char kManifestName[] = "manifest.json";
/// Elements of a block with one scale, at most.
inline constexpr uint64_t kLargestBlock = 4096;
/// Version 1 is the same without runs, version 2 without cuts, version 3 without codes.
inline constexpr uint32_t kManifestVersion = 4;

/// CRC-32 of zlib, continuing from that of the bytes before.
uint32_t crc32Of(std::span<const uint8_t> bytes, uint32_t before = 0);

/// "rank-00003.safetensors".
std::string shardName(int rank);

/// The cuts of `range`, and the other way round.
std::vector<Selection::Cut> cutsOf(const proto::Manifest::Range &range);
void setCuts(const std::vector<Selection::Cut> &cuts, proto::Manifest::Range &range);

/// Writes `path`, a file of a draft, flushed to disk; version and checksum are filled in.
Status writeManifest(const std::string &path, proto::Manifest manifest);

/// Reads `path`. Errors: a wrong checksum, another version (ZERO_RT_UNSUPPORTED), and numbers out
/// of range. planLoad() checks whether the ranges of a tensor are complete.
Status readManifest(const std::string &path, proto::Manifest &manifest);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_MANIFEST_H
