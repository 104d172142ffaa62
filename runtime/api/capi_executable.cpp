//===- capi_executable.cpp - zero_rt.h: properties of a program -----------===//

#include "runtime/api/capi.h"
#include "runtime/format/tiers.h"
#include "runtime/session/adapters.h"

#include <algorithm>
#include <cstdlib>

using namespace zero::rt;

void zero_rt_status_release(zero_rt_status *status) {
  std::free(status->message);
  *status = {ZERO_RT_OK, nullptr};
}

size_t zero_rt_dtype_size(zero_rt_dtype dtype) { return sizeOf(dtype); }
const char *zero_rt_dtype_name(zero_rt_dtype dtype) { return nameOf(dtype); }
const char *zero_rt_version(void) { return ZERO_VERSION; }

const char *zero_rt_role_name(zero_rt_role role) {
  static const char *const names[] = {"none",        "parameters", "gradients", "optimizer state",
                                      "activations", "working",    "constants", "buffers"};
  return names[role >= 0 && role < ZERO_RT_ROLES ? role : 0];
}

const char *zero_rt_lane_name(zero_rt_lane lane) {
  static const char *const names[] = {"compute",   "collective", "h2d",         "d2h",
                                      "nvme read", "nvme write", "host compute"};
  return lane >= 0 && lane < ZERO_RT_LANES ? names[lane] : "unknown";
}

zero_rt_status zero_rt_executable_load(const char *path, zero_rt_executable **executable) {
  return guard([&]() -> Status {
    auto made = std::make_unique<zero_rt_executable>();
    ZERO_RT_TRY(loadProgram(path, made->program));
    *executable = made.release();
    return {};
  });
}

void zero_rt_executable_free(zero_rt_executable *executable) { delete executable; }

const char *zero_rt_executable_file(const zero_rt_executable *executable, size_t index) {
  const proto::Program &program = executable->program->tables();
  return index < size_t(program.files_size()) ? program.files(static_cast<int>(index)).c_str()
                                              : nullptr;
}

const char *zero_rt_executable_model(const zero_rt_executable *executable) {
  const std::string &model = executable->program->tables().model();
  return model.empty() ? nullptr : model.c_str();
}

int zero_rt_executable_training_info(const zero_rt_executable *executable) {
  const proto::Program &program = executable->program->tables();
  return program.has_training_info() ? int(program.training_info()) : -1;
}

const char *zero_rt_executable_ort_checkpoint(const zero_rt_executable *executable) {
  const std::string &path = executable->program->tables().ort_checkpoint();
  return path.empty() ? nullptr : path.c_str();
}

const char *zero_rt_executable_adapter_config(zero_rt_executable *executable) {
  executable->adapterConfig = adapterConfigOf(executable->program->tables());
  return executable->adapterConfig.empty() ? nullptr : executable->adapterConfig.c_str();
}

/// The gradients that a step can hand out: all, or none where updates beside backward leave none of
/// some parameters, since a part would pass for all.
static size_t countGradients(const proto::Program &program) {
  const auto isTrained = [](const proto::Tensor &tensor) {
    return tensor.role() == proto::PARAMETER && !tensor.frozen() && tensor.of().empty();
  };
  const auto trained = std::ranges::count_if(program.tensors(), isTrained);
  return program.gradients_size() == trained ? size_t(trained) : 0;
}

zero_rt_status zero_rt_executable_info(const zero_rt_executable *executable,
                                       zero_rt_program_info *info) {
  const proto::Program &program = executable->program->tables();
  const DiskTraffic disk = diskTraffic(program);
  size_t inputs = 0, commands = 0;
  for (const proto::Input &input : program.inputs())
    inputs += isBound(input);
  for (size_t shape = 0; shape < executable->program->shapes(); ++shape)
    commands += countCommands(executable->program->tablesOf(shape));
  *info = {program.name().c_str(),
           program.producer().c_str(),
           program.optimizer().c_str(),
           static_cast<int>(program.ranks()),
           static_cast<int>(program.stage()),
           static_cast<int>(std::max(1u, program.micro_batches())),
           defaultThreads(program, int(program.ranks())),
           program.learning_rate(),
           program.received_elements(),
           inputs,
           size_t(program.outputs_size()),
           size_t(program.tensors_size()),
           countGradients(program),
           size_t(program.certificates_size()),
           commands,
           deviceOf(program),
           disk.read,
           disk.written};
  return {ZERO_RT_OK, nullptr};
}

static zero_rt_status noIndex(const char *what, size_t index) {
  return toC(fail(ZERO_RT_NOT_FOUND, "no %s of index %zu", what, index));
}

/// The common fields of inputs, outputs and tensors.
template <typename Value>
static zero_rt_value_info describe(const Value &value) {
  return {value.name().c_str(),
          toDType(value.dtype()),
          ZERO_RT_NO_ROLE,
          value.shape().data(),
          size_t(value.shape_size()),
          0,
          0,
          0,
          value.name().c_str(),
          0,
          0,
          ZERO_RT_NO_DTYPE};
}

