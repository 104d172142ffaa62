//===- TrainingSchemas.cpp - signatures of training operators -------------===//
//
// The operators that ONNX Runtime 1.19 writes into training graphs, from its documentation: domain
// com.microsoft, version 1, and some in the domain of ONNX. A result of the type of an operand is
// declared as such. What operands must fulfil beyond types is in TrainingNode.cpp.
//
//===----------------------------------------------------------------------===//

#include "TrainingSchemas.h"
#include "Schemas.h"
#include "StandardNode.h"
#include "TrainingNode.h"
#include "dialects/Onnx/FusedMatMul.h"

#include "onnx/defs/shape_inference.h"
#include "runtime/support/checked.h"
#include "llvm/ADT/STLExtras.h"

#include <mutex>

namespace zero::importer {

namespace {

using Context = pb::InferenceContext;
using Attribute = pb::AttributeProto;
/// The dimensions of a result, or nothing if they are not known.
using ShapeOf = std::optional<Dims> (*)(Context &);
constexpr auto kOptional = pb::OpSchema::Optional;

/// How results are typed.
struct Results {
  struct Result {
    int like;      ///< the operand that has its type
    ShapeOf shape; ///< its shape, if that is another
  };

  void infer(Context &context) const;

  std::vector<Result> single;
  /// Types all results instead.
  void (*all)(Context &) = nullptr;
};

/// Collects the signature of one operator.
class Operator {
public:
  explicit Operator(const char *name, const char *domain = kRuntimeDomain)
      : schema(name, __FILE__, __LINE__) {
    schema.SetDomain(domain).SinceVersion(1);
  }

  /// An operand of the types `type`: see addTypes().
  Operator &in(const char *name, const char *type = "T",
               pb::OpSchema::FormalParameterOption option = pb::OpSchema::Single) {
    operandTypes.push_back(type);
    schema.Input(static_cast<int>(operandTypes.size()) - 1, name, "", type, option);
    return *this;
  }
  Operator &optional(const char *name, const char *type = "T") { return in(name, type, kOptional); }

  /// A result of the type of operand `like`, with another shape if `shape` is given.
  Operator &out(const char *name, int like, ShapeOf shape = nullptr,
                pb::OpSchema::FormalParameterOption option = pb::OpSchema::Single) {
    schema.Output(static_cast<int>(results.single.size()), name, "", operandTypes[like], option);
    results.single.push_back({like, shape});
    return *this;
  }
  /// The same for a result that may be left out.
  Operator &maybe(const char *name, int like, ShapeOf shape = nullptr) {
    return out(name, like, shape, kOptional);
  }

  /// A list of lengths that may be left out.
  Operator &lengths(const char *name) {
    schema.Output(static_cast<int>(results.single.size()), name, "", "tensor(int64)", kOptional);
    return *this;
  }

  Operator &attr(const char *name, Attribute::AttributeType type) {
    schema.Attr(name, "", type, /*required=*/false);
    return *this;
  }
  Operator &ints(std::initializer_list<const char *> names) {
    for (const char *name : names)
      attr(name, Attribute::INT);
    return *this;
  }
  Operator &floats(std::initializer_list<const char *> names) {
    for (const char *name : names)
      attr(name, Attribute::FLOAT);
    return *this;
  }
  Operator &axis() { return ints({"axis"}); }
  /// The attributes of a normalization.
  Operator &normalization() { return floats({"epsilon"}).ints({"axis", "stash_type"}); }
  /// The attributes of windows that slide over an image.
  Operator &windows() {
    for (const char *name : {"kernel_shape", "strides", "dilations", "pads"})
      attr(name, Attribute::INTS);
    return attr("auto_pad", Attribute::STRING);
  }

  /// `infer` types all results.
  Operator &all(void (*infer)(Context &)) {
    results.all = infer;
    return *this;
  }

