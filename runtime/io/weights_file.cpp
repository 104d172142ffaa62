//===- weights_file.cpp - named tensors of a file -------------------------===//

#include "runtime/io/weights_file.h"

#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/ort_checkpoint.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/checked.h"

#include <cstring>

namespace zero::rt {

/// Returns `array` together with the owner of its bytes.
static WeightsFile::Get keep(Array array, std::shared_ptr<const MappedFile> file) {
  array.file = std::move(file);
  return [array](Array &result) {
    result = array;
    return Status();
  };
}

static WeightsFile::Get unpack(const NpzMember &member,
                               const std::shared_ptr<const MappedFile> &file) {
  return [member, file](Array &result) -> Status {
    Array array;
    array.file = file;
    ZERO_RT_TRY(readNpzMember(file->bytes(), member, array));
    ZERO_RT_TRY(parseNpy(array.bytes, array));
    result = std::move(array);
    return {};
  };
}

WeightsFile::WeightsFile(Arrays arrays) {
  for (auto &[name, array] : arrays)
    all[name] = keep(std::move(array), nullptr);
}

/// The count of updates, which a checkpoint does not have as a tensor.
static Array stepOf(int64_t count) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(sizeof(count));
  std::memcpy(bytes->data(), &count, sizeof(count));
  Array array;
  array.dtype = ZERO_RT_I64;
  array.bytes = *bytes;
  array.memory = std::move(bytes);
  return array;
}

Status WeightsFile::listOrt(const std::string &path,
                            const std::shared_ptr<const MappedFile> &file) {
  OrtCheckpoint checkpoint;
  ZERO_RT_TRY(parseOrtCheckpoint(file->bytes(), checkpoint));
  std::shared_ptr<MappedFile> external;
  for (const auto *tensors : {&checkpoint.trained, &checkpoint.frozen, &checkpoint.moments})
    for (const OrtTensor &tensor : *tensors) {
      if (!tensor.hasValue)
        continue;
      if (tensor.isExternal && !external) {
        external = std::make_shared<MappedFile>();
        ZERO_RT_TRY(MappedFile::open(path + kOrtDataSuffix, *external));
      }
      auto source = tensor.isExternal ? external : file;
      if (!isWithin(tensor.offset, tensor.bytes, source->bytes().size()))
        return fail(ZERO_RT_BAD_FILE, "tensor '%s' is outside of '%s%s'",
                    escape(tensor.name).c_str(), escape(path).c_str(), kOrtDataSuffix);
      Array array;
      array.dtype = tensor.dtype;
      array.shape = tensor.shape;
      array.bytes = source->bytes().subspan(tensor.offset, tensor.bytes);
      all[tensor.name] = keep(std::move(array), source);
    }
  for (const OrtTensor &tensor : checkpoint.moments)
    optimizer.insert(tensor.name);
  if (checkpoint.step) {
    all[kOrtStep] = keep(stepOf(*checkpoint.step), nullptr);
    optimizer.insert(kOrtStep);
  }
  return {};
}

Status WeightsFile::list(const std::string &path, const std::shared_ptr<const MappedFile> &file) {
  if (isOrtCheckpoint(file->bytes()))
    return listOrt(path, file);
  if (isNpz(file->bytes())) {
    std::vector<NpzMember> members;
    ZERO_RT_TRY(listNpz(file->bytes(), members));
    for (NpzMember &member : members)
      all[member.name] = unpack(member, file);
    return {};
  }
  std::map<std::string, Array> arrays;
  ZERO_RT_TRY(parseSafetensors(file->bytes(), arrays));
  for (auto &[name, array] : arrays)
    all[name] = keep(std::move(array), file);
  return {};
}

Status WeightsFile::open(const std::string &path, WeightsFile &file) {
  auto mapped = std::make_shared<MappedFile>();
  ZERO_RT_TRY(MappedFile::open(path, *mapped));
  Status status = file.list(path, mapped);
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

} // namespace zero::rt
