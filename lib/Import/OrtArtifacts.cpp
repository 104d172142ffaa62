//===- OrtArtifacts.cpp - models of onnxruntime-training ------------------===//
//
// onnxruntime-training divides a step into two models. The training model computes the loss and
// adds each gradient to a buffer, which its input lazy_reset_grad makes start anew. The optimizer
// model updates sequences of all parameters and states in place. Both are joined here to one
// functional step: state in, new state out.
//
//===----------------------------------------------------------------------===//

#include "OrtArtifacts.h"

#include "NodeMaker.h"
#include "Tensor.h"

#include "runtime/io/ort_checkpoint.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace zero::importer {

static constexpr StringRef kDomain = "com.microsoft", kAccumulator = "InPlaceAccumulatorV2",
                           kBufferSuffix = "_grad.accumulation.buffer";

static bool isOp(const pb::NodeProto &node, StringRef type) {
  return node.domain() == kDomain && node.op_type() == type;
}

bool accumulatesGradients(const Model &model) {
  return llvm::any_of(model.proto.graph().node(),
                      [](const pb::NodeProto &node) { return isOp(node, kAccumulator); });
}

namespace {
/// Each parameter of a training model with its gradient.
using Gradients = std::vector<std::pair<std::string, std::string>>;

/// What an optimizer model does.
struct OrtOptimizer {
  pb::NodeProto update; ///< of sequences
  std::optional<float> maxNorm;

  bool isAdamW() const { return update.op_type() == "AdamWOptimizer"; }
};
} // namespace

