//===- NodeRules.cpp - check shapes of operands ---------------------------===//

#include "NodeRules.h"
#include "Fold.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

static std::string print(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? "," : "") + std::to_string(dim);
  return text + "]";
}

namespace {
/// One node and the shapes of its operands and results.
class Rules {
public:
  Rules(const pb::NodeProto &node, TypeOf typeOf) : node(node) {
    for (const std::string &name : node.input())
      inputs.push_back(name.empty() ? nullptr : typeOf(name));
    for (const std::string &name : node.output())
      outputs.push_back(name.empty() ? nullptr : typeOf(name));
  }

  bool has(unsigned index) const { return index < inputs.size() && inputs[index]; }
  ArrayRef<int64_t> dims(unsigned index) const { return inputs[index]->dims; }
  ArrayRef<int64_t> result() const { return outputs[0]->dims; }
  int64_t rank(unsigned index) const { return inputs[index]->dims.size(); }
  int64_t attribute(StringRef name, int64_t fallback) const {
    return Evaluation{node, {}, {}, {}}.getInt(name, fallback);
  }

  std::optional<Dims> attributes(StringRef name) const {
    return Evaluation{node, {}, {}, {}}.getInts(name);
  }

  [[noreturn]] void refuse(const Twine &message) const { fail(describe(node) + ": " + message); }

  int32_t type(unsigned index) const { return inputs[index]->type; }

  std::string operand(unsigned index) const {
    return "operand " + quote(node.input(static_cast<int>(index)));
  }

  /// The attribute `axis`, counted from the front, of a tensor of `rank`.
  int64_t axis(int64_t fallback, int64_t rank) const {
    const int64_t axis = attribute("axis", fallback);
    if (axis < -rank || axis >= rank)
      refuse("expected an axis of " + Twine(-rank) + " to " + Twine(rank - 1) + ", got " +
             Twine(axis));
    return axis < 0 ? axis + rank : axis;
  }

  /// ONNX's inference takes any number for a truth value, each place in its own way.
  void expectSwitch(StringRef name) const {
    if (int64_t value = attribute(name, 0); value != 0 && value != 1)
      refuse("expected " + name + " of 0 or 1, got " + Twine(value));
  }

  void expectDims(unsigned index, ArrayRef<int64_t> expected) const {
    if (has(index) && dims(index) != expected)
      refuse(operand(index) + ": expected shape " + print(expected) + ", got " +
             print(dims(index)));
  }

  void expectRank(unsigned index, int64_t least) const {
    if (rank(index) < least)
      refuse(operand(index) + ": expected at least " + Twine(least) + " dimensions, got " +
             print(dims(index)));
  }

  /// A scalar or a tensor of one element.
  void expectOne(unsigned index) const {
    if (has(index) && llvm::any_of(dims(index), [](int64_t dim) { return dim != 1; }))
      refuse(operand(index) + ": expected one element, got shape " + print(dims(index)));
  }

  /// That operand `index` broadcasts to `to` without changing it.
  void expectBroadcast(unsigned index, ArrayRef<int64_t> to) const {
    if (!has(index))
      return;
    ArrayRef<int64_t> from = dims(index);
    bool fits = from.size() <= to.size();
    if (fits)
      for (auto [dim, target] : llvm::zip_equal(from, to.take_back(from.size())))
        fits &= dim == 1 || dim == target;
    if (!fits)
      refuse(operand(index) + ": expected a shape that broadcasts to " + print(to) + ", got " +
             print(from));
  }

private:
  const pb::NodeProto &node;
  llvm::SmallVector<const TensorShape *> inputs, outputs;
};
} // namespace

static void checkGemm(const Rules &r) {
  r.expectSwitch("transA");
  r.expectSwitch("transB");
  r.expectBroadcast(2, r.result());
}

