//===- data_set.h - batches of all inputs -----------------------*- C++ -*-===//

#ifndef RUNTIME_IO_DATA_SET_H
#define RUNTIME_IO_DATA_SET_H

#include "runtime/io/data_source.h"
#include "runtime/io/mixture.h"
#include "runtime/io/sampling.h"

#include <deque>

namespace zero::rt {

/// Over how many parts a global batch is cut.
struct BatchShape {
  uint64_t ranks = 1, microBatches = 1;
  bool operator==(const BatchShape &) const = default;
};

/// Data of all inputs of a program. A sample is one row of each input (or several rows of an input
/// that has more rows than the others in its local batch). All inputs contain the same samples in
/// the same order. An input with only one local batch, or one row, while others have more is
/// constant: it is the same in every step and on every rank.
///
/// A program with several shapes runs the smallest one that holds a batch. All that its data fit
/// are candidates; the first one, which is the largest, says how many samples a global batch has.
/// Documents take any that has as many rows and a place for each token, and the last batch of an
/// epoch one with as long rows, and fewer.
class DataSet {
public:
  DataSet(std::vector<InputSpec> inputs, BatchShape batch);

  /// Whether `other` serves the same inputs, ranks and micro-batches.
  bool hasInputsOf(const DataSet &other) const;

  /// Binds an input to an array; errors name the input.
  Status bind(const std::string &input, Array array);
  /// Reads `file`, or the documents of a folder, for an input; errors name both.
  Status bindFile(const std::string &input, const ArrayFile &file);
  /// How folders that are bound from now on are packed.
  void pack(Packing chosen) { packing = chosen; }
  /// Documents of the folder that the data are read from; null: none are.
  const DocumentRows *documents() const;
  /// Gives each epoch its own order from now on, within windows of so many samples; 0: of all.
  void shuffle(uint64_t seed, uint64_t window = 0);
  /// Reads the samples of `part`, too, which is bound to data of its own for the same inputs,
  /// instead of own data: behind those of earlier parts, or mixed with them by `weight` if that is
  /// not 0. Either all parts have weights or none.
  Status addPart(std::shared_ptr<DataSet> part, double weight);

  /// Only evaluations read the data, and these count each sample once: no remark that it is smaller
  /// than a global batch.
  void serveEvaluations() { onlyEvaluated = true; }

  /// Checks that every input has data, and that all have as many samples. To be called
  /// before read(), after the last change; costs nothing when nothing has changed.
  Status prepare();

  /// The shape of the program that a step runs: the same on all ranks.
  size_t shapeOf(uint64_t step) const;
  /// The same for a global batch of chosen samples.
  size_t shapeOf(const SampleChoice &choice) const;

  /// Writes the rows of input `index` that `rank` reads in a micro-batch of a step, for the shape
  /// of that. The samples of a global batch do not depend on the number of ranks: micro-batch by
  /// micro-batch, rank r takes the r-th part. Allocates nothing; safe from several threads.
  void read(size_t index, size_t shape, uint64_t step, uint64_t microBatch, int rank,
            void *destination) const;
  /// The same for a global batch of chosen samples.
  void read(size_t index, size_t shape, const SampleChoice &choice, uint64_t microBatch, int rank,
            void *destination) const;

  /// Valid after prepare().
  const SampleOrder &order() const { return sampleOrder; }
  bool hasInputs() const { return !inputs.empty(); }
  std::optional<uint64_t> shuffleSeed() const { return seed; }
  uint64_t shuffleWindow() const { return window; }
  /// Of the parts of a mixture; else empty.
  std::vector<double> weights() const;
  /// Remarks not yet handed out; the last one handed out stays valid.
  const char *nextWarning();
  /// "'x' (float32 [*, 784]), 'labels' (int64 [*])".
  std::string inputsText() const;

private:
  struct Part {
    std::shared_ptr<DataSet> set;
    double weight;
    uint64_t first; ///< of its samples among those of all parts
  };
  bool isMixture() const { return !parts.empty() && parts.front().weight > 0; }
  Status prepareParts();
  void remarkSmall();
  bool areAlike(size_t shape) const;
  const DataSource &sourceOf(size_t index) const;
  void readSample(size_t index, size_t shape, uint64_t sample, void *target) const;
  Status find(const std::string &name, size_t &index) const;
  Status checkBound() const;
  Status checkSamples() const;
  void remark();
  void remarkDocuments();
  size_t countShapes() const { return inputs.empty() ? 1 : inputs.front().shapes(); }
  bool fills(size_t shape) const;
  Status findShapes();
  std::vector<uint64_t> localBatches() const;
  uint64_t globalBatch(size_t shape) const {
    return localBatch[shape] * batch.ranks * batch.microBatches;
  }
  uint64_t chooseLast(uint64_t samples) const;
  bool hasLongestRows(size_t shape) const;
  template <typename SampleAt>
  bool holds(size_t shape, uint64_t samples, SampleAt sampleAt) const;
  template <typename SampleAt>
  size_t smallestFor(uint64_t samples, SampleAt sampleAt) const;
  template <typename ReadAt>
  void readRows(size_t index, size_t shape, uint64_t microBatch, int rank, void *destination,
                ReadAt readAt) const;

  std::vector<InputSpec> inputs;
  std::vector<DataSource> sources;     ///< as `inputs`
  std::vector<uint64_t> rowsPerSample; ///< as `inputs`; 0: constant
  BatchShape batch;
  std::vector<Part> parts; ///< instead of sources
  Mixture mixture;
  std::optional<uint64_t> seed;
  uint64_t window = 0;
  Packing packing = Packing::Off;
  OpenDocuments folders;
  SampleOrder sampleOrder;
  std::vector<size_t> candidates;   ///< shapes that the data fit, the largest first
  std::vector<uint64_t> localBatch; ///< samples, by shape; 0: no candidate
  size_t leader = 0;                ///< the input that determines the number of samples
  bool prepared = false, onlyEvaluated = false, isPart = false;
  std::deque<std::string> warnings;
  std::string warning;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DATA_SET_H
