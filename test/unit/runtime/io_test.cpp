//===- io_test.cpp - .npy and .safetensors --------------------------------===//

#include "io_files.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/floats.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
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
    return TensorEntry{name, dtype, shape, [byte](uint64_t, void *destination, uint64_t bytes) {
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

/// The pieces of a tensor come in order, and only one is in memory.
TEST_F(Files, SafetensorsIsWrittenInPieces) {
  std::string expected(2 * kTensorPiece + 6, '\0');
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = char(i * 7 / 5);
  std::vector<uint64_t> offsets;
  TensorEntry entry{"long", ZERO_RT_F16, {expected.size() / 2}, {}};
  entry.read = [&](uint64_t offset, void *destination, uint64_t bytes) {
    offsets.push_back(offset);
    std::memcpy(destination, &expected[offset], bytes);
    return Status();
  };
  OutputFile file;
  ASSERT_TRUE(OutputFile::create(path, file).ok());
  ASSERT_TRUE(writeSafetensors(file, {entry}).ok());
  ASSERT_TRUE(file.commit().ok());
  std::ifstream in(path, std::ios::binary);
  const std::string got(std::istreambuf_iterator<char>(in), {});
  ASSERT_GT(got.size(), expected.size());
  EXPECT_TRUE(got.substr(got.size() - expected.size()) == expected);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, kTensorPiece, 2 * kTensorPiece}));
}

/// It has no name, and takes space only where it was written.
TEST(ScratchFiles, HaveNoName) {
  const std::string folder = testing::TempDir() + "zero-scratch-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const char *before = std::getenv("TMPDIR");
  const std::string old = before ? before : "";
  ::setenv("TMPDIR", folder.c_str(), 1);
  std::unique_ptr<ScratchFile> file;
  Status status = ScratchFile::create(file);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_TRUE(file->write(uint64_t(1) << 40, "far", 3).ok());
  EXPECT_TRUE(file->write(5, "near", 4).ok());
  char got[4];
  EXPECT_TRUE(file->read((uint64_t(1) << 40) + 1, got, 2).ok());
  EXPECT_EQ(std::string(got, 2), "ar");
  EXPECT_TRUE(file->read(5, got, 4).ok());
  EXPECT_EQ(std::string(got, 4), "near");
  EXPECT_EQ(file->read(uint64_t(1) << 41, got, 1).getCode(), ZERO_RT_IO);
  std::filesystem::remove(folder);
  EXPECT_NE(ScratchFile::create(file).getMessage().find("cannot create '" + folder),
            std::string::npos);
  before ? ::setenv("TMPDIR", old.c_str(), 1) : ::unsetenv("TMPDIR");
}

/// Pages that are released have the same bytes when they are read again, and nothing else is
/// touched.
TEST_F(Files, MappedPagesAreReleased) {
  const size_t page = size_t(::sysconf(_SC_PAGESIZE)), bytes = 64 * page;
  write(std::string(bytes, 'm'));
  MappedFile file;
  ASSERT_TRUE(MappedFile::open(path, file).ok());
  const auto residentPages = [&] {
    std::ifstream smaps("/proc/self/smaps");
    bool isOurs = false;
    for (std::string line; std::getline(smaps, line);) {
      if (line.find(path) != line.npos)
        isOurs = true;
      else if (isOurs && line.starts_with("Rss:"))
        return std::stoull(line.substr(4)) * 1024 / page;
    }
    return 0ull;
  };
  const auto sum = [&] {
    uint64_t all = 0;
    for (const uint8_t byte : file.bytes())
      all += byte;
    return all;
  };
  EXPECT_EQ(sum(), bytes * 'm');
  EXPECT_EQ(residentPages(), 64u);
  file.release(file.bytes().subspan(page + 1, 30 * page));
  EXPECT_LE(residentPages(), 34u);
  EXPECT_EQ(sum(), bytes * 'm');
  std::string other(4 * page, 'o');
  file.release(view(other));
  EXPECT_EQ(other, std::string(4 * page, 'o'));
}

