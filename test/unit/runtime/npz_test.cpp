//===- npz_test.cpp - zip archives of arrays ------------------------------===//

#include "io_files.h"
#include "runtime/io/inflate.h"
#include "runtime/io/npz.h"

#include <zlib.h>

using namespace zero::rt;

namespace {

std::string deflateRaw(const std::string &plain) {
  std::string packed(plain.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(plain.data()));
  stream.avail_in = uInt(plain.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct Member {
  std::string name, content;
  bool deflated = false;
  uint32_t claimed = UINT32_MAX; ///< a size that differs from that of the content
  int at = -1;                   ///< the index of a member whose position this member claims
};

/// A zip archive as zipfile writes it.
std::string npz(const std::vector<Member> &members) {
  std::string file, central;
  std::vector<uint32_t> offsets;
  for (const Member &member : members) {
    std::string packed = member.deflated ? deflateRaw(member.content) : member.content;
    uint32_t crc = uint32_t(crc32_z(0, view(member.content).data(), member.content.size()));
    uint32_t size = member.claimed == UINT32_MAX ? uint32_t(member.content.size()) : member.claimed;
    std::string common = raw<uint16_t>({20, 0, uint16_t(member.deflated ? 8 : 0), 0, 0}) +
                         raw<uint32_t>({crc, uint32_t(packed.size()), size}) +
                         raw<uint16_t>({uint16_t(member.name.size()), 0});
    offsets.push_back(member.at < 0 ? uint32_t(file.size()) : offsets[size_t(member.at)]);
    if (member.at < 0)
      file += raw<uint32_t>({0x04034b50}) + common + member.name + packed;
    central += raw<uint32_t>({0x02014b50}) + raw<uint16_t>({20}) + common +
               raw<uint16_t>({0, 0, 0}) + raw<uint32_t>({0, offsets.back()}) + member.name;
  }
  uint16_t count = uint16_t(members.size());
  return file + central + raw<uint32_t>({0x06054b50}) + raw<uint16_t>({0, 0, count, count}) +
         raw<uint32_t>({uint32_t(central.size()), uint32_t(file.size())}) + raw<uint16_t>({0});
}

std::string column(int64_t first, int64_t second) {
  return npy("'<i8'", "(2,)", raw({first, second}));
}

class Npz : public Files {
protected:
  std::string error(const std::string &file, const std::string &member = "") {
    Array array;
    return read(file, member, "a", array).getMessage();
  }
  void expectError(const std::string &file, const std::string &part) {
    EXPECT_NE(error(file).find(part), std::string::npos) << error(file);
    EXPECT_NE(error(file).find("'" + path + "'"), std::string::npos) << error(file);
  }
};

TEST_F(Npz, StoredAndDeflated) {
  std::string elements(4000, '\0');
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = char(i * i);
  for (bool deflated : {false, true}) {
    std::string file = npz({{"tokens.npy", npy("'<i8'", "(500,)", elements), deflated}});
    for (auto [member, input] : {std::pair("tokens", "x"), {"", "tokens"}, {"", "other"}}) {
      Array array;
      Status status = read(file, member, input, array);
      ASSERT_TRUE(status.ok()) << status.getMessage();
      EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), elements);
      EXPECT_EQ(array.from, path + ":tokens");
      // A stored member is mapped without a copy.
      auto mapped = array.file->bytes();
      EXPECT_EQ(array.bytes.data() >= mapped.data() &&
                    array.bytes.data() < mapped.data() + mapped.size(),
                !deflated);
    }
    EXPECT_EQ(error(file, "missing"),
              "'" + path + "': no member 'missing'; its members are 'tokens'");
  }
}

TEST_F(Npz, FindsMembersByTheInputsName) {
  const Member plain{"a.npy", column(1, 2)}, prefixed{"input.a.npy", column(3, 4)},
      other{"b.npy", column(5, 6)};
  auto first = [&](const std::string &file) {
    Array array;
    Status status = read(file, "", "a", array);
    return status.ok() ? int(array.bytes[0]) : -1;
  };
  EXPECT_EQ(first(npz({other, plain, prefixed})), 1);
  EXPECT_EQ(first(npz({other, prefixed})), 3);
  EXPECT_EQ(first(npz({other})), 5);
  EXPECT_EQ(first(npz({other, {"c.npy", column(7, 8)}})), -1);
  EXPECT_EQ(error(npz({other, {"c.npy", column(7, 8)}})),
            "'" + path + "': no member 'a'; its members are 'b', 'c'");
}

TEST_F(Npz, RefusesWhatNumPyNeverWrites) {
  const Member a{"a.npy", column(1, 2)}, b{"b.npy", column(3, 4)};
  expectError(npz({a, b, a}), "two members are called 'a'");
  expectError(npz({a, {"b.npy", column(3, 4), false, UINT32_MAX, 0}}), "its members overlap");
  expectError(npz({{"a.npy", column(1, 2), false, 9}}), "member 'a': it is stored, but has two");
  expectError(npz({{"a.npy", "not an array"}}), "member 'a': not a .npy");
  expectError(npz({{"a.npy", npy("'|O'", "(2,)", "pickle")}}), "member 'a': elements are Python");
}

TEST_F(Npz, RefusesBombsAndDamage) {
  std::string content = npy("'<i8'", "(500,)", std::string(4000, 'x'));
  expectError(npz({{"a.npy", content, true, 0x7fffffff}}), "impossible size");
  expectError(npz({{"a.npy", content, true, 9}}), "compressed data is damaged");
  std::string good = npz({{"a.npy", content, true}});
  good[good.find("xxx") == std::string::npos ? 60 : 50] ^= 1;
  EXPECT_NE(error(good), "");
  // The size is correct, but too large to unpack: rejected before memory is allocated.
  std::vector<uint8_t> packed(2 << 20), plain;
  Status large = inflateExactly(packed, kLargestInflated + 1, 0, plain);
  EXPECT_EQ(large.getCode(), ZERO_RT_UNSUPPORTED);
  EXPECT_NE(large.getMessage().find("save it with numpy.savez()"), std::string::npos);
  EXPECT_EQ(plain.capacity(), 0u);
}

TEST_F(Npz, SurvivesTruncationAndNoise) {
  std::string content = npy("'<i8'", "(500,)", std::string(4000, 'x'));
  Array array;
  for (bool deflated : {false, true}) {
    std::string good = npz({{"a.npy", content, deflated}, {"b.npy", column(1, 2)}});
    ASSERT_TRUE(read(good, "", "a", array).ok());
    for (size_t size = 4; size < good.size(); size += 61)
      EXPECT_FALSE(read(good.substr(0, size), "", "a", array).ok());
    for (size_t at = 0; at < good.size(); at += at < 60 || at + 200 > good.size() ? 1 : 97) {
      std::string damaged = good;
      damaged[at] = char(damaged[at] ^ 0x81);
      (void)read(damaged, "", "a", array).ok();
    }
  }
}

} // namespace
