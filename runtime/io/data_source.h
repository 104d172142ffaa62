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

  /// Rows of a local batch; a scalar is one row.
  uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  /// The required data with any number of rows, as "float32 [*, 784]".
  std::string text() const;
  bool operator==(const InputSpec &) const = default;
};

/// Data of one input: its first dimension are rows, of which a local batch has
/// `rowsPerBatch`.
class DataSource {
public:
  /// Checks type and shape. Errors name the input, the expected and the actual properties.
  static Status create(const InputSpec &spec, Array array, DataSource &source);
  /// Reads documents, which fit the input.
  static DataSource of(const InputSpec &spec, std::shared_ptr<const DocumentInput> documents);

  /// Writes `count` rows from `row` on, modulo the number of rows, to `destination`, widened to the
  /// input's type. Allocates nothing. Several threads may call it concurrently.
  void read(uint64_t row, uint64_t count, void *destination) const;

  bool isBound() const { return convert || documentInput; }
  /// Rows in the data, and per local batch.
  uint64_t rows() const { return total; }
  uint64_t rowsPerBatch() const { return perBatch; }
  /// Bytes of a row of the input.
  uint64_t rowBytes() const { return rowOut; }
  /// One local batch, or one row for all, can serve every step and rank.
  bool canStandStill() const { return total == perBatch || total == 1; }
  /// " in 'FILE'", or nothing for data from memory.
  std::string place() const { return placeOf(array); }
  /// Null for an array.
  const DocumentInput *documents() const { return documentInput.get(); }

private:
  Array array;
  std::shared_ptr<const DocumentInput> documentInput; ///< in place of an array
  Conversion convert = nullptr;
  uint64_t total = 0, perBatch = 1;
  uint64_t rowElements = 0, rowIn = 0, rowOut = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DATA_SOURCE_H
