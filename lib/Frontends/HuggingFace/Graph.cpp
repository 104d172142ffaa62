//===- Graph.cpp - a step under construction ------------------------------===//

#include "Graph.h"

#include "dialects/Onnx/Operators.h"
#include "dialects/Zero/ExporterAttrs.h"

using namespace mlir;

namespace zero::hf {

static DictionaryAttr bindingOf(OpBuilder &builder, StringRef name) {
  return builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, builder.getStringAttr(name)));
}

Graph::Graph(Location loc, Weights &weights, StringRef stem, ArrayRef<StringRef> inputs,
             ArrayRef<int64_t> shape)
    : context(loc.getContext()), loc(loc), weights(weights), stem(stem),
      module(ModuleOp::create(loc)), builder(context) {
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types(inputs.size(), RankedTensorType::get(shape, builder.getI64Type()));
  step = func::FuncOp::create(builder, loc, kStepName, builder.getFunctionType(types, {}));
  body = step.addEntryBlock();
  step.setAllArgAttrs(
      llvm::map_to_vector(inputs, [&](StringRef name) { return bindingOf(builder, name); }));
  builder.setInsertionPointToEnd(body);
}

NodeBuilder Graph::at(const Twine &module) {
  const std::string name = module.str();
  return NodeBuilder(builder, NameLoc::get(builder.getStringAttr(name), loc), name);
}

DataAttr Graph::dataOf(StringRef name, RankedTensorType type, SmallVectorImpl<StringRef> &aliases) {
  if (!weights.isOpen())
    return {};
  for (StringRef alias : aliases)
    weights.checkTied(name, alias, loc);
  const StringRef stored = weights.storedName(name, stem);
  if (!stored.empty() && stored != name) {
    aliases.push_back(stored);
    storedNames.emplace_back(builder.getStringAttr(name), builder.getStringAttr(stored));
  }
  return weights.find(stored.empty() ? name : stored, type, loc);
}

Value Graph::parameter(const Twine &name, ArrayRef<int64_t> shape, StringRef alias) {
  const std::string symbol = name.str();
  Value &value = parameters[symbol];
  if (value)
    return value;
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  auto place = NameLoc::get(builder.getStringAttr(symbol), loc);
  SmallVector<StringRef> aliases;
  if (!alias.empty())
    aliases.push_back(alias);
  DataAttr data = dataOf(symbol, type, aliases);
  OpBuilder top(step);
  auto state = StateOp::create(top, place, Role::Constant, symbol, FlatSymbolRefAttr(), type, data,
                               FloatAttr(), /*required=*/!data);
  state->setAttr(kExportedAsAttr, builder.getStringAttr("parameter"));
  if (!aliases.empty())
    state->setAttr(kAliasesAttr, builder.getStrArrayAttr(aliases));
  return value = ReadOp::create(builder, place, type, symbol);
}

Value Graph::linear(Value value, const Twine &module, int64_t width, bool hasBias,
                    bool storesTransposed) {
  NodeBuilder nodes = at(module);
  const int64_t columns = tensorType(value).getShape().back();
  Value weight = storesTransposed
                     ? parameter(module + ".weight", {columns, width})
                     : nodes.transposeLast(parameter(module + ".weight", {width, columns}));
  Value product = nodes.matmul(value, weight);
  return hasBias ? nodes.add(product, parameter(module + ".bias", width)) : product;
}

Value Graph::dropout(Value value, const Twine &module, double ratio) {
  if (ratio == 0)
    return value;
  NodeBuilder nodes = at(module);
  Value training = nodes.splat(1, RankedTensorType::get({}, builder.getI1Type()));
  return nodes
      .create(op::Dropout, value.getType(), {value, nodes.scalar(ratio, value.getType()), training})
      .getResult(0);
}

OwningOpRef<ModuleOp> Graph::finish(Value result, StringRef binding) {
  func::ReturnOp::create(builder, loc, result);
  step.setFunctionType(
      builder.getFunctionType(step.getFunctionType().getInputs(), result.getType()));
  step.setResultAttrs(0, bindingOf(builder, binding));
  if (!storedNames.empty())
    module.get()->setAttr(kInitializersAttr, builder.getDictionaryAttr(storedNames));
  return std::move(module);
}

} // namespace zero::hf
