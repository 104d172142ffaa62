//===- openmp.h - libgomp's team size, per thread ---------------*- C++ -*-===//
//
// oneDNN asks OpenMP how many threads it may use, when it makes a primitive and
// when it runs one. The number belongs to the calling thread, so each rank sets
// its own; clang's omp.h belongs to another OpenMP library than oneDNN's. Native
// kernels run on the same threads.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_OPENMP_H
#define RUNTIME_DEVICE_CPU_OPENMP_H

extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif
}

namespace zero::rt {

/// Runs `body(data)` on `threads` threads, the calling one among them, or on fewer if OpenMP has
/// no more, and returns when all have done so.
inline void runOnTeam(void (*body)(void *), void *data, int threads) {
#if __has_feature(thread_sanitizer)
  // libgomp is not instrumented: that its threads start after the call and end before its return
  // has to be said.
  struct Call {
    void (*body)(void *);
    void *data;
  } call{body, data};
  __tsan_release(&call);
  GOMP_parallel(
      [](void *data) {
        __tsan_acquire(data);
        auto *call = static_cast<Call *>(data);
        call->body(call->data);
        __tsan_release(data);
      },
      &call, static_cast<unsigned>(threads), 0);
  __tsan_acquire(&call);
#else
  GOMP_parallel(body, data, static_cast<unsigned>(threads), 0);
#endif
}

/// Sets the calling thread's team size for the lifetime of the object.
class TeamSize {
public:
  explicit TeamSize(int threads) : before(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~TeamSize() { omp_set_num_threads(before); }
  TeamSize(const TeamSize &) = delete;
  TeamSize &operator=(const TeamSize &) = delete;

private:
  int before;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_OPENMP_H
