//===- best.cpp - the checkpoint with the best evaluation -----------------===//

#include "best.h"

#include "runtime/support/checked.h"
#include "runtime/support/file.h"

#include <bit>
#include <cmath>
#include <fstream>

using namespace zero::rt;

namespace zero::run {

Status BestCheckpoint::open(const Session &session) {
  if (!options.keepsBest || options.resume.empty())
    return {};
  // What process 0 finds counts for all: the others may have no such folder.
  std::string step, loss;
  std::pair<uint64_t, double> found;
  bool isThere = job.isFirst() && (std::ifstream(lossFile()) >> step >> loss) &&
                 parseInteger(std::string_view(step), found.first) &&
                 parseReal(std::string_view(loss), found.second);
  uint64_t bits = isThere ? std::bit_cast<uint64_t>(found.second) : 0;
  uint64_t steps = isThere ? found.first : 0;
  ZERO_RT_TRY(job.any(session, isThere, isThere));
  ZERO_RT_TRY(job.sum("steps of the best checkpoint", steps));
  ZERO_RT_TRY(job.sum("loss of the best checkpoint", bits));
  if (isThere)
    best = {steps, std::bit_cast<double>(bits)};
  return {};
}

bool BestCheckpoint::isBetter(const Evaluation &result) const {
  return options.keepsBest && std::isfinite(result.total.loss) &&
         (!best || result.total.loss < best->second);
}

Status BestCheckpoint::add(const Session &session, const Evaluation &result) {
  if (!isBetter(result))
    return {};
  ZERO_RT_TRY(checkpoints.saveIn(session, folder()));
  best = {result.step, result.total.loss};
  if (!job.isFirst())
    return {};
  OutputFile file;
  ZERO_RT_TRY(OutputFile::create(lossFile(), file));
  ZERO_RT_TRY(file.write(
      format("%llu %.17g\n", static_cast<unsigned long long>(best->first), best->second)));
  return file.commit();
}

std::string BestCheckpoint::text() const {
  if (!best)
    return "";
  return format("the best evaluation had a loss of %.6f after %llu step%s: --resume=%s",
                best->second, static_cast<unsigned long long>(best->first),
                best->first == 1 ? "" : "s", escape(folder()).c_str());
}

} // namespace zero::run
