//===- module.cpp - zero._native ------------------------------------------===//

#include "native.h"

#include <atomic>
#include <thread>
#include <unistd.h>

namespace zero::python {

static std::atomic<int> callsInProgress = 0;
static std::atomic<bool> hasEnded = false;
static const pid_t ownProcess = ::getpid();

bool isForked() { return ::getpid() != ownProcess; }

/// Of a thread that would not get the GIL again, nor may end in the middle of C++.
[[noreturn]] static void awaitEnd() {
  nb::gil_scoped_release release;
  for (;;)
    ::pause();
}

Call::Call() {
  if (isForked())
    throw StatusError(ZERO_RT_INVALID_ARGUMENT,
                      "this process was forked from one that has imported zero, whose threads it "
                      "does not have: start processes with multiprocessing's 'spawn', or import "
                      "zero after the fork");
  ++callsInProgress;
  if (hasEnded && ::gettid() != ::getpid()) {
    --callsInProgress;
    awaitEnd();
  }
}

Call::~Call() { --callsInProgress; }

void Call::endAll() {
  if (isForked())
    return;
  nb::gil_scoped_release release;
  hasEnded = true;
  while (callsInProgress > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

const char *textOf(const std::string &text) {
  if (text.find('\0') != std::string::npos)
    throw StatusError(ZERO_RT_INVALID_ARGUMENT, "a path or name contains a zero byte");
  return text.c_str();
}

void check(zero_rt_status status) {
  if (status.code == ZERO_RT_OK)
    return;
  StatusError error(status.code, status.message);
  zero_rt_status_release(&status);
  throw error;
}

/// Raises the class that zero.errors has for the code.
static void translate(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const StatusError &error) {
    const nb::object type = nb::module_::import_("zero.errors").attr("class_of")(int(error.code));
    PyErr_SetString(type.ptr(), error.what());
  }
}

static nb::dict names() {
  nb::dict dtypes;
  for (int dtype = ZERO_RT_F32; dtype <= ZERO_RT_U64; ++dtype)
    dtypes[zero_rt_dtype_name(zero_rt_dtype(dtype))] = dtype;
  return dtypes;
}

} // namespace zero::python

NB_MODULE(_native, module) {
  using namespace zero::python;
  module.doc() = "The C interface of the runtime. zero.Program and zero.Session are made of it.";
  nb::register_exception_translator(translate);
  module.attr("__version__") = zero_rt_version();
  module.attr("dtypes") = names();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(Call::endAll));
  bindExecutable(module);
  bindData(module);
  bindSession(module);
}
