//===- format_test.cpp - .zexe files, complete and damaged ----------------===//

#include "runtime/format/format.h"
#include "tiny_program.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

using namespace zero::rt;

namespace {

class Format : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "zero-format-" + std::to_string(::getpid());
    ASSERT_EQ(writeExecutable(path, TinyProgram(2).program, "code bytes", "data", "sse2"), "");
    std::ifstream file(path, std::ios::binary);
    bytes = {std::istreambuf_iterator<char>(file), {}};
  }
  void TearDown() override { ::unlink(path.c_str()); }

  /// Returns the error of reading `contents`.
  std::string read(const std::string &contents) {
    std::ofstream(path, std::ios::binary) << contents;
    Executable executable;
    return readExecutable(path, executable);
  }
  void expectRefused(const std::string &contents, const std::string &part) {
    std::string error = read(contents);
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
  }

  std::string path, bytes;
};

TEST_F(Format, RoundTrip) {
  Executable executable;
  ASSERT_EQ(readExecutable(path, executable), "");
  EXPECT_EQ(executable.program.SerializeAsString(), TinyProgram(2).program.SerializeAsString());
  EXPECT_EQ(std::string(executable.code.begin(), executable.code.end()), "code bytes");
  EXPECT_EQ(std::string(executable.data.begin(), executable.data.end()), "data");
  EXPECT_EQ(executable.isa, "sse2");
  for (auto section : {executable.code, executable.data})
    EXPECT_EQ((section.data() - executable.file.bytes().data()) % kSectionAlignment, 0);
}

TEST_F(Format, SameInputSameBytes) {
  ASSERT_EQ(writeExecutable(path, TinyProgram(2).program, "code bytes", "data", "sse2"), "");
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
}

TEST_F(Format, RefusesOtherFiles) {
  expectRefused("", "not a Zero executable");
  expectRefused("ZERO", "not a Zero executable");
  expectRefused("\x7f" + bytes.substr(1), "not a Zero executable");
  Executable executable;
  EXPECT_NE(readExecutable("/nonexistent.zexe", executable).find("cannot open"), std::string::npos);
  EXPECT_NE(readExecutable("/dev/null", executable).find("not a regular file"), std::string::npos);
}

TEST_F(Format, RefusesAnotherVersion) {
  bytes[8] = 99;
  expectRefused(bytes, "wrong version: expected " + std::to_string(kFormatVersion) + ", got 99");
}

TEST_F(Format, RefusesTruncationAnywhere) {
  for (size_t size : {size_t(8), size_t(100), sizeof(Header) - 1, sizeof(Header), size_t(4096),
                      size_t(5000), bytes.size() - 5000, bytes.size() - 1})
    expectRefused(bytes.substr(0, size), "truncated");
  expectRefused(bytes + "x", "wrong size");
}

TEST_F(Format, RefusesEveryFlippedByte) {
  // Damages each byte of the header, then a sample of the rest, including padding.
  for (size_t at = 0; at < bytes.size(); at += at < 96 ? 1 : 37) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_NE(read(damaged), "") << "byte " << at;
  }
  bytes[bytes.size() - 1] ^= 1;
  expectRefused(bytes, "wrong checksum");
}

TEST_F(Format, RefusesMissingFeatures) {
  ASSERT_EQ(writeExecutable(path, {}, "", "", "sse2 avx8192"), "");
  Executable executable;
  std::string error = readExecutable(path, executable);
  EXPECT_NE(error.find("needs the CPU feature 'avx8192'"), std::string::npos) << error;
}

TEST_F(Format, HostHasItsOwnFeatures) {
  EXPECT_NE(hostIsa().find("sse2"), std::string::npos);
  EXPECT_EQ(missingFeature(hostIsa()), "");
  EXPECT_EQ(missingFeature("  sse2   x86_64 "), "");
}

TEST_F(Format, WritesNothingWhereItCannot) {
  EXPECT_NE(writeExecutable("/nonexistent/m.zexe", {}, "", "", "").find("cannot write"),
            std::string::npos);
  EXPECT_NE(writeExecutable(path + "2", {}, "", "", std::string(4000, 'x')).find("too long"),
            std::string::npos);
  EXPECT_NE(::access((path + "2").c_str(), F_OK), 0);
}

} // namespace
