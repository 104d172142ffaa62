//===- data_source.cpp - the rows of one input ----------------------------===//

#include "runtime/io/data_source.h"

#include <algorithm>

namespace zero::rt {

/// "[*, 784]".
static std::string rowsText(const std::vector<uint64_t> &shape) {
  std::string text = shape.empty() ? "[" : "[*";
  for (size_t i = 1; i < shape.size(); ++i)
    text += ", " + std::to_string(shape[i]);
  return text + "]";
}

std::string InputSpec::text() const {
  std::vector<std::string> each = {rowsText(shape)};
  for (const std::vector<uint64_t> &other : others)
    if (std::string text = rowsText(other); std::ranges::find(each, text) == each.end())
      each.push_back(std::move(text));
  std::string text = nameOf(dtype);
  for (const std::string &rows : each)
    text += (&rows == &each.front() ? " " : " or ") + rows;
  return text;
}

static bool hasRowsOf(const std::vector<uint64_t> &expected, const std::vector<uint64_t> &got) {
  return expected.size() == got.size() &&
         (expected.empty() || std::equal(expected.begin() + 1, expected.end(), got.begin() + 1));
}

static Status mismatch(const InputSpec &spec, const Array &array, const char *wayOut) {
  return fail(ZERO_RT_BAD_DATA, "input '%s': expected %s, got %s %s%s%s", escape(spec.name).c_str(),
              spec.text().c_str(), nameOf(array.dtype), shapeText(array.shape).c_str(),
              placeOf(array).c_str(), wayOut);
}

/// Fails if the data has a type of 16 bits that does not hold all token ids: whatever wrote it has
/// cut them off. Bytes are text rather than ids.
static Status checkIds(const InputSpec &spec, const Array &array) {
  const uint64_t held = array.dtype == ZERO_RT_U16   ? uint64_t(1) << 16
                        : array.dtype == ZERO_RT_I16 ? uint64_t(1) << 15
                                                     : UINT64_MAX;
  return spec.vocabulary <= held
             ? Status()
             : fail(ZERO_RT_BAD_DATA,
                    "input '%s': the model has %llu token ids, and %s%s holds only the first %llu; "
                    "write them as uint32 or int32",
                    escape(spec.name).c_str(), static_cast<unsigned long long>(spec.vocabulary),
                    nameOf(array.dtype), placeOf(array).c_str(),
                    static_cast<unsigned long long>(held));
}

Status DataSource::create(const InputSpec &spec, Array array, DataSource &source) {
  DataSource made;
  made.convert = conversion(array.dtype, spec.dtype);
  for (size_t i = 0; i < spec.shapes(); ++i)
    made.fitting.push_back(hasRowsOf(spec.shapeAt(i), array.shape));
  if (std::ranges::count(made.fitting, true) == 0)
    return mismatch(spec, array, "");
  if (!made.convert)
    return mismatch(spec, array, "; convert it, as by NumPy's astype()");
  ZERO_RT_TRY(checkIds(spec, array));
  uint64_t elements = 0;
  const bool mayBeEmpty = std::ranges::count(spec.shape, 0) != 0;
  if (!countElements(array.shape, elements) || (elements == 0 && !mayBeEmpty))
    return fail(ZERO_RT_BAD_DATA, "input '%s': the data is empty: %s%s", escape(spec.name).c_str(),
                shapeText(array.shape).c_str(), placeOf(array).c_str());
  made.total = array.shape.empty() ? 1 : array.shape[0];
  made.rowElements = made.total ? elements / made.total : 0;
  made.rowIn = made.rowElements * sizeOf(array.dtype);
  made.rowOut.assign(spec.shapes(), made.rowElements * sizeOf(spec.dtype));
  made.array = std::move(array);
  source = std::move(made);
  return {};
}

DataSource DataSource::of(const InputSpec &spec, std::shared_ptr<const DocumentInput> documents) {
  DataSource made;
  made.array.from = documents->rows().folder();
  made.total = documents->rows().size();
  made.fitting.assign(spec.shapes(), true);
  for (size_t i = 0; i < spec.shapes(); ++i)
    made.rowOut.push_back(spec.shapeAt(i)[1] * sizeOf(spec.dtype));
  made.documentInput = std::move(documents);
  return made;
}

void DataSource::read(uint64_t row, uint64_t count, size_t shape, void *destination) const {
  if (rowOut[shape] == 0)
    return;
  if (documentInput)
    return documentInput->read(row, count, shape, destination);
  auto *target = static_cast<uint8_t *>(destination);
  for (row %= total; count > 0; row = 0) {
    uint64_t run = std::min(count, total - row);
    convert(array.bytes.data() + row * rowIn, target, run * rowElements);
    target += run * rowOut[shape];
    count -= run;
  }
}

} // namespace zero::rt
