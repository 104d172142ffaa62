//===- io_test.cpp - .npy, .npz, .safetensors and batches -----------------===//

#include "runtime/io/data_source.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/safetensors.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>
#include <zlib.h>

using namespace zero::rt;

namespace {

std::span<const uint8_t> view(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

template <typename T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char *>(std::data(values)), values.size() * sizeof(T)};
}

/// A .npy as NumPy writes it.
std::string npy(const std::string &descr, const std::string &shape, const std::string &elements,
                int version = 1, const std::string &order = "False") {
  std::string header =
      "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  size_t fixed = version == 1 ? 10 : 12;
  header.resize((fixed + header.size() + 64) / 64 * 64 - fixed, ' ');
  header.back() = '\n';
  uint32_t length = uint32_t(header.size());
  std::string size(reinterpret_cast<char *>(&length), version == 1 ? 2 : 4);
  return std::string("\x93NUMPY") + char(version) + '\0' + size + header + elements;
}

void expectError(const std::string &file, const std::string &part) {
  Array array;
  Status status = parseNpy(view(file), array);
  EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
}

TEST(Npy, ReadsAllVersionsAndTypes) {
  const std::pair<const char *, DType> types[] = {
      {"'<f4'", ZERO_RT_F32}, {"'<f8'", ZERO_RT_F64},  {"'<i4'", ZERO_RT_I32},
      {"'<i8'", ZERO_RT_I64}, {"'|b1'", ZERO_RT_BOOL}, {"'|u1'", ZERO_RT_U8},
      {"'<f2'", ZERO_RT_F16}, {"'|i1'", ZERO_RT_I8},   {"\"<i2\"", ZERO_RT_I16}};
  for (int version : {1, 2, 3})
    for (auto [descr, dtype] : types) {
      std::string file = npy(descr, "(2, 3)", std::string(6 * sizeOf(dtype), 'x'), version);
      Array array;
      Status status = parseNpy(view(file), array);
      ASSERT_TRUE(status.ok()) << status.getMessage();
      EXPECT_EQ(array.dtype, dtype);
      EXPECT_EQ(array.shape, (std::vector<uint64_t>{2, 3}));
      EXPECT_EQ(array.bytes.size(), 6 * sizeOf(dtype));
    }
}

TEST(Npy, ReadsScalarsAndVectors) {
  Array array;
  std::string scalar = npy("'<f4'", "()", raw({2.5f}));
  ASSERT_TRUE(parseNpy(view(scalar), array).ok());
  EXPECT_TRUE(array.shape.empty());
  std::string vector = npy("'<i8'", "(1,)", raw({int64_t(7)}), 1, "True");
  ASSERT_TRUE(parseNpy(view(vector), array).ok());
  EXPECT_EQ(array.shape, std::vector<uint64_t>{1});
}

TEST(Npy, RefusesByName) {
  std::string six(24, 'x');
  expectError(npy("'<f4'", "(2, 3)", six, 1, "True"), "Fortran order");
  expectError(npy("'|O'", "(2, 3)", six), "Python objects");
  expectError(npy("'>f4'", "(2, 3)", six), "big-endian");
  expectError(npy("'<c8'", "(3,)", six), "element type '<c8'; expected one of");
  expectError(npy("[('a', '<f4')]", "(2,)", six), "structured");
  expectError(npy("'<f4'", "(2, 4)", six), "truncated: expected 32 bytes of elements, got 24");
  expectError(npy("'<f4'", "(4294967296, 4294967296, 4)", six), "too large");
  expectError(npy("'<f4'", "(99999999999999999999,)", six), "header cannot be read");
  expectError(npy("'<f4'", "(-2, 3)", six), "header cannot be read");
  expectError("PK", "not a .npy");
  expectError(npy("'<f4'", "(2, 3)", six, 9), "version 9");
}

TEST(Npy, SurvivesTruncationAndNoise) {
  const std::string good = npy("'<f4'", "(2, 3)", std::string(24, 'x'));
  for (size_t size = 0; size < good.size(); ++size) {
    Array array;
    EXPECT_FALSE(parseNpy(view(good.substr(0, size)), array).ok());
  }
  for (size_t at = 0; at < good.size(); ++at)
    for (char noise : {'\0', '\xff', '(', '\''}) {
      std::string damaged = good;
      damaged[at] = noise;
      Array array;
      (void)parseNpy(view(damaged), array).ok();
    }
}

