//===- data_source.h - training data, batch by batch ------------*- C++ -*-===//

#ifndef RUNTIME_IO_DATA_SOURCE_H
#define RUNTIME_IO_DATA_SOURCE_H

#include "runtime/io/array.h"

namespace zero::rt {

/// What the program expects of one input on one rank.
struct InputSpec {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;

  /// Rows of a local batch; a scalar is one row.
  uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
};

/// The data of one input. Its first dimension runs over global batches; batch b of
/// rank r takes the rows from (b * ranks + r) * rows on, modulo what there is.
class DataSource {
public:
  /// Checks type and shape; errors name the input, what was expected and what came.
  static Status create(const InputSpec &spec, Array array, int ranks, DataSource &source);

  /// Copies one local batch to `destination`, converting int32 to int64 and uint8 to
  /// bool. Allocates nothing; safe from several threads.
  void read(uint64_t batch, int rank, void *destination) const;

  /// Rows in the data, and per local batch.
  uint64_t rows() const { return total; }
  uint64_t rowsPerBatch() const { return spec.rows(); }
  /// Nonempty when the data is shorter than one global batch.
  const std::string &warning() const { return remark; }

private:
  InputSpec spec;
  Array array;
  int ranks = 1;
  uint64_t total = 0;
  uint64_t rowElements = 0;
  std::string remark;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DATA_SOURCE_H
