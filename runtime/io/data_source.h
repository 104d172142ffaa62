//===- data_source.h - the rows of one input --------------------*- C++ -*-===//

#ifndef RUNTIME_IO_DATA_SOURCE_H
#define RUNTIME_IO_DATA_SOURCE_H

#include "runtime/io/array.h"
#include "runtime/io/convert.h"
#include "runtime/io/document_rows.h"

namespace zero::rt {

/// The requirements of the program on one input on one rank.
struct InputSpec {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  uint64_t vocabulary = 0; ///< of token ids: how many there are; 0: not known
  /// Of the programs for other shapes, in their order. Shape 0 is `shape`.
  std::vector<std::vector<uint64_t>> others = {};

  size_t shapes() const { return others.size() + 1; }
  const std::vector<uint64_t> &shapeAt(size_t index) const {
    return index == 0 ? shape : others[index - 1];
  }
  /// Rows of a local batch; a scalar is one row.
  uint64_t rows(size_t index = 0) const { return shapeAt(index).empty() ? 1 : shapeAt(index)[0]; }
  /// The required data with any number of rows, as "float32 [*, 784]" or "int64 [*, 512] or
  /// [*, 256]".
  std::string text() const;
  bool operator==(const InputSpec &) const = default;
};

/// Data of one input: its first dimension are rows.
class DataSource {
public:
  /// Checks type and shape. Errors name the input, the expected and the actual properties.
  static Status create(const InputSpec &spec, Array array, DataSource &source);
  /// Reads documents, which fit the input.
  static DataSource of(const InputSpec &spec, std::shared_ptr<const DocumentInput> documents);

  /// Whether its rows fit shape `index` of the input: those of an array have one size, those of
  /// documents the size of each.
  bool fits(size_t index) const { return fitting[index]; }
  /// Writes `count` rows from `row` on, modulo the number of rows, to `destination`, widened to the
  /// input's type, for a shape that fits(). Allocates nothing. Several threads may call it
  /// concurrently.
  void read(uint64_t row, uint64_t count, size_t shape, void *destination) const;

  bool isBound() const { return convert || documentInput; }
  /// Rows in the data.
  uint64_t rows() const { return total; }
  /// Bytes of a row of the input in a shape.
  uint64_t rowBytes(size_t shape) const { return rowOut[shape]; }
  /// One local batch of `perBatch` rows, or one row for all, can serve every step and rank.
  bool canStandStill(uint64_t perBatch) const { return total == perBatch || total == 1; }
  /// " in 'FILE'", or nothing for data from memory.
  std::string place() const { return placeOf(array); }
  /// Null for an array.
  const DocumentInput *documents() const { return documentInput.get(); }

private:
  Array array;
  std::shared_ptr<const DocumentInput> documentInput; ///< in place of an array
  Conversion convert = nullptr;
  uint64_t total = 0;
  uint64_t rowElements = 0, rowIn = 0; ///< of an array
  std::vector<bool> fitting;           ///< by shape
  std::vector<uint64_t> rowOut;        ///< by shape
};

} // namespace zero::rt

#endif // RUNTIME_IO_DATA_SOURCE_H
