//===- attempts.h - attempts to lock new files ------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_ATTEMPTS_H
#define RUNTIME_SUPPORT_ATTEMPTS_H

namespace zero::rt {

/// Number of attempts to create a file again because another process has deleted it before it was
/// locked. This seems to happen each time on a file system without stable inode numbers.
inline constexpr int kAttempts = 20;

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_ATTEMPTS_H
