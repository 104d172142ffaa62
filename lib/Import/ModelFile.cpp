//===- ModelFile.cpp - reads an ONNX file ---------------------------------===//

#include "ModelFile.h"
#include "LostParameters.h"
#include "Opsets.h"
#include "RestoreParameters.h"
#include "TrainingInfo.h"

#include "google/protobuf/io/coded_stream.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// Protobuf's own bound on one message.
static constexpr uint64_t kMaxBytes = (1u << 31) - 1;
/// Sub-graphs, functions and types nest a few levels; ONNX itself reads 100.
static constexpr int kMaxRecursion = 100;
static constexpr int kMaxNodes = 1'000'000;

static std::unique_ptr<llvm::MemoryBuffer> mapFile(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    fail("cannot open: " + error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    fail("expected a regular file");
  if (status.getSize() > kMaxBytes)
    fail("expected a model of less than 2 GiB, got " + Twine(status.getSize()) + " bytes",
         {"larger models keep their weights in external data"});
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail("cannot read: " + buffer.getError().message());
  return std::move(*buffer);
}

static void parse(StringRef bytes, pb::ModelProto &proto) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t *>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(kMaxRecursion);
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage() || !proto.has_graph() ||
      !proto.has_ir_version())
    fail(explainBadFile(bytes));
}

static void checkNodes(const pb::ModelProto &proto) {
  if (proto.graph().node_size() > kMaxNodes)
    fail("expected at most " + Twine(kMaxNodes) + " nodes, got " +
         Twine(proto.graph().node_size()));
}

[[noreturn]] static void failNotRaw(const Twine &what) {
  fail(what + ": its data is not one block of raw bytes",
       {"save the model again with raw_data or external data"});
}

namespace {
/// Converts tensors of the model to Constants.
class TensorReader {
public:
  TensorReader(std::string file, DataFiles &files) : file(std::move(file)), files(files) {}

  /// `what` names the tensor in messages. `range` is the range of its bytes in the model's file.
  Constant read(pb::TensorProto &tensor, std::optional<ByteRange> range, const Twine &what) {
    Constant constant;
    constant.type = tensor.data_type();
    constant.dims = Dims(dimsOf(tensor));
    if (elementBytes(constant.type) == 0)
      fail(what + ": expected a float, integer or bool element type, got " +
           typeName(constant.type));
    if (tensor.has_segment())
      fail(what + ": segmented tensors are not supported");
    constant.elements = countElements(constant.type, constant.dims, what);
    const int64_t bytes = constant.elements * elementBytes(constant.type);
    if (tensor.data_location() == pb::TensorProto::EXTERNAL)
      readExternal(tensor, constant, bytes, what);
    else
      readInternal(tensor, constant, range, bytes, what);
    return constant;
  }

private:
  void readExternal(pb::TensorProto &tensor, Constant &constant, int64_t bytes, const Twine &what) {
    constant.data = files.resolve(tensor, bytes);
    // Shapes, axes and bounds are scalars and vectors. A matrix of indices or a mask need not be
    // read from the file.
    const bool isVector = constant.dims.size() <= 1;
    if (!constant.isLarge() && isVector && (!isFloat(constant.type) || constant.elements == 1))
      constant.value = makeTensor(constant.type, constant.dims, files.read(*constant.data, what));
  }

  void readInternal(pb::TensorProto &tensor, Constant &constant, std::optional<ByteRange> range,
                    int64_t bytes, const Twine &what) {
    if (range && range->bytes == static_cast<uint64_t>(bytes))
      constant.data = DataRef{file, range->offset, range->bytes};
    else if (tensor.has_raw_data() && tensor.raw_data().size() != static_cast<size_t>(bytes))
      fail(what + ": expected " + Twine(bytes) + " bytes of data for its shape, got " +
           Twine(tensor.raw_data().size()));
    else if (constant.isLarge())
      failNotRaw(what);
    if (constant.isLarge())
      return;
    constant.value = makeTensor(constant.type, constant.dims, tensorBytes(tensor));
    constant.value->set_name(tensor.name());
  }

  std::string file;
  DataFiles &files;
};
} // namespace

pb::TensorProto constantValue(pb::NodeProto &node) {
  if (node.attribute_size() != 1 || node.output_size() != 1)
    fail(describe(node) + ": expected one attribute and one result");
  pb::AttributeProto &attribute = *node.mutable_attribute(0);
  pb::TensorProto tensor;
  const std::string &name = attribute.name();
  if (name == "value" && attribute.has_t())
    return std::move(*attribute.mutable_t());
  if (name == "value_float" || name == "value_floats")
    tensor.set_data_type(pb::TensorProto::FLOAT);
  else if (name == "value_int" || name == "value_ints")
    tensor.set_data_type(pb::TensorProto::INT64);
  else
    fail(describe(node) + ": attribute " + quote(name) + " is not supported");
  if (name == "value_float")
    tensor.add_float_data(attribute.f());
  else if (name == "value_int")
    tensor.add_int64_data(attribute.i());
  *tensor.mutable_float_data() = name == "value_floats" ? attribute.floats() : tensor.float_data();
  *tensor.mutable_int64_data() = name == "value_ints" ? attribute.ints() : tensor.int64_data();
  if (name == "value_floats" || name == "value_ints")
    tensor.add_dims(attribute.floats_size() + attribute.ints_size());
  return tensor;
}

