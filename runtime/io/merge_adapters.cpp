//===- merge_adapters.cpp - add adapters to the weights they adapt --------===//

#include "runtime/io/merge_adapters.h"

#include "runtime/support/adapter_names.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <map>
#include <set>

namespace zero::rt {

namespace {
/// What an adapter makes of a matrix: adds the product of `rows`, of [outer, size], and `columns`,
/// of [size, inner], times `scale`, and then multiplies the weights of each output by its factor.
template <typename T>
struct Product {
  std::vector<T> rows, columns;
  uint64_t size = 0, inner = 0;
  T scale = 1;
  bool isInputsFirst = false;
  std::vector<T> factors; ///< by output; empty: 1

  uint64_t outputOf(uint64_t element) const {
    return isInputsFirst ? element % inner : element / inner;
  }
  /// Adds its elements from `begin` on to `elements`.
  void addTo(std::span<T> elements, uint64_t begin) const;
  /// Multiplies `elements`, those from `begin` on, by the factors.
  void scaleOutputs(std::span<T> elements, uint64_t begin) const;
};
} // namespace

template <typename T>
void Product<T>::addTo(std::span<T> elements, uint64_t begin) const {
  std::vector<T> sums;
  for (size_t done = 0; done < elements.size(); done += sums.size()) {
    const uint64_t row = (begin + done) / inner, first = (begin + done) % inner;
    sums.assign(std::min<uint64_t>(inner - first, elements.size() - done), 0);
    for (uint64_t k = 0; k < size; ++k) {
      const T factor = rows[row * size + k];
      const T *column = &columns[k * inner + first];
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += factor * column[i];
    }
    for (size_t i = 0; i < sums.size(); ++i)
      elements[done + i] += scale * sums[i];
  }
}

template <typename T>
void Product<T>::scaleOutputs(std::span<T> elements, uint64_t begin) const {
  for (size_t i = 0; i < elements.size() && !factors.empty(); ++i)
    elements[i] *= factors[outputOf(begin + i)];
}

template <typename T>
static constexpr DType kTypeOf = sizeof(T) == sizeof(double) ? ZERO_RT_F64 : ZERO_RT_F32;

/// Reads elements [begin, begin + count) of `entry` as T.
template <typename T>
static Status readAs(const TensorEntry &entry, uint64_t begin, std::span<T> elements) {
  const uint64_t bytes = elements.size() * sizeof(T);
  return withType(entry, kTypeOf<T>).read(begin * sizeof(T), elements.data(), bytes);
}

/// The matrix `entry`, or its transpose.
template <typename T>
static Status readMatrix(const TensorEntry &entry, bool isTransposed, std::vector<T> &matrix) {
  std::vector<T> read(entry.elements());
  ZERO_RT_TRY(readAs(entry, 0, std::span<T>(read)));
  matrix = read;
  const uint64_t height = entry.shape[0], width = entry.shape[1];
  for (uint64_t i = 0; isTransposed && i < height; ++i)
    for (uint64_t j = 0; j < width; ++j)
      matrix[j * height + i] = read[i * width + j];
  return {};
}

template <typename T>
static Status readProduct(const TensorEntry &first, const TensorEntry &second,
                          const TensorEntry::Adapter &adapter, Product<T> &product) {
  const bool isInputsFirst = adapter.isInputsFirst;
  ZERO_RT_TRY(readMatrix(isInputsFirst ? first : second, isInputsFirst, product.rows));
  ZERO_RT_TRY(readMatrix(isInputsFirst ? second : first, isInputsFirst, product.columns));
  product.size = first.shape[0];
  product.inner = isInputsFirst ? second.shape[0] : first.shape[1];
  product.scale = T(adapter.scale);
  product.isInputsFirst = isInputsFirst;
  return {};
}

/// Finds the factors that scale the weights of each output to the norm in `magnitude`, all of the
/// sum of `base` and the product.
template <typename T>
static Status findFactors(const TensorEntry &base, const TensorEntry &magnitude,
                          Product<T> &product) {
  product.factors.resize(magnitude.elements());
  ZERO_RT_TRY(readAs(magnitude, 0, std::span<T>(product.factors)));
  std::vector<double> squares(product.factors.size());
  std::vector<T> piece;
  const uint64_t all = base.elements(), most = kTensorPiece / sizeof(T);
  for (uint64_t begin = 0; begin < all; begin += most) {
    piece.resize(std::min(most, all - begin));
    ZERO_RT_TRY(readAs(base, begin, std::span<T>(piece)));
    product.addTo(piece, begin);
    for (size_t i = 0; i < piece.size(); ++i)
      squares[product.outputOf(begin + i)] += double(piece[i]) * double(piece[i]);
  }
  for (size_t i = 0; i < squares.size(); ++i)
    product.factors[i] /= T(std::sqrt(squares[i]));
  return {};
}

/// `base` as its adapter, of these tensors, changes it. They are in memory from the first read of
/// the entry to the one of its end.
template <typename T>
static TensorEntry merged(const TensorEntry &base, const TensorEntry &first,
                          const TensorEntry &second, const TensorEntry &magnitude) {
  TensorEntry made = base;
  made.dtype = kTypeOf<T>;
  made.mustBeFinite = base.mustBeFinite || first.mustBeFinite;
  made.adapter.reset();
  auto product = std::make_shared<Product<T>>();
  made.read = [=](uint64_t offset, void *destination, uint64_t bytes) -> Status {
    if (product->rows.empty()) {
      ZERO_RT_TRY(readProduct(first, second, *base.adapter, *product));
      if (!base.adapter->magnitude.empty())
        ZERO_RT_TRY(findFactors(base, magnitude, *product));
    }
    const uint64_t begin = offset / sizeof(T);
    std::span<T> elements(static_cast<T *>(destination), bytes / sizeof(T));
    ZERO_RT_TRY(readAs(base, begin, elements));
    product->addTo(elements, begin);
    product->scaleOutputs(elements, begin);
    if (begin + elements.size() == base.elements())
      *product = {};
    return {};
  };
  return made;
}

/// Whether matrices of [size, inputs] and [outputs, size] have a product of the elements of `base`,
/// and `magnitude`, if there is one, has an element for each output.
static bool doFit(const TensorEntry &base, const TensorEntry &first, const TensorEntry &second,
                  const TensorEntry &magnitude) {
  if (!base.adapter->magnitude.empty() &&
      (second.shape.empty() || magnitude.elements() != second.shape[0] ||
       !isConvertible(magnitude.dtype, ZERO_RT_F32)))
    return false;
  return first.shape.size() == 2 && second.shape.size() == 2 && first.shape[0] > 0 &&
         first.shape[0] == second.shape[1] && second.shape[0] * first.shape[1] == base.elements() &&
         isConvertible(base.dtype, ZERO_RT_F32) && isConvertible(first.dtype, ZERO_RT_F32) &&
         isConvertible(second.dtype, ZERO_RT_F32);
}

Status mergeAdapters(std::vector<TensorEntry> &entries) {
  std::map<std::string, TensorEntry> byName;
  for (const TensorEntry &entry : entries)
    byName[entry.name] = entry;
  std::set<std::string> done;
  for (TensorEntry &entry : entries) {
    if (!entry.adapter)
      continue;
    const TensorEntry &first = byName[entry.adapter->first];
    const TensorEntry &second = byName[entry.adapter->second];
    const TensorEntry &magnitude = byName[entry.adapter->magnitude];
    if (!doFit(entry, first, second, magnitude))
      return fail(ZERO_RT_BAD_FILE, "the adapter of '%s' does not fit it: %s and %s",
                  escape(entry.name).c_str(), shapeText(first.shape).c_str(),
                  shapeText(second.shape).c_str());
    done.insert({first.name, second.name, magnitude.name});
    entry = entry.dtype == ZERO_RT_F64 ? merged<double>(entry, first, second, magnitude)
                                       : merged<float>(entry, first, second, magnitude);
  }
  if (done.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--merge-lora: expected a program that was compiled with --lora");
  std::erase_if(entries, [&](const TensorEntry &entry) { return done.contains(entry.name); });
  for (const TensorEntry &entry : entries)
    if (isOfAdapter(entry.name))
      return fail(ZERO_RT_UNSUPPORTED,
                  "--merge-lora: the matrix that '%s' adapts is permuted before its product, which "
                  "is not supported; save the adapter",
                  escape(entry.name).c_str());
  return {};
}

} // namespace zero::rt
