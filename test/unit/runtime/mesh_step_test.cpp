//===- mesh_step_test.cpp - training on meshes of ranks -------------------===//

#include "mesh_program.h"
#include "trial.h"
#include "zero_rt/mesh.h"

#include <cstring>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

using Sizes = std::vector<int>;

/// A session of a MeshProgram. The rows of x are small integers, other ones in each step.
class MeshTrial {
public:
  MeshTrial(const Sizes &sizes, int stage)
      : file(meshWeightsFile()), made(withFile(sizes, stage, file)), trial(made) {
    trial.options.check_memory = 1;
    trial.start();
    const std::array<uint64_t, 2> shape{3 * MeshProgram::kRows, MeshProgram::kIn};
    std::vector<float> x(shape[0] * shape[1]);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i * 5 % 7) - 2;
    EXPECT_OK(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
  }
  ~MeshTrial() { fs::remove(file); }

  float step() {
    Result result(trial.step(ZERO_RT_KEEP_GRADIENTS));
    EXPECT_EQ(result.code, ZERO_RT_OK) << result.text;
    return trial.result.loss;
  }
  std::vector<float> tensor(const char *name, size_t elements) {
    std::vector<float> values(elements);
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, name, values.data(), elements * 4));
    return values;
  }
  std::vector<float> weights() { return tensor("w", MeshProgram::kElements); }
  std::vector<float> gradient() {
    std::vector<float> values(MeshProgram::kElements);
    EXPECT_OK(zero_rt_session_read_gradient(trial.session, "w", values.data(), values.size() * 4));
    return values;
  }
  int64_t number(const char *output, int rank) {
    int64_t value = -1;
    EXPECT_OK(zero_rt_session_read_output(trial.session, output, rank, &value, sizeof(value)));
    return value;
  }
  /// All that outlives a step.
  std::vector<float> state() {
    std::vector<float> all = weights();
    for (auto [name, elements] : {std::pair("vector", size_t(10)), {"random", size_t(24)}}) {
      const std::vector<float> part = tensor(name, elements);
      all.insert(all.end(), part.begin(), part.end());
    }
    int64_t count = 0;
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, "count", &count, sizeof(count)));
    all.push_back(float(count));
    return all;
  }

private:
  static MeshProgram withFile(const Sizes &sizes, int stage, const std::string &file) {
    MeshProgram made(sizes, stage);
    made.program.add_files(file);
    return made;
  }

public:
  std::string file;
  MeshProgram made;
  Trial trial;
};

const Sizes kMeshes[] = {{2, 1}, {1, 2}, {4, 1},    {1, 4},   {2, 2},
                         {2, 3}, {1, 6}, {2, 2, 2}, {2, 1, 3}};

class MeshStep : public testing::TestWithParam<std::tuple<Sizes, int>> {};

/// Bit for bit.
TEST_P(MeshStep, TrainsLikeOneRank) {
  const auto &[sizes, stage] = GetParam();
  MeshTrial one({1, 1}, 0), many(sizes, stage);
  EXPECT_EQ(many.state(), one.state());
  for (int step = 0; step < 4; ++step) {
    EXPECT_EQ(many.step(), one.step()) << step;
    EXPECT_EQ(many.gradient(), one.gradient()) << step;
    EXPECT_EQ(many.state(), one.state()) << step;
  }
}

TEST_P(MeshStep, RanksKnowTheirPlaceInTheMesh) {
  const auto &[sizes, stage] = GetParam();
  MeshTrial trial(sizes, stage);
  trial.step();
  const auto tensor = int64_t(trial.made.tensorRanks);
  for (int rank = 0; rank < trial.trial.ranks; ++rank) {
    EXPECT_EQ(trial.number("coordinate", rank), rank % tensor);
    EXPECT_EQ(trial.number("part", rank), rank / tensor);
  }
  zero_rt_mesh mesh;
  EXPECT_OK(zero_rt_executable_mesh(trial.trial.executable, &mesh));
  EXPECT_EQ(mesh.axes, sizes.size());
  EXPECT_EQ(mesh.data_ranks, int(trial.made.dataRanks));
  for (int part = 0; part < mesh.data_ranks; ++part)
    EXPECT_EQ(zero_rt_executable_data_rank(trial.trial.executable, part), part * tensor);
}

