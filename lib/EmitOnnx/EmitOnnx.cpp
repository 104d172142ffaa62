//===- EmitOnnx.cpp - write a step as an ONNX model -----------------------===//

#include "zero/EmitOnnx/EmitOnnx.h"

#include "Tensors.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/FunctionalStep.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

/// Of protobuf: a message has fewer than 2 GB. What is left is for the nodes.
static constexpr uint64_t kMostInline = uint64_t(1) << 30;
/// The IR version of ONNX that introduced the emitted opset.
static constexpr int64_t kIrVersion = 10;
/// A constant of more equal elements is computed.
static constexpr int64_t kMostEqual = 16;

std::string externalDataOf(StringRef output) { return (output + ".data").str(); }

namespace emitter {
namespace {

class GraphWriter {
public:
  GraphWriter(ModuleOp module, func::FuncOp step, const EmitOnnxOptions &options)
      : module(module), step(step), options(options), symbols(module), values(options.dataRoot) {}

  LogicalResult run(EmittedGraph &written);

private:
  LogicalResult fail(const rt::Status &status) {
    if (status.ok())
      return success();
    return module.emitError() << status.getMessage();
  }
  std::string uniqueName(StringRef stem);
  const std::string &name(Value value, StringRef stem);
  bool usesFile();
  LogicalResult checkOutputs(bool hasFile);
  void reserveNames();
  LogicalResult addInputs();
  LogicalResult addState(const std::string &name, Operation *op, bool isOptional);
  LogicalResult addElements(const std::string &name, DenseElementsAttr elements);
  LogicalResult addOp(Operation &op);
  LogicalResult addConstant(arith::ConstantOp constant);
  LogicalResult addNode(onnx::NodeOp node);
  LogicalResult addAttribute(onnx::NodeOp node, NamedAttribute attr, pb::NodeProto &proto);
  void addOutputs();
  void describe(Value value);
  rt::Status commit(const std::string &bytes);

  ModuleOp module;
  func::FuncOp step;
  const EmitOnnxOptions &options;
  SymbolTable symbols;
  InitialValues values;
  TensorWriter tensors;
  pb::ModelProto model;
  pb::GraphProto &graph = *model.mutable_graph();
  llvm::DenseMap<Value, std::string> names;
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> numbers;
};

} // namespace

std::string GraphWriter::uniqueName(StringRef stem) {
  if (!stem.empty() && taken.insert(stem).second)
    return stem.str();
  unsigned &number = numbers[stem];
  std::string free;
  do
    free = (stem + "_" + Twine(++number)).str();
  while (!taken.insert(free).second);
  return free;
}

const std::string &GraphWriter::name(Value value, StringRef stem) {
  std::string &name = names[value];
  if (name.empty())
    name = uniqueName(stem);
  return name;
}

bool GraphWriter::usesFile() {
  uint64_t bytes = 0;
  auto add = [&](DataAttr data) { bytes += data ? data.getBytes() : 0; };
  for (auto parameter : module.getOps<ParameterOp>())
    add(parameter.getDataAttr());
  for (auto state : module.getOps<StateOp>())
    add(state.getDataAttr());
  return options.externalData || bytes > kMostInline;
}

/// No file of initial values may be overwritten.
LogicalResult GraphWriter::checkOutputs(bool hasFile) {
  SmallVector<std::string> outputs{options.output};
  if (hasFile)
    outputs.push_back(externalDataOf(options.output));
  llvm::StringSet<> files;
  auto add = [&](DataAttr data) {
    if (data)
      files.insert(data.getFile());
  };
  for (auto parameter : module.getOps<ParameterOp>())
    add(parameter.getDataAttr());
  for (auto state : module.getOps<StateOp>())
    add(state.getDataAttr());
  for (const auto &file : files)
    for (const std::string &output : outputs) {
      SmallString<128> path(options.dataRoot);
      llvm::sys::path::append(path, file.getKey());
      if (llvm::sys::fs::equivalent(path, output))
        return module.emitError() << "the output '" << output
                                  << "' would overwrite initial values of the model";
    }
  return success();
}

/// Inputs and outputs have the names that users bind.
void GraphWriter::reserveNames() {
  for (BlockArgument argument : step.getArguments()) {
    names[argument] = argumentBinding(step, argument.getArgNumber()).str();
    taken.insert(names[argument]);
  }
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    std::string result = resultBinding(step, index).str();
    taken.insert(result);
    if (!isa<BlockArgument>(value) && isa<onnx::NodeOp>(value.getDefiningOp()))
      names.try_emplace(value, result);
  }
}

