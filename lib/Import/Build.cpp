//===- Build.cpp - builds the module --------------------------------------===//

#include "Build.h"
#include "Opsets.h"
#include "RestoreParameters.h"
#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero::importer {

/// Whether a constant becomes a state symbol: tensors that may be trained, and tensors that are too
/// large for the IR. All others become constants of the step, including the short lists of floats
/// that Constant nodes have as attributes.
static bool isState(const Constant &constant) {
  return constant.isLarge() || !constant.value ||
         (isFloat(constant.type) && constant.elements > 1 && constant.data.has_value());
}

/// Whether operand `index` of `node` is a list of numbers that controls resizing. It becomes a
/// constant of the step, even if it is an initializer of floats.
static bool isSetting(const pb::NodeProto &node, int index) {
  return node.domain().empty() && index > 0 &&
         (node.op_type() == "Resize" || node.op_type() == "Upsample");
}

namespace {
class ModuleBuilder {
public:
  ModuleBuilder(const Model &model, const TypedGraph &graph, MLIRContext *context)
      : model(model), graph(graph), context(context), builder(context),
        fileLoc(FileLineColLoc::get(context, llvm::sys::path::filename(model.path), 0, 0)),
        module(ModuleOp::create(fileLoc)) {}

  OwningOpRef<ModuleOp> run(ArrayRef<Result> results) {
    findUsed(results);
    builder.setInsertionPointToEnd(module->getBody());
    for (const auto &[name, constant] : model.constants)
      if (isState(constant) && (used.contains(name) || !settings.contains(name)))
        addState(name, constant);
    addStep(results);
    setStrings(module.get(), kLostParametersAttr, model.signature.lost);
    setStrings(module.get(), kAbsentParametersAttr, model.signature.absent);
    if (lacksRecord(model))
      module.get()->setAttr(kNoRecordAttr, builder.getUnitAttr());
    addInitializers();
    return std::move(module);
  }

private:
  /// Sets attribute `name` of `op` to a list, if it has any entries.
  void setStrings(Operation *op, StringRef name, ArrayRef<std::string> texts) {
    if (!texts.empty())
      op->setAttr(name, builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(texts)));
  }

  Location locate(StringRef name) { return NameLoc::get(builder.getStringAttr(name), fileLoc); }

  void addInitializers() {
    SmallVector<NamedAttribute> names;
    for (const auto &[name, constant] : model.constants)
      if (constant.initializer)
        names.push_back(
            builder.getNamedAttr(symbolOf(name), builder.getStringAttr(*constant.initializer)));
    if (!names.empty())
      module.get()->setAttr(kInitializersAttr, builder.getDictionaryAttr(names));
  }

  /// Marks the nodes that the results still need after shape arithmetic is folded.
  void findUsed(ArrayRef<Result> results) {
    for (const Result &result : results)
      used.insert(result.value);
    for (const auto &[buffer, value] : model.record.updates) {
      used.insert(value);
      written.insert(buffer);
    }
    for (pb::NodeProto *node : llvm::reverse(graph.nodes)) {
      bool isUsed = llvm::any_of(node->output(), [&](const std::string &name) {
        return used.contains(name) && !graph.known.contains(name);
      });
      if (!isUsed)
        continue;
      usedNodes.insert(node);
      for (const auto &[index, name] : llvm::enumerate(node->input()))
        (isKnownSetting(*node, static_cast<int>(index)) ? settings : used).insert(name);
    }
  }

  bool isKnownSetting(const pb::NodeProto &node, int index) const {
    return isSetting(node, index) && graph.known.contains(node.input(index));
  }

  /// The symbol of the state `name`. Whole steps often have a counter with the name of the step
  /// function.
  static StringRef symbolOf(StringRef name) { return name == kStepName ? "step.value" : name; }

