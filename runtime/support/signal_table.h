//===- signal_table.h - a table for signal handlers -------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_SIGNAL_TABLE_H
#define RUNTIME_SUPPORT_SIGNAL_TABLE_H

#include <atomic>
#include <cstddef>

namespace zero::rt {

/// A lock-free set of objects that all threads change and over which a signal handler iterates. An
/// object belongs to the thread that has taken it out. Grows, never shrinks. Must live as long as
/// the process, so it must be static.
template <typename T>
class SignalTable {
public:
  void add(T *object) {
    for (Chunk *chunk = &first;; chunk = chunk->following()) {
      for (std::atomic<T *> &slot : chunk->slots) {
        T *none = nullptr;
        if (slot.compare_exchange_strong(none, object))
          return;
      }
    }
  }

  /// Returns false if another thread has removed it.
  bool take(T *object) {
    return find([object](std::atomic<T *> &slot) {
      T *expected = object;
      return slot.compare_exchange_strong(expected, nullptr);
    });
  }

  /// Removes each object and passes it to `use`; if that returns false it is put back. A signal
  /// handler may call it.
  template <typename Use>
  void drain(Use use) {
    find([&](std::atomic<T *> &slot) {
      T *object = slot.exchange(nullptr), *none = nullptr;
      if (object && !use(*object))
        (void)slot.compare_exchange_strong(none, object);
      return false;
    });
  }

private:
  static_assert(std::atomic<T *>::is_always_lock_free);
  struct Chunk {
    std::atomic<T *> slots[64] = {};
    std::atomic<Chunk *> next = nullptr;

    Chunk *following() {
      if (Chunk *there = next)
        return there;
      Chunk *made = new Chunk, *none = nullptr;
      if (next.compare_exchange_strong(none, made))
        return made;
      delete made;
      return none;
    }
  };

  template <typename Visit>
  bool find(Visit visit) {
    for (Chunk *chunk = &first; chunk; chunk = chunk->next)
      for (std::atomic<T *> &slot : chunk->slots)
        if (visit(slot))
          return true;
    return false;
  }

  Chunk first;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_SIGNAL_TABLE_H
