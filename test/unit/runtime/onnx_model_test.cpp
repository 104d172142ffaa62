//===- onnx_model_test.cpp - new values in an ONNX file -------------------===//

#include "io_files.h"
#include "runtime/io/onnx_model.h"
#include "runtime/support/floats.h"

#include <cstring>
#include <iterator>

using namespace zero::rt;

namespace {

std::string varint(uint64_t value) {
  std::string text;
  for (; value > 127; value >>= 7)
    text += char(value | 128);
  return text + char(value);
}

/// A field of Protobuf with contents.
std::string field(int number, const std::string &block) {
  return varint(uint64_t(number) << 3 | 2) + varint(block.size()) + block;
}

/// A TensorProto of floats of 16 bits.
std::string tensor(const std::string &name, const std::vector<uint64_t> &shape,
                   const std::string &values) {
  std::string dims;
  for (const uint64_t dim : shape)
    dims += varint(1 << 3) + varint(dim);
  return dims + varint(2 << 3) + varint(10) + field(8, name) + field(9, values);
}

/// A ModelProto with two initializers.
std::string modelOf(const std::string &first, const std::string &second) {
  return field(7, field(5, first) + field(5, second));
}

/// A matrix of floats that is read in pieces of at most `most` bytes, in order.
TensorEntry entryOf(const std::string &name, std::vector<uint64_t> shape,
                    const std::vector<float> &values, uint64_t &most) {
  TensorEntry entry{name, ZERO_RT_F32, std::move(shape), {}};
  entry.read = [&, next = uint64_t(0)](uint64_t offset, void *destination, uint64_t bytes) mutable {
    EXPECT_EQ(offset, next);
    next = offset + bytes;
    most = std::max(most, bytes);
    std::memcpy(destination, reinterpret_cast<const char *>(values.data()) + offset, bytes);
    return Status();
  };
  return entry;
}

std::string halvesOf(const std::vector<float> &values) {
  std::string bytes(values.size() * 2, '\0');
  convertFloats(ZERO_RT_F32, values.data(), ZERO_RT_F16, bytes.data(), values.size());
  return bytes;
}

/// Both tensors are longer than a piece; the second is behind what the first leaves room for.
TEST_F(Files, ModelGetsValuesInPieces) {
  const uint64_t height = 700, width = 601;
  std::vector<float> values(height * width), turned(values.size());
  for (uint64_t row = 0; row < height; ++row)
    for (uint64_t column = 0; column < width; ++column)
      turned[column * height + row] = values[row * width + column] =
          float(row % 32 * 64 + column % 64);
  const std::string old(values.size() * 2, 'x');
  write(modelOf(tensor("turned", {width, height}, old), tensor("straight", {height, width}, old)));
  uint64_t most = 0;
  std::vector<TensorEntry> entries = {entryOf("turned", {height, width}, values, most),
                                      entryOf("straight", {height, width}, values, most)};
  entries[0].transposed = true;
  OnnxModel model;
  Status status = OnnxModel::open(path, -1, {}, entries, model);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  OutputFile file, data;
  ASSERT_TRUE(OutputFile::create(path + ".out", file).ok());
  status = model.write(file, data, "", entries);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  ASSERT_TRUE(file.commit().ok());
  std::ifstream in(path + ".out", std::ios::binary);
  const std::string got(std::istreambuf_iterator<char>(in), {});
  ::unlink((path + ".out").c_str());
  EXPECT_TRUE(got == modelOf(tensor("turned", {width, height}, halvesOf(turned)),
                             tensor("straight", {height, width}, halvesOf(values))));
  EXPECT_LE(most, kTensorPiece);
  EXPECT_GT(most, kTensorPiece / 2);
}

} // namespace
