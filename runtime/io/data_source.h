//===- data_source.h - the rows of one input --------------------*- C++ -*-===//

#ifndef RUNTIME_IO_DATA_SOURCE_H
#define RUNTIME_IO_DATA_SOURCE_H

#include "runtime/io/array.h"
#include "runtime/io/convert.h"

namespace zero::rt {

/// What the program expects of one input on one rank.
struct InputSpec {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;

  /// Rows of a local batch; a scalar is one row.
  uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  /// "float32 [*, 784]": what data must be, its number of rows free.
  std::string text() const;
  bool operator==(const InputSpec &) const = default;
};

/// Data of one input: its first dimension are rows, of which a local batch has
/// `rowsPerBatch`.
class DataSource {
public:
  /// Checks type and shape; errors name the input, what was expected and what came.
  static Status create(const InputSpec &spec, Array array, DataSource &source);

  /// Writes `count` rows from `row` on, modulo what there is, to `destination`, widened
  /// to the input's type. Allocates nothing; safe from several threads.
  void read(uint64_t row, uint64_t count, void *destination) const;

  bool isBound() const { return convert != nullptr; }
  /// Rows in the data, and per local batch.
  uint64_t rows() const { return total; }
  uint64_t rowsPerBatch() const { return perBatch; }
  /// Bytes of a row of the input.
  uint64_t rowBytes() const { return rowOut; }
  /// One local batch, or one row for all, can serve every step and rank.
  bool canStandStill() const { return total == perBatch || total == 1; }
  /// " in 'FILE'", or nothing for data from memory.
  std::string place() const { return placeOf(array); }

private:
  Array array;
  Conversion convert = nullptr;
  uint64_t total = 0, perBatch = 1;
  uint64_t rowElements = 0, rowIn = 0, rowOut = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DATA_SOURCE_H
