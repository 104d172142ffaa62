//===- TrainingNode.cpp - nodes of training graphs ------------------------===//
//
// Most operators of training graphs are gradients of operators of ai.onnx. Their operands and
// results are those of that operator, which ONNX's inference and the rules for its nodes check.
//
//===----------------------------------------------------------------------===//

#include "TrainingNode.h"
#include "NodeShapes.h"
#include "StandardNode.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

Dims broadcastAxes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  const auto rank = static_cast<int64_t>(std::max(from.size(), to.size()));
  auto extent = [&](ArrayRef<int64_t> shape, int64_t axis) {
    const int64_t own = axis - (rank - static_cast<int64_t>(shape.size()));
    return own < 0 ? 1 : shape[own];
  };
  Dims axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis < rank - static_cast<int64_t>(from.size()) ||
        (extent(from, axis) == 1 && extent(to, axis) != 1))
      axes.push_back(axis);
  return axes;
}

//===----------------------------------------------------------------------===//
// Operators of ai.onnx
//===----------------------------------------------------------------------===//

namespace {
/// The operator of ai.onnx whose operands and results a training node has: positions of its own
/// operands, kFirst if it is its first result, or kNone.
struct Counterpart {
  static constexpr int kFirst = -1, kNone = -2;

  StringRef type;
  llvm::SmallVector<int> operands, results;
  int opset = 23;
};
} // namespace

static std::optional<Counterpart> counterpartOf(StringRef type) {
  using C = Counterpart;
  return llvm::StringSwitch<std::optional<C>>(type)
      .Cases({"ReluGrad", "SigmoidGrad", "TanhGrad", "GeluGrad", "FastGeluGrad", "QuickGeluGrad",
              "LeakyReluGrad", "BiasGeluGrad_dX", "BiasFastGeluGrad_dX"},
             C{"Relu", {1}, {0}})
      .Cases({"SoftmaxGrad", "LogSoftmaxGrad"}, C{"Softmax", {1}, {0}, 12})
      .Cases({"SoftmaxGrad_13", "LogSoftmaxGrad_13"}, C{"Softmax", {1}, {0}})
      .Case("DropoutGrad", C{"Dropout", {C::kFirst, 2, 3}, {0, 1}})
      .Case("DivGrad", C{"Div", {1, 2}, {0}})
      .Cases({"SoftmaxCrossEntropyLossGrad", "SoftmaxCrossEntropyLossInternalGrad"},
             C{"SoftmaxCrossEntropyLoss", {1, 2, 3}, {0}})
      .Case("SoftmaxCrossEntropyLossInternal", C{"SoftmaxCrossEntropyLoss", {0, 1, 2}, {C::kFirst}})
      .Case("LayerNormalizationGrad", C{"LayerNormalization", {1, 2}, {0, 3, 4}})
      .Case("SimplifiedLayerNormalization", C{"LayerNormalization", {0, 1}, {C::kFirst}})
      .Case("SimplifiedLayerNormalizationGrad", C{"LayerNormalization", {1, 2}, {0, C::kNone, 3}})
      .Case("BatchNormInternal",
            C{"BatchNormalization", {0, 1, 2, 3, 4}, {C::kFirst, C::kNone, C::kNone}})
      .Case("BatchNormalizationGrad", C{"BatchNormalization", {1, 2, 2, 3, 4}, {0}})
      .Case("ConvGrad", C{"Conv", {1, 2}, {0}})
      .Case("ConvTransposeGrad", C{"ConvTranspose", {1, 2}, {0}})
      .Case("MaxPoolGrad", C{"MaxPool", {C::kFirst}, {0, 1}})
      .Case("AveragePoolGrad", C{"AveragePool", {C::kFirst}, {0}})
      .Case("GatherGrad", C{"Gather", {C::kFirst, 1}, {2}})
      .Case("GatherNDGrad", C{"GatherND", {C::kFirst, 1}, {2}})
      .Case("GatherElementsGrad", C{"GatherElements", {C::kFirst, 2}, {0}})
      .Case("SliceGrad", C{"Slice", {C::kFirst, 2, 3, 4, 5}, {0}})
      .Default(std::nullopt);
}

