//===- LibraryCalls.cpp - kernels that a library runs ---------------------===//

#include "zero/Codegen/LibraryCalls.h"

#include "runtime/device/cpu/library.h"
#include "zero/Codegen/Passes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero {

using rt::proto::Attention;
using rt::proto::Convolution;
using rt::proto::Matmul;

namespace {
/// The fields of a call.
struct Fields {
  DictionaryAttr call;

  int64_t number(StringRef name) const { return call.getAs<IntegerAttr>(name).getInt(); }
  float real(StringRef name) const {
    return call.getAs<FloatAttr>(name).getValue().convertToFloat();
  }
  StringRef text(StringRef name) const { return call.getAs<StringAttr>(name).getValue(); }
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
  matmul.set_alpha(fields.real("alpha"));
  matmul.set_bias(fields.flag("bias"));
  matmul.set_accumulate(fields.call.contains("accumulate"));
  matmul.set_residual(fields.call.contains("residual"));
  matmul.set_reorder_b(fields.call.contains(kReorderAttr));
}

static void describeConvolution(const Fields &fields, Convolution &convolution) {
  convolution.set_dtype(rt::proto::F32);
  convolution.set_direction(llvm::StringSwitch<Convolution::Direction>(fields.text("direction"))
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

static Attention::Mask maskOf(StringRef kind) {
  return llvm::StringSwitch<Attention::Mask>(kind)
      .Case("shown", Attention::SHOWN)
      .Case("bias", Attention::BIAS)
      .Default(Attention::NONE);
}

static void describeAttention(const Fields &fields, Attention &attention) {
  attention.set_dtype(rt::proto::F32);
  attention.set_direction(fields.text("direction") == "backward" ? Attention::BACKWARD
                                                                 : Attention::FORWARD);
  attention.set_batch(fields.number("batch"));
  attention.set_heads(fields.number("heads"));
  attention.set_groups(fields.number("groups"));
  attention.set_queries(fields.number("queries"));
  attention.set_keys(fields.number("keys"));
  attention.set_width(fields.number("width"));
  attention.set_value_width(fields.number("value_width"));
  fields.list("q_strides", attention.mutable_q_strides());
  fields.list("k_strides", attention.mutable_k_strides());
  fields.list("v_strides", attention.mutable_v_strides());
  fields.list("o_strides", attention.mutable_o_strides());
  attention.set_packed(fields.flag("packed"));
  fields.list("offsets", attention.mutable_offsets());
  attention.set_scale(fields.real("scale"));
  attention.set_causal(fields.flag("causal"));
  attention.set_causal_offset(fields.number("causal_offset"));
  attention.set_fill(fields.real("fill"));
  attention.set_guard(fields.flag("guard"));
  attention.set_padding(maskOf(fields.text("padding")));
  fields.list("padding_strides", attention.mutable_padding_strides());
  attention.set_mask(maskOf(fields.text("mask")));
  fields.list("mask_strides", attention.mutable_mask_strides());
}

static rt::proto::DType storedType(Type type) {
  if (type.isInteger(1))
    return rt::proto::I1;
  if (type.isF16())
    return rt::proto::F16;
  return type.isBF16() ? rt::proto::BF16 : rt::proto::F32;
}

void describeCall(DictionaryAttr call, rt::proto::Kernel &kernel) {
  if (auto stored = call.getAs<ArrayAttr>("stored"))
    for (Type type : stored.getAsValueRange<TypeAttr>())
      kernel.add_stored(storedType(type));
  Fields fields{call};
  StringRef kind = fields.text("kind");
  if (kind == "convolution")
    describeConvolution(fields, *kernel.mutable_convolution());
  else if (kind == "attention")
    describeAttention(fields, *kernel.mutable_attention());
  else
    describeMatmul(fields, *kernel.mutable_matmul());
}

/// Two for each product of an element of the weights with one of the batch.
static int64_t convolutionFlops(const Fields &fields) {
  int64_t flops = 2 * fields.number("batch") * fields.number("in_channels") *
                  fields.number("out_channels") / fields.number("groups");
  for (StringRef list : {"output", "kernel"})
    for (int64_t size : fields.call.getAs<DenseI64ArrayAttr>(list).asArrayRef())
      flops *= size;
  return flops;
}

/// Two for each product of elements: forward multiplies queries by keys and weights by
/// values, backward the first again, and two for the gradients of each of these. Keys that
/// come too late are not looked at.
static int64_t attentionFlops(const Fields &fields) {
  int64_t queries = fields.number("queries"), keys = fields.number("keys");
  int64_t seen = queries * keys;
  if (fields.flag("causal")) {
    seen = 0;
    for (int64_t query = 0; query < queries; ++query)
      seen += std::clamp<int64_t>(query + fields.number("causal_offset") + 1, 0, keys);
  }
  bool backward = fields.text("direction") == "backward";
  int64_t elements = (backward ? 3 : 1) * fields.number("width") +
                     (backward ? 2 : 1) * fields.number("value_width");
  return 2 * fields.number("batch") * fields.number("heads") * seen * elements;
}

int64_t libraryFlops(DictionaryAttr call) {
  Fields fields{call};
  return fields.text("kind") == "attention" ? attentionFlops(fields) : convolutionFlops(fields);
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
