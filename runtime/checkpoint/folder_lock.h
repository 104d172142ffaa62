//===- folder_lock.h - lock a folder of checkpoints -------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_FOLDER_LOCK_H
#define RUNTIME_CHECKPOINT_FOLDER_LOCK_H

#include "runtime/support/temporary.h"

#include <memory>

namespace zero::rt {

/// Keeps other processes from saving into a folder, which replaces generations that are there:
/// `DIR/.lock`, locked as long as this lives, then deleted. Where the file system has no locks
/// nothing is kept.
class FolderLock {
public:
  /// Makes `folder` if need be. Within this process all share one lock. Fails when another
  /// process has it.
  static Status take(const std::string &folder, std::shared_ptr<FolderLock> &lock);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;

private:
  FolderLock() = default;
  static Status lockFolder(const std::string &folder, FolderLock &lock);
  Temporary own;
  int descriptor = -1;
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_FOLDER_LOCK_H