  void add() {
    addTypes();
    schema.TypeAndShapeInferenceFunction(
        [results = results](Context &context) { results.infer(context); });
    addSchema(std::move(schema));
  }

private:
  /// T, U and V are floats, I indices, L lengths, N numbers and A any tensors.
  void addTypes() {
    const std::vector<std::string> reals{"tensor(float16)", "tensor(float)", "tensor(double)",
                                         "tensor(bfloat16)"};
    const std::vector<std::string> indices{"tensor(int32)", "tensor(int64)"};
    std::vector<std::string> numbers = reals;
    llvm::append_range(numbers, indices);
    llvm::sort(operandTypes);
    operandTypes.erase(llvm::unique(operandTypes), operandTypes.end());
    for (const std::string &type : operandTypes) {
      if (type == "I")
        schema.TypeConstraint(type, indices, "");
      else if (type == "N")
        schema.TypeConstraint(type, numbers, "");
      else if (type == "A")
        schema.TypeConstraint(type, pb::OpSchema::all_tensor_types_ir4(), "");
      else if (type.size() == 1)
        schema.TypeConstraint(type, reals, "");
    }
  }

  pb::OpSchema schema;
  std::vector<std::string> operandTypes;
  Results results;
};

} // namespace

void Results::infer(Context &context) const {
  if (all)
    return all(context);
  for (size_t i = 0; i < std::min(single.size(), context.getNumOutputs()); ++i) {
    const size_t like = single[i].like;
    pb::propagateElemTypeFromInputToOutput(context, like, i);
    if (!single[i].shape) {
      if (pb::hasInputShape(context, like))
        pb::propagateShapeFromInputToOutput(context, like, i);
    } else if (auto dims = single[i].shape(context)) {
      auto *shape = context.getOutputType(i)->mutable_tensor_type()->mutable_shape();
      for (int64_t dim : *dims)
        shape->add_dim()->set_dim_value(dim);
    }
  }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The static dimensions of operand `index`.
static std::optional<Dims> dimsOf(Context &context, size_t index) {
  if (index >= context.getNumInputs() || !pb::hasInputShape(context, index))
    return std::nullopt;
  Dims dims;
  for (const auto &dim : context.getInputType(index)->tensor_type().shape().dim()) {
    if (!dim.has_dim_value())
      return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

static int64_t intOf(Context &context, const char *name, int64_t fallback) {
  const pb::AttributeProto *attribute = context.getAttribute(name);
  return attribute ? attribute->i() : fallback;
}

/// The numbers in operand `index`.
static std::optional<Dims> numbersOf(Context &context, size_t index) {
  const pb::TensorProto *value =
      index < context.getNumInputs() ? context.getInputData(index) : nullptr;
  std::optional<evaluate::Values> ints = value ? toInts(*value) : std::nullopt;
  if (!ints)
    return std::nullopt;
  return Dims(ints->elements.begin(), ints->elements.end());
}

/// The shape that an operand holds.
template <size_t operand>
static std::optional<Dims> heldShape(Context &context) {
  return numbersOf(context, operand);
}

/// Filled in later: see completeType().
static std::optional<Dims> declaredShape(Context &) { return std::nullopt; }

/// One element for each row of a normalization: its dimensions have size 1.
static std::optional<Dims> rowShape(Context &context) {
  std::optional<Dims> dims = dimsOf(context, 0);
  if (!dims)
    return dims;
  const auto rank = static_cast<int64_t>(dims->size());
  const int64_t axis = intOf(context, "axis", -1);
  for (int64_t dim = std::max<int64_t>(axis < 0 ? axis + rank : axis, 0); dim < rank; ++dim)
    (*dims)[dim] = 1;
  return dims;
}

/// The bias of a convolution with weights [out, ...].
static std::optional<Dims> biasShape(Context &context) {
  std::optional<Dims> weights = dimsOf(context, 2);
  if (!weights || weights->empty())
    return std::nullopt;
  return Dims{weights->front()};
}

/// The bias of a transposed convolution with weights [in, out / group, ...].
static std::optional<Dims> transposedBiasShape(Context &context) {
  std::optional<Dims> weights = dimsOf(context, 2);
  if (!weights || weights->size() < 2)
    return std::nullopt;
  const Dims factors{(*weights)[1], intOf(context, "group", 1)};
  return Dims{saturatingProduct<int64_t>(llvm::ArrayRef<int64_t>(factors))};
}

/// A list of the axes of operand `index` that were broadcast.
template <int index>
static std::optional<Dims> axesShape(Context &context) {
  std::optional<Dims> a = numbersOf(context, 0), b = numbersOf(context, 1);
  if (!a || !b)
    return std::nullopt;
  return Dims{static_cast<int64_t>(broadcastAxes(index ? *b : *a, index ? *a : *b).size())};
}

//===----------------------------------------------------------------------===//
// Types of all results
//===----------------------------------------------------------------------===//

/// Types the results as those of an operator of ai.onnx with the first operands.
static void inferAs(Context &context, const char *type, int opset, size_t operands,
                    llvm::ArrayRef<const pb::TypeProto *> types = {}) {
  StandardNode standard(type, opset,
                        [&](const std::string &name) { return context.getAttribute(name); });
  llvm::SmallVector<const pb::TypeProto *> operandTypes;
  llvm::SmallVector<const pb::TensorProto *> values;
  for (size_t i = 0; i < std::min(operands, context.getNumInputs()); ++i) {
    const bool isGiven = context.hasInput(i);
    standard.node.add_input(isGiven ? "x" + std::to_string(i) : "");
    operandTypes.push_back(i < types.size() ? types[i] : context.getInputType(i));
    values.push_back(context.getInputData(i));
  }
  const auto *schema = findSchema(type, opset);
  for (size_t i = 0; i < std::min<size_t>(context.getNumOutputs(), schema->max_output()); ++i)
    standard.node.add_output("y" + std::to_string(i));
  for (auto [i, result] : llvm::enumerate(standard.infer(operandTypes, values)))
    *context.getOutputType(i) = std::move(result);
}

static void inferTrilu(Context &context) { inferAs(context, "Trilu", 14, 2); }

static void inferLoss(Context &context) { inferAs(context, "SoftmaxCrossEntropyLoss", 13, 3); }

/// The concatenation, and the list of the operands' lengths.
static void inferConcat(Context &context) {
  inferAs(context, "Concat", 13, context.getNumInputs());
  if (context.getNumOutputs() < 2)
    return;
  auto *lengths = context.getOutputType(1)->mutable_tensor_type();
  lengths->set_elem_type(pb::TensorProto::INT64);
  lengths->mutable_shape()->add_dim()->set_dim_value(static_cast<int64_t>(context.getNumInputs()));
}

/// As Split: the number of results must be that of the lengths.
static void inferSplit(Context &context) {
  std::optional<Dims> lengths = numbersOf(context, 1);
  if (lengths && lengths->size() != context.getNumOutputs())
    throw pb::InferenceError("expected " + std::to_string(lengths->size()) +
                             " results, one for each length, got " +
                             std::to_string(context.getNumOutputs()));
  inferAs(context, "Split", 13, 2);
}

/// As MatMul of the transposed operands.
static void inferFusedMatMul(Context &context) {
  std::array<pb::TypeProto, 2> types;
  for (size_t side : {0, 1}) {
    const bool isB = side == 1;
    std::optional<Dims> dims = dimsOf(context, side);
    if (!dims)
      return;
    types[side] = *context.getInputType(side);
    auto *shape = types[side].mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    for (int64_t dim :
         onnx::fusedPermutation(static_cast<int64_t>(dims->size()),
                                intOf(context, isB ? "transBatchB" : "transBatchA", 0) != 0,
                                intOf(context, isB ? "transB" : "transA", 0) != 0))
      shape->add_dim()->set_dim_value((*dims)[dim]);
  }
  inferAs(context, "MatMul", 13, 2, {&types[0], &types[1]});
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static void addActivations() {
  Operator("Gelu").in("X").out("Y", 0).add();
  Operator("FastGelu").in("X").optional("bias").out("Y", 0).add();
  Operator("BiasGelu").in("A").in("B").out("C", 0).add();
  Operator("QuickGelu").in("X").out("Y", 0).floats({"alpha"}).add();
  for (const char *name : {"ReluGrad", "SigmoidGrad", "TanhGrad", "GeluGrad", "FastGeluGrad"})
    Operator(name).in("dY").in("X").out("dX", 1).add();
  for (const char *name : {"QuickGeluGrad", "LeakyReluGrad"})
    Operator(name).in("dY").in("X").out("dX", 1).floats({"alpha"}).add();
  for (const char *name : {"BiasGeluGrad_dX", "BiasFastGeluGrad_dX"})
    Operator(name).in("dY").in("X").in("B").out("dX", 1).add();
  for (const char *name : {"SoftmaxGrad", "SoftmaxGrad_13", "LogSoftmaxGrad", "LogSoftmaxGrad_13"})
    Operator(name).in("dY").in("Y").out("dX", 1).axis().add();
  Operator("DropoutGrad")
      .in("dY")
      .in("mask", "tensor(bool)")
      .optional("ratio", "U")
      .optional("training_mode", "tensor(bool)")
      .out("dX", 0)
      .add();
}

static void addArithmetic() {
  Operator("Scale").in("input").in("scale", "N").out("output", 0).ints({"scale_down"}).add();
  Operator("DivGrad").in("dY").in("A").in("B").maybe("dA", 1).maybe("dB", 2).add();
  Operator("FusedMatMul")
      .in("A")
      .in("B")
      .out("Y", 0)
      .floats({"alpha"})
      .ints({"transA", "transB", "transBatchA", "transBatchB"})
      .all(inferFusedMatMul)
      .add();
  Operator("BroadcastGradientArgs")
      .in("a_shape", "tensor(int64)")
      .in("b_shape", "tensor(int64)")
      .maybe("a_axes", 0, axesShape<0>)
      .maybe("b_axes", 0, axesShape<1>)
      .add();
}

static void addLosses() {
  Operator("SoftmaxCrossEntropyLossGrad")
      .in("dY")
      .in("log_prob")
      .in("label", "I")
      .optional("weight")
      .out("d_logits", 1)
      .ints({"ignore_index"})
      .attr("reduction", Attribute::STRING)
      .add();
  Operator("SoftmaxCrossEntropyLossInternal")
      .in("scores")
      .in("labels", "I")
      .optional("weights")
      .optional("ignore_index", "tensor(int64)")
      .out("output", 0)
      .maybe("log_prob", 0)
      .ints({"output_type"})
      .attr("reduction", Attribute::STRING)
      .all(inferLoss)
      .add();
  Operator("SoftmaxCrossEntropyLossInternalGrad")
      .in("dY")
      .in("log_prob")
      .in("label", "I")
      .optional("weight")
      .optional("ignore_index", "tensor(int64)")
      .optional("bias")
      .out("d_logits", 1)
      .ints({"output_type"})
      .attr("reduction", Attribute::STRING)
      .add();
}

static void addNormalizations() {
  Operator("LayerNormalizationGrad")
      .in("dY")
      .in("X")
      .in("scale", "V")
      .in("mean", "U")
      .in("inv_std_dev", "U")
      .out("dX", 1)
      .maybe("dscale", 2)
      .maybe("dbias", 2)
      .normalization()
      .add();
  Operator("SimplifiedLayerNormalization", "")
      .in("X")
      .in("scale", "V")
      .out("Y", 0)
      .maybe("inv_std_var", 0, rowShape)
      .normalization()
      .add();
  Operator("SimplifiedLayerNormalizationGrad")
      .in("dY")
      .in("X")
      .in("scale", "V")
      .in("inv_std_var", "U")
      .out("dX", 1)
      .maybe("dscale", 2)
      .normalization()
      .add();
  Operator("BatchNormInternal")
      .in("X")
      .in("scale", "U")
      .in("B", "U")
      .in("input_mean", "V")
      .in("input_var", "V")
      .out("Y", 0)
      .maybe("running_mean", 3)
      .maybe("running_var", 3)
      .maybe("saved_mean", 3)
      .maybe("saved_inv_std", 3)
      .floats({"epsilon", "momentum"})
      .ints({"training_mode"})
      .add();
  Operator("BatchNormalizationGrad")
      .in("dY")
      .in("X")
      .in("scale", "U")
      .in("mean", "V")
      .in("inv_std", "V")
      .out("dX", 1)
      .maybe("dscale", 2)
      .maybe("dB", 2)
      .floats({"epsilon"})
      .add();
}

static void addImages() {
  for (auto [name, bias] : {std::pair<const char *, ShapeOf>{"ConvGrad", biasShape},
                            {"ConvTransposeGrad", transposedBiasShape}})
    Operator(name)
        .in("dY")
        .in("X")
        .in("W")
        .maybe("dX", 1)
        .maybe("dW", 2)
        .maybe("dB", 2, bias)
        .ints({"group"})
        .windows()
        .attr("output_padding", Attribute::INTS)
        .attr("output_shape", Attribute::INTS)
        .add();
  for (const char *domain : {"", kRuntimeDomain}) {
    Operator("MaxPoolGrad", domain)
        .in("dY")
        .in("Indices", "tensor(int64)")
        .out("dX", 0, declaredShape)
        .ints({"ceil_mode", "storage_order"})
        .windows()
        .add();
    Operator("AveragePoolGrad", domain)
        .in("dY")
        .out("dX", 0, declaredShape)
        .ints({"ceil_mode", "count_include_pad"})
        .windows()
        .add();
  }
}

static void addMovement() {
  Operator("GatherGrad")
      .in("shape", "tensor(int64)")
      .in("indices", "I")
      .in("dY")
      .out("dX", 2, heldShape<0>)
      .axis()
      .add();
  Operator("GatherNDGrad")
      .in("shape", "tensor(int64)")
      .in("indices", "I")
      .in("update")
      .out("output", 2, heldShape<0>)
      .ints({"batch_dims"})
      .add();
  Operator("GatherElementsGrad")
      .in("dY")
      .in("shape", "tensor(int64)")
      .in("indices", "I")
      .out("dX", 0, heldShape<1>)
      .axis()
      .add();
  Operator("SliceGrad")
      .in("dY")
      .in("shape", "tensor(int64)")
      .in("starts", "I")
      .in("ends", "I")
      .optional("axes", "I")
      .optional("steps", "I")
      .out("dX", 0, heldShape<1>)
      .add();
  Operator("ConcatTraining")
      .in("inputs", "A", pb::OpSchema::Variadic)
      .out("concat_result", 0)
      .lengths("per_input_length")
      .axis()
      .all(inferConcat)
      .add();
  Operator("SplitTraining")
      .in("input", "A")
      .in("split", "tensor(int64)")
      .out("outputs", 0, nullptr, pb::OpSchema::Variadic)
      .axis()
      .all(inferSplit)
      .add();
  Operator("Trilu")
      .in("X", "A")
      .optional("k", "tensor(int64)")
      .out("Y", 0)
      .ints({"upper"})
      .all(inferTrilu)
      .add();
}

void registerTrainingSchemas() {
  static std::once_flag once;
  std::call_once(once, [] {
    pb::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion(kRuntimeDomain, 1, 1);
    addActivations();
    addArithmetic();
    addLosses();
    addNormalizations();
    addImages();
    addMovement();
  });
}

} // namespace zero::importer
