//===- npz.cpp - zip archives of arrays -----------------------------------===//

#include "runtime/io/npz.h"

#include "runtime/io/inflate.h"
#include "runtime/support/checked.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

namespace {
/// Little-endian reads that fail instead of leaving the file.
class Reader {
public:
  Reader(std::span<const uint8_t> bytes, uint64_t at) : bytes(bytes), at(at) {}

  template <typename T>
  T get() {
    T value{};
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) {
      good = false;
      return value;
    }
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  std::string getText(size_t length) {
    if (at > bytes.size() || bytes.size() - at < length) {
      good = false;
      return "";
    }
    std::string text(reinterpret_cast<const char *>(bytes.data()) + at, length);
    at += length;
    return text;
  }
  void skip(uint64_t count) { at = count > UINT64_MAX - at ? UINT64_MAX : at + count; }
  uint64_t position() const { return at; }
  bool ok() const { return good; }

private:
  std::span<const uint8_t> bytes;
  uint64_t at;
  bool good = true;
};

/// The place of the central directory.
struct Directory {
  uint64_t offset = 0, entries = 0;
};
} // namespace

static constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                          kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

static Status broken(const char *what) {
  return fail(ZERO_RT_BAD_FILE, "damaged .npz archive: %s", what);
}

bool isNpz(std::span<const uint8_t> file) {
  uint32_t first = Reader(file, 0).get<uint32_t>();
  return first == kLocal || first == kEnd;
}

/// The end record is in the last 64 KiB, followed only by a comment.
static Status findDirectory(std::span<const uint8_t> file, Directory &directory) {
  uint64_t lowest = file.size() > 65557 ? file.size() - 65557 : 0;
  for (uint64_t at = file.size() < 22 ? 0 : file.size() - 22 + 1; at-- > lowest;) {
    Reader end(file, at);
    if (end.get<uint32_t>() != kEnd)
      continue;
    end.skip(6);
    directory.entries = end.get<uint16_t>();
    end.skip(4);
    directory.offset = end.get<uint32_t>();
    if (directory.offset == UINT32_MAX || directory.entries == UINT16_MAX) {
      Reader locator(file, at < 20 ? 0 : at - 20);
      if (locator.get<uint32_t>() != kLocator64)
        return end.ok() ? Status() : broken("its end record is cut off");
      locator.skip(4);
      Reader end64(file, locator.get<uint64_t>());
      if (end64.get<uint32_t>() != kEnd64)
        return broken("its zip64 record is missing");
      end64.skip(28);
      directory.entries = end64.get<uint64_t>();
      end64.skip(8);
      directory.offset = end64.get<uint64_t>();
    }
    return {};
  }
  return broken("it has no central directory");
}

/// Sizes of 4 GiB and more are in an extra field, in this order, each only if needed.
static void readExtra(std::span<const uint8_t> file, uint64_t start, uint64_t length,
                      NpzMember &member) {
  Reader extra(file, start);
  while (extra.position() + 4 <= start + length) {
    uint16_t tag = extra.get<uint16_t>(), size = extra.get<uint16_t>();
    if (!extra.ok())
      return;
    uint64_t next = extra.position() + size;
    if (tag == 1)
      for (uint64_t *field : {&member.size, &member.packed, &member.offset})
        if (*field == UINT32_MAX)
          *field = extra.get<uint64_t>();
    extra = Reader(file, next);
  }
}

static Status readEntry(std::span<const uint8_t> file, Reader &reader, NpzMember &member) {
  if (reader.get<uint32_t>() != kCentral)
    return broken("an entry of its directory is missing");
  reader.skip(4);
  uint16_t flags = reader.get<uint16_t>(), method = reader.get<uint16_t>();
  reader.skip(4);
  member.crc = reader.get<uint32_t>();
  member.packed = reader.get<uint32_t>();
  member.size = reader.get<uint32_t>();
  uint16_t name = reader.get<uint16_t>(), extra = reader.get<uint16_t>(),
           comment = reader.get<uint16_t>();
  reader.skip(8);
  member.offset = reader.get<uint32_t>();
  member.name = reader.getText(name);
  if (!reader.ok())
    return broken("its directory is cut off");
  readExtra(file, reader.position(), extra, member);
  reader.skip(uint64_t(extra) + comment);
  if (flags & 1)
    return fail(ZERO_RT_BAD_FILE, "the .npz archive is encrypted");
  if (method != 0 && method != 8)
    return fail(ZERO_RT_BAD_FILE, "member '%s': compression method %u; expected 0 or 8",
                escape(member.name).c_str(), method);
  member.deflated = method == 8;
  if (member.name.ends_with(".npy"))
    member.name.resize(member.name.size() - 4);
  return {};
}

/// Finds where a member's bytes begin, behind its local header.
static Status locate(std::span<const uint8_t> file, NpzMember &member) {
  Reader local(file, member.offset);
  if (local.get<uint32_t>() != kLocal)
    return broken("a member is not where the directory says");
  local.skip(22);
  uint16_t name = local.get<uint16_t>(), extra = local.get<uint16_t>();
  local.skip(uint64_t(name) + extra);
  if (!local.ok() || !isWithin(local.position(), member.packed, file.size()))
    return broken("a member lies outside the file");
  member.begin = local.position();
  return {};
}

/// Members that share bytes or a name are no archive that NumPy wrote.
static Status checkApart(const std::vector<NpzMember> &members) {
  std::vector<const NpzMember *> sorted;
  for (const NpzMember &member : members)
    sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](auto *left, auto *right) { return left->offset < right->offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->begin + sorted[i - 1]->packed > sorted[i]->offset)
      return broken("its members overlap");
  std::sort(sorted.begin(), sorted.end(),
            [](auto *left, auto *right) { return left->name < right->name; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->name == sorted[i]->name)
      return fail(ZERO_RT_BAD_FILE, "two members are called '%s'", escape(sorted[i]->name).c_str());
  return {};
}

Status listNpz(std::span<const uint8_t> file, std::vector<NpzMember> &members) {
  Directory directory;
  ZERO_RT_TRY(findDirectory(file, directory));
  // An entry takes 46 bytes: a larger count is wrong, and must not cause an allocation.
  if (directory.entries > file.size() / 46)
    return broken("its directory has more entries than fit");
  Reader reader(file, directory.offset);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    NpzMember member;
    ZERO_RT_TRY(readEntry(file, reader, member));
    ZERO_RT_TRY(locate(file, member));
    members.push_back(std::move(member));
  }
  return checkApart(members);
}

Status readNpzMember(std::span<const uint8_t> file, const NpzMember &member, Array &array) {
  auto packed = file.subspan(member.begin, member.packed);
  if (!member.deflated) {
    if (member.packed != member.size)
      return fail(ZERO_RT_BAD_FILE, "it is stored, but has two sizes");
    array.bytes = packed;
    return {};
  }
  auto plain = std::make_shared<std::vector<uint8_t>>();
  ZERO_RT_TRY(inflateExactly(packed, member.size, member.crc, *plain));
  array.bytes = *plain;
  array.memory = std::move(plain);
  return {};
}

} // namespace zero::rt
