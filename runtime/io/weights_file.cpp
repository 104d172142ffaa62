//===- weights_file.cpp - named tensors of a file -------------------------===//

#include "runtime/io/weights_file.h"

#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/safetensors.h"

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

static Status listTensors(const std::shared_ptr<const MappedFile> &file,
                          std::map<std::string, WeightsFile::Get> &all) {
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
  Status status = listTensors(mapped, file.all);
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

} // namespace zero::rt
