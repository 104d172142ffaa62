//===- disk_rate.h - measure the speed of a disk ----------------*- C++ -*-===//

#ifndef RUNTIME_IO_DISK_RATE_H
#define RUNTIME_IO_DISK_RATE_H

#include "runtime/io/drive_folders.h"

namespace zero::rt {

struct DiskRate {
  double read = 0, write = 0; ///< bytes a second
  double mixed = 0;           ///< of both together, at the same time
};

/// Writes and reads files without a name in `folders`, past the system's cache (O_DIRECT), as a
/// step of `ranks` ranks on one node does: each has files and a DiskQueue of its own, all at the
/// same time, then each with one for reads and one for writes. Moves 512 MiB each way, or as much
/// as half a second is enough for; beyond 8 ranks as 8 do. Fails where the file system has no such
/// files.
Status measureDisks(const DriveFolders &folders, size_t ranks, DiskRate &rate);

struct WriteSpeed {
  double bytesPerSecond = 0, flushSeconds = 0; ///< of data, and of a small file
};

/// Writes and flushes a file without a name in `folder`, through the system's cache, as a
/// checkpoint is written: 16 MiB, or as much as a tenth of a second is enough for.
Status measureWrites(const std::string &folder, WriteSpeed &speed);

} // namespace zero::rt

#endif // RUNTIME_IO_DISK_RATE_H
