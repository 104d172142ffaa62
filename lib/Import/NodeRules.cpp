//===- NodeRules.cpp - check shapes of operands ---------------------------===//

#include "NodeRules.h"
#include "NodeShapes.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

static void checkGemm(const NodeShapes &r) {
  r.expectSwitch("transA");
  r.expectSwitch("transB");
  r.expectBroadcast(2, r.result());
}

/// The dimensions of indices other than `axis` index the data's own.
static void checkGatherElements(const NodeShapes &r) {
  r.expectRank(0, 1);
  const int64_t axis = r.axis(0, r.rank(0));
  if (r.rank(0) != r.rank(1))
    r.refuse("expected as many dimensions of indices as of data, got " + print(r.dims(1)) +
             " and " + print(r.dims(0)));
  for (int64_t d = 0; d < r.rank(0); ++d)
    if (d != axis && r.dims(1)[d] > r.dims(0)[d])
      r.refuse("expected indices within the data outside the axis, got " + print(r.dims(1)) +
               " and " + print(r.dims(0)));
}

static void checkScatterElements(const NodeShapes &r) {
  checkGatherElements(r);
  r.expectDims(2, r.dims(1));
}

static void checkGatherND(const NodeShapes &r) {
  r.expectRank(0, 1);
  r.expectRank(1, 1);
  const int64_t batch = r.attribute("batch_dims", 0), depth = r.dims(1).back();
  if (batch < 0 || batch >= std::min(r.rank(0), r.rank(1)) || depth < 1 ||
      depth > r.rank(0) - batch)
    r.refuse("expected indices of at most the data's dimensions, got " + print(r.dims(1)) +
             " into " + print(r.dims(0)) + " with " + Twine(batch) + " batch dimensions");
  if (r.dims(0).take_front(batch) != r.dims(1).take_front(batch))
    r.refuse("expected equal batch dimensions, got " + print(r.dims(1)) + " and " +
             print(r.dims(0)));
}

static void checkScatterND(const NodeShapes &r) {
  checkGatherND(r);
  Dims updates(r.dims(1).drop_back());
  updates.append(r.dims(0).begin() + r.dims(1).back(), r.dims(0).end());
  r.expectDims(2, updates);
}

static void checkLayerNormalization(const NodeShapes &r) {
  r.expectRank(0, 1);
  r.axis(-1, r.rank(0));
  r.expectBroadcast(1, r.dims(0));
  r.expectBroadcast(2, r.dims(0));
}

template <int64_t fallback>
static void checkAxis(const NodeShapes &r) {
  r.expectRank(0, 1);
  r.axis(fallback, r.rank(0));
}

/// [N, C, D1, ...].
static void checkImage(const NodeShapes &r) { r.expectRank(0, 3); }

static void checkInstanceNormalization(const NodeShapes &r) {
  checkImage(r);
  r.expectDims(1, r.dims(0)[1]);
  r.expectDims(2, r.dims(0)[1]);
}

/// The attribute kernel_shape only repeats the shape of the weights.
static void checkKernel(const NodeShapes &r) {
  ArrayRef<int64_t> kernel = r.dims(1).drop_front(2);
  if (auto given = r.attributes("kernel_shape"); given && ArrayRef(*given) != kernel)
    r.refuse("expected a kernel_shape of " + print(kernel) + ", got " + print(*given));
}

/// Weights [M, C / group, k1, ...], bias [M].
static void checkConv(const NodeShapes &r) {
  checkImage(r);
  r.expectRank(1, r.rank(0));
  checkKernel(r);
  r.expectDims(2, r.dims(1)[0]);
}

/// Weights [C, M / group, k1, ...], bias [M].
static void checkConvTranspose(const NodeShapes &r) {
  checkImage(r);
  const int64_t channels = r.dims(0)[1], groups = r.attribute("group", 1);
  if (r.rank(1) != r.rank(0) || r.dims(1)[0] != channels || groups < 1 || channels % groups != 0)
    r.refuse("expected weights for " + Twine(channels) + " channels in " + Twine(groups) +
             " groups, got " + print(r.dims(1)));
  checkKernel(r);
  r.expectDims(2, r.dims(1)[1] * groups);
}

static void checkClip(const NodeShapes &r) {
  r.expectOne(1);
  r.expectOne(2);
}

