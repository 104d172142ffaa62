//===- drive_folders.h - the directories of the nvme tier -------*- C++ -*-===//

#ifndef RUNTIME_IO_DRIVE_FOLDERS_H
#define RUNTIME_IO_DRIVE_FOLDERS_H

#include "runtime/support/status.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zero::rt {

/// Directories over which the bytes of each rank are spread evenly, usually on a drive each.
class DriveFolders {
public:
  /// Of "DIR,DIR,..."; of an empty text there are none. Fails if a name is missing or a directory
  /// is listed twice. Directories that do not exist are found when files are made there.
  static Status parse(const std::string &list, DriveFolders &folders);

  const std::vector<std::string> &paths() const { return all; }
  bool empty() const { return all.empty(); }
  /// "'a' and 'b'".
  std::string text() const;
  /// Names the drives, the same in each run, as long as the system does: "259-1" or "259-1+259-2".
  std::string drivesText() const;
  /// Distinct drives.
  size_t drives() const;
  /// The bytes for which there is space, if each directory takes as many.
  uint64_t space() const;

private:
  std::vector<std::string> all;
  std::vector<dev_t> devices; ///< of each; 0: it does not exist
};

} // namespace zero::rt

#endif // RUNTIME_IO_DRIVE_FOLDERS_H