/// A zip archive with one member.
std::string npz(const std::string &name, const std::string &content, bool deflated,
                uint32_t claimed = UINT32_MAX) {
  std::string packed = content;
  if (deflated) {
    packed.resize(content.size() + 100);
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
    stream.avail_in = uInt(content.size());
    stream.next_out = reinterpret_cast<Bytef *>(packed.data());
    stream.avail_out = uInt(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  }
  uint32_t crc = uint32_t(crc32_z(0, view(content).data(), content.size()));
  uint32_t size = claimed == UINT32_MAX ? uint32_t(content.size()) : claimed;
  std::string common = raw<uint16_t>({20, 0, uint16_t(deflated ? 8 : 0), 0, 0}) +
                       raw<uint32_t>({crc, uint32_t(packed.size()), size}) +
                       raw<uint16_t>({uint16_t(name.size()), 0});
  std::string local = raw<uint32_t>({0x04034b50}) + common + name + packed;
  std::string central = raw<uint32_t>({0x02014b50}) + raw<uint16_t>({20}) + common +
                        raw<uint16_t>({0, 0, 0}) + raw<uint32_t>({0, 0}) + name;
  std::string end = raw<uint32_t>({0x06054b50}) + raw<uint16_t>({0, 0, 1, 1}) +
                    raw<uint32_t>({uint32_t(central.size()), uint32_t(local.size())}) +
                    raw<uint16_t>({0});
  return local + central + end;
}

class Files : public testing::Test {
protected:
  std::string path = testing::TempDir() + "zero-io-" + std::to_string(::getpid());
  void TearDown() override { ::unlink(path.c_str()); }
  Status read(const std::string &contents, const std::string &member, const std::string &preferred,
              Array &array) {
    std::ofstream(path, std::ios::binary) << contents;
    return readArray(path, member, preferred, array);
  }
};

TEST_F(Files, NpzStoredAndDeflated) {
  std::string elements(4000, '\0');
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = char(i * i);
  for (bool deflated : {false, true}) {
    std::string file = npz("tokens.npy", npy("'<i8'", "(500,)", elements), deflated);
    for (auto [member, preferred] : {std::pair("tokens", "x"), {"", "tokens"}, {"", "other"}}) {
      Array array;
      Status status = read(file, member, preferred, array);
      ASSERT_TRUE(status.ok()) << status.getMessage();
      EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), elements);
    }
    Array array;
    EXPECT_EQ(read(file, "missing", "", array).getCode(), ZERO_RT_NOT_FOUND);
  }
}

TEST_F(Files, NpzRefusesBombsAndDamage) {
  Array array;
  std::string content = npy("'<i8'", "(500,)", std::string(4000, 'x'));
  EXPECT_NE(read(npz("a.npy", content, true, 0x7fffffff), "", "a", array)
                .getMessage()
                .find("impossible size"),
            std::string::npos);
  EXPECT_FALSE(read(npz("a.npy", content, true, 9), "", "a", array).ok());
  for (bool deflated : {false, true}) {
    std::string good = npz("a.npy", content, deflated);
    for (size_t size = 4; size < good.size(); size += 7)
      EXPECT_FALSE(read(good.substr(0, size), "", "a", array).ok());
    for (size_t at = 30; at < good.size(); at += 3) {
      std::string damaged = good;
      damaged[at] = char(damaged[at] ^ 0x81);
      (void)read(damaged, "", "a", array).ok();
    }
  }
}

