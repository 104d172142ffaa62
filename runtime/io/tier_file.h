//===- tier_file.h - a file of the nvme tier --------------------*- C++ -*-===//
//
//   page 0   header: what it belongs to, its generation, whether a step is under way
//   page 1   the arena, or its stripes on this drive
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_IO_TIER_FILE_H
#define RUNTIME_IO_TIER_FILE_H

#include "runtime/io/disk_queue.h"

#include <cstdint>
#include <string>
#include <utility>

namespace zero::rt {

/// The purpose of a tier file. A file of another program, rank, drive or size is never used.
struct TierIdentity {
  uint64_t program = 0; ///< checksum of the executable
  uint32_t rank = 0, ranks = 1;
  uint64_t bytes = 0;             ///< in this file, a multiple of kDiskAlignment
  uint32_t drive = 0, drives = 1; ///< which stripes it has, and of how many
};

/// The path of a rank's file.
std::string tierPath(const std::string &folder, int rank);

/// A file of one rank's arena of the nvme tier, all of its space reserved. While it
/// is open no other process can open it. Between beginStep() and endStep() its header says
/// that it is torn: a process that dies there leaves a file that is refused.
class TierFile {
public:
  TierFile() = default;
  TierFile(TierFile &&other) noexcept { *this = std::move(other); }
  TierFile &operator=(TierFile &&other) noexcept;
  ~TierFile();

  /// Creates `path` in generation 0. Replaces a tier file that is not in use; any other file is
  /// unchanged and is an error. If the disk does not have enough space, fails before anything is
  /// written.
  static Status create(const std::string &path, const TierIdentity &identity, TierFile &file);

  /// Opens `path` as a process left it. An error names the reason: in use, not a tier file,
  /// damaged, of another program, truncated, torn in the middle of a step.
  static Status open(const std::string &path, const TierIdentity &identity, TierFile &file);

  /// Deletes the tier files in `folder` whose process has ended. Waits up to 2 s for the locks of
  /// processes that were killed.
  static void sweep(const std::string &folder);

  /// The number of completed steps.
  uint64_t generation() const { return current; }
  /// Fails when the file is no longer as long as it was.
  Status beginStep();
  /// Fails in the same case. All writes of the step must be complete.
  Status endStep();

  /// Bytes of headers that were written since it was opened.
  uint64_t headerBytes() const { return written; }

  int descriptor() const { return number; }
  const std::string &path() const { return name; }
  /// The place in the file of byte `offset` of what it holds.
  static uint64_t place(uint64_t offset);
  /// Whether unwritten bytes read as zeros and have their space on the disk: then zeros need not be
  /// written. False if the file system cannot reserve space.
  bool startsAsZeros() const { return reserved; }
  /// False on file systems that cannot: then the system's cache takes part.
  bool isDirect() const { return direct; }

  /// Closes and deletes it, unless another process has replaced the file. A process that ends early
  /// deletes a file that it has created.
  void remove();

private:
  struct Header;

  Status openAndLock(const std::string &path, int flags, int &pauses);
  Status readHeader(Header &header, bool &isOurs) const;
  Status check(const Header &header, uint64_t size) const;
  Status checkSpace() const;
  Status reserve();
  Status checkSize() const;
  Status writeHeader(bool isTorn) const;

  std::string name;
  TierIdentity identity;
  int number = -1;
  uint64_t current = 0;
  bool direct = true;
  bool reserved = false;        ///< since it was made
  Temporary own;                ///< if this process has made it
  mutable uint64_t written = 0; ///< of headers
};

} // namespace zero::rt

#endif // RUNTIME_IO_TIER_FILE_H