static zero_rt_value_info describeTensor(const LoadedProgram &program,
                                         const proto::Tensor &tensor) {
  zero_rt_value_info info = describe(tensor);
  const ValueType value = valueTypeOf(program.valueOf(tensor));
  info.dtype = value.dtype;
  info.shape = value.shape.data();
  info.dimensions = value.shape.size();
  info.role = static_cast<zero_rt_role>(tensor.role());
  info.frozen = tensor.frozen();
  info.saved = tensor.saved();
  info.initializer = initializerOf(tensor).c_str();
  info.transposed = tensor.init().file().transposed();
  info.in_model = tensor.in_model();
  info.stored = fileTypeOf(tensor);
  return info;
}

zero_rt_status zero_rt_executable_input(const zero_rt_executable *executable, size_t index,
                                        zero_rt_value_info *info) {
  size_t position = 0;
  for (const proto::Input &input : executable->program->tables().inputs())
    if (isBound(input) && position++ == index) {
      *info = describe(input);
      info->tokens = input.tokens();
      return {ZERO_RT_OK, nullptr};
    }
  return noIndex("input", index);
}

zero_rt_status zero_rt_executable_output(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.outputs_size()))
    return noIndex("output", index);
  *info = describe(program.outputs(int(index)));
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_tensor(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.tensors_size()))
    return noIndex("tensor", index);
  *info = describeTensor(*executable->program, program.tensors(int(index)));
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_adapter(const zero_rt_executable *executable, size_t tensor,
                                          zero_rt_adapter *adapter) {
  const proto::Program &program = executable->program->tables();
  if (tensor >= size_t(program.tensors_size()))
    return noIndex("tensor", tensor);
  const proto::Tensor &of = program.tensors(int(tensor));
  *adapter = {};
  if (of.has_adapter())
    *adapter = {of.adapter().first().c_str(), of.adapter().second().c_str(), of.adapter().scale(),
                of.adapter().inputs_first(),
                of.adapter().magnitude().empty() ? nullptr : of.adapter().magnitude().c_str()};
  return {ZERO_RT_OK, nullptr};
}

const char *zero_rt_executable_alias(const zero_rt_executable *executable, size_t tensor,
                                     size_t index) {
  const proto::Program &program = executable->program->tables();
  if (tensor >= size_t(program.tensors_size()) ||
      index >= size_t(program.tensors(int(tensor)).aliases_size()))
    return nullptr;
  return program.tensors(int(tensor)).aliases(int(index)).c_str();
}

zero_rt_status zero_rt_executable_gradient(const zero_rt_executable *executable, size_t index,
                                           zero_rt_value_info *info) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.gradients_size()))
    return noIndex("gradient", index);
  const proto::Gradient &gradient = program.gradients(int(index));
  *info = describeTensor(*executable->program, executable->program->parameterOf(gradient));
  info->dtype = gradientType(gradient);
  info->role = ZERO_RT_GRADIENT;
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_certificate(const zero_rt_executable *executable, size_t index,
                                              zero_rt_certificate *certificate) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.certificates_size()))
    return noIndex("certificate", index);
  const proto::Certificate &from = program.certificates(int(index));
  zero_rt_certificate made{};
  made.tier = nameOf(from.tier());
  made.peak = from.peak();
  made.lower_bound = from.lower_bound();
  made.peak_at = from.peak_at().c_str();
  for (const proto::RoleBytes &role : from.roles())
    if (int(role.role()) >= 0 && int(role.role()) < ZERO_RT_ROLES) {
      made.most[role.role()] += role.most();
      made.at_peak[role.role()] += role.at_peak();
    }
  *certificate = made;
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_mesh(const zero_rt_executable *executable, zero_rt_mesh *mesh) {
  const proto::Program &program = executable->program->tables();
  *mesh = {size_t(program.mesh_size()), size_t(program.volumes_size()), int(dataRanksOf(program))};
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_axis(const zero_rt_executable *executable, size_t index,
                                       zero_rt_axis *axis) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.mesh_size()))
    return noIndex("axis", index);
  const proto::Axis &from = program.mesh(int(index));
  const bool isData = std::ranges::count(program.data_axes(), uint32_t(index)) > 0;
  *axis = {from.name().c_str(), int(from.size()), isData};
  return {ZERO_RT_OK, nullptr};
}

zero_rt_status zero_rt_executable_volume(const zero_rt_executable *executable, size_t index,
                                         zero_rt_volume *volume) {
  const proto::Program &program = executable->program->tables();
  if (index >= size_t(program.volumes_size()))
    return noIndex("volume", index);
  const proto::Volume &from = program.volumes(int(index));
  *volume = {size_t(from.axes_size()), from.axes().data(), from.elements()};
  return {ZERO_RT_OK, nullptr};
}

int zero_rt_executable_data_rank(const zero_rt_executable *executable, int data_rank) {
  const proto::Program &program = executable->program->tables();
  int rank = 0;
  while (rank + 1 < int(program.ranks()) && dataRankOf(program, rank) != data_rank)
    ++rank;
  return rank;
}