/// The dimensions of indices other than `axis` index the data's own.
static void checkGatherElements(const Rules &r) {
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

static void checkScatterElements(const Rules &r) {
  checkGatherElements(r);
  r.expectDims(2, r.dims(1));
}

static void checkGatherND(const Rules &r) {
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

static void checkScatterND(const Rules &r) {
  checkGatherND(r);
  Dims updates(r.dims(1).drop_back());
  updates.append(r.dims(0).begin() + r.dims(1).back(), r.dims(0).end());
  r.expectDims(2, updates);
}

static void checkLayerNormalization(const Rules &r) {
  r.expectRank(0, 1);
  r.axis(-1, r.rank(0));
  r.expectBroadcast(1, r.dims(0));
  r.expectBroadcast(2, r.dims(0));
}

template <int64_t fallback>
static void checkAxis(const Rules &r) {
  r.expectRank(0, 1);
  r.axis(fallback, r.rank(0));
}

/// [N, C, D1, ...].
static void checkImage(const Rules &r) { r.expectRank(0, 3); }

static void checkInstanceNormalization(const Rules &r) {
  checkImage(r);
  r.expectDims(1, r.dims(0)[1]);
  r.expectDims(2, r.dims(0)[1]);
}

/// The attribute kernel_shape only repeats the shape of the weights.
static void checkKernel(const Rules &r) {
  ArrayRef<int64_t> kernel = r.dims(1).drop_front(2);
  if (auto given = r.attributes("kernel_shape"); given && ArrayRef(*given) != kernel)
    r.refuse("expected a kernel_shape of " + print(kernel) + ", got " + print(*given));
}

/// Weights [M, C / group, k1, ...], bias [M].
static void checkConv(const Rules &r) {
  checkImage(r);
  r.expectRank(1, r.rank(0));
  checkKernel(r);
  r.expectDims(2, r.dims(1)[0]);
}

/// Weights [C, M / group, k1, ...], bias [M].
static void checkConvTranspose(const Rules &r) {
  checkImage(r);
  const int64_t channels = r.dims(0)[1], groups = r.attribute("group", 1);
  if (r.rank(1) != r.rank(0) || r.dims(1)[0] != channels || groups < 1 || channels % groups != 0)
    r.refuse("expected weights for " + Twine(channels) + " channels in " + Twine(groups) +
             " groups, got " + print(r.dims(1)));
  checkKernel(r);
  r.expectDims(2, r.dims(1)[1] * groups);
}

static void checkClip(const Rules &r) {
  r.expectOne(1);
  r.expectOne(2);
}

/// Scores [N, C, ...], labels [N, ...], weights [C].
static void checkLoss(const Rules &r) {
  r.expectRank(0, 2);
  Dims labels(r.dims(0));
  labels.erase(labels.begin() + 1);
  r.expectDims(1, labels);
  r.expectDims(2, r.dims(0)[1]);
}

static void checkCumSum(const Rules &r) {
  r.expectRank(0, 1);
  r.expectOne(1);
}

static void checkTrilu(const Rules &r) {
  r.expectRank(0, 2);
  r.expectOne(1);
}

static void checkOneHot(const Rules &r) {
  r.expectOne(1);
  r.expectDims(2, {2});
  r.axis(-1, r.rank(0) + 1);
}

static void checkBatchNormalization(const Rules &r) {
  r.expectRank(0, 2);
  for (unsigned i = 1; i < 5; ++i)
    r.expectDims(i, r.dims(0)[1]);
}

/// [batch, sequence, heads * size], or [batch, heads, sequence, size].
static Dims headDims(const Rules &r, unsigned index, StringRef heads) {
  if (r.rank(index) == 4)
    return Dims(r.dims(index));
  const int64_t count = r.attribute(heads, 0);
  if (r.rank(index) != 3 || count <= 0 || r.dims(index)[2] % count != 0)
    r.refuse(r.operand(index) + ": expected 4 dimensions, or 3 with the last a multiple of " +
             heads + ", got " + print(r.dims(index)) + " and " + Twine(count));
  return {r.dims(index)[0], count, r.dims(index)[1], r.dims(index)[2] / count};
}

static void checkAttention(const Rules &r) {
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

using Check = void (*)(const Rules &);

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
    check(Rules(node, typeOf));
}

} // namespace zero::importer
