//===- array.cpp - reads .npy and .npz ------------------------------------===//

#include "runtime/io/array.h"

#include "runtime/io/npy.h"
#include "runtime/io/npz.h"

namespace zero::rt {

static Status readMember(std::span<const uint8_t> archive, const std::string &member,
                         const std::string &preferred, Array &array) {
  std::vector<NpzMember> members;
  ZERO_RT_TRY(listNpz(archive, members));
  const std::string &wanted = member.empty() ? preferred : member;
  const NpzMember *found = nullptr;
  for (const NpzMember &candidate : members)
    if (candidate.name == wanted)
      found = &candidate;
  if (!found && member.empty() && members.size() == 1)
    found = &members[0];
  if (!found)
    return fail(ZERO_RT_NOT_FOUND, "no member '%s' among its %zu", escape(wanted).c_str(),
                members.size());
  ZERO_RT_TRY(readNpzMember(archive, *found, array));
  return parseNpy(array.bytes, array);
}

Status readArray(const std::string &path, const std::string &member, const std::string &preferred,
                 Array &array) {
  auto file = std::make_shared<MappedFile>();
  ZERO_RT_TRY(MappedFile::open(path, *file));
  Array result;
  result.file = file;
  Status status;
  if (isNpz(file->bytes()))
    status = readMember(file->bytes(), member, preferred, result);
  else if (!member.empty())
    status =
        fail(ZERO_RT_BAD_FILE, "no .npz archive, so it has no member '%s'", escape(member).c_str());
  else
    status = parseNpy(file->bytes(), result);
  if (!status.ok())
    return fail(status.getCode(), "'%s': %s", escape(path).c_str(), status.getMessage().c_str());
  array = std::move(result);
  return {};
}

} // namespace zero::rt
