//===- LibraryWorkspace.cpp - scratch that a library asks for -------------===//

#include "LibraryWorkspace.h"

#include "runtime/device/cpu/matmul.h"

namespace zero {

llvm::Expected<uint64_t> libraryWorkspace(const Matmul &matmul) {
  rt::proto::Matmul message;
  message.set_dtype(rt::proto::F32);
  message.set_m(matmul.m);
  message.set_n(matmul.n);
  message.set_k(matmul.k);
  message.mutable_batch()->Add(matmul.batch.begin(), matmul.batch.end());
  message.mutable_a_strides()->Add(matmul.aStrides.begin(), matmul.aStrides.end());
  message.mutable_b_strides()->Add(matmul.bStrides.begin(), matmul.bStrides.end());
  message.mutable_c_strides()->Add(matmul.cStrides.begin(), matmul.cStrides.end());
  message.set_alpha(matmul.alpha);
  message.set_bias(matmul.bias);
  uint64_t bytes = 0;
  std::string error = rt::zero_rt_matmul_workspace(message, bytes);
  if (!error.empty())
    return llvm::createStringError(error);
  return bytes;
}

} // namespace zero