/// Scores [N, C, ...], labels [N, ...], weights [C].
static void checkLoss(const NodeShapes &r) {
  r.expectRank(0, 2);
  Dims labels(r.dims(0));
  labels.erase(labels.begin() + 1);
  r.expectDims(1, labels);
  r.expectDims(2, r.dims(0)[1]);
}

static void checkCumSum(const NodeShapes &r) {
  r.expectRank(0, 1);
  r.expectOne(1);
}

static void checkTrilu(const NodeShapes &r) {
  r.expectRank(0, 2);
  r.expectOne(1);
}

static void checkOneHot(const NodeShapes &r) {
  r.expectOne(1);
  r.expectDims(2, {2});
  r.axis(-1, r.rank(0) + 1);
}

static void checkBatchNormalization(const NodeShapes &r) {
  r.expectRank(0, 2);
  for (unsigned i = 1; i < 5; ++i)
    r.expectDims(i, r.dims(0)[1]);
}

/// [batch, sequence, heads * size], or [batch, heads, sequence, size].
static Dims headDims(const NodeShapes &r, unsigned index, StringRef heads) {
  if (r.rank(index) == 4)
    return Dims(r.dims(index));
  const int64_t count = r.attribute(heads, 0);
  if (r.rank(index) != 3 || count <= 0 || r.dims(index)[2] % count != 0)
    r.refuse(r.operand(index) + ": expected 4 dimensions, or 3 with the last a multiple of " +
             heads + ", got " + print(r.dims(index)) + " and " + Twine(count));
  return {r.dims(index)[0], count, r.dims(index)[1], r.dims(index)[2] / count};
}

static void checkAttention(const NodeShapes &r) {
  const Dims q = headDims(r, 0, "q_num_heads"), k = headDims(r, 1, "kv_num_heads"),
             v = headDims(r, 2, "kv_num_heads");
  if (q[0] != k[0] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3])
    r.refuse("queries " + print(q) + ", keys " + print(k) + " and values " + print(v) +
             " do not fit together");
  if (k[1] == 0 || q[1] % k[1] != 0)
    r.refuse("expected a multiple of " + Twine(k[1]) + " query heads, got " + Twine(q[1]));
  Dims past(k), pastValues(v);
  if (r.has(4)) {
    past[2] = r.rank(4) == 4 ? r.dims(4)[2] : 0;
    pastValues[2] = past[2];
    r.expectDims(4, past);
    r.expectDims(5, pastValues);
  }
  if (r.has(3)) {
    const int64_t keys = k[2] + (r.has(4) ? past[2] : 0);
    // A mask may be shorter than the keys.
    const int64_t shown = r.rank(3) == 0 ? 0 : std::min(r.dims(3).back(), keys);
    r.expectRank(3, 2);
    r.expectBroadcast(3, {q[0], q[1], q[2], shown});
  }
  if (r.has(3) && r.type(3) != pb::TensorProto::BOOL && r.type(3) != r.type(0))
    r.refuse(r.operand(3) + ": expected a mask of bool or " + typeName(r.type(0)) + ", got " +
             typeName(r.type(3)));
}

using Check = void (*)(const NodeShapes &);

static Check checkOf(StringRef type) {
  return llvm::StringSwitch<Check>(type)
      .Case("Gemm", checkGemm)
      .Case("GatherElements", checkGatherElements)
      .Case("ScatterElements", checkScatterElements)
      .Case("GatherND", checkGatherND)
      .Case("ScatterND", checkScatterND)
      .Cases({"LayerNormalization", "RMSNormalization"}, checkLayerNormalization)
      .Cases({"Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "TopK"}, checkAxis<-1>)
      .Cases({"ArgMax", "ArgMin", "Concat", "Split"}, checkAxis<0>)
      .Cases({"GlobalAveragePool", "GlobalMaxPool"}, checkImage)
      .Case("InstanceNormalization", checkInstanceNormalization)
      .Case("Conv", checkConv)
      .Case("ConvTranspose", checkConvTranspose)
      .Case("Clip", checkClip)
      .Cases({"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}, checkLoss)
      .Cases({"CumSum", "CumProd"}, checkCumSum)
      .Case("Trilu", checkTrilu)
      .Case("OneHot", checkOneHot)
      .Case("BatchNormalization", checkBatchNormalization)
      .Case("Attention", checkAttention)
      .Default(nullptr);
}

void checkShapes(const pb::NodeProto &node, TypeOf typeOf) {
  if (Check check = node.domain().empty() ? checkOf(node.op_type()) : nullptr)
    check(NodeShapes(node, typeOf));
}

} // namespace zero::importer
