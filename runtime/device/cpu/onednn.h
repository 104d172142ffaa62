//===- onednn.h - terms of oneDNN -------------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_ONEDNN_H
#define RUNTIME_DEVICE_CPU_ONEDNN_H

#include "runtime/support/dtype.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace zero::rt {

/// oneDNN's name of f32 or bf16.
inline dnnl::memory::data_type libraryType(DType type) {
  return type == ZERO_RT_BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_ONEDNN_H