static float floatAttribute(const pb::NodeProto &node, StringRef name, float fallback) {
  for (const pb::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.f();
  return fallback;
}

static int64_t intAttribute(const pb::NodeProto &node, StringRef name, int64_t fallback) {
  for (const pb::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return fallback;
}

/// Fails unless the operands of the update are, in this order, inputs of the optimizer model with
/// the names that onnxruntime gives them. `clipped` stands for the gradients if it is not empty.
static void checkOperands(const pb::NodeProto &update, bool isAdamW, StringRef clipped) {
  llvm::SmallVector<StringRef> expected = {"learning_rate"};
  if (isAdamW)
    expected.push_back("step");
  expected.append({"params", clipped.empty() ? "gradients" : clipped});
  if (isAdamW)
    expected.append({"first_order_moments", "second_order_moments"});
  std::string wanted = llvm::join(expected, ", ");
  llvm::SmallVector<StringRef> got(update.input().begin(), update.input().end());
  while (!got.empty() && got.back().empty())
    got.pop_back();
  if (llvm::ArrayRef(got) != llvm::ArrayRef(expected))
    fail("--ort-optimizer: " + describe(update) + ": expected the operands " + wanted + ", got " +
         llvm::join(got, ", "));
}

/// Fails if `node` has an attribute that its operator does not have, or one of another type.
static void checkAttributes(const pb::NodeProto &node) {
  for (const pb::AttributeProto &attribute : node.attribute()) {
    const auto wanted = llvm::StringSwitch<pb::AttributeProto::AttributeType>(attribute.name())
                            .Cases({"alpha", "beta", "epsilon", "weight_decay", "max_norm"},
                                   pb::AttributeProto::FLOAT)
                            .Cases({"adam_mode", "correct_bias"}, pb::AttributeProto::INT)
                            .Case("norm_type", pb::AttributeProto::STRING)
                            .Default(pb::AttributeProto::UNDEFINED);
    if (wanted == pb::AttributeProto::UNDEFINED)
      fail("--ort-optimizer: " + describe(node) + ": attribute " + quote(attribute.name()) +
           " is not supported");
    if (attribute.type() != wanted)
      fail("--ort-optimizer: " + describe(node) + ": attribute " + quote(attribute.name()) +
           " has another type than the operator's");
    if (attribute.name() == "norm_type" && attribute.s() != "fro")
      fail("--ort-optimizer: " + describe(node) + ": expected norm_type 'fro', got " +
           quote(attribute.s()));
  }
}

static OrtOptimizer readOptimizer(StringRef path) {
  OrtOptimizer optimizer;
  std::string clipped;
  const pb::ModelProto proto = readProto(path);
  for (const pb::NodeProto &node : proto.graph().node()) {
    const bool isUpdate = isOp(node, "AdamWOptimizer") || isOp(node, "SGDOptimizerV2");
    if (isUpdate && optimizer.update.op_type().empty()) {
      optimizer.update = node;
    } else if (isOp(node, "InplaceClipGradNorm") && clipped.empty() && node.input_size() == 1 &&
               node.input(0) == "gradients" && node.output_size() == 1) {
      clipped = node.output(0);
      optimizer.maxNorm = floatAttribute(node, "max_norm", 1.0f);
    } else {
      fail(
          "--ort-optimizer: " + describe(node) +
          ": expected one AdamWOptimizer or SGDOptimizerV2, and at most one InplaceClipGradNorm of "
          "the gradients");
    }
    checkAttributes(node);
  }
  if (optimizer.update.op_type().empty())
    fail("--ort-optimizer: " + quote(path) + " has no AdamWOptimizer or SGDOptimizerV2");
  checkOperands(optimizer.update, optimizer.isAdamW(), clipped);
  const int64_t mode = intAttribute(optimizer.update, "adam_mode", 0);
  if (mode != 0 && mode != 1)
    fail("--ort-optimizer: " + describe(optimizer.update) + ": expected adam_mode 0 or 1, got " +
         llvm::Twine(mode));
  return optimizer;
}

namespace {
/// Writes updates as nodes of ai.onnx. Arithmetic and its order are those of onnxruntime's kernels
/// (orttraining/training_ops/cpu/optimizer: adamw.cc, sgd.cc, clip_grad_norm.cc).
class UpdateMaker : public NodeMaker {
public:
  UpdateMaker(Model &model, const OrtOptimizer &optimizer)
      : NodeMaker(*model.proto.mutable_graph(), optimizer.update), model(model),
        optimizer(optimizer) {
    for (const pb::NodeProto &node : model.proto.graph().node())
      taken.insert(node.output().begin(), node.output().end());
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      taken.insert(input.name());
    for (const auto &[name, constant] : model.constants)
      taken.insert(name);
  }

  /// Appends the updates of parameters, given with their gradients, and returns all state.
  std::vector<CarriedPair> run(const Gradients &gradients) {
    rate = addInput("learning_rate", pb::TensorProto::FLOAT, {});
    if (optimizer.isAdamW())
      correctBias();
    if (optimizer.maxNorm)
      computeClipFactor(gradients);
    for (const auto &[parameter, gradient] : gradients) {
      std::string g = factor.empty() ? gradient : add("Mul", {gradient, factor});
      optimizer.isAdamW() ? updateAdamW(parameter, g) : updateSgd(parameter, g);
    }
    return std::move(pairs);
  }

private:
  std::string newName() override { return unique("update"); }

  std::string unique(StringRef base) {
    std::string name = base.str();
    for (unsigned i = 0; !taken.insert(name).second; ++i)
      name = (base + "." + llvm::Twine(i)).str();
    return name;
  }

  /// An input with a name of onnxruntime's own, which the training model must not have.
  std::string addInput(StringRef name, int32_t type, llvm::ArrayRef<int64_t> dims) {
    if (!taken.insert(name).second)
      fail("--ort-optimizer: the training model has a value " + quote(name) +
           ", which is the name of state of the optimizer");
    pb::ValueInfoProto &input = *model.proto.mutable_graph()->add_input();
    input.set_name(name.str());
    auto &tensor = *input.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (int64_t dim : dims)
      tensor.mutable_shape()->add_dim()->set_dim_value(dim);
    return name.str();
  }

  /// State that starts as zero.
  std::string addState(StringRef name, int32_t type, llvm::ArrayRef<int64_t> dims) {
    addInput(name, type, dims);
    Constant constant;
    constant.type = type;
    constant.dims.assign(dims.begin(), dims.end());
    constant.elements = countElements(type, constant.dims, "state " + quote(name));
    constant.splat = 0.0;
    constant.initializer = ""; // the model has none
    model.constants.emplace_back(name.str(), std::move(constant));
    return name.str();
  }

  void carry(const std::string &state, const std::string &value) {
    std::string output = add("Identity", {value}, unique(state + ".new"));
    model.proto.mutable_graph()->add_output()->set_name(output);
    pairs.push_back({state, output});
  }

  std::string number(double value, int32_t type = pb::TensorProto::FLOAT) {
    std::string &name = numbers[{value, type}];
    if (!name.empty())
      return name;
    name = newName();
    pb::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(type);
    if (type == pb::TensorProto::FLOAT)
      tensor.add_float_data(float(value));
    else if (type == pb::TensorProto::DOUBLE)
      tensor.add_double_data(value);
    else
      tensor.add_int64_data(int64_t(value));
    Constant constant;
    constant.type = type;
    constant.elements = 1;
    constant.value = std::move(tensor);
    model.constants.emplace_back(name, std::move(constant));
    return name;
  }

  std::string cast(const std::string &value, int32_t type) {
    std::string result = add("Cast", {value});
    setInt("to", type);
    return result;
  }

  /// 1 - decay^step, of which onnxruntime rounds the power to f32.
  std::string correctionOf(StringRef name, float fallback, const std::string &count) {
    const double decay = floatAttribute(optimizer.update, name, fallback);
    std::string power = add("Pow", {number(decay, pb::TensorProto::DOUBLE), count});
    return add("Sub", {number(1), cast(power, pb::TensorProto::FLOAT)});
  }

  /// Counts the step, and computes the corrections of both moments, where they apply.
  void correctBias() {
    std::string step = addState(rt::kOrtStep, pb::TensorProto::INT64, {});
    std::string next = add("Add", {step, number(1, pb::TensorProto::INT64)});
    carry(step, next);
    if (intAttribute(optimizer.update, "correct_bias", 1) != 1) {
      first = second = number(1);
      return;
    }
    std::string count = cast(next, pb::TensorProto::DOUBLE);
    first = correctionOf("alpha", 0.9f, count);
    second = correctionOf("beta", 0.999f, count);
  }

  /// min(max_norm / (norm + 1e-6), 1) of the norm of all gradients.
  void computeClipFactor(const Gradients &gradients) {
    std::string sum;
    for (const auto &[parameter, gradient] : gradients) {
      std::string square = add("ReduceSumSquare", {gradient});
      setInt("keepdims", 0);
      sum = sum.empty() ? square : add("Add", {sum, square});
    }
    std::string norm = add("Add", {add("Sqrt", {sum}), number(1e-6)});
    factor = add("Min", {add("Div", {number(*optimizer.maxNorm), norm}), number(1)});
  }

  /// The type of parameter `name`, an input of the training model.
  const pb::TypeProto::Tensor &typeOf(StringRef name) const {
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      if (input.name() == name && input.type().tensor_type().has_shape())
        return input.type().tensor_type();
    fail("input " + quote(name) + ": expected a tensor with a shape");
  }

  /// decay * moment + (1 - decay) * value.
  std::string average(const std::string &moment, float decay, const std::string &value) {
    return add("Add",
               {add("Mul", {moment, number(decay)}), add("Mul", {value, number(1.0f - decay)})});
  }

  void updateAdamW(const std::string &parameter, const std::string &gradient) {
    const pb::TypeProto::Tensor &type = typeOf(parameter);
    llvm::SmallVector<int64_t> dims;
    for (const auto &dim : type.shape().dim()) {
      if (!dim.has_dim_value())
        fail("parameter " + quote(parameter) + ": expected a static shape");
      dims.push_back(dim.dim_value());
    }
    std::string m = addState(parameter + ".momentum0", type.elem_type(), dims);
    std::string v = addState(parameter + ".momentum1", type.elem_type(), dims);
    const float alpha = floatAttribute(optimizer.update, "alpha", 0.9f);
    const float beta = floatAttribute(optimizer.update, "beta", 0.999f);
    m = average(m, alpha, gradient);
    std::string newV = average(v, beta, add("Mul", {gradient, gradient}));
    carry(parameter + ".momentum0", m);
    carry(parameter + ".momentum1", newV);
    const bool isTorch = intAttribute(optimizer.update, "adam_mode", 0) == 0;
    carry(parameter,
          isTorch ? stepAsTorch(parameter, m, newV) : stepAsHuggingFace(parameter, m, newV));
  }

  std::string decayed(const std::string &weight) {
    const float decay = floatAttribute(optimizer.update, "weight_decay", 0.01f);
    return add("Sub", {weight, add("Mul", {weight, add("Mul", {rate, number(decay)})})});
  }

  std::string epsilon() { return number(floatAttribute(optimizer.update, "epsilon", 1e-8f)); }

  /// adam_mode 0: each moment is corrected, and weights decay before.
  std::string stepAsTorch(const std::string &weight, const std::string &m, const std::string &v) {
    std::string root = add("Add", {add("Sqrt", {add("Div", {v, second})}), epsilon()});
    std::string change = add("Div", {add("Mul", {rate, m}), add("Mul", {first, root})});
    return add("Sub", {decayed(weight), change});
  }

  /// adam_mode 1: the rate is corrected, and weights decay afterwards.
  std::string stepAsHuggingFace(const std::string &weight, const std::string &m,
                                const std::string &v) {
    std::string corrected = add("Mul", {rate, add("Div", {add("Sqrt", {second}), first})});
    std::string root = add("Add", {add("Sqrt", {v}), epsilon()});
    std::string change = add("Div", {add("Mul", {corrected, m}), root});
    return decayed(add("Sub", {weight, change}));
  }

  void updateSgd(const std::string &parameter, const std::string &gradient) {
    carry(parameter, add("Sub", {parameter, add("Mul", {rate, gradient})}));
  }

  Model &model;
  const OrtOptimizer &optimizer;
  llvm::StringSet<> taken;
  std::map<std::pair<double, int32_t>, std::string> numbers;
  std::string rate, factor, first, second;
  std::vector<CarriedPair> pairs;
};
} // namespace

template <typename Entry>
static void removeNamed(google::protobuf::RepeatedPtrField<Entry> &list,
                        const llvm::StringSet<> &names) {
  google::protobuf::RepeatedPtrField<Entry> kept;
  for (Entry &entry : list)
    if (!names.contains(entry.name()))
      kept.Add(std::move(entry));
  list.Swap(&kept);
}

/// Removes the accumulation of gradients, and returns each parameter's gradient.
static Gradients takeGradients(pb::GraphProto &graph) {
  llvm::StringSet<> inputs, gone;
  for (const pb::ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  Gradients gradients;
  llvm::StringSet<> known;
  google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
  for (pb::NodeProto &node : *graph.mutable_node()) {
    if (!isOp(node, kAccumulator)) {
      kept.Add(std::move(node));
      continue;
    }
    if (node.input_size() < 2 || node.output_size() < 1)
      fail(describe(node) + ": expected a buffer, a gradient and a flag");
    StringRef parameter = node.input(0);
    if (!inputs.contains(parameter) || !parameter.consume_back(kBufferSuffix) ||
        !inputs.contains(parameter))
      fail(describe(node) + ": expected an input PARAMETER" + kBufferSuffix +
           " as its buffer, where PARAMETER is an input, got " + quote(node.input(0)));
    if (!known.insert(parameter).second)
      fail(describe(node) + ": parameter " + quote(parameter) + " has two gradients");
    gradients.emplace_back(parameter.str(), node.input(1));
    gone.insert(node.input(0));
    if (node.input_size() > 2)
      gone.insert(node.input(2));
    gone.insert(node.output().begin(), node.output().end());
  }
  graph.mutable_node()->Swap(&kept);
  removeNamed(*graph.mutable_input(), gone);
  removeNamed(*graph.mutable_output(), gone);
  return gradients;
}

std::vector<CarriedPair> joinOrtOptimizer(Model &model, StringRef path) {
  const OrtOptimizer optimizer = readOptimizer(path);
  auto gradients = takeGradients(*model.proto.mutable_graph());
  if (gradients.empty())
    fail("--ort-optimizer: the model does not accumulate gradients (" + kAccumulator +
         "); expected a training model of onnxruntime");
  return UpdateMaker(model, optimizer).run(gradients);
}

} // namespace zero::importer
