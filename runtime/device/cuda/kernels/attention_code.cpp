//===- attention_code.cpp - PTX of attention ------------------------------===//

#include "runtime/device/cuda/kernels/attention_code.h"

namespace zero::rt::cuda {

namespace {
struct Code {
  DType factors;
  int width;
  const char *text;
};

// The build writes it: `kCodes`, of one Code for each text.
#include "runtime/device/cuda/kernels/attention_texts.inc"
} // namespace

const char *attentionCode(DType factors, int width) {
  for (const Code &code : kCodes)
    if (code.factors == factors && code.width == width)
      return code.text;
  return nullptr;
}

} // namespace zero::rt::cuda
