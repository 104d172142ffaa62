//===- import_test.cpp - options of the importer ---------------------------===//

#include "dialects/Onnx/Onnx.h"
#include "zero/Import/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace zero;

namespace {

::onnx::ValueInfoProto *setTensor(::onnx::ValueInfoProto *info, llvm::StringRef name,
                                  llvm::ArrayRef<int64_t> dims) {
  info->set_name(name.str());
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(::onnx::TensorProto::FLOAT);
  tensor->mutable_shape();
  for (int64_t dim : dims)
    tensor->mutable_shape()->add_dim()->set_dim_value(dim);
  return info;
}

::onnx::NodeProto *addNode(::onnx::GraphProto &graph, llvm::StringRef type,
                           std::vector<std::string> inputs, llvm::StringRef output) {
  ::onnx::NodeProto *node = graph.add_node();
  node->set_op_type(type.str());
  for (std::string &input : inputs)
    node->add_input(std::move(input));
  node->add_output(output.str());
  return node;
}

/// loss = ReduceMean(Gelu(x + w)), with w in a file beside the model.
::onnx::ModelProto makeModel() {
  ::onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(20);
  ::onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("g");
  setTensor(graph.add_input(), "x", {2, 4});
  setTensor(graph.add_output(), "loss", {});
  ::onnx::TensorProto *weight = graph.add_initializer();
  weight->set_name("fc.weight");
  weight->set_data_type(::onnx::TensorProto::FLOAT);
  weight->add_dims(4);
  weight->set_data_location(::onnx::TensorProto::EXTERNAL);
  auto *entry = weight->add_external_data();
  entry->set_key("location");
  entry->set_value("absent.bin");
  addNode(graph, "Add", {"x", "fc.weight"}, "y");
  addNode(graph, "Gelu", {"y"}, "z");
  auto *attribute = addNode(graph, "ReduceMean", {"z"}, "loss")->add_attribute();
  attribute->set_name("keepdims");
  attribute->set_type(::onnx::AttributeProto::INT);
  return model;
}

class ImportTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("import_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "m.onnx") << makeModel().SerializeAsString();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// The operators of the imported step, and diagnostics in `messages`.
  std::vector<std::string> import(const ImportOptions &options) {
    MLIRContext context;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    std::vector<std::string> types;
    OwningOpRef<ModuleOp> module = importOnnx((folder / "m.onnx").string(), options, &context);
    if (module)
      module->walk([&](zero::onnx::NodeOp node) { types.push_back(node.getOpType().str()); });
    return types;
  }

  std::filesystem::path folder;
  std::string messages;
};

TEST_F(ImportTest, MissingDataIsAnError) {
  EXPECT_TRUE(import({}).empty());
  EXPECT_NE(messages.find("cannot open its external data 'absent.bin'"), std::string::npos);
}

TEST_F(ImportTest, PlanningNeedsNoData) {
  ImportOptions options;
  options.checkData = false;
  EXPECT_EQ(import(options), (std::vector<std::string>{"Add", "Gelu", "ReduceMean"})) << messages;
}

TEST_F(ImportTest, UnknownOperatorsBecomeTheirFunctionBodies) {
  ImportOptions options;
  options.checkData = false;
  options.isKnown = [](StringRef, StringRef type, int64_t) { return type != "Gelu"; };
  std::vector<std::string> types = import(options);
  EXPECT_TRUE(llvm::is_contained(types, "Erf")) << messages;
  EXPECT_FALSE(llvm::is_contained(types, "Gelu"));
}

TEST(ShapeBindingsTest, Parses) {
  ShapeBindings bindings;
  EXPECT_EQ(parseShapeBindings("a=4x32,b=7,scalar=", bindings), "");
  EXPECT_EQ(bindings["a"], (SmallVector<int64_t>{4, 32}));
  EXPECT_EQ(bindings["b"], (SmallVector<int64_t>{7}));
  EXPECT_TRUE(bindings["scalar"].empty());
}

TEST(ShapeBindingsTest, Refuses) {
  for (StringRef text : {"a", "=4", "a=4x", "a=x4", "a=-1", "a=4,a=5", "a=99999999999999999999"}) {
    ShapeBindings bindings;
    EXPECT_NE(parseShapeBindings(text, bindings), "") << text.str();
  }
}

/// `message` has the field `name`, with this number and messages of the kind `content`.
void expectField(const google::protobuf::Descriptor *message, std::string name, int number,
                 llvm::StringRef content) {
  name[0] = llvm::toLower(name[0]);
  const auto *field = message->FindFieldByCamelcaseName(name);
  ASSERT_TRUE(field) << message->name() << " has no field " << name;
  EXPECT_EQ(field->number(), number) << message->name() << "." << name;
  EXPECT_EQ(field->message_type() ? std::string(field->message_type()->name()) : "OtherProto",
            (content + "Proto").str());
}

TEST(OnnxFields, AreThoseOfOnnx) {
#define ONNX_FIELD(message, name, number, content)                                                 \
  expectField(::onnx::message##Proto::descriptor(), #name, number, #content);
#include "runtime/io/onnx_fields.def"
#undef ONNX_FIELD
}

} // namespace
