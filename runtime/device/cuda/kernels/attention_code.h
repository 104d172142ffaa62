//===- attention_code.h - PTX of attention ----------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_CODE_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_CODE_H

#include "runtime/support/dtype.h"

namespace zero::rt::cuda {

/// PTX of attention.cpp, for sm_80 and later, with a NUL at its end. `factors`: float32, float16 or
/// bfloat16. `width`: one of kAttentionWidths. nullptr: there is none.
const char *attentionCode(DType factors, int width);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_CODE_H