/// Returns the number of temporary files of `path`.
static size_t temporariesOf(const std::string &path) {
  const std::filesystem::path whole(path);
  size_t count = 0;
  for (const auto &each : std::filesystem::directory_iterator(whole.parent_path()))
    count += isTemporaryName(each.path().filename(), whole.filename());
  return count;
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
  EXPECT_EQ(temporariesOf(path), 0u);
}

TEST(Floats, RoundsToNearestEven) {
  // Halfway between two bf16 numbers (rounds to even: down and up), just above halfway, and NaN.
  const uint32_t bits[] = {0x3f808000, 0x3f818000, 0x3f808001, 0xff7fffff, 0x7fc00001, 0x00000000};
  const uint16_t expected[] = {0x3f80, 0x3f82, 0x3f81, 0xff80, 0x7fc0, 0x0000};
  uint16_t narrow[6];
  convertFloats(ZERO_RT_F32, bits, ZERO_RT_BF16, narrow, 6);
  EXPECT_EQ(std::memcmp(narrow, expected, sizeof(expected)), 0);
  const float values[] = {1 + 0x1p-11f, 1 + 0x3p-11f, 65504, 65520, -0.0f, 0x1p-24f};
  const uint16_t halves[] = {0x3c00, 0x3c02, 0x7bff, 0x7c00, 0x8000, 0x0001};
  convertFloats(ZERO_RT_F32, values, ZERO_RT_F16, narrow, 6);
  EXPECT_EQ(std::memcmp(narrow, halves, sizeof(halves)), 0);
}

TEST(Floats, WidensInPlaceAndExactly) {
  for (DType narrow : {ZERO_RT_BF16, ZERO_RT_F16})
    for (DType wide : {ZERO_RT_F32, ZERO_RT_F64}) {
      const size_t count = 0x10000;
      std::vector<uint16_t> all(count), back(count);
      for (size_t i = 0; i < count; ++i)
        all[i] = uint16_t(i);
      std::vector<char> place(count * sizeOf(wide));
      char *tail = place.data() + place.size() - 2 * count;
      std::memcpy(tail, all.data(), 2 * count);
      convertFloats(narrow, tail, wide, place.data(), count);
      convertFloats(wide, place.data(), narrow, back.data(), count);
      const uint16_t infinity = narrow == ZERO_RT_F16 ? 0x7c00 : 0x7f80;
      for (size_t i = 0; i < count; ++i) // a NaN remains a NaN, but a quiet one
        if ((all[i] & 0x7fff) <= infinity)
          ASSERT_EQ(back[i], all[i]);
        else
          ASSERT_GT(back[i] & 0x7fff, infinity);
    }
  EXPECT_FALSE(isConvertible(ZERO_RT_I32, ZERO_RT_F32));
  EXPECT_FALSE(isConvertible(ZERO_RT_NO_DTYPE, ZERO_RT_NO_DTYPE));
  EXPECT_TRUE(isConvertible(ZERO_RT_I64, ZERO_RT_I64));
}

