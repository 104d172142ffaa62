//===- Shapes.cpp - binds symbolic dimensions -----------------------------===//

#include "Shapes.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero {

std::string parseShapeBindings(StringRef text, ShapeBindings &bindings) {
  llvm::SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, shape] = item.rsplit('=');
    if (name.empty() || name.size() == item.size())
      return ("expected NAME=SHAPE such as input_ids=4x32, got '" + item + "'").str();
    llvm::SmallVector<StringRef> parts;
    shape.split(parts, 'x', -1, /*KeepEmpty=*/!shape.empty());
    llvm::SmallVector<int64_t> dims;
    for (StringRef part : parts)
      if (!parseInteger(part, dims.emplace_back()) || dims.back() <= 0)
        return ("expected positive dimensions joined by 'x' for '" + name + "', got '" + shape +
                "'")
            .str();
    if (!bindings.try_emplace(name, dims).second)
      return ("'" + name + "' is bound twice").str();
  }
  return {};
}

namespace importer {

pb::TypeProto toProto(const TensorShape &shape) {
  pb::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(shape.type);
  pb::TensorShapeProto &dims = *type.mutable_tensor_type()->mutable_shape();
  for (int64_t dim : shape.dims)
    dims.add_dim()->set_dim_value(dim);
  return type;
}

using Dimension = pb::TensorShapeProto::Dimension;

/// Some exporters write -1 for a dimension that is not known.
static bool isFixed(const Dimension &dim) { return dim.has_dim_value() && dim.dim_value() >= 0; }

static std::string printDims(const pb::TensorShapeProto &shape) {
  std::vector<std::string> parts;
  for (const Dimension &dim : shape.dim())
    parts.push_back(isFixed(dim)              ? std::to_string(dim.dim_value())
                    : dim.dim_param().empty() ? "?"
                                              : quote(dim.dim_param()));
  return llvm::join(parts, "x");
}

static const pb::TypeProto::Tensor &tensorTypeOf(const pb::ValueInfoProto &input) {
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape())
    fail("input " + quote(input.name()) + ": expected a tensor with a shape");
  return input.type().tensor_type();
}

namespace {
class Binder {
public:
  Binder(const Model &model, const ShapeBindings &bindings, int64_t batch)
      : bindings(bindings), batch(batch) {
    llvm::StringSet<> constants;
    for (const auto &[name, constant] : model.constants)
      constants.insert(name);
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      if (!constants.contains(input.name()))
        inputs.push_back(&input);
  }

  std::vector<Input> run() {
    checkNames();
    for (const pb::ValueInfoProto *input : inputs)
      bindSymbols(*input);
    bindBatch();
    std::vector<Input> bound;
    std::vector<std::string> notes;
    for (const pb::ValueInfoProto *input : inputs) {
      bound.push_back({input->name(), bindInput(*input)});
      if (llvm::is_contained(bound.back().shape.dims, kUnbound))
        notes.push_back("input " + quote(input->name()) + " is " +
                        printDims(tensorTypeOf(*input).shape()));
      else
        countElements(bound.back().shape.type, bound.back().shape.dims,
                      "input " + quote(input->name()));
    }
    if (notes.empty())
      return bound;
    fail("the model's inputs have unbound symbolic dimensions", std::move(notes),
         "bind them with --shape NAME=SHAPE,..., such as --shape " + example());
  }

private:
  static constexpr int64_t kUnbound = -1;

  void checkNames() {
    for (const auto &binding : bindings)
      if (llvm::none_of(inputs, [&](auto *input) { return input->name() == binding.getKey(); }))
        fail("--shape binds " + quote(binding.getKey()) + ", which is no input of the model");
  }

  /// Takes the values of `input`'s symbols from its binding.
  void bindSymbols(const pb::ValueInfoProto &input) {
    auto it = bindings.find(input.name());
    if (it == bindings.end())
      return;
    const pb::TensorShapeProto &shape = tensorTypeOf(input).shape();
    std::string what = "input " + quote(input.name());
    if (static_cast<size_t>(shape.dim_size()) != it->second.size())
      fail(what + ": expected a shape of " + Twine(shape.dim_size()) + " dimensions, " +
           printDims(shape) + ", got " + Twine(it->second.size()));
    for (auto [dim, value] : llvm::zip_equal(shape.dim(), it->second)) {
      if (isFixed(dim) && dim.dim_value() != value)
        fail(what + ": expected " + printDims(shape) + ", got dimension " + Twine(value) + " for " +
             Twine(dim.dim_value()));
      if (isFixed(dim) || dim.dim_param().empty())
        continue;
      auto [symbol, isNew] = symbols.try_emplace(dim.dim_param(), value);
      if (!isNew && symbol->second != value)
        fail(what + ": dimension " + quote(dim.dim_param()) + " is bound to " +
             Twine(symbol->second) + " and to " + Twine(value));
    }
  }

  /// Takes the batch for the leading symbol of inputs without a binding, if they agree.
  void bindBatch() {
    if (batch == 0)
      return;
    llvm::StringSet<> leading;
    for (const pb::ValueInfoProto *input : inputs) {
      const pb::TensorShapeProto &shape = tensorTypeOf(*input).shape();
      if (!bindings.contains(input->name()) && shape.dim_size() > 0 && !isFixed(shape.dim(0)) &&
          !symbols.contains(shape.dim(0).dim_param()))
        leading.insert(shape.dim(0).dim_param());
    }
    if (leading.size() == 1 && !leading.begin()->getKey().empty())
      symbols[leading.begin()->getKey()] = batch;
  }

  TensorShape bindInput(const pb::ValueInfoProto &input) {
    const pb::TypeProto::Tensor &type = tensorTypeOf(input);
    auto given = bindings.find(input.name());
    TensorShape shape{type.elem_type(), {}};
    for (auto [i, dim] : llvm::enumerate(type.shape().dim())) {
      auto symbol = symbols.find(dim.dim_param());
      if (isFixed(dim))
        shape.dims.push_back(dim.dim_value());
      else if (given != bindings.end())
        shape.dims.push_back(given->second[i]);
      else
        shape.dims.push_back(symbol != symbols.end() ? symbol->second : kUnbound);
    }
    return shape;
  }

  /// A binding that would do, for the message.
  std::string example() {
    std::vector<std::string> items;
    for (const pb::ValueInfoProto *input : inputs) {
      std::vector<std::string> dims;
      for (const Dimension &dim : tensorTypeOf(*input).shape().dim())
        dims.push_back(isFixed(dim) ? std::to_string(dim.dim_value()) : "4");
      items.push_back(input->name() + "=" + llvm::join(dims, "x"));
    }
    return llvm::join(items, ",");
  }

  const ShapeBindings &bindings;
  int64_t batch;
  std::vector<const pb::ValueInfoProto *> inputs;
  llvm::StringMap<int64_t> symbols;
};
} // namespace

std::vector<Input> bindInputs(const Model &model, const ShapeBindings &bindings, int64_t batch) {
  return Binder(model, bindings, batch).run();
}

} // namespace importer
} // namespace zero
