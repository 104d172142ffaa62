//===- LibraryCalls.cpp - kernels that a library runs ---------------------===//

#include "zero/Codegen/LibraryCalls.h"

#include "runtime/device/cpu/library.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero {

using rt::proto::Convolution;
using rt::proto::Matmul;

namespace {
/// The fields of a call.
struct Fields {
  DictionaryAttr call;

  int64_t number(StringRef name) const { return call.getAs<IntegerAttr>(name).getInt(); }
  bool flag(StringRef name) const { return call.getAs<BoolAttr>(name).getValue(); }
  template <typename Element>
  void list(StringRef name, google::protobuf::RepeatedField<Element> *into) const {
    ArrayRef<int64_t> values = call.getAs<DenseI64ArrayAttr>(name).asArrayRef();
    into->Add(values.begin(), values.end());
  }
};
} // namespace

static void describeMatmul(const Fields &fields, Matmul &matmul) {
  matmul.set_dtype(rt::proto::F32);
  matmul.set_m(fields.number("m"));
  matmul.set_n(fields.number("n"));
  matmul.set_k(fields.number("k"));
  fields.list("batch", matmul.mutable_batch());
  fields.list("a_strides", matmul.mutable_a_strides());
  fields.list("b_strides", matmul.mutable_b_strides());
  fields.list("c_strides", matmul.mutable_c_strides());
  matmul.set_alpha(fields.call.getAs<FloatAttr>("alpha").getValueAsDouble());
  matmul.set_bias(fields.flag("bias"));
}

static void describeConvolution(const Fields &fields, Convolution &convolution) {
  convolution.set_dtype(rt::proto::F32);
  StringRef direction = fields.call.getAs<StringAttr>("direction").getValue();
  convolution.set_direction(llvm::StringSwitch<Convolution::Direction>(direction)
                                .Case("backward_data", Convolution::BACKWARD_DATA)
                                .Case("backward_weights", Convolution::BACKWARD_WEIGHTS)
                                .Default(Convolution::FORWARD));
  convolution.set_batch(fields.number("batch"));
  convolution.set_groups(fields.number("groups"));
  convolution.set_in_channels(fields.number("in_channels"));
  convolution.set_out_channels(fields.number("out_channels"));
  fields.list("input", convolution.mutable_input());
  fields.list("output", convolution.mutable_output());
  fields.list("kernel", convolution.mutable_kernel());
  fields.list("strides", convolution.mutable_strides());
  fields.list("dilations", convolution.mutable_dilations());
  fields.list("pads_begin", convolution.mutable_pads_begin());
  fields.list("pads_end", convolution.mutable_pads_end());
  convolution.set_bias(fields.flag("bias"));
}

static rt::proto::DType storedType(Type type) {
  if (type.isF16())
    return rt::proto::F16;
  return type.isBF16() ? rt::proto::BF16 : rt::proto::F32;
}

void describeCall(DictionaryAttr call, rt::proto::Kernel &kernel) {
  if (auto stored = call.getAs<ArrayAttr>("stored"))
    for (Type type : stored.getAsValueRange<TypeAttr>())
      kernel.add_stored(storedType(type));
  if (call.getAs<StringAttr>("kind") == "convolution")
    describeConvolution({call}, *kernel.mutable_convolution());
  else
    describeMatmul({call}, *kernel.mutable_matmul());
}

llvm::Expected<uint64_t> libraryWorkspace(DictionaryAttr call, unsigned threads) {
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  uint64_t most = 0;
  std::string error;
  // Fewer threads may need more: oneDNN cuts a sum into parts where their number allows it.
  for (unsigned count = 1; count <= threads; ++count) {
    uint64_t bytes = 0;
    error = rt::zero_rt_library_workspace(kernel, bytes, int(count));
    most = std::max(most, bytes);
  }
  if (!error.empty())
    return llvm::createStringError(error);
  return most;
}

} // namespace zero
