//===- ort_checkpoint_writer.cpp - write trained state as a checkpoint ----===//

#include "runtime/io/ort_checkpoint.h"

#include "runtime/io/ort_checkpoint_generated.h"

#include <cstring>
#include <map>

namespace zero::rt {

namespace {
/// Puts the values of entries into a checkpoint.
class Updater {
public:
  Updater(ort::CheckpointT &checkpoint, const std::vector<TensorEntry> &entries)
      : checkpoint(checkpoint) {
    for (const TensorEntry &entry : entries)
      left[entry.name] = &entry;
  }

  Status run(float learningRate) {
    if (!checkpoint.module_state)
      checkpoint.module_state = std::make_unique<ort::ModuleStateT>();
    ort::ModuleStateT &module = *checkpoint.module_state;
    ort::OptimizerGroupT &group = theGroup();
    if (auto step = left.find(kOrtStep); step != left.end()) {
      group.initial_learning_rate = learningRate;
      ZERO_RT_TRY(readStep(*step->second, group.step));
      left.erase(step);
    }
    for (auto &parameter : module.requires_grad_params) {
      ZERO_RT_TRY(update(parameter->name, *parameter));
      ZERO_RT_TRY(updateMoments(parameter->name, group));
    }
    for (auto &parameter : module.frozen_params)
      ZERO_RT_TRY(update(parameter->name, *parameter));
    module.is_nominal_state = module.has_external_data = false;
    if (!left.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "the checkpoint has no parameter '%s'; write it to a .safetensors file",
                  escape(left.begin()->first).c_str());
    return {};
  }

private:
  ort::OptimizerGroupT &theGroup() {
    if (checkpoint.optimizer_groups.empty()) {
      checkpoint.optimizer_groups.push_back(std::make_unique<ort::OptimizerGroupT>());
      checkpoint.optimizer_groups.back()->group_name = kOrtGroup;
    }
    return *checkpoint.optimizer_groups.front();
  }

  static Status readStep(const TensorEntry &entry, int64_t &step) {
    if (entry.dtype != ZERO_RT_I64 || entry.elements() != 1)
      return fail(ZERO_RT_INTERNAL, "expected '%s' to be one int64", kOrtStep);
    return entry.read(0, &step, sizeof(step));
  }

  /// Takes the value of entry `name`, if there is one.
  Status update(const std::string &name, ort::TensorT &tensor) {
    auto found = left.find(name);
    if (found == left.end())
      return {};
    const TensorEntry &entry = *found->second;
    tensor.data_type = int32_t(onnxTypeOf(entry.dtype));
    tensor.dims.assign(entry.shape.begin(), entry.shape.end());
    tensor.raw_data.resize(entry.bytes());
    tensor.external_data_offset = -1;
    left.erase(found);
    return entry.read(0, tensor.raw_data.data(), tensor.raw_data.size());
  }

  /// Takes the entries `parameter`.momentum0, 1 and so on.
  Status updateMoments(const std::string &parameter, ort::OptimizerGroupT &group) {
    const std::string prefix = parameter + ".momentum";
    for (auto next = left.lower_bound(prefix);
         next != left.end() && next->first.starts_with(prefix); next = left.lower_bound(prefix)) {
      const std::string name = next->first;
      ort::TensorT &moment = momentOf(parameter, name.substr(parameter.size() + 1), group);
      ZERO_RT_TRY(update(name, moment));
    }
    return {};
  }

  static ort::TensorT &momentOf(const std::string &parameter, const std::string &moment,
                                ort::OptimizerGroupT &group) {
    ort::ParameterOptimizerStateT *state = nullptr;
    for (auto &known : group.optimizer_states)
      if (known->param_name == parameter)
        state = known.get();
    if (!state) {
      group.optimizer_states.push_back(std::make_unique<ort::ParameterOptimizerStateT>());
      state = group.optimizer_states.back().get();
      state->param_name = parameter;
    }
    for (auto &tensor : state->momentums)
      if (tensor->name == moment)
        return *tensor;
    state->momentums.push_back(std::make_unique<ort::TensorT>());
    state->momentums.back()->name = moment;
    return *state->momentums.back();
  }

  ort::CheckpointT &checkpoint;
  std::map<std::string, const TensorEntry *> left;
};
} // namespace

Status writeOrtCheckpoint(OutputFile &file, const std::string &original, float learningRate,
                          const std::vector<TensorEntry> &entries) {
  // Names, shapes and tables.
  uint64_t bytes = uint64_t(1) << 20;
  for (const TensorEntry &entry : entries)
    bytes += entry.bytes() + 256 + 2 * entry.name.size();
  if (bytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "a checkpoint of onnxruntime-training has less than 2 GiB, expected %llu bytes; "
                "write a .safetensors file or a checkpoint (--save-state)",
                static_cast<unsigned long long>(bytes));
  MappedFile mapped;
  OrtCheckpoint listed;
  ZERO_RT_TRY(MappedFile::open(original, mapped));
  ZERO_RT_TRY(parseOrtCheckpoint(mapped.bytes(), listed));
  ort::CheckpointT checkpoint;
  ort::GetCheckpoint(mapped.bytes().data())->UnPackTo(&checkpoint);
  ZERO_RT_TRY(Updater(checkpoint, entries).run(learningRate));
  flatbuffers::FlatBufferBuilder builder;
  ort::FinishCheckpointBuffer(builder, ort::Checkpoint::Pack(builder, &checkpoint));
  return file.write(builder.GetBufferPointer(), builder.GetSize());
}

} // namespace zero::rt
