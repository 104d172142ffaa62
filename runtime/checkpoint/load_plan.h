//===- load_plan.h - plan the load of a checkpoint --------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_LOAD_PLAN_H
#define RUNTIME_CHECKPOINT_LOAD_PLAN_H

#include "runtime/checkpoint/manifest.pb.h"
#include "runtime/checkpoint/state_table.h"
#include "runtime/format/codes.h"

#include <deque>
#include <optional>

namespace zero::rt {

/// Elements of a file that a rank reads into its memory.
struct RangeRead {
  uint32_t file;   ///< of the manifest
  uint64_t offset; ///< bytes behind its header
  DType stored, dtype;
  uint64_t count;
  proto::Tier tier;
  uint64_t place; ///< bytes in the arena of that tier
};

/// Elements that no file has, all `value`.
struct RangeFill {
  DType dtype;
  double value;
  uint64_t count;
  proto::Tier tier;
  uint64_t place;
};

/// Elements [begin, begin + count) of a tensor that are consecutive in a file.
struct SavedRun {
  uint64_t begin, count;
  uint32_t file;
  uint64_t offset; ///< bytes behind its header
};

/// A saved tensor that the program stores otherwise: all its runs in their order, and with codes
/// those of its scales. Scales of a parameter may have codes, too: then they have a source of their
/// own.
struct SavedSource {
  DType dtype;
  uint64_t elements; ///< also of what codes stand for
  std::vector<SavedRun> values, scales;
  Codes codes;
  std::optional<size_t> codedScales; ///< of LoadPlan::sources
  bool hasMean = false;              ///< after the scales; it is added to each element
};

/// Elements of a saved tensor that are decoded, encoded, or both. They are whole blocks of what has
/// codes in the program.
struct RangeConvert {
  size_t source; ///< of LoadPlan::sources
  uint64_t begin, count;
  DType dtype;        ///< of the program, if it has no codes there
  const Codes *codes; ///< of LoadPlan::codes, or null
  proto::Tier tier;
  uint64_t place;
  proto::Tier scalesTier = proto::DEVICE;
  uint64_t scalesPlace = 0;
};

/// A frozen parameter of codes, which are made of a saved tensor.
struct EncodedLoad {
  size_t source; ///< of LoadPlan::sources
  const proto::Tensor *tensor;
};

struct LoadPlan {
  const proto::Program *program = nullptr;
  std::vector<std::vector<RangeRead>> ranks;
  std::vector<std::vector<RangeConvert>> converts; ///< by rank
  std::vector<SavedSource> sources;
  std::vector<EncodedLoad> encodes;          ///< each rank takes its part
  std::deque<Codes> codes;                   ///< of the program
  std::vector<std::vector<RangeFill>> fills; ///< by rank
  std::vector<std::string> remarks;          ///< permitted differences from the saved state
};

/// The files that the ranks from `first` on read, in the order of the manifest.
std::vector<uint32_t> filesOf(const LoadPlan &plan, int first, int ranks);

/// Plans how `program` loads the state in `manifest`, saved with any stage, ranks, buckets and
/// precision. An error (ZERO_RT_BAD_DATA) names tensors that are missing, have another shape or a
/// type that is not converted, are not covered by their ranges, or occur twice, and tensors of the
/// checkpoint that the program does not have, unless nothing depends on them: the loss scale, which
/// exists for one precision and not for another, scalars of the optimizer, and the optimizer state
/// of a parameter that is frozen now. A counter that the saved run did not have, as of a schedule,
/// gets the value that it has after as many steps.
Status planLoad(const proto::Program &program, const proto::Manifest &manifest, LoadPlan &plan,
                bool verbose = false);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_LOAD_PLAN_H