static bool isTraining(const pb::NodeProto &node) {
  return node.domain() == kRuntimeDomain ||
         (node.domain().empty() &&
          llvm::is_contained({"MaxPoolGrad", "AveragePoolGrad", "SimplifiedLayerNormalization"},
                             StringRef(node.op_type())));
}

/// The name of the value at `position` of `node`; empty if it has none.
static std::string valueAt(const pb::NodeProto &node, int position) {
  if (position == Counterpart::kFirst)
    return node.output(0);
  return position >= 0 && position < node.input_size() ? node.input(position) : std::string();
}

static StandardNode standardNode(const pb::NodeProto &node, const Counterpart &counterpart) {
  StandardNode standard(counterpart.type, counterpart.opset, [&](const std::string &name) {
    auto it = llvm::find_if(node.attribute(), [&](const auto &a) { return a.name() == name; });
    return it == node.attribute().end() ? nullptr : &*it;
  });
  standard.node.set_name(nodeName(node).str());
  for (int position : counterpart.operands)
    standard.node.add_input(valueAt(node, position));
  for (int position : counterpart.results)
    standard.node.add_output(valueAt(node, position));
  return standard;
}

/// One element in both, whatever their rank, or the same dimensions.
static bool sameDims(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isOne = [](int64_t dim) { return dim == 1; };
  return a == b || (llvm::all_of(a, isOne) && llvm::all_of(b, isOne));
}

static void checkResults(const pb::NodeProto &node, StandardNode &standard, TypeOf typeOf,
                         const llvm::StringMap<pb::TensorProto> &known) {
  std::vector<pb::TypeProto> types;
  llvm::SmallVector<const pb::TypeProto *> operands;
  llvm::SmallVector<const pb::TensorProto *> values;
  types.reserve(standard.node.input_size());
  for (const std::string &name : standard.node.input()) {
    const TensorShape *shape = name.empty() ? nullptr : typeOf(name);
    auto value = known.find(name);
    operands.push_back(shape ? &types.emplace_back(toProto(*shape)) : nullptr);
    values.push_back(value == known.end() ? nullptr : &value->second);
  }
  for (auto [i, type] : llvm::enumerate(standard.infer(operands, values))) {
    const std::string &name = standard.node.output(static_cast<int>(i));
    const TensorShape *given = name.empty() ? nullptr : typeOf(name);
    if (!given || name == node.output(0))
      continue;
    Dims expected;
    for (const auto &dim : type.tensor_type().shape().dim())
      expected.push_back(dim.dim_value());
    if (!sameDims(expected, given->dims))
      fail(describe(node) + ": operand " + quote(name) + ": expected shape " + print(expected) +
           ", as " + standard.node.op_type() + " has it, got " + print(given->dims));
  }
}

/// checkShapes() of the counterpart, whose errors then name `node`.
static void checkOperands(const pb::NodeProto &node, const StandardNode &standard, TypeOf typeOf) {
  try {
    checkShapes(standard.node, typeOf);
  } catch (ImportError &error) {
    StringRef message = error.message;
    if (message.consume_front(describe(standard.node)))
      error.message = describe(node) + message.str();
    throw;
  }
}

//===----------------------------------------------------------------------===//
// Other rules
//===----------------------------------------------------------------------===//

static void checkScale(const NodeShapes &r) {
  r.expectSwitch("scale_down");
  r.expectOne(1);
}

/// A bias for the last dimension of the operand before it.
template <unsigned index>
static void checkBias(const NodeShapes &r) {
  r.expectRank(index - 1, 1);
  r.expectDims(index, r.dims(index - 1).back());
}

static void checkFusedMatMul(const NodeShapes &r) {
  for (const char *name : {"transA", "transB", "transBatchA", "transBatchB"})
    r.expectSwitch(name);
}

/// The label to ignore is one number.
static void checkIgnored(const NodeShapes &r) { r.expectOne(3); }

using Check = void (*)(const NodeShapes &);

static Check checkOf(StringRef type) {
  return llvm::StringSwitch<Check>(type)
      .Case("Scale", checkScale)
      .Cases({"FastGelu", "BiasGelu"}, checkBias<1>)
      .Cases({"BiasGeluGrad_dX", "BiasFastGeluGrad_dX"}, checkBias<2>)
      .Case("FusedMatMul", checkFusedMatMul)
      .Case("SoftmaxCrossEntropyLossInternal", checkIgnored)
      .Default(nullptr);
}