std::string safetensors(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + data;
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  std::string file = safetensors(
      R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "F16", "shape": [2, 1],
          "data_offsets": [8, 12]}, "a\u00e9": {"shape": [], "data_offsets": [0, 8],
          "dtype": "I64"}, "none": {"dtype": "F32", "shape": [0, 3], "data_offsets": [8, 8]}}  )",
      "AAAAAAAABBBB");
  std::map<std::string, Array> tensors;
  Status status = parseSafetensors(view(file), tensors);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors["b"].dtype, ZERO_RT_F16);
  EXPECT_EQ(tensors["b"].shape, (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(std::memcmp(tensors["b"].bytes.data(), "BBBB", 4), 0);
  EXPECT_EQ(tensors["a\u00e9"].bytes.size(), 8u);
  EXPECT_EQ(tensors["none"].bytes.size(), 0u);
}

TEST(Safetensors, RefusesWhatIsBroken) {
  auto refused = [](const std::string &file, const std::string &part) {
    std::map<std::string, Array> tensors;
    Status status = parseSafetensors(view(file), tensors);
    EXPECT_EQ(status.getCode(), ZERO_RT_BAD_FILE);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  };
  auto entry = [](const char *shape, const char *offsets, const char *dtype = "F32") {
    return std::string("{\"dtype\":\"") + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  auto one = [&](const std::string &tensor, const std::string &data) {
    return safetensors("{\"w\":" + tensor + "}", data);
  };
  refused("1234567", "too short");
  refused(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), "header would take");
  refused(safetensors("{", ""), "no JSON object");
  refused(safetensors("[]", ""), "no JSON object");
  refused(safetensors(std::string(100000, '['), ""), "no JSON object");
  refused(safetensors("{\"w\": 3}", ""), "tensor 'w': its entry is no JSON object");
  refused(one("{}", ""), "its entry has no dtype");
  refused(one(entry("[1]", "[0]"), "1234"), "its entry has no");
  refused(one(entry("[1]", "[0,4,4]"), "1234"), "its entry has no");
  refused(one(entry("[1.5]", "[0,4]"), "1234"), "its entry is no");
  refused(one(entry("[-1]", "[0,4]"), "1234"), "its entry is no");
  refused(one(entry("[18446744073709551617]", "[0,4]"), "1234"), "its entry is no");
  refused(one(entry("[1]", "[0,4]", "F8_E4M3"), "1234"), "element type is not supported");
  refused(one(entry("[9007199254740992,9007199254740992]", "[0,4]"), "1234"), "too large");
  refused(one(entry("[2]", "[0,8]"), "1234"), "outside the file");
  refused(one(entry("[1]", "[4,0]"), "1234"), "outside the file");
  refused(one(entry("[2]", "[0,4]"), "1234"), "does not fit its shape");
  refused(one(entry("[1]", "[4,8]"), "12345678"), "overlap or leave gaps");
  refused(one(entry("[1]", "[0,4]"), "12345678"), "after the last tensor");
  refused(safetensors("{\"a\":" + entry("[2]", "[0,8]") + ",\"b\":" + entry("[1]", "[4,8]") + "}",
                      "12345678"),
          "overlap or leave gaps");
  const std::string empty = entry("[0]", "[0,0]");
  refused(safetensors("{\"a\":" + empty + ",\"a\":" + empty + "}", ""), "'a': it occurs twice");
  refused(one(entry("[1,1],\"shape\":[1]", "[0,4]"), "1234"), "its entry is no");
  refused(safetensors("{\"a\":" + empty + "} x", ""), "no JSON object");
  refused(safetensors("{\"\xff\":" + empty + "}", ""), "no JSON object");
}

// Headers for which a tree-building parser needs minutes or gigabytes are rejected early.
TEST(Safetensors, BoundsItsHeader) {
  auto refused = [](const std::string &header, const std::string &part) {
    std::map<std::string, Array> tensors;
    Status status = parseSafetensors(view(safetensors(header, "")), tensors);
    EXPECT_EQ(status.getCode(), ZERO_RT_BAD_FILE);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  };
  const std::string lists = std::string(100000, '[') + std::string(100000, ']');
  refused("{\"__metadata__\":{\"a\":" + lists + "}}", "at most 64 levels");
  refused("{\"w\":" + lists + "}", "'w': its entry is no JSON object");
  refused("{\"w\":{\"more\":" + lists + "}}", "'w': its entry is no JSON object");
  std::string ones = "1";
  for (int dim = 0; dim < 64; ++dim)
    ones += ",1";
  refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[" + ones + "],\"data_offsets\":[0,0]}}",
          "'w': its shape has more than 64 dimensions");
  std::string many = "{";
  for (int tensor = 0; tensor <= 1'000'000; ++tensor)
    many += (tensor ? ",\"" : "\"") + std::to_string(tensor) +
            "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  refused(many + "}", "more than 1000000 tensors");
}

} // namespace