  void addState(StringRef name, const Constant &constant) {
    if (name == kStepName && !written.contains(name))
      fail("initializer 'step': expected another name, that of the step function is reserved");
    if (!isFloat(constant.type) && !used.contains(name) && !written.contains(name))
      return;
    auto type = tensorType(constant.type, constant.dims, context, "initializer " + quote(name));
    FloatAttr splat = constant.splat ? builder.getF64FloatAttr(*constant.splat) : FloatAttr();
    auto state = StateOp::create(builder, locate(name), Role::Constant, symbolOf(name),
                                 FlatSymbolRefAttr(), type, dataOf(constant, type), splat,
                                 constant.isRequired, randomOf(constant));
    if (symbolOf(name) != name)
      setStrings(state, kAliasesAttr, name.str());
    if (auto it = model.signature.aliases.find(name); it != model.signature.aliases.end())
      setStrings(state, kAliasesAttr, it->second);
    if (constant.number)
      state->setAttr(kNumberAttr, builder.getF64FloatAttr(*constant.number));
    if (model.signature.frozen.contains(name))
      state->setAttr(kExportedFrozenAttr, builder.getUnitAttr());
    if (!model.signature.kinds.empty() && isFloat(constant.type)) {
      StringRef kind = model.signature.kindOf(name);
      state->setAttr(kExportedAsAttr, builder.getStringAttr(kind.empty() ? "constant" : kind));
    } else if (model.signature.tables.contains(name)) {
      state->setAttr(kExportedAsAttr, builder.getStringAttr("buffer"));
    } else if (lacksRecord(model) && isFloat(constant.type) && !constant.isInitializer) {
      // The nodes of such a graph hold numbers of the code only.
      state->setAttr(kExportedAsAttr, builder.getStringAttr("constant"));
    }
  }

  RandomAttr randomOf(const Constant &constant) {
    if (!constant.random)
      return {};
    const RandomValues &random = *constant.random;
    return RandomAttr::get(context, random.isNormal ? Distribution::Normal : Distribution::Uniform,
                           builder.getF64FloatAttr(random.first),
                           builder.getF64FloatAttr(random.second), random.stream);
  }

  /// The file range of the bytes of `constant`, of `type`; a matrix may be stored as its transpose.
  DataAttr dataOf(const Constant &constant, RankedTensorType type) {
    if (!constant.data)
      return {};
    Type stored;
    if (constant.transposed)
      stored = type.clone(llvm::to_vector(llvm::reverse(type.getShape())));
    const DataRef &data = *constant.data;
    return DataAttr::get(context, data.file, data.offset, data.bytes, stored);
  }