/// Closed forms of what a rank receives along each axis, and what communicators count.
TEST_P(MeshStep, CountsWhatItReceivesAlongEachAxis) {
  const auto &[sizes, stage] = GetParam();
  MeshTrial trial(sizes, stage);
  trial.step();
  trial.step();
  const MeshProgram &made = trial.made;
  const uint64_t ofData = 2 * made.held * (made.dataRanks - 1) / made.dataRanks;
  for (int rank = 0; rank < trial.trial.ranks; ++rank) {
    zero_rt_stats stats;
    EXPECT_OK(zero_rt_session_stats(trial.trial.session, rank, &stats));
    // One number is summed along the last axis: its first member gets those of all others.
    const bool isFirst = rank % int(made.tensorRanks) == 0;
    const uint64_t ofTensor = made.tensorRanks == 1 ? 0 : isFirst ? made.tensorRanks - 1 : 1;
    EXPECT_EQ(stats.model_elements, 2 * (ofData + ofTensor)) << rank;
    for (size_t i = 0; i < size_t(made.program.volumes_size()); ++i) {
      zero_rt_volume volume;
      EXPECT_OK(zero_rt_executable_volume(trial.trial.executable, i, &volume));
      const bool isTensor = volume.indices[0] + 1 == sizes.size();
      EXPECT_EQ(stats.volume_elements[i], 2 * (isTensor ? ofTensor : ofData)) << rank;
      if (isFirst)
        EXPECT_EQ(stats.volume_elements[i], 2 * volume.planned_elements) << rank;
    }
  }
}

/// What is saved on one mesh goes on, on any other, as if nothing had happened.
TEST_P(MeshStep, ResumesOnOtherMeshes) {
  const auto &[sizes, stage] = GetParam();
  const std::string folder = testing::TempDir() + "zero-mesh-state-" + std::to_string(::getpid());
  fs::remove_all(folder);
  MeshTrial first(sizes, stage);
  first.step();
  first.step();
  EXPECT_OK(zero_rt_session_save_state(first.trial.session, folder.c_str()));
  const std::vector<float> saved = first.state();
  const float loss = first.step();
  for (const Sizes &other : {Sizes{1, 1}, {4, 1}, {1, 4}, {1, 2}, {2, 3}, {2, 2, 2}}) {
    MeshTrial second(other, 3);
    zero_rt_state_result from;
    second.step();
    EXPECT_OK(zero_rt_session_load_state(second.trial.session, folder.c_str(), 0, &from));
    EXPECT_EQ(second.state(), saved);
    EXPECT_EQ(second.step(), loss);
    EXPECT_EQ(second.weights(), first.weights());
  }
  fs::remove_all(folder);
}

TEST_P(MeshStep, SavesAndLoadsWholeWeights) {
  const auto &[sizes, stage] = GetParam();
  const std::string file =
      testing::TempDir() + "zero-mesh-" + std::to_string(::getpid()) + ".safetensors";
  MeshTrial first(sizes, stage), second({1, 2}, 3), third(sizes, stage);
  first.step();
  EXPECT_OK(zero_rt_session_save(first.trial.session, file.c_str()));
  for (MeshTrial *each : {&second, &third}) {
    zero_rt_load_result loaded;
    EXPECT_OK(zero_rt_session_load(each->trial.session, file.c_str(), 0, &loaded));
    EXPECT_EQ(each->weights(), first.weights());
  }
  fs::remove(file);
}

std::string nameOf(const testing::TestParamInfo<MeshStep::ParamType> &info) {
  std::string name = "stage" + std::to_string(std::get<1>(info.param));
  for (int size : std::get<0>(info.param))
    name += "_" + std::to_string(size);
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, MeshStep,
                         testing::Combine(testing::ValuesIn(kMeshes), testing::Values(0, 1, 3)),
                         nameOf);

TEST(MeshErrors, StalledRankIsNamedByItsNumber) {
  MeshProgram made({2, 2}, 3);
  const std::string file = meshWeightsFile();
  made.program.add_files(file);
  Trial trial(made);
  trial.options.timeout_seconds = 1;
  trial.options.stall_rank = 3;
  trial.options.stall_collective = 1; // the sum along the last axis
  trial.start();
  const std::array<uint64_t, 2> shape{4, 4};
  const std::vector<float> x(16, 1);
  EXPECT_OK(zero_rt_data_bind_memory(trial.data, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
               "rank 3 did not arrive at collective 1 ('sum of shares') within 1 s");
  fs::remove(file);
}

TEST(MeshErrors, InconsistentSplits) {
  auto change = [](auto edit, const char *part) {
    MeshProgram made({2, 2}, 3);
    made.program.add_files("w");
    edit(*made.program.mutable_tensors(0));
    expectRefused(made, ZERO_RT_BAD_FILE, part);
  };
  change([](auto &w) { w.mutable_split()->set_dimension(2); },
         "tensor 'w': it is split along a dimension that it does not have");
  change([](auto &w) { w.mutable_split()->set_axes(0, 2); },
         "tensor 'w': an axis that the mesh does not have");
  change([](auto &w) { w.mutable_split()->set_axes(0, 0); },
         "tensor 'w': it is split over an axis of its buffer's slices");
  const char *uneven = "tensor 'w': the shares of its split have different sizes";
  change([](auto &w) { w.mutable_split()->set_parts(0, 6); }, uneven);
  change([](auto &w) { w.mutable_split()->set_parts(0, 3), w.mutable_split()->set_parts(1, 9); },
         uneven);
  change([](auto &w) { w.mutable_split()->add_parts(2); }, uneven);
}

} // namespace
