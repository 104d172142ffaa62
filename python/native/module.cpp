//===- module.cpp - zero._native ------------------------------------------===//

#include "native.h"

namespace zero::python {

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
  bindExecutable(module);
  bindData(module);
  bindSession(module);
}
