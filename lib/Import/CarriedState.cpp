//===- CarriedState.cpp - state that a graph takes and returns ------------===//
//
// A graph that is a whole training step takes its state as inputs and returns the state of the next
// step as outputs. Pairs of names, or of patterns with one * each, say which output belongs to
// which input.
//
//===----------------------------------------------------------------------===//

#include "CarriedState.h"

#include "Shapes.h"
#include "Tensor.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace zero::importer {

void makeState(Constant &constant, StringRef name) {
  if (!constant.data && constant.value) {
    if (constant.elements != 1)
      fail("initializer " + quote(name) +
           ": expected raw bytes (raw_data) for state of more than one element");
    constant.splat = firstNumber(*constant.value);
  }
  constant.value.reset();
  if (!constant.initializer)
    constant.initializer = name.str();
}

namespace {
class Carrier {
public:
  Carrier(Model &model, llvm::ArrayRef<CarriedPair> carry, llvm::ArrayRef<std::string> zeros)
      : model(model), carry(carry), zeros(zeros) {
    // References to names of constants stay valid while carried inputs are added.
    model.constants.reserve(model.constants.size() + model.proto.graph().input_size());
    for (const pb::ValueInfoProto &output : model.proto.graph().output())
      outputs.push_back(output.name());
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      inputs[input.name()] = &input;
    for (auto [index, entry] : llvm::enumerate(model.constants)) {
      constants[entry.first] = index;
      inputs.insert({entry.first, nullptr});
    }
  }

  void run() {
    CarriedNames names = matchCarried(
        carry, llvm::map_to_vector(inputs, [](auto &entry) { return entry.first; }), outputs);
    if (!names.problems.empty())
      fail("--carry: expected pairs of an input and an output of the model",
           std::move(names.problems));
    for (auto &[input, output] : names.outputOf)
      enter(input, output.str());
    if (std::string error = zeros.checkUsed(); !error.empty())
      fail(error);
  }

private:
  bool isZero(StringRef name) {
    std::string error;
    bool found = zeros.match(name, error);
    if (!error.empty())
      fail(error);
    return found;
  }

  /// Enters the input `name` into the model's constants as a tensor whose value no one may fold.
  void enter(StringRef name, std::string output) {
    auto known = constants.find(name);
    if (known == constants.end()) {
      Constant constant;
      const pb::TypeProto::Tensor &type = inputs.lookup(name)->type().tensor_type();
      if (type.elem_type() == pb::TensorProto::UNDEFINED || !type.has_shape())
        fail("carried input " + quote(name) + ": expected a tensor with element type and shape");
      constant.type = type.elem_type();
      for (const auto &dim : type.shape().dim()) {
        if (!dim.has_dim_value())
          fail("carried input " + quote(name) + ": expected a static shape");
        constant.dims.push_back(dim.dim_value());
      }
      constant.elements = countElements(constant.type, constant.dims, "input " + quote(name));
      constant.isRequired = !isZero(name);
      if (!constant.isRequired)
        constant.splat = 0.0;
      model.constants.emplace_back(name.str(), std::move(constant));
    } else {
      makeState(model.constants[known->second].second, name);
    }
    model.record.updates.emplace_back(name.str(), std::move(output));
  }

  Model &model;
  llvm::ArrayRef<CarriedPair> carry;
  ZeroPatterns zeros;
  /// Inputs and initializers in the model's order, with the declaration of inputs.
  llvm::MapVector<StringRef, const pb::ValueInfoProto *> inputs;
  llvm::SmallVector<StringRef> outputs;
  llvm::StringMap<size_t> constants;
};
} // namespace

void carryState(Model &model, llvm::ArrayRef<CarriedPair> carry,
                llvm::ArrayRef<std::string> zeros) {
  Carrier(model, carry, zeros).run();
}

} // namespace zero::importer