LogicalResult GraphWriter::addElements(const std::string &name, DenseElementsAttr elements) {
  pb::TensorProto *tensor = graph.add_initializer();
  tensor->set_name(name);
  setType(cast<RankedTensorType>(elements.getType()), *tensor);
  return fail(tensors.add(bytesOf(elements), *tensor));
}

/// Adds the initial value of `op`, a parameter or state; `isOptional`: unless it is zeros.
LogicalResult GraphWriter::addState(const std::string &name, Operation *op, bool isOptional) {
  auto parameter = dyn_cast<ParameterOp>(op);
  auto state = dyn_cast<StateOp>(op);
  DataAttr data = parameter ? parameter.getDataAttr() : state.getDataAttr();
  FloatAttr splat = parameter ? parameter.getSplatAttr() : state.getSplatAttr();
  RankedTensorType type = parameter ? parameter.getTensorType() : state.getTensorType();
  if (data) {
    std::string bytes;
    if (failed(fail(values.read(data, type, bytes))))
      return failure();
    pb::TensorProto *tensor = graph.add_initializer();
    tensor->set_name(name);
    setType(type, *tensor);
    return fail(tensors.add(std::move(bytes), *tensor));
  }
  if (!splat && isOptional)
    return success(); // the run is given one
  if (!splat)
    return op->emitError() << "'" << name << "' has no initial value";
  double value = splat.getValueAsDouble();
  if (isOptional && value == 0 && type.getNumElements() > 1)
    return success();
  return addElements(name, splatOf(type, value));
}

LogicalResult GraphWriter::addInputs() {
  for (BlockArgument argument : step.getArguments()) {
    pb::ValueInfoProto *input = graph.add_input();
    input->set_name(names[argument]);
    setType(cast<RankedTensorType>(argument.getType()), *input->mutable_type());
    auto symbol = step.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), kStateAttr);
    if (symbol &&
        failed(addState(names[argument], symbols.lookup(symbol.getValue()), /*isOptional=*/true)))
      return failure();
    if (names[argument] == kLearningRate &&
        failed(addElements(names[argument], splatOf(cast<RankedTensorType>(argument.getType()),
                                                    options.learningRate))))
      return failure();
  }
  return success();
}

/// Lets a checker compare the type of `value` with what it infers.
void GraphWriter::describe(Value value) {
  pb::ValueInfoProto *info = graph.add_value_info();
  info->set_name(names[value]);
  setType(cast<RankedTensorType>(value.getType()), *info->mutable_type());
}

LogicalResult GraphWriter::addConstant(arith::ConstantOp constant) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements)
    return constant.emitError() << "expected a constant tensor, got " << constant.getType();
  auto type = cast<RankedTensorType>(elements.getType());
  const std::string &own = name(constant, "constant");
  if (!elements.isSplat() || type.getNumElements() <= kMostEqual)
    return addElements(own, elements);
  Builder builder(module.getContext());
  std::string shape = uniqueName("shape");
  if (failed(addElements(shape, builder.getI64TensorAttr(type.getShape()))))
    return failure();
  pb::NodeProto *node = graph.add_node();
  node->set_op_type(op::ConstantOfShape.type.str());
  node->set_name(own);
  node->add_input(shape);
  node->add_output(own);
  pb::AttributeProto *value = node->add_attribute();
  value->set_name("value");
  value->set_type(pb::AttributeProto::TENSOR);
  auto one = DenseElementsAttr::get(type.clone({1}), elements.getSplatValue<Attribute>());
  setType(type.clone({1}), *value->mutable_t());
  value->mutable_t()->set_raw_data(bytesOf(one));
  describe(constant);
  return success();
}

LogicalResult GraphWriter::addAttribute(onnx::NodeOp node, NamedAttribute attr,
                                        pb::NodeProto &proto) {
  pb::AttributeProto &out = *proto.add_attribute();
  out.set_name(attr.getName().str());
  Attribute value = attr.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    out.set_type(pb::AttributeProto::INT);
    out.set_i(integer.getInt());
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    out.set_type(pb::AttributeProto::FLOAT);
    out.set_f(float(number.getValueAsDouble()));
  } else if (auto text = dyn_cast<StringAttr>(value)) {
    out.set_type(pb::AttributeProto::STRING);
    out.set_s(text.str());
  } else if (auto integers = dyn_cast<DenseI64ArrayAttr>(value)) {
    out.set_type(pb::AttributeProto::INTS);
    for (int64_t element : integers.asArrayRef())
      out.add_ints(element);
  } else if (auto numbers = dyn_cast<DenseF32ArrayAttr>(value)) {
    out.set_type(pb::AttributeProto::FLOATS);
    for (float element : numbers.asArrayRef())
      out.add_floats(element);
  } else if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    out.set_type(pb::AttributeProto::TENSOR);
    setType(cast<RankedTensorType>(elements.getType()), *out.mutable_t());
    out.mutable_t()->set_raw_data(bytesOf(elements));
  } else {
    return node.emitError() << node.describe() << ": attribute '" << attr.getName().getValue()
                            << "' cannot be written";
  }
  return success();
}

