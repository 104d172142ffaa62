//===- norms.cpp - initial values that are norms of a matrix --------------===//

#include "runtime/format/norms.h"

#include <cmath>

namespace zero::rt {

/// Elements that are read at a time, at least.
static constexpr uint64_t kElementsAtOnce = uint64_t(1) << 16;

/// Calls `use(row, elements)` for the rows [begin, end) of a matrix of rows of `width` elements.
template <typename Use>
static Status forEachRow(const ReadElements &read, uint64_t begin, uint64_t end, uint64_t width,
                         Use use) {
  const uint64_t most = std::max<uint64_t>(kElementsAtOnce / std::max<uint64_t>(width, 1), 1);
  std::vector<float> elements;
  for (uint64_t first = begin; first < end; first += most) {
    const uint64_t rows = std::min(most, end - first);
    elements.resize(rows * width);
    ZERO_RT_TRY(read(first * width, elements.size(), elements.data()));
    for (uint64_t row = 0; row < rows; ++row)
      use(first + row, std::span<const float>(elements).subspan(row * width, width));
  }
  return {};
}

Status findNorms(const proto::Program &program, const proto::Tensor &tensor,
                 const ReadElements &read, uint64_t begin, std::span<float> norms) {
  const proto::Init::Norms &init = tensor.init().norms();
  const proto::Tensor &of = parameterOf(program, init.of());
  const ReadElements stored = readAsStored(program, of, read);
  uint64_t all = 0;
  countElements(valueTypeOf(of).shape, all);
  const uint64_t count = elementsOf(tensor.shape());
  std::vector<double> squares(norms.size());
  auto addRow = [&](uint64_t row, std::span<const float> elements) {
    for (const float element : elements)
      squares[row - begin] += double(element) * double(element);
  };
  auto addToColumns = [&](uint64_t, std::span<const float> elements) {
    for (size_t i = 0; i < squares.size(); ++i)
      squares[i] += double(elements[begin + i]) * double(elements[begin + i]);
  };
  ZERO_RT_TRY(init.columns()
                  ? forEachRow(stored, 0, all / count, count, addToColumns)
                  : forEachRow(stored, begin, begin + norms.size(), all / count, addRow));
  for (size_t i = 0; i < squares.size(); ++i)
    norms[i] = float(std::sqrt(squares[i]));
  return {};
}

} // namespace zero::rt
