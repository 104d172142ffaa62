//===- note.h - messages between ranks --------------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_NOTE_H
#define RUNTIME_EXECUTE_NOTE_H

#include <cstdint>

namespace zero::rt {

/// A message of a rank to all others.
struct Note {
  int64_t code = 0; ///< zero_rt_code
  int64_t values[2] = {};

  bool operator==(const Note &) const = default;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_NOTE_H
