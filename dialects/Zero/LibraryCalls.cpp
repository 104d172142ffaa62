//===- LibraryCalls.cpp - verifiers of library calls ----------------------===//

#include "dialects/Zero/VisiblePairs.h"

#include <algorithm>

using namespace mlir;
using namespace zero;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// One of the lists of a call.
struct NamedList {
  StringRef name;
  DenseI64ArrayAttr values;
};

static LogicalResult verifyLengths(EmitError emitError, ArrayRef<NamedList> lists, int64_t length) {
  for (const NamedList &list : lists)
    if (list.values.size() != length)
      return emitError() << "expected " << length << " numbers in " << list.name << ", got "
                         << list.values.size();
  return success();
}

LogicalResult MatmulAttr::verify(EmitError emitError, int64_t, int64_t, int64_t,
                                 DenseI64ArrayAttr batch, DenseI64ArrayAttr a, DenseI64ArrayAttr b,
                                 DenseI64ArrayAttr c, FloatAttr, bool, bool, bool, bool) {
  return verifyLengths(emitError, {{"a_strides", a}, {"b_strides", b}, {"c_strides", c}},
                       batch.size() + 2);
}

LogicalResult ConvolutionAttr::verify(EmitError emitError, ConvolutionDirection, int64_t,
                                      int64_t groups, int64_t, int64_t, DenseI64ArrayAttr input,
                                      DenseI64ArrayAttr output, DenseI64ArrayAttr kernel,
                                      DenseI64ArrayAttr strides, DenseI64ArrayAttr dilations,
                                      DenseI64ArrayAttr begin, DenseI64ArrayAttr end, bool) {
  if (groups < 1)
    return emitError() << "expected at least one group, got " << groups;
  if (input.size() < 1 || input.size() > 3)
    return emitError() << "expected 1 to 3 spatial dimensions, got " << input.size();
  return verifyLengths(emitError,
                       {{"output", output},
                        {"kernel", kernel},
                        {"strides", strides},
                        {"dilations", dilations},
                        {"pads_begin", begin},
                        {"pads_end", end}},
                       input.size());
}

int64_t ConvolutionAttr::countFlops() const {
  int64_t flops = 2 * getBatch() * getInChannels() * getOutChannels() / getGroups();
  for (DenseI64ArrayAttr list : {getOutput(), getKernel()})
    for (int64_t size : list.asArrayRef())
      flops *= size;
  return flops;
}

/// Checks that strides are given exactly if there is a mask.
static LogicalResult verifyMask(EmitError emitError, MaskKind kind, NamedList strides,
                                int64_t rank) {
  return verifyLengths(emitError, strides, kind == MaskKind::None ? 0 : rank);
}

LogicalResult AttentionAttr::verify(EmitError emitError, AttentionDirection, int64_t, int64_t heads,
                                    int64_t groups, int64_t, int64_t, int64_t, int64_t,
                                    DenseI64ArrayAttr q, DenseI64ArrayAttr k, DenseI64ArrayAttr v,
                                    DenseI64ArrayAttr o, bool packed, DenseI64ArrayAttr offsets,
                                    FloatAttr, bool, int64_t, FloatAttr, bool, MaskKind padding,
                                    DenseI64ArrayAttr paddingStrides, MaskKind mask,
                                    DenseI64ArrayAttr maskStrides, int64_t window, int64_t prefix,
                                    bool, int64_t queryStride, int64_t keyStride) {
  if (groups < 1 || heads % groups != 0)
    return emitError() << "expected groups that divide " << heads << " heads, got " << groups;
  if (window < 0 || prefix < 0 || queryStride < 0 || keyStride < 0)
    return emitError() << "expected a window, a prefix and strides of segments of at least 0";
  if (failed(verifyLengths(
          emitError, {{"q_strides", q}, {"k_strides", k}, {"v_strides", v}, {"o_strides", o}}, 3)))
    return failure();
  return success(
      succeeded(verifyLengths(emitError, NamedList{"offsets", offsets}, packed ? 3 : 0)) &&
      succeeded(verifyMask(emitError, padding, {"padding_strides", paddingStrides}, 2)) &&
      succeeded(verifyMask(emitError, mask, {"mask_strides", maskStrides}, 4)));
}

/// The sum of `count` numbers from `first` on, each raised to `least` and lowered to `most`.
static int64_t sumClamped(int64_t first, int64_t count, int64_t least, int64_t most) {
  const int64_t below = std::clamp<int64_t>(least - first, 0, count);
  const int64_t above = std::clamp<int64_t>(first + count - most, 0, count);
  const int64_t between = count - below - above;
  return below * least + above * most + between * (first + below) + between * (between - 1) / 2;
}

int64_t zero::countPairs(AttentionAttr call, int64_t queries, int64_t keys) {
  const int64_t next = call.getCausalOffset() + 1, prefix = std::min(call.getPrefix(), keys);
  const int64_t ends = call.getCausal() ? sumClamped(next, queries, prefix, keys) : queries * keys;
  const int64_t window = call.getWindow();
  return window ? ends - sumClamped(next - window, queries, 0, keys) : ends;
}

int64_t AttentionAttr::countFlops() const {
  const int64_t seen = countPairs(*this, getQueries(), getKeys());
  const bool backward = getDirection() == AttentionDirection::Backward;
  const int64_t elements = (backward ? 3 : 1) * getWidth() + (backward ? 2 : 1) * getValueWidth();
  return 2 * getBatch() * getHeads() * seen * elements;
}

/// Elements that are multiplied as they are stored must be stored in that type.
static LogicalResult verifyOperands(EmitError emitError, Attribute call, ArrayAttr stored,
                                    Type operands) {
  if (!operands || operands.isF32())
    return success();
  if (!operands.isBF16() && !operands.isF16())
    return emitError() << "expected operands in f32, f16 or bf16, got " << operands;
  auto isNarrow = [&](size_t index) {
    return cast<TypeAttr>(stored[index]).getValue() == operands;
  };
  if (!stored || stored.size() < 3 || (!isa<AttentionAttr>(call) && (!isNarrow(0) || !isNarrow(1))))
    return emitError() << "expected both factors stored in " << operands << ", got " << stored;
  return success();
}

LogicalResult LibraryAttr::verify(EmitError emitError, Attribute call, ArrayAttr stored,
                                  Type operands) {
  if (!isa<CallAttrInterface>(call))
    return emitError() << "expected #zero.matmul, #zero.convolution or #zero.attention, got "
                       << call;
  if (stored && !llvm::all_of(stored, llvm::IsaPred<TypeAttr>))
    return emitError() << "expected types in stored, got " << stored;
  return verifyOperands(emitError, call, stored, operands);
}

bool CpuAttr::multipliesBFloats() const {
  SmallVector<StringRef> names;
  if (getFeatures())
    getFeatures().getValue().split(names, ' ');
  return llvm::is_contained(names, "avx512bf16");
}
