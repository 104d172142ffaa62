//===- stream.cpp - sequences from a stream of elements -------------------===//

#include "runtime/io/stream.h"

#include "runtime/support/checked.h"

namespace zero::rt {

using Number = unsigned long long;

Status readRaw(const std::string &path, DType dtype, Array &array) {
  auto file = std::make_shared<MappedFile>();
  ZERO_RT_TRY(MappedFile::open(path, *file));
  const uint64_t bytes = file->bytes().size();
  if (sizeOf(dtype) == 0 || bytes % sizeOf(dtype) != 0)
    return fail(ZERO_RT_BAD_FILE, "'%s': %llu bytes are no whole number of %s elements",
                escape(path).c_str(), Number(bytes), nameOf(dtype));
  array = {};
  array.dtype = dtype;
  array.shape = {bytes / sizeOf(dtype)};
  array.bytes = file->bytes();
  array.from = path;
  array.file = std::move(file);
  return {};
}

static bool isInteger(DType dtype) {
  switch (dtype) {
  case ZERO_RT_I8:
  case ZERO_RT_U8:
  case ZERO_RT_I16:
  case ZERO_RT_U16:
  case ZERO_RT_I32:
  case ZERO_RT_U32:
  case ZERO_RT_I64:
    return true;
  default:
    return false;
  }
}

static bool isStream(const std::vector<uint64_t> &shape, const ArrayFile &file,
                     const Array &array) {
  return file.raw != ZERO_RT_NO_DTYPE || file.skip > 0 ||
         (array.shape.size() == 1 && shape.size() > 1 && isInteger(array.dtype));
}

Status cutStream(const std::vector<uint64_t> &shape, const ArrayFile &file, Array &array) {
  if (!isStream(shape, file, array))
    return {};
  if (array.shape.size() != 1)
    return fail(ZERO_RT_BAD_DATA, "'+%llu' needs an array of one dimension, got %s%s",
                Number(file.skip), shapeText(array.shape).c_str(), placeOf(array).c_str());
  if (shape.empty())
    return fail(ZERO_RT_BAD_DATA, "a scalar cannot be read from a stream%s",
                placeOf(array).c_str());
  const auto row = saturatingProduct<uint64_t>(std::span(shape).subspan(1));
  const uint64_t elements = array.shape[0], ahead = std::max(file.ahead, file.skip);
  if (row == 0 || elements < ahead || elements - ahead < row)
    return fail(ZERO_RT_BAD_DATA, "one row takes %llu elements%s, got %llu%s", Number(row),
                ahead ? format(" and %llu after it", Number(ahead)).c_str() : "", Number(elements),
                placeOf(array).c_str());
  array.shape = shape;
  array.shape[0] = (elements - ahead) / row;
  const uint64_t size = sizeOf(array.dtype);
  array.bytes = array.bytes.subspan(file.skip * size, array.shape[0] * row * size);
  return {};
}

} // namespace zero::rt
