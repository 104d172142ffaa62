//===- native.h - the C interface of the runtime, for Python ----*- C++ -*-===//
//
// Classes around the handles of zero_rt.h. A method that may take time releases the GIL; handles
// are used by one thread at a time, so each class has a lock, which is taken without the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef PYTHON_NATIVE_NATIVE_H
#define PYTHON_NATIVE_NATIVE_H

#include "zero_rt/zero_rt.h"

#include <map>
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace zero::python {

namespace nb = nanobind;

/// A status that is not ZERO_RT_OK. Becomes an exception of zero.errors.
struct StatusError : std::runtime_error {
  StatusError(zero_rt_code code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  zero_rt_code code;
};

/// Throws a StatusError unless `status` is ZERO_RT_OK.
void check(zero_rt_status status);

/// Whether this process was forked from the one that has imported the module.
bool isForked();

/// A call into the runtime. Python does not end during one: a thread that waits for the GIL when
/// the interpreter is gone would end in the middle of this code. Throws in a process that was
/// forked after the import, where the threads of the runtime are missing.
class Call {
public:
  Call();
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// Waits until no call is in progress. Later ones of other threads than the main one never
  /// return.
  static void endAll();
};

/// Runs `body` with the GIL released and `mutex` locked. Others that hold the GIL never wait for
/// the mutex, so the two cannot deadlock.
template <typename Body>
auto withoutGil(std::mutex &mutex, Body body) {
  const Call call; // until this thread has the GIL again
  nb::gil_scoped_release release;
  std::lock_guard lock(mutex);
  return body();
}

/// The text for the C interface; throws if a zero byte would end it early.
const char *textOf(const std::string &text);

/// A compiled program.
struct Executable {
  explicit Executable(const std::string &path);
  ~Executable() { zero_rt_executable_free(handle); }
  zero_rt_executable *handle = nullptr;
};

/// An array of numpy, or of any library that has __dlpack__, in the memory of this process. Others
/// than row-major ones are copied.
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
/// Memory of an array that is written.
using Buffer = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// An array of elements of `dtype`, or, if this is ZERO_RT_NO_DTYPE, of its own type.
struct TypedArray {
  TypedArray(Array array, int dtype);
  Array array;
  zero_rt_dtype dtype;
  std::vector<uint64_t> shape;
};

/// Data of all inputs of a program. Arrays are bound without a copy, and kept.
struct Data {
  explicit Data(std::shared_ptr<Executable> executable);
  ~Data() { zero_rt_data_free(handle); }
  void bind(const std::string &input, Array array, int dtype);
  void bindFile(const std::string &input, const std::string &path, const std::string &member,
                int raw, uint64_t skip, uint64_t ahead);
  nb::tuple describe();
  nb::list warnings();

  std::shared_ptr<Executable> executable;
  std::mutex mutex;
  zero_rt_data *handle = nullptr;
  std::map<std::string, Array> arrays;
};

void bindExecutable(nb::module_ &module);
void bindData(nb::module_ &module);
void bindSession(nb::module_ &module);

} // namespace zero::python

#endif // PYTHON_NATIVE_NATIVE_H