LogicalResult GraphWriter::addNode(onnx::NodeOp node) {
  if (!node.getDomain().empty())
    return node.emitError() << node.describe() << ": expected an operator of ai.onnx, got one of '"
                            << node.getDomain() << "'";
  pb::NodeProto *proto = graph.add_node();
  proto->set_op_type(node.getOpType().str());
  for (Value input : node.getInputs())
    proto->add_input(isa<NoneType>(input.getType()) ? "" : names.lookup(input));
  while (proto->input_size() && proto->input(proto->input_size() - 1).empty())
    proto->mutable_input()->RemoveLast();
  for (Value output : node.getOutputs()) {
    if (isa<NoneType>(output.getType())) {
      proto->add_output("");
      continue;
    }
    bool isResult = names.contains(output);
    proto->add_output(name(output, node.getNode().empty() ? node.getOpType() : node.getNode()));
    if (!isResult)
      describe(output);
  }
  while (proto->output_size() && proto->output(proto->output_size() - 1).empty())
    proto->mutable_output()->RemoveLast();
  proto->set_name(proto->output(0));
  for (NamedAttribute attr : node.getAttrs())
    if (failed(addAttribute(node, attr, *proto)))
      return failure();
  return success();
}

LogicalResult GraphWriter::addOp(Operation &op) {
  if (auto node = dyn_cast<onnx::NodeOp>(op))
    return addNode(node);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return addConstant(constant);
  if (auto read = dyn_cast<ReadOp>(op)) // what no step writes
    return addState(name(read, read.getSymbol()), symbols.lookup(read.getSymbol()),
                    /*isOptional=*/false);
  if (isa<onnx::NoneOp, func::ReturnOp>(op))
    return success();
  return op.emitError() << "expected a node of ONNX, got " << op.getName();
}

/// A value has one name, so that what is returned under another one is copied.
void GraphWriter::addOutputs() {
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    std::string result = resultBinding(step, index).str();
    pb::ValueInfoProto *output = graph.add_output();
    output->set_name(result);
    setType(cast<RankedTensorType>(value.getType()), *output->mutable_type());
    if (names[value] == result)
      continue;
    pb::NodeProto *copy = graph.add_node();
    copy->set_op_type(op::Identity.type.str());
    copy->set_name(result);
    copy->add_input(names[value]);
    copy->add_output(result);
  }
}

LogicalResult GraphWriter::run(EmittedGraph &written) {
  written.hasExternalData = usesFile();
  if (failed(checkOutputs(written.hasExternalData)) ||
      failed(fail(tensors.open(written.hasExternalData ? externalDataOf(options.output) : ""))))
    return failure();
  model.set_ir_version(kIrVersion);
  model.set_producer_name("zero");
  model.set_producer_version(ZERO_VERSION);
  model.add_opset_import()->set_version(kEmittedOpset);
  graph.set_name("train_step");
  reserveNames();
  if (failed(addInputs()))
    return failure();
  for (Operation &op : step.getBody().front())
    if (failed(addOp(op)))
      return failure();
  addOutputs();
  std::string bytes;
  if (model.ByteSizeLong() > size_t(std::numeric_limits<int32_t>::max()) ||
      !model.SerializeToString(&bytes))
    return module.emitError() << "the graph without its tensors is larger than 2 GB, which ONNX "
                                 "cannot express";
  written.nodes = graph.node_size();
  written.states = graph.output_size() - 1;
  return fail(commit(bytes));
}

rt::Status GraphWriter::commit(const std::string &bytes) {
  rt::OutputFile file;
  ZERO_RT_TRY(rt::OutputFile::create(options.output, file));
  ZERO_RT_TRY(file.write(bytes));
  ZERO_RT_TRY(tensors.commit());
  return file.commit();
}

} // namespace emitter

FailureOr<EmittedGraph> emitOnnx(ModuleOp module, const EmitOnnxOptions &options) {
  FailureOr<func::FuncOp> step = findStep(module);
  EmittedGraph written;
  if (failed(step) || failed(emitter::GraphWriter(module, *step, options).run(written)))
    return failure();
  return written;
}

} // namespace zero
