//===- KernelMessage.cpp - kernels as messages of the executable ----------===//

#include "zero/Kernels/KernelMessage.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

using rt::proto::Attention;
using rt::proto::Convolution;
using rt::proto::Matmul;

template <typename Element>
static void copy(DenseI64ArrayAttr list, google::protobuf::RepeatedField<Element> *into) {
  into->Add(list.asArrayRef().begin(), list.asArrayRef().end());
}

static float toFloat(FloatAttr number) { return number.getValue().convertToFloat(); }

static void describe(MatmulAttr call, Matmul &matmul) {
  matmul.set_m(call.getM());
  matmul.set_n(call.getN());
  matmul.set_k(call.getK());
  copy(call.getBatch(), matmul.mutable_batch());
  copy(call.getAStrides(), matmul.mutable_a_strides());
  copy(call.getBStrides(), matmul.mutable_b_strides());
  copy(call.getCStrides(), matmul.mutable_c_strides());
  matmul.set_alpha(toFloat(call.getAlpha()));
  matmul.set_bias(call.getBias());
  matmul.set_accumulate(call.getAccumulate());
  matmul.set_residual(call.getResidual());
  matmul.set_reorder_b(call.getReorderB());
}

static Convolution::Direction directionOf(ConvolutionDirection direction) {
  switch (direction) {
  case ConvolutionDirection::Forward:
    return Convolution::FORWARD;
  case ConvolutionDirection::BackwardData:
    return Convolution::BACKWARD_DATA;
  case ConvolutionDirection::BackwardWeights:
    return Convolution::BACKWARD_WEIGHTS;
  }
  llvm_unreachable("all directions are listed");
}

static void describe(ConvolutionAttr call, Convolution &convolution) {
  convolution.set_direction(directionOf(call.getDirection()));
  convolution.set_batch(call.getBatch());
  convolution.set_groups(call.getGroups());
  convolution.set_in_channels(call.getInChannels());
  convolution.set_out_channels(call.getOutChannels());
  copy(call.getInput(), convolution.mutable_input());
  copy(call.getOutput(), convolution.mutable_output());
  copy(call.getKernel(), convolution.mutable_kernel());
  copy(call.getStrides(), convolution.mutable_strides());
  copy(call.getDilations(), convolution.mutable_dilations());
  copy(call.getPadsBegin(), convolution.mutable_pads_begin());
  copy(call.getPadsEnd(), convolution.mutable_pads_end());
  convolution.set_bias(call.getBias());
}

static Attention::Mask maskOf(MaskKind kind) {
  switch (kind) {
  case MaskKind::None:
    return Attention::NONE;
  case MaskKind::Shown:
    return Attention::SHOWN;
  case MaskKind::Bias:
    return Attention::BIAS;
  }
  llvm_unreachable("all kinds are listed");
}

static void describe(AttentionAttr call, Attention &attention) {
  const bool isBackward = call.getDirection() == AttentionDirection::Backward;
  attention.set_direction(isBackward ? Attention::BACKWARD : Attention::FORWARD);
  attention.set_batch(call.getBatch());
  attention.set_heads(call.getHeads());
  attention.set_groups(call.getGroups());
  attention.set_queries(call.getQueries());
  attention.set_keys(call.getKeys());
  attention.set_width(call.getWidth());
  attention.set_value_width(call.getValueWidth());
  copy(call.getQStrides(), attention.mutable_q_strides());
  copy(call.getKStrides(), attention.mutable_k_strides());
  copy(call.getVStrides(), attention.mutable_v_strides());
  copy(call.getOStrides(), attention.mutable_o_strides());
  attention.set_packed(call.getPacked());
  copy(call.getOffsets(), attention.mutable_offsets());
  attention.set_scale(toFloat(call.getScale()));
  attention.set_causal(call.getCausal());
  attention.set_causal_offset(call.getCausalOffset());
  attention.set_fill(toFloat(call.getFill()));
  attention.set_guard(call.getGuard());
  attention.set_padding(maskOf(call.getPadding()));
  copy(call.getPaddingStrides(), attention.mutable_padding_strides());
  attention.set_mask(maskOf(call.getMask()));
  copy(call.getMaskStrides(), attention.mutable_mask_strides());
}

static rt::proto::DType storedType(Type type) {
  if (type.isInteger(1))
    return rt::proto::I1;
  if (type.isF16())
    return rt::proto::F16;
  return type.isBF16() ? rt::proto::BF16 : rt::proto::F32;
}

/// Writes `call` as `message`, with the type of the elements that are multiplied.
template <typename Message>
static void describe(auto call, rt::proto::DType operands, Message &message) {
  message.set_dtype(operands);
  describe(call, message);
}

void describeCall(LibraryAttr call, rt::proto::Kernel &kernel) {
  if (ArrayAttr stored = call.getStored())
    for (Type type : stored.getAsValueRange<TypeAttr>())
      kernel.add_stored(storedType(type));
  const rt::proto::DType operands =
      call.getOperands() ? storedType(call.getOperands()) : rt::proto::F32;
  llvm::TypeSwitch<Attribute>(call.getCall())
      .Case([&](MatmulAttr matmul) { describe(matmul, operands, *kernel.mutable_matmul()); })
      .Case([&](ConvolutionAttr convolution) {
        describe(convolution, operands, *kernel.mutable_convolution());
      })
      .Case([&](AttentionAttr attention) {
        describe(attention, operands, *kernel.mutable_attention());
      });
}

void describeKernel(func::FuncOp function, rt::proto::Kernel &kernel) {
  if (auto call = function->getAttrOfType<LibraryAttr>(kLibraryAttr))
    describeCall(call, kernel);
  auto read = [&](StringRef name) -> int64_t {
    auto attr = function->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  kernel.set_workspace(read(kWorkspaceAttr));
  kernel.set_flops(read(kFlopsAttr));
  kernel.set_bytes(read(kBytesAttr));
}

} // namespace zero
