//===- data_source.cpp - training data, batch by batch --------------------===//

#include "runtime/io/data_source.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

static bool canConvert(DType from, DType to) {
  return from == to || (from == ZERO_RT_I32 && to == ZERO_RT_I64) ||
         (from == ZERO_RT_U8 && to == ZERO_RT_BOOL);
}

/// "[4, 32]" with the first dimension free: "[*, 32]".
static std::string expectedShape(const std::vector<uint64_t> &shape) {
  std::string text = "[*";
  for (size_t i = 1; i < shape.size(); ++i)
    text += ", " + std::to_string(shape[i]);
  return shape.empty() ? "[]" : text + "]";
}

static bool fits(const std::vector<uint64_t> &expected, const std::vector<uint64_t> &got) {
  return expected.size() == got.size() &&
         (expected.empty() || std::equal(expected.begin() + 1, expected.end(), got.begin() + 1));
}

Status DataSource::create(const InputSpec &spec, Array array, int ranks, DataSource &source) {
  const std::string name = escape(spec.name);
  if (!canConvert(array.dtype, spec.dtype) || !fits(spec.shape, array.shape))
    return fail(ZERO_RT_BAD_DATA, "input '%s': expected %s %s, got %s %s", name.c_str(),
                nameOf(spec.dtype), expectedShape(spec.shape).c_str(), nameOf(array.dtype),
                shapeText(array.shape).c_str());
  DataSource made;
  made.total = array.shape.empty() ? 1 : array.shape[0];
  uint64_t elements = 0;
  countElements(array.shape, elements);
  if (elements == 0)
    return fail(ZERO_RT_BAD_DATA, "input '%s': the data is empty: %s", name.c_str(),
                shapeText(array.shape).c_str());
  made.rowElements = elements / made.total;
  if (uint64_t global = spec.rows() * static_cast<uint64_t>(ranks);
      made.total < global && !spec.shape.empty())
    made.remark = format("input '%s' has %llu rows, a global batch %llu: the data wraps round",
                         name.c_str(), static_cast<unsigned long long>(made.total),
                         static_cast<unsigned long long>(global));
  made.spec = spec;
  made.array = std::move(array);
  made.ranks = ranks;
  source = std::move(made);
  return {};
}

/// `count` elements, widened where the types differ.
static void convert(DType from, DType to, const uint8_t *source, uint8_t *target, uint64_t count) {
  if (to == ZERO_RT_BOOL) {
    for (uint64_t i = 0; i < count; ++i)
      target[i] = source[i] != 0;
  } else if (from == to) {
    std::memcpy(target, source, count * sizeOf(from));
  } else { // canConvert() leaves int32 to int64
    for (uint64_t i = 0; i < count; ++i) {
      int32_t narrow;
      std::memcpy(&narrow, source + i * sizeof(narrow), sizeof(narrow));
      int64_t wide = narrow;
      std::memcpy(target + i * sizeof(wide), &wide, sizeof(wide));
    }
  }
}

void DataSource::read(uint64_t batch, int rank, void *destination) const {
  auto *target = static_cast<uint8_t *>(destination);
  const uint64_t rowsIn = rowElements * sizeOf(array.dtype);
  const uint64_t rowsOut = rowElements * sizeOf(spec.dtype);
  uint64_t left = spec.rows();
  uint64_t row = (batch * ranks + rank) % total * (left % total) % total;
  while (left > 0) {
    uint64_t run = std::min(left, total - row);
    convert(array.dtype, spec.dtype, array.bytes.data() + row * rowsIn, target, run * rowElements);
    target += run * rowsOut;
    left -= run;
    row = (row + run) % total;
  }
}

} // namespace zero::rt