  void addStep(ArrayRef<Result> wanted) {
    SmallVector<Type> arguments, results;
    for (const Input &input : graph.inputs)
      arguments.push_back(
          tensorType(input.shape.type, input.shape.dims, context, "input " + quote(input.name)));
    for (const Result &result : wanted)
      results.push_back(typeOf(result.value));
    auto function = func::FuncOp::create(builder, fileLoc, kStepName,
                                         builder.getFunctionType(arguments, results));
    Block *body = function.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(graph.inputs))
      values[input.name] = body->getArgument(i);
    bind(function, wanted);
    builder.setInsertionPointToEnd(body);
    addReads();
    for (pb::NodeProto *node : graph.nodes)
      if (usedNodes.contains(node))
        addNode(*node);
    addWrites();
    SmallVector<Value> returned;
    for (const Result &result : wanted)
      returned.push_back(valueOf(result.value));
    func::ReturnOp::create(builder, fileLoc, returned);
  }

  /// The buffers' values in the next step.
  void addWrites() {
    for (const auto &[buffer, name] : model.record.updates) {
      Value value = valueOf(name);
      if (value.getType() != typeOf(buffer))
        fail("state " + quote(buffer) + ": expected a new value of its own type, " +
             printType(graph, buffer) + ", got " + printType(graph, name) + " in " + quote(name));
      WriteOp::create(builder, locate(buffer), FlatSymbolRefAttr::get(context, symbolOf(buffer)),
                      value);
    }
  }

  /// Sets all names in one call, because the list of them is as long as the list of inputs.
  void bind(func::FuncOp function, ArrayRef<Result> wanted) {
    auto name = [&](StringRef text) {
      return builder.getDictionaryAttr(
          builder.getNamedAttr(kBindingAttr, builder.getStringAttr(text)));
    };
    function.setAllArgAttrs(
        llvm::map_to_vector(graph.inputs, [&](const Input &input) { return name(input.name); }));
    function.setAllResultAttrs(
        llvm::map_to_vector(wanted, [&](const Result &result) { return name(result.binding); }));
  }

  void addReads() {
    for (const auto &[name, constant] : model.constants)
      if (isState(constant) && used.contains(name))
        values[name] = ReadOp::create(builder, locate(name), typeOf(name), symbolOf(name));
  }

  Type typeOf(StringRef name) {
    auto it = graph.types.find(name);
    if (it == graph.types.end())
      return UnrankedTensorType::get(builder.getF32Type());
    return tensorType(it->second.type, it->second.dims, context, "value " + quote(name));
  }

  /// The value `name`, or a constant or `onnx.none` made here.
  Value valueOf(StringRef name) {
    Value &value = values[name];
    if (value)
      return value;
    if (name.empty())
      return value = onnx::NoneOp::create(builder, fileLoc, builder.getNoneType());
    auto known = graph.known.find(name);
    if (known == graph.known.end())
      fail("value " + quote(name) + " has no definition");
    return value = constantOf(known->second, name);
  }

  Value constantOf(const pb::TensorProto &tensor, StringRef name) {
    return arith::ConstantOp::create(builder, locate(name), toElements(tensor, context));
  }

  /// ONNX lets trailing names be left out or empty.
  template <typename Names>
  static int usedCount(const Names &names) {
    int count = names.size();
    while (count > 0 && names.Get(count - 1).empty())
      --count;
    return count;
  }

  void addNode(const pb::NodeProto &node) {
    SmallVector<Value> inputs;
    for (int i = 0, count = usedCount(node.input()); i < count; ++i)
      inputs.push_back(isKnownSetting(node, i)
                           ? constantOf(graph.known.find(node.input(i))->second, node.input(i))
                           : valueOf(node.input(i)));
    SmallVector<Type> results;
    for (int i = 0, count = usedCount(node.output()); i < count; ++i)
      results.push_back(node.output(i).empty() ? builder.getNoneType() : typeOf(node.output(i)));
    DictionaryAttr attributes =
        convertAttributes(node, model.record.attributesOf(node.output(0)), context);
    auto op =
        onnx::NodeOp::create(builder, locate(nodeName(node)), results, node.op_type(), inputs,
                             attributes, node.domain(), *opsetOf(model, node), nodeName(node));
    if (auto note = graph.notes.find(&node); note != graph.notes.end())
      op->setAttr(kImportNoteAttr, builder.getStringAttr(note->second));
    for (auto [name, result] : llvm::zip(node.output(), op.getOutputs()))
      if (!name.empty() && !graph.known.contains(name))
        values[name] = model.record.detached.contains(name) ? stopGradient(result, op) : result;
  }

  /// `value` behind a node through which no gradient flows.
  Value stopGradient(Value value, onnx::NodeOp node) {
    return onnx::NodeOp::create(builder, node.getLoc(), value.getType(), "StopGradient", value,
                                builder.getDictionaryAttr({}), onnx::kZeroDomain, /*opset=*/1,
                                node.getNode())
        .getResult(0);
  }

  const Model &model;
  const TypedGraph &graph;
  MLIRContext *context;
  OpBuilder builder;
  FileLineColLoc fileLoc;
  OwningOpRef<ModuleOp> module;
  llvm::StringSet<> used, settings, written;
  llvm::DenseSet<const pb::NodeProto *> usedNodes;
  llvm::StringMap<Value> values;
};
} // namespace

OwningOpRef<ModuleOp> buildModule(const Model &model, const TypedGraph &graph,
                                  ArrayRef<Result> results, MLIRContext *context) {
  return ModuleBuilder(model, graph, context).run(results);
}

} // namespace zero::importer
