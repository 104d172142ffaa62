//===- io_test.cpp - .npy and .safetensors --------------------------------===//

#include "io_files.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"

#include <cstring>
#include <iterator>

using namespace zero::rt;

namespace {

void expectError(const std::string &file, const std::string &part) {
  Array array;
  Status status = parseNpy(view(file), array);
  EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
}

TEST(Npy, ReadsAllVersionsAndTypes) {
  const std::pair<const char *, DType> types[] = {
      {"'<f4'", ZERO_RT_F32}, {"'<f8'", ZERO_RT_F64},  {"'<i4'", ZERO_RT_I32},
      {"'<i8'", ZERO_RT_I64}, {"'|b1'", ZERO_RT_BOOL}, {"'|u1'", ZERO_RT_U8},
      {"'<f2'", ZERO_RT_F16}, {"'|i1'", ZERO_RT_I8},   {"\"<i2\"", ZERO_RT_I16},
      {"'<u2'", ZERO_RT_U16}, {"'<u4'", ZERO_RT_U32}};
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
  expectError(npy("'" + std::string(20000, 'x') + "'", "(2, 3)", six),
              "its .npy header has 20086 bytes; expected at most 10000");
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

} // namespace
