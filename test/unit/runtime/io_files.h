//===- io_files.h - files as NumPy writes them ------------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_IO_FILES_H
#define TEST_UNIT_RUNTIME_IO_FILES_H

#include "runtime/io/array.h"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

inline std::span<const uint8_t> view(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

template <typename T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char *>(std::data(values)), values.size() * sizeof(T)};
}

/// Returns a .npy file as NumPy writes it.
inline std::string npy(const std::string &descr, const std::string &shape,
                       const std::string &elements, int version = 1,
                       const std::string &order = "False") {
  std::string header =
      "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  size_t fixed = version == 1 ? 10 : 12;
  header.resize((fixed + header.size() + 64) / 64 * 64 - fixed, ' ');
  header.back() = '\n';
  uint32_t length = uint32_t(header.size());
  std::string size(reinterpret_cast<char *>(&length), version == 1 ? 2 : 4);
  return std::string("\x93NUMPY") + char(version) + '\0' + size + header + elements;
}

/// A test that uses one file.
class Files : public testing::Test {
protected:
  std::string path = testing::TempDir() + "zero-io-" + std::to_string(::getpid());
  void TearDown() override { ::unlink(path.c_str()); }
  void write(const std::string &contents) { std::ofstream(path, std::ios::binary) << contents; }
  zero::rt::Status read(const std::string &contents, const std::string &member,
                        const std::string &input, zero::rt::Array &array) {
    write(contents);
    return readArray({path, member}, input, array);
  }
};

#endif // TEST_UNIT_RUNTIME_IO_FILES_H