void checkTrainingNode(const pb::NodeProto &node, TypeOf typeOf,
                       const llvm::StringMap<pb::TensorProto> &known) {
  if (!isTraining(node))
    return;
  if (std::optional<Counterpart> counterpart = counterpartOf(node.op_type())) {
    StandardNode standard = standardNode(node, *counterpart);
    checkResults(node, standard, typeOf, known);
    checkOperands(node, standard, typeOf);
  }
  if (Check check = checkOf(node.op_type()))
    check(NodeShapes(node, typeOf));
}

//===----------------------------------------------------------------------===//
// Types and values
//===----------------------------------------------------------------------===//

/// The dimensions of a pooled image: batch and channels are those of the result, the others are
/// declared.
static void completePooling(const pb::NodeProto &node, const TensorShape &pooled,
                            const pb::TypeProto *declared, pb::TypeProto &type) {
  const int rank = static_cast<int>(pooled.dims.size());
  bool fits = rank > 2 && declared && declared->has_tensor_type() &&
              declared->tensor_type().shape().dim_size() == rank;
  auto *shape = type.mutable_tensor_type()->mutable_shape();
  for (int dim = 0; dim < rank && fits; ++dim) {
    const auto &own = declared->tensor_type().shape().dim(dim);
    fits =
        dim < 2 ? !own.has_dim_value() || own.dim_value() == pooled.dims[dim] : own.has_dim_value();
    shape->add_dim()->set_dim_value(dim < 2 ? pooled.dims[dim] : own.dim_value());
  }
  if (!fits)
    fail(describe(node) + ": result " + quote(node.output(0)) +
         ": no operand has its shape; expected the model to declare (value_info) one of " +
         Twine(rank) + " dimensions, of the batch and channels of operand " + quote(node.input(0)));
}

void completeType(const pb::NodeProto &node, int index, TypeOf typeOf,
                  const pb::TypeProto *declared, pb::TypeProto &type) {
  if (!isTraining(node) || type.tensor_type().has_shape())
    return;
  StringRef name = node.op_type();
  if (name == "MaxPoolGrad" || name == "AveragePoolGrad")
    return completePooling(node, *typeOf(node.input(0)), declared, type);
  fail(describe(node) + ": result " + quote(node.output(index)) +
       ": its shape cannot be inferred; expected shapes as operands to follow from the shapes of "
       "other values");
}

static void setInts(llvm::StringMap<pb::TensorProto> &known, const std::string &name,
                    ArrayRef<int64_t> values) {
  if (!name.empty())
    known[name] = fromInts({static_cast<int64_t>(values.size())}, {values.begin(), values.end()});
}

/// The axes that each of two shapes was broadcast along.
static void evaluateAxes(const pb::NodeProto &node, llvm::StringMap<pb::TensorProto> &known) {
  std::array<Dims, 2> shapes;
  for (int side : {0, 1}) {
    auto it = known.find(node.input(side));
    if (it == known.end())
      return;
    std::vector<int64_t> values = toInts(it->second)->elements;
    shapes[side] = Dims(values.begin(), values.end());
  }
  for (int side = 0; side < node.output_size(); ++side)
    setInts(known, node.output(side), broadcastAxes(shapes[side], shapes[1 - side]));
}

/// The length of each operand along the axis of a concatenation.
static void evaluateLengths(const pb::NodeProto &node, TypeOf typeOf,
                            llvm::StringMap<pb::TensorProto> &known) {
  const NodeShapes shapes(node, typeOf);
  const int64_t axis = shapes.axis(0, shapes.rank(0));
  Dims lengths;
  for (int i = 0; i < node.input_size(); ++i)
    lengths.push_back(shapes.dims(i)[axis]);
  if (node.output_size() > 1)
    setInts(known, node.output(1), lengths);
}

void evaluateTrainingNode(const pb::NodeProto &node, TypeOf typeOf,
                          llvm::StringMap<pb::TensorProto> &known) {
  if (node.domain() != kRuntimeDomain)
    return;
  if (node.op_type() == "BroadcastGradientArgs")
    evaluateAxes(node, known);
  else if (node.op_type() == "ConcatTraining")
    evaluateLengths(node, typeOf, known);
}

} // namespace zero::importer
