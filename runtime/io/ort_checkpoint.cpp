//===- ort_checkpoint.cpp - read checkpoints of onnxruntime-training ------===//

#include "runtime/io/ort_checkpoint.h"

#include "runtime/io/ort_checkpoint_generated.h"
#include "runtime/support/checked.h"

#include <set>

namespace zero::rt {

/// Versions 1 and 2 differ in external data, which only the second has.
static constexpr int32_t kNewestVersion = 2;

bool isOrtCheckpoint(std::span<const uint8_t> file) {
  return file.size() > 2 * sizeof(flatbuffers::uoffset_t) &&
         ort::CheckpointBufferHasIdentifier(file.data());
}

static std::string textOf(const flatbuffers::String *text) { return text ? text->str() : ""; }

namespace {
/// Lists the tensors of one checkpoint.
class Reader {
public:
  Reader(std::span<const uint8_t> file, bool isNominal) : file(file), isNominal(isNominal) {}

  using Tensors = flatbuffers::Vector<flatbuffers::Offset<ort::Tensor>>;

  /// Appends `tensors`, whose names get `prefix`.
  Status read(const Tensors *tensors, const std::string &prefix, std::vector<OrtTensor> &result) {
    for (flatbuffers::uoffset_t i = 0; tensors && i < tensors->size(); ++i) {
      const ort::Tensor *stored = tensors->Get(i);
      OrtTensor tensor;
      tensor.name = prefix + textOf(stored->name());
      if (tensor.name == prefix)
        return fail(ZERO_RT_BAD_FILE, "it has a tensor without a name");
      if (!names.insert(tensor.name).second)
        return fail(ZERO_RT_BAD_FILE, "it has two tensors '%s'", escape(tensor.name).c_str());
      ZERO_RT_TRY(readType(*stored, tensor));
      ZERO_RT_TRY(readPlace(*stored, tensor));
      result.push_back(std::move(tensor));
    }
    return {};
  }

private:
  static Status readType(const ort::Tensor &stored, OrtTensor &tensor) {
    tensor.dtype = dtypeOfOnnx(uint64_t(stored.data_type()));
    if (tensor.dtype == ZERO_RT_NO_DTYPE)
      return fail(ZERO_RT_BAD_FILE,
                  "tensor '%s': expected a float, integer or bool type, got type %d of ONNX",
                  escape(tensor.name).c_str(), int(stored.data_type()));
    for (flatbuffers::uoffset_t i = 0; stored.dims() && i < stored.dims()->size(); ++i) {
      if (stored.dims()->Get(i) < 0)
        return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected dimensions of at least 0, got %lld",
                    escape(tensor.name).c_str(), static_cast<long long>(stored.dims()->Get(i)));
      tensor.shape.push_back(uint64_t(stored.dims()->Get(i)));
    }
    if (!countBytes(tensor.shape, tensor.dtype, tensor.bytes))
      return fail(ZERO_RT_BAD_FILE, "tensor '%s': the bytes of shape %s overflow",
                  escape(tensor.name).c_str(), shapeText(tensor.shape).c_str());
    return {};
  }

  Status readPlace(const ort::Tensor &stored, OrtTensor &tensor) const {
    const uint64_t got = stored.raw_data() ? stored.raw_data()->size() : 0;
    tensor.hasValue = !isNominal;
    tensor.isExternal = stored.external_data_offset() >= 0;
    if (isNominal)
      return {};
    if (tensor.isExternal) {
      tensor.offset = uint64_t(stored.external_data_offset());
      return {};
    }
    if (got != tensor.bytes)
      return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected %llu bytes for shape %s, got %llu",
                  escape(tensor.name).c_str(), static_cast<unsigned long long>(tensor.bytes),
                  shapeText(tensor.shape).c_str(), static_cast<unsigned long long>(got));
    tensor.offset = got ? uint64_t(stored.raw_data()->data() - file.data()) : 0;
    return {};
  }

  std::span<const uint8_t> file;
  bool isNominal;
  std::set<std::string> names;
};
} // namespace

static Status verify(std::span<const uint8_t> file) {
  if (!isOrtCheckpoint(file))
    return fail(ZERO_RT_BAD_FILE, "expected a checkpoint of onnxruntime-training, a flatbuffer "
                                  "with the identifier ODTC");
  if (file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(ZERO_RT_BAD_FILE, "expected less than 2 GiB, got %zu bytes", file.size());
  flatbuffers::Verifier verifier(file.data(), file.size());
  if (!ort::VerifyCheckpointBuffer(verifier))
    return fail(ZERO_RT_BAD_FILE,
                "the checkpoint is damaged or cut off: its tables reach outside "
                "of its %zu bytes, or overlap",
                file.size());
  const int32_t version = ort::GetCheckpoint(file.data())->version();
  if (version < 1 || version > kNewestVersion)
    return fail(ZERO_RT_BAD_FILE, "expected a checkpoint of version 1 to %d, got version %d",
                kNewestVersion, version);
  return {};
}

Status parseOrtCheckpoint(std::span<const uint8_t> file, OrtCheckpoint &checkpoint) {
  ZERO_RT_TRY(verify(file));
  const ort::Checkpoint *stored = ort::GetCheckpoint(file.data());
  const ort::ModuleState *module = stored->module_state();
  Reader reader(file, module && module->is_nominal_state());
  if (module) {
    ZERO_RT_TRY(reader.read(module->requires_grad_params(), "", checkpoint.trained));
    ZERO_RT_TRY(reader.read(module->frozen_params(), "", checkpoint.frozen));
  }
  if (!stored->optimizer_groups() || stored->optimizer_groups()->size() == 0)
    return {};
  if (stored->optimizer_groups()->size() != 1)
    return fail(ZERO_RT_BAD_FILE, "expected at most one group of parameters, got %u",
                stored->optimizer_groups()->size());
  const ort::OptimizerGroup *group = stored->optimizer_groups()->Get(0);
  checkpoint.step = group->step();
  checkpoint.learningRate = group->initial_learning_rate();
  const auto *states = group->optimizer_states();
  Reader moments(file, /*isNominal=*/false);
  for (flatbuffers::uoffset_t i = 0; states && i < states->size(); ++i) {
    const std::string parameter = textOf(states->Get(i)->param_name());
    ZERO_RT_TRY(moments.read(states->Get(i)->momentums(), parameter + ".", checkpoint.moments));
  }
  return {};
}

} // namespace zero::rt
