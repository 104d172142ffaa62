//===- LibraryCalls.cpp - kernels that a library runs ---------------------===//

#include "LibraryCalls.h"

#include "zero/Codegen/Passes.h"

using namespace mlir;

std::optional<zero::rt::proto::Matmul> zero::matmulOf(func::FuncOp kernel) {
  auto call = kernel->getAttrOfType<DictionaryAttr>(kLibraryAttr);
  if (!call)
    return std::nullopt;
  auto read = [&](StringRef name) { return call.getAs<IntegerAttr>(name).getInt(); };
  rt::proto::Matmul matmul;
  matmul.set_dtype(rt::proto::F32);
  matmul.set_m(read("m"));
  matmul.set_n(read("n"));
  matmul.set_k(read("k"));
  for (int64_t dim : call.getAs<DenseI64ArrayAttr>("batch").asArrayRef())
    matmul.add_batch(dim);
  for (int64_t stride : call.getAs<DenseI64ArrayAttr>("a_strides").asArrayRef())
    matmul.add_a_strides(stride);
  for (int64_t stride : call.getAs<DenseI64ArrayAttr>("b_strides").asArrayRef())
    matmul.add_b_strides(stride);
  for (int64_t stride : call.getAs<DenseI64ArrayAttr>("c_strides").asArrayRef())
    matmul.add_c_strides(stride);
  matmul.set_alpha(call.getAs<FloatAttr>("alpha").getValueAsDouble());
  matmul.set_bias(call.getAs<BoolAttr>("bias").getValue());
  return matmul;
}