TEST_F(Files, SafetensorsIsSortedAndAligned) {
  auto entry = [](const char *name, DType dtype, std::vector<uint64_t> shape, char byte) {
    return SafetensorsEntry{name, dtype, shape, [byte](void *destination, uint64_t bytes) {
                              std::memset(destination, byte, bytes);
                              return Status();
                            }};
  };
  OutputFile file;
  ASSERT_TRUE(OutputFile::create(path, file).ok());
  ASSERT_TRUE(writeSafetensors(
                  file, {entry("b", ZERO_RT_F32, {2}, 'b'), entry("mask", ZERO_RT_BOOL, {3}, 'm'),
                         entry("a\"", ZERO_RT_F32, {1, 1}, 'a'), entry("n", ZERO_RT_I64, {}, 'n')})
                  .ok());
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "visible before commit";
  ASSERT_TRUE(file.commit().ok());
  std::ifstream in(path, std::ios::binary);
  std::string got(std::istreambuf_iterator<char>(in), {});
  uint64_t length;
  std::memcpy(&length, got.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  std::string header = got.substr(8, length);
  header.resize(header.find_last_not_of(' ') + 1);
  EXPECT_EQ(header, "{\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
                    "\"a\\\"\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[8,12]},"
                    "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[12,20]},"
                    "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[20,23]}}");
  EXPECT_EQ(got.substr(8 + length), "nnnnnnnnaaaabbbbbbbbmmm");
}

TEST_F(Files, AbandonedOutputLeavesNothing) {
  std::ofstream(path) << "old";
  {
    OutputFile file;
    ASSERT_TRUE(OutputFile::create(path, file).ok());
    ASSERT_TRUE(file.write("new").ok());
  }
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "old");
  EXPECT_NE(::access((path + ".tmp." + std::to_string(::getpid())).c_str(), F_OK), 0);
}

Array arrayOf(DType dtype, std::vector<uint64_t> shape, const std::string &bytes) {
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  auto begin = view(bytes);
  array.memory = std::make_shared<std::vector<uint8_t>>(begin.begin(), begin.end());
  array.bytes = *array.memory;
  return array;
}

TEST(Data, GlobalBatchesWrapRound) {
  // Ten rows, two ranks of two rows: the third step takes rows 8, 9, 0, 1.
  DataSource source;
  std::string rows;
  for (int32_t i = 0; i < 10; ++i)
    rows += raw<int32_t>({i, -i});
  InputSpec spec{"ids", ZERO_RT_I64, {2, 2}};
  ASSERT_TRUE(DataSource::create(spec, arrayOf(ZERO_RT_I32, {10, 2}, rows), 2, source).ok());
  EXPECT_EQ(source.warning(), "");
  int64_t batch[4];
  for (int64_t step = 0; step < 7; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      source.read(uint64_t(step), rank, batch);
      for (int64_t row = 0; row < 2; ++row) {
        int64_t expected = ((step * 2 + rank) * 2 + row) % 10;
        EXPECT_EQ(batch[row * 2], expected);
        EXPECT_EQ(batch[row * 2 + 1], -expected);
      }
    }
}

TEST(Data, OneLocalBatchServesAllRanks) {
  DataSource source;
  InputSpec spec{"mask", ZERO_RT_BOOL, {3}};
  Array array = arrayOf(ZERO_RT_U8, {3}, std::string("\0\x07\1", 3));
  ASSERT_TRUE(DataSource::create(spec, array, 4, source).ok());
  EXPECT_EQ(source.warning(), "input 'mask' has 3 rows, a global batch 12: the data wraps round");
  for (int rank = 0; rank < 4; ++rank) {
    char got[3];
    source.read(5, rank, got);
    EXPECT_EQ(std::string(got, 3), std::string("\0\1\1", 3));
  }
}

TEST(Data, ScalarsAndMismatches) {
  DataSource source;
  Array scalar = arrayOf(ZERO_RT_F32, {}, raw({1.5f}));
  ASSERT_TRUE(DataSource::create({"scale", ZERO_RT_F32, {}}, scalar, 3, source).ok());
  EXPECT_EQ(source.warning(), "");
  float got = 0;
  source.read(9, 2, &got);
  EXPECT_EQ(got, 1.5f);
  auto message = [&](const InputSpec &spec) {
    return DataSource::create(spec, scalar, 3, source).getMessage();
  };
  EXPECT_EQ(message({"x", ZERO_RT_F64, {}}), "input 'x': expected float64 [], got float32 []");
  EXPECT_EQ(message({"x", ZERO_RT_F32, {4, 32}}),
            "input 'x': expected float32 [*, 32], got float32 []");
}

} // namespace