static void takeInitializers(Model &model, TensorReader &reader, const TensorRanges &ranges) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  if (graph.sparse_initializer_size() != 0)
    fail("sparse initializers are not supported: " +
         quote(graph.sparse_initializer(0).values().name()));
  for (int i = 0; i < graph.initializer_size(); ++i) {
    pb::TensorProto &tensor = *graph.mutable_initializer(i);
    if (tensor.name().empty())
      fail("initializer " + Twine(i) + " has no name");
    std::string what = "initializer " + quote(tensor.name());
    Constant constant = reader.read(tensor, ranges.initializers.at(i), what);
    // It might be a parameter, and the IR holds no parameter's bytes.
    if (isFloat(constant.type) && constant.elements > 1 && !constant.data)
      failNotRaw(what);
    constant.isInitializer = true;
    model.constants.emplace_back(tensor.name(), std::move(constant));
    tensor.clear_raw_data();
  }
  graph.clear_initializer();
}

using Ranges = std::vector<std::optional<ByteRange>>;

static void takeConstantNodes(Model &model, TensorReader &reader, const Ranges &ranges) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  llvm::StringSet<> inputs;
  for (const pb::ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
  for (int i = 0; i < graph.node_size(); ++i) {
    pb::NodeProto &node = *graph.mutable_node(i);
    if (node.domain() == "ai.onnx")
      node.clear_domain();
    if (node.op_type() != "Constant" || !node.domain().empty()) {
      kept.Add(std::move(node));
      continue;
    }
    pb::TensorProto tensor = constantValue(node);
    if (inputs.contains(node.output(0)))
      fail(describe(node) + ": its result " + quote(node.output(0)) + " is also an input", {},
           "export the model with another name of that input");
    std::optional<ByteRange> range = ranges.empty() ? std::nullopt : ranges.at(i);
    model.constants.emplace_back(node.output(0), reader.read(tensor, range, describe(node)));
  }
  graph.mutable_node()->Swap(&kept);
}

void takeConstantNodes(Model &model) {
  TensorReader reader(llvm::sys::path::filename(model.path).str(), model.files);
  takeConstantNodes(model, reader, {});
}

pb::ModelProto readProto(StringRef path) {
  pb::ModelProto proto;
  parse(mapFile(path)->getBuffer(), proto);
  checkNodes(proto);
  return proto;
}

Constant readTensor(Model &model, pb::TensorProto &tensor, std::optional<ByteRange> range,
                    const Twine &what) {
  return TensorReader(llvm::sys::path::filename(model.path).str(), model.files)
      .read(tensor, range, what);
}

/// Undoes what exporters do to the parameters of a module.
static void restoreModule(Model &model) {
  restoreParameters(model);
  splitMergedTensors(model);
  if (size_t count = model.signature.restored)
    model.record.remarks.push_back(
        std::to_string(count) +
        " parameters restored that the exporter had transposed, merged or dropped");
  findLostParameters(model);
}

Model readModel(StringRef path, const ImportOptions &options) {
  StringRef folder = llvm::sys::path::parent_path(path);
  Model model{
      {},
      path.str(),
      DataFiles(folder.empty() ? "." : folder.str(), options.allowSymlinks, options.checkData),
      {},
      {},
      {},
      {},
      {}};
  std::unique_ptr<llvm::MemoryBuffer> buffer = mapFile(path);
  parse(buffer->getBuffer(), model.proto);
  model.training = chooseTraining(model.proto, options);
  ModelRanges ranges = scanTensors(buffer->getBuffer(), model.training);
  if (model.training) {
    appendAlgorithm(model);
    ranges.main.append(std::move(ranges.algorithm));
  }
  checkNodes(model.proto);
  model.opsets = readOpsets(model.proto.opset_import());
  // A node of ai.onnx without an opset is an error; those of other domains may be all that there
  // are.
  if (model.opsets.empty())
    fail("the model names no opset of ai.onnx");
  model.signature = readSignature(model.proto.graph());
  TensorReader reader(llvm::sys::path::filename(path).str(), model.files);
  takeInitializers(model, reader, ranges.main);
  takeConstantNodes(model, reader, ranges.main.nodeValues);
  // Bindings name initializers as they are in the file.
  if (model.training)
    bindState(model, ranges.initialization, options);
  else
    restoreModule(model);
  const bool isStep = model.training || !options.carry.empty() || !options.ortOptimizer.empty();
  if (!isStep && !options.forwardOnly && model.signature.kinds.empty())
    keepScalarParameters(model);
  // Trained tensors change, so nothing may be folded through them.
  for (auto &[name, constant] : model.constants)
    if (model.signature.kindOf(name) == "parameter" && constant.data)
      constant.value.reset();
  return model;
}

} // namespace zero::importer
