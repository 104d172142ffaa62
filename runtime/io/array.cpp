//===- array.cpp - read files of arrays -----------------------------------===//

#include "runtime/io/array.h"

#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/stream.h"

namespace zero::rt {

std::string placeOf(const Array &array) {
  return array.from.empty() ? "" : " in '" + escape(array.from) + "'";
}

static const NpzMember *findMember(const std::vector<NpzMember> &members, const std::string &name) {
  for (const NpzMember &member : members)
    if (member.name == name)
      return &member;
  return nullptr;
}

static std::string namesOf(const std::vector<NpzMember> &members) {
  constexpr size_t kMost = 20; // names are the file's, and may be many and long
  std::string text;
  for (size_t i = 0; i < members.size() && i < kMost; ++i)
    text += (i ? ", '" : "'") + escape(members[i].name.substr(0, 64)) + "'";
  return members.size() > kMost ? text + ", ..." : members.empty() ? "none" : text;
}

static Status readMember(std::span<const uint8_t> archive, const std::string &wanted,
                         const std::string &input, Array &array) {
  std::vector<NpzMember> members;
  ZERO_RT_TRY(listNpz(archive, members));
  const NpzMember *found = findMember(members, wanted.empty() ? input : wanted);
  if (!found && wanted.empty())
    found = findMember(members, "input." + input);
  if (!found && wanted.empty() && members.size() == 1)
    found = &members[0];
  if (!found)
    return fail(ZERO_RT_NOT_FOUND, "no member '%s'; its members are %s",
                escape(wanted.empty() ? input : wanted).c_str(), namesOf(members).c_str());
  Status status = readNpzMember(archive, *found, array);
  if (status.ok())
    status = parseNpy(array.bytes, array);
  if (!status.ok())
    return fail(status.getCode(), "member '%s': %s", escape(found->name).c_str(),
                status.getMessage().c_str());
  array.from += ":" + found->name;
  return {};
}

Status readArray(const ArrayFile &from, const std::string &input, Array &array) {
  if (from.raw != ZERO_RT_NO_DTYPE)
    return readRaw(from.path, from.raw, array);
  auto file = std::make_shared<MappedFile>();
  ZERO_RT_TRY(MappedFile::open(from.path, *file));
  Array result;
  result.file = file;
  result.from = from.path;
  Status status;
  if (isNpz(file->bytes()))
    status = readMember(file->bytes(), from.member, input, result);
  else if (!from.member.empty())
    status = fail(ZERO_RT_BAD_FILE, "no .npz archive, so it has no member '%s'",
                  escape(from.member).c_str());
  else
    status = parseNpy(file->bytes(), result);
  if (!status.ok())
    return fail(status.getCode(), "'%s': %s", escape(from.path).c_str(),
                status.getMessage().c_str());
  array = std::move(result);
  return {};
}

} // namespace zero::rt
