//===- ort_checkpoint_test.cpp - checkpoints of onnxruntime-training ------===//

#include "io_files.h"
#include "runtime/io/ort_checkpoint.h"
#include "runtime/io/ort_checkpoint_generated.h"
#include "runtime/io/weights_file.h"

#include <cstring>

using namespace zero::rt;

namespace {

std::unique_ptr<ort::TensorT> tensor(const std::string &name, std::vector<int64_t> dims,
                                     std::initializer_list<float> values) {
  auto made = std::make_unique<ort::TensorT>();
  made->name = name;
  made->dims = std::move(dims);
  made->data_type = 1;
  made->raw_data.resize(values.size() * sizeof(float));
  if (values.size())
    std::memcpy(made->raw_data.data(), values.begin(), made->raw_data.size());
  return made;
}

/// What onnxruntime writes before training: parameters and nothing else.
ort::CheckpointT fresh() {
  ort::CheckpointT checkpoint;
  checkpoint.version = 2;
  checkpoint.module_state = std::make_unique<ort::ModuleStateT>();
  auto &module = *checkpoint.module_state;
  module.requires_grad_params.push_back(tensor("w", {2, 1}, {1, 2}));
  module.requires_grad_params.push_back(tensor("b", {}, {3}));
  module.frozen_params.push_back(tensor("embedding", {1}, {4}));
  return checkpoint;
}

std::string pack(const ort::CheckpointT &checkpoint) {
  flatbuffers::FlatBufferBuilder builder;
  ort::FinishCheckpointBuffer(builder, ort::Checkpoint::Pack(builder, &checkpoint));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

class OrtCheckpointFile : public Files {
protected:
  /// The error with which `contents` are refused, or "".
  std::string errorOf(const std::string &contents) {
    write(contents);
    MappedFile mapped;
    EXPECT_TRUE(MappedFile::open(path, mapped).ok());
    checkpoint = {};
    return parseOrtCheckpoint(mapped.bytes(), checkpoint).getMessage();
  }

  OrtCheckpoint checkpoint;
};

TensorEntry entry(const std::string &name, DType dtype, std::vector<uint64_t> shape,
                  std::string bytes) {
  return {name, dtype, std::move(shape), [bytes](uint64_t, void *destination, uint64_t size) {
            EXPECT_EQ(size, bytes.size());
            std::memcpy(destination, bytes.data(), size);
            return Status();
          }};
}

TEST_F(OrtCheckpointFile, ListsParameters) {
  const std::string bytes = pack(fresh());
  ASSERT_EQ(errorOf(bytes), "");
  ASSERT_EQ(checkpoint.trained.size(), 2u);
  EXPECT_EQ(checkpoint.trained[0].name, "w");
  EXPECT_EQ(checkpoint.trained[0].shape, (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(checkpoint.trained[0].dtype, ZERO_RT_F32);
  float values[2];
  std::memcpy(values, bytes.data() + checkpoint.trained[0].offset, sizeof(values));
  EXPECT_EQ(values[1], 2);
  ASSERT_EQ(checkpoint.frozen.size(), 1u);
  EXPECT_FALSE(checkpoint.step);
}

TEST_F(OrtCheckpointFile, ListsOptimizerState) {
  ort::CheckpointT made = fresh();
  made.optimizer_groups.push_back(std::make_unique<ort::OptimizerGroupT>());
  auto &group = *made.optimizer_groups.back();
  group.step = 7;
  group.initial_learning_rate = 0.25f;
  group.optimizer_states.push_back(std::make_unique<ort::ParameterOptimizerStateT>());
  group.optimizer_states.back()->param_name = "w";
  group.optimizer_states.back()->momentums.push_back(tensor("momentum0", {2, 1}, {5, 6}));
  ASSERT_EQ(errorOf(pack(made)), "");
  ASSERT_EQ(checkpoint.moments.size(), 1u);
  EXPECT_EQ(checkpoint.moments[0].name, "w.momentum0");
  EXPECT_EQ(checkpoint.step, 7);
  EXPECT_EQ(checkpoint.learningRate, 0.25f);
  made.optimizer_groups.push_back(std::make_unique<ort::OptimizerGroupT>());
  EXPECT_EQ(errorOf(pack(made)), "expected at most one group of parameters, got 2");
}

TEST_F(OrtCheckpointFile, NominalTensorsHaveNoValue) {
  ort::CheckpointT made = fresh();
  made.module_state->is_nominal_state = true;
  made.module_state->requires_grad_params[0]->raw_data.clear();
  ASSERT_EQ(errorOf(pack(made)), "");
  EXPECT_FALSE(checkpoint.trained[0].hasValue);
  WeightsFile file;
  ASSERT_TRUE(WeightsFile::open(path, file).ok());
  EXPECT_TRUE(file.tensors().empty());
}

TEST_F(OrtCheckpointFile, RefusesDamage) {
  const std::string bytes = pack(fresh());
  for (size_t size = 0; size + 4 <= bytes.size(); ++size) // but for padding
    EXPECT_NE(errorOf(bytes.substr(0, size)), "") << size;
  std::string other = bytes;
  other[4] = 'X';
  EXPECT_EQ(errorOf(other), "expected a checkpoint of onnxruntime-training, a flatbuffer with the "
                            "identifier ODTC");
  // Any byte may be wrong.
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int value : {0, 1, 0x7f, 0xff}) {
      other = bytes;
      other[at] = char(value);
      errorOf(other);
    }
}

TEST_F(OrtCheckpointFile, RefusesWrongContents) {
  ort::CheckpointT made = fresh();
  made.version = 3;
  EXPECT_EQ(errorOf(pack(made)), "expected a checkpoint of version 1 to 2, got version 3");
  made = fresh();
  made.module_state->requires_grad_params[0]->dims = {3};
  EXPECT_EQ(errorOf(pack(made)), "tensor 'w': expected 12 bytes for shape [3], got 8");
  made.module_state->requires_grad_params[0]->dims = {-1};
  EXPECT_EQ(errorOf(pack(made)), "tensor 'w': expected dimensions of at least 0, got -1");
  made = fresh();
  made.module_state->requires_grad_params[0]->data_type = 8;
  EXPECT_EQ(errorOf(pack(made)),
            "tensor 'w': expected a float, integer or bool type, got type 8 of ONNX");
  made = fresh();
  made.module_state->frozen_params[0]->name = "w";
  EXPECT_EQ(errorOf(pack(made)), "it has two tensors 'w'");
  made.module_state->frozen_params[0]->name = "";
  EXPECT_EQ(errorOf(pack(made)), "it has a tensor without a name");
}

TEST_F(OrtCheckpointFile, ReadsExternalData) {
  ort::CheckpointT made = fresh();
  made.module_state->has_external_data = true;
  auto &w = *made.module_state->requires_grad_params[0];
  w.raw_data.clear();
  w.external_data_offset = 4;
  const std::string data = path + kOrtDataSuffix;
  std::ofstream(data, std::ios::binary) << raw({9.f, 10.f, 11.f});
  ASSERT_EQ(errorOf(pack(made)), "");
  WeightsFile file;
  ASSERT_TRUE(WeightsFile::open(path, file).ok());
  Array array;
  ASSERT_TRUE(file.tensors().at("w")(array).ok());
  float value;
  std::memcpy(&value, array.bytes.data(), sizeof(value));
  EXPECT_EQ(value, 10);
  w.external_data_offset = 8;
  write(pack(made));
  WeightsFile outside;
  EXPECT_FALSE(WeightsFile::open(path, outside).ok());
  ::unlink(data.c_str());
}

TEST_F(OrtCheckpointFile, WritesTrainedState) {
  ort::CheckpointT original = fresh();
  original.property_bag = std::make_unique<ort::PropertyBagT>();
  original.property_bag->ints.push_back(std::make_unique<ort::IntPropertyT>());
  original.property_bag->ints[0]->name = "epoch";
  original.property_bag->ints[0]->value = 3;
  write(pack(original));
  const std::string trained = path + "-trained";
  OutputFile output;
  ASSERT_TRUE(OutputFile::create(trained, output).ok());
  Status status = writeOrtCheckpoint(output, path, 0.5f,
                                     {entry("w", ZERO_RT_F32, {2, 1}, raw({7.f, 8.f})),
                                      entry("b", ZERO_RT_F32, {}, raw({9.f})),
                                      entry("w.momentum0", ZERO_RT_F32, {2, 1}, raw({1.f, 2.f})),
                                      entry("w.momentum1", ZERO_RT_F32, {2, 1}, raw({3.f, 4.f})),
                                      entry(kOrtStep, ZERO_RT_I64, {}, raw<int64_t>({12}))});
  ASSERT_TRUE(status.ok()) << status.getMessage();
  ASSERT_TRUE(output.commit().ok());
  MappedFile mapped;
  ASSERT_TRUE(MappedFile::open(trained, mapped).ok());
  OrtCheckpoint listed;
  ASSERT_TRUE(parseOrtCheckpoint(mapped.bytes(), listed).ok());
  ort::CheckpointT made;
  ort::GetCheckpoint(mapped.bytes().data())->UnPackTo(&made);
  EXPECT_EQ(made.property_bag->ints[0]->value, 3);
  EXPECT_EQ(made.module_state->frozen_params[0]->raw_data,
            original.module_state->frozen_params[0]->raw_data);
  EXPECT_EQ(made.optimizer_groups[0]->group_name, "group0");
  EXPECT_EQ(listed.step, 12);
  EXPECT_EQ(listed.learningRate, 0.5f);
  ASSERT_EQ(listed.moments.size(), 2u);
  EXPECT_EQ(listed.moments[1].name, "w.momentum1");
  WeightsFile file;
  ASSERT_TRUE(WeightsFile::open(trained, file).ok());
  EXPECT_TRUE(file.isOptimizerState(kOrtStep));
  Array array;
  ASSERT_TRUE(file.tensors().at("w")(array).ok());
  float value;
  std::memcpy(&value, array.bytes.data(), sizeof(value));
  EXPECT_EQ(value, 7);
  ::unlink(trained.c_str());
}

TEST_F(OrtCheckpointFile, WritesOnlyItsParameters) {
  write(pack(fresh()));
  OutputFile output;
  ASSERT_TRUE(OutputFile::create(path + "-trained", output).ok());
  Status status = writeOrtCheckpoint(output, path, 0.5f, {entry("c", ZERO_RT_F32, {}, raw({9.f}))});
  EXPECT_EQ(status.getMessage(),
            "the checkpoint has no parameter 'c'; write it to a .safetensors file");
}

} // namespace
