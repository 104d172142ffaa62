//===- attempts.h - what others may sweep before it is locked ---*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_ATTEMPTS_H
#define RUNTIME_SUPPORT_ATTEMPTS_H

namespace zero::rt {

/// How often what was just made is made again because another process has deleted it before it was
/// locked. It seems so each time where a file system has no lasting inode numbers.
inline constexpr int kAttempts = 20;

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_ATTEMPTS_H
